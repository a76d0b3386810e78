"""Who runs a cut: a device with a number of threads and a kernel."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from larq_engine.profiling.network import Cut
from larq_engine.python import host, library
from larq_engine.python.errors import host_errors
from larq_engine.python.tensors import Array

# The device that is the host itself, with no operator of its own left to the engine.
HOST = "host"
CPU = "cpu"
AUTO = "auto"


@dataclass(frozen=True)
class Column:
    """A device as users name it, what it may use, and the `kernel` that is asked for."""

    device: str
    threads: int
    kernel: str = AUTO

    @property
    def is_gpu(self) -> bool:
        return self.device not in (HOST, CPU)

    def __str__(self) -> str:
        return f"{self.device}, {self.threads} thread(s), kernel {self.kernel}"


class CannotRunError(ValueError):
    """The device, or the kernel, cannot compute what it was given."""


class Runner:
    """A cut, loaded for a column and a batch, with the values that it reads.

    Args:
        cut: What to run.
        column: By whom.
        runtime: The host.
        values: What it reads, for one batch of the file's size.
        batch: How many times the values are there.
        placed: Whether the device is asked for by operator; else it takes what it would take.

    Raises:
        CannotRunError: The device does not compute it, or not all of it.
    """

    def __init__(
        self,
        cut: Cut,
        column: Column,
        runtime: str | None,
        values: Sequence[Array],
        batch: int,
        *,
        placed: bool,
    ) -> None:
        self.cut = cut
        self.column = column
        self._values = list(values)
        try:
            self._open(runtime, placed)
            with host_errors(f"{column}"):
                self._load(batch)
                self.feed()
                self._interpreter.invoke()
                self._outputs = [
                    self._interpreter.tensor(detail["index"])
                    for detail in self._interpreter.get_output_details()
                ]
                self.steps = self._read_steps()
        except ValueError as error:
            raise CannotRunError(str(error)) from error
        if placed:
            self._check_steps()

    def _open(self, runtime: str | None, placed: bool) -> None:
        column, cut = self.column, self.cut
        module = host.import_runtime(runtime)
        options: dict[str, object] = {"num_threads": column.threads, "device": CPU}
        if column.device == HOST:
            options["fuse"] = "off"
        else:
            options |= {"kernel": column.kernel, "device": column.device}
            if placed:
                options["placement"] = ",".join(
                    f"{node}:{column.device.partition(':')[0]}"
                    for node, ours in zip(cut.nodes, cut.is_ours, strict=True)
                    if not ours or column.is_gpu
                )
        # The host alone is the stock one.
        alone = column.device == HOST and not cut.needs_engine
        self._delegate = None if alone else host.load_delegate(runtime, **options)
        with host_errors(f"{column}"):
            self._interpreter: Any = module.Interpreter(
                model_content=cut.content,
                num_threads=min(column.threads, len(os.sched_getaffinity(0))),
                experimental_delegates=[] if alone else [self._delegate],
            )

    def _load(self, batch: int) -> None:
        details = self._interpreter.get_input_details()
        for detail, value in zip(details, self._values, strict=True):
            shape = (value.shape[0] * batch, *value.shape[1:]) if value.ndim else value.shape
            if tuple(detail["shape"]) != shape:
                self._interpreter.resize_tensor_input(detail["index"], shape)
        self._interpreter.allocate_tensors()
        self._inputs = [self._interpreter.tensor(detail["index"]) for detail in details]

    def _read_steps(self) -> list[dict[str, Any]]:
        """The engine's steps of one run, in the main graph."""
        if self._delegate is None:
            return []
        pointer: int = self._delegate._get_native_delegate_pointer()
        library.start_profile(pointer)
        self._interpreter.invoke()
        return [step for step in library.read_profile(pointer) if step["subgraph"] in (-1, 0)]

    def _check_steps(self) -> None:
        """Raises CannotRunError unless the device, and nothing else, computes all."""
        device = self.column.device.partition(":")[0]
        done = {
            node
            for step in self.steps
            if step["device"] == device and step["op"] != "TRANSFER"
            for node in (step["node"], *step["absorbed"])
        }
        wanted = set() if self.column.device == HOST else set(self.cut.nodes)
        if done.intersection(self.cut.nodes) != wanted:
            raise CannotRunError(f"{self.column}: it does not compute all of the operators")

    @property
    def kernels(self) -> list[str]:
        """The kernels that computed it, each once."""
        names = (step["kernel"] for step in self.steps if step["op"] != "TRANSFER")
        return [name for name in dict.fromkeys(names) if name]

    def feed(self) -> None:
        """Writes the inputs, as the operators before would have."""
        for tensor, value in zip(self._inputs, self._values, strict=True):
            if value.size:
                tensor().reshape(-1, *value.shape)[...] = value

    def outputs(self) -> list[Array]:
        """Copies of what the last run made."""
        return [tensor().copy() for tensor in self._outputs]

    def prepare(self) -> None:
        """Brings the caches to where they are in the middle of a model: the memory of the outputs
        was in use before, and the inputs were written just now."""
        for tensor in self._outputs:
            tensor().fill(0)
        self.feed()

    def time_ns(self) -> int:
        """One run on the clock of the wall."""
        start = time.perf_counter_ns()
        self._interpreter.invoke()
        return time.perf_counter_ns() - start

    def time_steps(self) -> list[dict[str, Any]]:
        """One run on the device's own clock."""
        return self._read_steps()
