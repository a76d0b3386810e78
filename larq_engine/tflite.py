"""Provides TensorFlow Lite's Interpreter: code written for it runs with one changed import.

It runs in a host, which has the plug-in then, or without one.
"""

import os

from larq_engine.python.hosts import AUTO, HostInterpreter
from larq_engine.python.model_file import ModelSource, read_model
from larq_engine.python.open_model import OpenModel, open_allocated, open_in_first


def Interpreter(  # noqa: N802 - the name of TensorFlow Lite's class
    model_path: str | os.PathLike[str] | None = None,
    model_content: ModelSource | None = None,
    num_threads: int | None = None,
    *,
    host: str | None = None,
    **options: object,
) -> HostInterpreter:
    """Opens a model in an object with the methods of TensorFlow Lite's Interpreter.

    In a host it is the host's own Interpreter. Without one, `tensor` and `get_tensor` read inputs,
    outputs and constants, and no values between operators.

    Args:
        model_path: The path of a .tflite file.
        model_content: The content of the file, in place of its path.
        num_threads: Threads for one run; 1 if None.
        host: The host, as for `larq_engine.Interpreter`.
        **options: The plug-in's other options, such as `device="cuda"`.

    Raises:
        ValueError: The model or an option is not valid, or there are both a path and a content, or
            neither.
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
