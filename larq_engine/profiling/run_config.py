"""Runs cuts. A config says on what: a device with a number of threads and a kernel."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from larq_engine.profiling.network import Cut
from larq_engine.python import library
from larq_engine.python.devices import CPU, HOST
from larq_engine.python.errors import host_errors
from larq_engine.python.library import TRANSFER
from larq_engine.python.open_model import OpenModel
from larq_engine.python.tensors import Array

AUTO = "auto"


@dataclass(frozen=True)
class RunConfig:
    """A device as users name it, a number of threads, and the `kernel` that is asked for."""

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
    """A cut that is loaded for a config and a batch, with the values that it reads.

    Args:
        cut: The operators to run.
        config: The device, threads and kernel that run them.
        host: The host's name.
        values: The cut's inputs, for one batch of the file's size.
        batch: How many times these values are repeated.
        fuse: Whether the engine takes the operators that it takes by default, and fuses them.
        placement: The option of this name: which operators the engine takes in addition to its own.

    Raises:
        CannotRunError: The device does not compute it.
    """

    def __init__(
        self,
        cut: Cut,
        config: RunConfig,
        host: str | None,
        values: Sequence[Array],
        batch: int,
        *,
        fuse: bool = True,
        placement: str = "",
    ) -> None:
        self.cut = cut
        self.config = config
        self._values = list(values)
        try:
            self._model = self._open(host, fuse, placement)
            self._interpreter = self._model.interpreter
            with host_errors(f"{config}"):
                self._load(batch)
                self.feed()
                self._interpreter.invoke()
                self._outputs = [
                    self._interpreter.tensor(detail["index"])
                    for detail in self._interpreter.get_output_details()
                ]
                self.steps = self.read_steps()
        except ValueError as error:
            raise CannotRunError(str(error)) from error

    def _open(self, host: str | None, fuse: bool, placement: str) -> OpenModel:
        config = self.config
        options = {
            "kernel": config.kernel,
            "device": CPU if config.device == HOST else config.device,
            "fuse": "on" if fuse and config.device != HOST else "off",
            "placement": placement or "none",
        }
        # A model without operators of the engine is measured in the host as shipped, without the
        # plug-in.
        alone = config.device == HOST and not self.cut.needs_engine
        return OpenModel(
            self.cut.content,
            host=host,
            num_threads=config.threads,
            action=f"{config}",
            options=None if alone else options,
        )

    def _load(self, batch: int) -> None:
        details = self._interpreter.get_input_details()
        for detail, value in zip(details, self._values, strict=True):
            shape = (value.shape[0] * batch, *value.shape[1:]) if value.ndim else value.shape
            if tuple(detail["shape"]) != shape:
                self._interpreter.resize_tensor_input(detail["index"], shape)
        self._interpreter.allocate_tensors()
        self._inputs = [detail["index"] for detail in details]

    def read_steps(self) -> list[dict[str, Any]]:
        """Returns the steps of one run in the main graph, timed by the device's own clock."""
        return self.time_steps(1)[1]

    def time_steps(self, runs: int) -> tuple[float, list[dict[str, Any]]]:
        """Runs so often; returns the wall seconds of one run, and the steps of all runs."""
        nanoseconds, steps = self._model.time_steps(runs)
        return nanoseconds / runs / 1e9, [step for step in steps if step["subgraph"] in (-1, 0)]

    @property
    def kernels(self) -> str | None:
        """Returns the names of the kernels that computed the cut."""
        return join_kernels(self.steps)

    def feed(self) -> None:
        """Writes the inputs, as the operators before would have."""
        for index, value in zip(self._inputs, self._values, strict=True):
            if not value.ndim:
                self._interpreter.set_tensor(index, value)  # Views of a scalar are copies.
            elif value.size:
                self._interpreter.tensor(index)().reshape(-1, *value.shape)[...] = value

    def outputs(self) -> list[Array]:
        """Returns copies of the last run's outputs."""
        return [tensor().copy() for tensor in self._outputs]

    def prepare(self) -> None:
        """Brings the caches to their state within a model.

        There, the memory of the outputs was in use before, and the inputs have just been
        written."""
        for tensor in self._outputs:
            tensor().fill(0)
        self.feed()

    def time_ns(self) -> int:
        """Runs once; returns the nanoseconds of wall time."""
        return self._model.time_ns()


def open_part(
    cut: Cut, config: RunConfig, host: str | None, values: Sequence[Array], batch: int
) -> Runner:
    """Opens a cut that only the device may compute; raises as Runner."""
    device = config.device.partition(":")[0]
    asked = [
        f"{node}:{device}"
        for node, ours in zip(cut.nodes, cut.is_ours, strict=True)
        if not ours or config.is_gpu
    ]
    runner = Runner(cut, config, host, values, batch, placement=",".join(asked))
    done = library.nodes_of(
        step for step in runner.steps if step["device"] == device and step["op"] != TRANSFER
    )
    wanted = set() if config.device == HOST else set(cut.nodes)
    if done.intersection(cut.nodes) != wanted:
        raise CannotRunError(f"{config}: it does not compute all of the operators")
    return runner


def join_kernels(steps: Iterable[Mapping[str, Any]]) -> str | None:
    """Joins the names of some steps' kernels, each once."""
    names = (step["kernel"] for step in steps if step["op"] != TRANSFER)
    return "+".join(name for name in dict.fromkeys(names) if name) or None


def seconds_of(step: Mapping[str, Any]) -> float:
    """Returns the seconds of one call."""
    nanoseconds: float = step["total_ns"] / max(step["calls"], 1)
    return nanoseconds / 1e9
