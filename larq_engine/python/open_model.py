"""Opens a model in a host, with the plug-in as its delegate or without, and times its runs."""

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from larq_engine.python import hosts, library, no_host
from larq_engine.python.engine_model import EngineModel
from larq_engine.python.errors import host_errors
from larq_engine.python.tensors import Shape
from larq_engine.python.thread_count import running_threads

# Doublings of an open size, up to 1,024: larger than the images that networks are made for.
_DOUBLINGS = 10

# Text in the engine's errors about models that need a host.
_NEEDS_HOST = "run the model in a host"

_Opened = TypeVar("_Opened")


class OpenModel:
    """A host's interpreter with a model, and the plug-in; its tensors are not allocated at first.

    Args:
        content: The bytes of the model's file.
        host: The host's name, or "none"; the first installed if None.
        num_threads: Threads of the host and of the plug-in, but no more than there are CPUs.
        action: The beginning of errors.
        options: The plug-in's other options; None: the host computes without the plug-in.
    """

    def __init__(
        self,
        content: bytes,
        *,
        host: str | None,
        num_threads: int,
        action: str,
        options: Mapping[str, object] | None,
    ) -> None:
        module = hosts.import_host(host)
        self._delegate: Any = None
        if options is not None:
            self._delegate = hosts.load_in(module, {"num_threads": num_threads, **options})
        with host_errors(action):
            self.interpreter: hosts.HostInterpreter = module.Interpreter(
                model_content=content,
                # The plug-in limits its own threads to the same number.
                num_threads=running_threads(num_threads),
                experimental_delegates=[] if options is None else [self._delegate],
            )

    @property
    def engine(self) -> library.Delegate | EngineModel | None:
        """Returns the engine's own functions for this model; None if the host computes alone."""
        if self._delegate is None:
            return None
        if isinstance(self.interpreter, no_host.Interpreter):
            return self.interpreter.model
        return library.Delegate(self._delegate._get_native_delegate_pointer())

    def set_num_threads(self, threads: int) -> None:
        """Lets runs without a host use so many threads from now on."""
        if not isinstance(self.interpreter, no_host.Interpreter):
            raise ValueError(
                "set_num_threads: expected a model that runs without a host, got one in a host, "
                'which has its threads for good; open the model with host="none", or with another '
                "num_threads"
            )
        self.interpreter.set_num_threads(threads)

    def time_ns(self) -> int:
        """Runs once; returns the nanoseconds of wall time."""
        start = time.perf_counter_ns()
        self.interpreter.invoke()
        return time.perf_counter_ns() - start

    def time_steps(self, runs: int) -> tuple[int, list[dict[str, Any]]]:
        """Runs so often; returns the nanoseconds of wall time, and the plug-in's steps of all runs.

        Steps that did not run are among them, so even no run tells what the plug-in computes.
        """
        engine = self.engine
        if engine is not None:
            engine.start_profile()
        elapsed = sum(self.time_ns() for _ in range(runs))
        return elapsed, [] if engine is None else engine.read_profile()


def open_in_first(host: str | None, open_in: Callable[[str], _Opened]) -> tuple[str, _Opened]:
    """Opens a model in the first host that takes it.

    Args:
        host: What the user asks for: a host's name, "none", "auto" or None.
        open_in: Opens the model in the host of this name.

    Returns:
        The host's name or "none", and what `open_in` returned.

    Raises:
        ValueError: There is no such host, or none opens the model.
        ImportError: The host that the model needs is not installed.
    """
    *others, last = hosts.candidates(host)
    for name in others:
        with contextlib.suppress(ValueError):
            return name, open_in(name)
    try:
        return last, open_in(last)
    except ValueError as error:
        if last == hosts.NO_HOST != host and _NEEDS_HOST in str(error):
            raise ImportError(f"{error}; none is installed: {hosts.how_to_install()}") from error
        raise


def open_allocated(open_model: Callable[[], OpenModel]) -> OpenModel:
    """Opens a model and allocates its tensors for the sizes that the file declares.

    A size that the file leaves open is 1, and a VALID window does not fit an image of 1x1. Such
    sizes are doubled until the model takes them.
    """
    model = open_model()
    try:
        with host_errors("model"):
            model.interpreter.allocate_tensors()
    except ValueError:  # without a name, which would keep the refused interpreter in a cycle
        open_sizes = _find_open_sizes(model)
        del model  # its memory is free before the next one is opened
        larger = _open_larger(open_model, open_sizes)
        if larger is None:
            raise
        return larger
    return model


def _open_larger(
    open_model: Callable[[], OpenModel], open_sizes: list[tuple[int, Shape]]
) -> OpenModel | None:
    """Opens with larger sizes where the file leaves them open; returns None if none helps."""
    for size in (2 << doublings for doublings in range(_DOUBLINGS if open_sizes else 0)):
        model = open_model()
        for number, shape in open_sizes:
            sizes = tuple(size if axis == -1 else axis for axis in shape)
            model.interpreter.resize_tensor_input(number, sizes)
        with contextlib.suppress(ValueError), host_errors("model"):
            model.interpreter.allocate_tensors()
            return model
        del model
    return None


def _find_open_sizes(model: OpenModel) -> list[tuple[int, Shape]]:
    """Returns inputs that leave open more than the batch; an open batch becomes 1."""
    found = []
    for row in model.interpreter.get_input_details():
        declared = tuple(int(axis) for axis in row["shape_signature"])
        if -1 in declared[1:]:
            batch = 1 if declared[0] == -1 else declared[0]
            found.append((int(row["index"]), (batch, *declared[1:])))
    return found
