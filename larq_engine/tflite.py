"""Provides an Interpreter with the methods of TensorFlow Lite's, in a host or without one.

Code that gives TensorFlow Lite's Interpreter a model and `num_threads` runs with another import.
"""

import os
from collections.abc import Sequence

from larq_engine.python.hosts import AUTO, HostInterpreter
from larq_engine.python.model_file import ModelSource, read_model
from larq_engine.python.open_model import OpenModel, open_allocated, open_in_first


def Interpreter(  # noqa: N802 - the name of TensorFlow Lite's class
    model_path: str | os.PathLike[str] | None = None,
    model_content: ModelSource | None = None,
    experimental_delegates: Sequence[object] | None = None,
    num_threads: int | None = None,
    *,
    experimental_preserve_all_tensors: bool = False,
    host: str | None = None,
    **options: object,
) -> HostInterpreter:
    """Opens a model in an object with the methods of TensorFlow Lite's Interpreter.

    In a host it is the host's own Interpreter. Without one, `tensor` and `get_tensor` read inputs,
    outputs and constants, and no values between operators.

    The first four arguments stand in the order of TensorFlow Lite's. Its other arguments are not
    taken: with them, or with delegates, use the host's own Interpreter and hand it
    `larq_engine.load_delegate()`.

    Args:
        model_path: The path of a .tflite file.
        model_content: The content of the file, in place of its path.
        experimental_delegates: None, or none at all: the engine is the only delegate.
        num_threads: Threads for one run; 1 if None. As in TensorFlow Lite's Python, -1 is refused.
        experimental_preserve_all_tensors: False: values between operators are not kept.
        host: The host, as for `larq_engine.Interpreter`.
        **options: The plug-in's other options, such as `device="cuda"`.

    Raises:
        ValueError: The model or an option is not valid, there are both a path and a content, or
            neither, or delegates, or all tensors are to be preserved.
        FileNotFoundError: There is no such model, or the plug-in was not built.
        ImportError: The model needs a host, and it is not installed.
    """
    sources = [source for source in (model_path, model_content) if source is not None]
    if len(sources) != 1:
        raise ValueError(
            f"model: expected model_path or model_content, got {'both' if sources else 'neither'}"
        )
    if num_threads is not None and (not isinstance(num_threads, int) or num_threads < 1):
        raise ValueError(f"num_threads: expected a whole number from 1 on, got {num_threads!r}")
    _refuse("experimental_delegates", experimental_delegates, "none, as the engine is one")
    _refuse("experimental_preserve_all_tensors", experimental_preserve_all_tensors, "False")
    content = read_model(sources[0])

    def open_in(name: str) -> OpenModel:
        return OpenModel(
            content, host=name, num_threads=num_threads or 1, action="model", options=options
        )

    def open_checked(name: str) -> OpenModel:
        if host == AUTO:  # Some models that a host runs are refused when tensors are allocated.
            open_allocated(lambda: open_in(name))
        return open_in(name)

    return open_in_first(host, open_checked)[1].interpreter


def _refuse(name: str, value: object, expected: str) -> None:
    if value:
        raise ValueError(
            f"{name}: expected {expected}, got {value!r}; else use the host's own Interpreter, and "
            "hand it larq_engine.load_delegate()"
        )
