"""Makes a profile of what larq_benchmark_model measured, and of the model that it measured.

The program runs where there is no Python, so its file has the times only. What the model's file
says of values and operators is read here, by the same code as for a profile that is measured in
Python. docs/benchmark_binary.md describes the format.
"""

import contextlib
import hashlib
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from larq_engine.converter.graph import Tensor
from larq_engine.placing.json_fields import Fields
from larq_engine.placing.profile import Device, Link, Measurement, ModelIdentity, Profile, Total
from larq_engine.profiling.graph_facts import GraphFacts
from larq_engine.profiling.links import UNBOUNDED, fit
from larq_engine.profiling.network import Network
from larq_engine.profiling.rows import summarize
from larq_engine.profiling.run_config import join_kernels
from larq_engine.profiling.whole import group_steps
from larq_engine.python.devices import ACCELERATORS, CPU, HOST
from larq_engine.python.library import TRANSFER
from larq_engine.python.tensors import Array

_ONE_ROW = "the model's time less that of the engine's operators, in one row: "

# Bits of types of the schema that NumPy lacks.
_BITS = {"INT2": 2, "INT4": 4, "UINT4": 4, "BFLOAT16": 16}

# The steps of a run may take so many times the run's time: clocks are read one after another.
_LONGEST_STEPS = 1.1

# Least seconds of a copy: the clock may see none.
_LEAST_SECONDS = 1e-9


@dataclass(frozen=True)
class _HostOperator:
    """The host's time of an operator in a run of LiteRT's profiler; only shares of it count."""

    node: int
    seconds: float
    source: str | None


@dataclass(frozen=True)
class _Runs:
    """Runs of the model in one way.

    Attributes:
        seconds: The times of whole runs.
        steps: The engine's steps, with the keys of `library.read_profile`, and `seconds` of each
            run.
        host: What LiteRT's profiler says of the host's operators.
        refusal: The reason why the profiler says nothing, or "".
    """

    seconds: Array
    steps: Sequence[Mapping[str, Any]]
    host: Sequence[_HostOperator]
    refusal: str

    def check_nodes(self, operators: int) -> None:
        """Raises a ValueError if a time is that of an operator that the model does not have."""
        nodes = [step["node"] for step in self.steps if step["op"] != TRANSFER]
        for node in (*nodes, *(op.node for op in self.host)):
            if node >= operators:
                raise ValueError(
                    f"measurements: expected operators of the model, which has {operators}, got "
                    f"number {node}; measure the model again"
                )

    @property
    def host_seconds(self) -> Array:
        """Returns what is left of each run for the host."""
        taken = sum((step["seconds"] for step in self.steps), start=np.zeros(len(self.seconds)))
        return np.maximum(self.seconds - taken, 0)


@dataclass(frozen=True)
class Measured:
    """The contents of a file of larq_benchmark_model; without a host it has no `host`."""

    name: str
    size: int
    crc32: int
    engine: str
    machine: Mapping[str, Any]
    threads: int
    fused: _Runs
    single: _Runs
    host: _Runs | None

    def is_of(self, model: bytes) -> bool:
        """Tells whether the model was measured."""
        return len(model) == self.size and zlib.crc32(model) == self.crc32

    def profile_of(self, model: bytes) -> Profile:
        """Makes the profile; `model` is what was measured.

        Raises:
            ValueError: No operator of the model depends on its inputs.
        """
        network = Network(model)
        ways = [self.single, self.fused, *([self.host] if self.host else [])]
        for runs in ways:
            runs.check_nodes(network.operators)
        rows = _Rows(network, self)
        facts = GraphFacts(network, {t: _bytes_of(t) for t in network.values()}, {rows.batch: 1})
        gpu = self._gpu()
        devices = [Device(CPU, f"larq_engine {self.engine} on {self.machine['cpu']}", HOST)]
        totals = [self._total(rows.batch, gpu or CPU, self.fused)]
        if self.host:
            devices.append(Device(HOST, "LiteRT with XNNPACK", HOST))
            totals.append(self._total(rows.batch, HOST, self.host))
        links = []
        if gpu is not None:
            devices.append(Device(gpu, gpu, gpu))
            links = [self._link(HOST, gpu, gpu), self._link(gpu, HOST, CPU)]
        for made in ways:
            rows.add_steps(made)
        if self.host:
            # A GPU has a clock of its own, so the rest of the time is not only the host's.
            if gpu is None:
                rows.add_host(self.fused)
            rows.add_host(self.host)
        return Profile(
            engine=self.engine,
            model=ModelIdentity(self.name, hashlib.sha256(model).hexdigest(), self.size),
            values=tuple(facts.values()),
            ops=tuple(facts.ops()),
            devices=tuple(devices),
            links=tuple(links),
            measurements=tuple(rows.measurements.values()),
            totals=tuple(totals),
            machine=self.machine,
            energy="not available: larq_benchmark_model reads no counters",
        )

    def _total(self, batch: int, device: str, made: _Runs) -> Total:
        return Total(batch, device, self.threads, summarize(made.seconds.tolist()))

    def _gpu(self) -> str | None:
        """Returns the device beside the CPU that steps ran on, if there is one."""
        return next((step["device"] for step in self.fused.steps if step["device"] != CPU), None)

    def _link(self, source: str, target: str, device: str) -> Link:
        """Fits a link to the copies to `device`, of all sizes that the model has."""
        times = [
            (step["bytes"], max(seconds, _LEAST_SECONDS))
            for made in (self.fused, self.single)
            for step in made.steps
            if step["op"] == TRANSFER and step["device"] == device
            for seconds in step["seconds"]
        ]
        return Link(source, target, *(fit(times) if times else (0.0, UNBOUNDED)))


class _Rows:
    """The measurements of a profile, each once: the first of a key stays."""

    def __init__(self, network: Network, measured: Measured) -> None:
        shape = network.inputs[0].shape if network.inputs else ()
        self.batch = max(shape[0], 1) if shape else 1
        self._threads = measured.threads
        self._op_of = {node: op for op, node in enumerate(network.nodes)}
        self.measurements: dict[tuple[tuple[int, ...], str, str | None], Measurement] = {}

    def add_steps(self, made: _Runs) -> None:
        """Adds a row for each group of steps that ran together."""
        for ops, steps in group_steps(self._op_of, made.steps).items():
            seconds = sum(step["seconds"] for step in steps)
            self._add(ops, steps[0]["device"], join_kernels(steps), seconds, None)

    def add_host(self, made: _Runs) -> None:
        """Divides the host's time as the profiler does, or adds one row if it does not."""
        if made.refusal:
            ours = {op for ops in group_steps(self._op_of, made.steps) for op in ops}
            rest = tuple(op for op in self._op_of.values() if op not in ours)
            self._add(rest, HOST, None, made.host_seconds, _ONE_ROW + made.refusal)
        total = sum(op.seconds for op in made.host)
        for op in made.host:
            share = op.seconds / total if total else 1 / len(made.host)
            ops = tuple(self._op_of[node] for node in (op.node,) if node in self._op_of)
            self._add(ops, HOST, None, made.host_seconds * share, op.source)

    def _add(
        self,
        ops: tuple[int, ...],
        device: str,
        kernel: str | None,
        seconds: Array,
        source: str | None,
    ) -> None:
        key = (ops, device, kernel)
        if ops and key not in self.measurements:
            self.measurements[key] = Measurement(
                *(ops, self.batch, device, self._threads, kernel),
                summarize(seconds.tolist()),
                source=source,
            )


def read_measured(fields: Fields) -> Measured:
    """Reads the fields of a file; raises a ValueError if its parts do not fit."""
    model, machine, ways = fields.part("model"), fields.part("machine"), fields.part("ways")
    return Measured(
        name=model.text("name"),
        size=model.count("bytes"),
        crc32=model.count("crc32"),
        engine=fields.text("engine"),
        machine={
            "cpu": machine.text("cpu"),
            "cores": machine.count("processors"),
            "system": machine.text("system"),
            "architecture": machine.text("architecture"),
        },
        threads=fields.part("options").count("num_threads", least=1),
        fused=_read_runs(ways.part("fused")),
        single=_read_runs(ways.part("single")),
        host=_read_runs(ways.part("host")) if ways.has("host") else None,
    )


def _read_runs(fields: Fields) -> _Runs:
    seconds = _read_seconds(fields)
    if not len(seconds):
        fields.refuse("nanoseconds", "the time of at least one run")
    host = fields.part("host")
    steps = tuple(_read_step(step, len(seconds)) for step in fields.parts("steps"))
    # Devices with clocks of their own work beside the CPU.
    if all(step["device"] == CPU for step in steps):
        taken = sum((step["seconds"] for step in steps), start=np.zeros(len(seconds)))
        if np.any(taken > _LONGEST_STEPS * seconds):
            fields.refuse("steps", "steps that take no longer than the whole run")
    return _Runs(
        seconds,
        steps,
        tuple(
            _HostOperator(op.count("node"), op.amount("seconds"), op.text("source") or None)
            for op in host.parts("operators")
        ),
        host.text("refusal"),
    )


def _read_step(fields: Fields, runs: int) -> Mapping[str, Any]:
    seconds = _read_seconds(fields)
    if len(seconds) != runs:
        fields.refuse("nanoseconds", f"a number for each of the {runs} runs")
    return {
        "op": fields.text("op"),
        "node": fields.count("node"),
        "absorbed": fields.counts("absorbed"),
        "group": int(fields.number("group")),
        "device": _read_device(fields),
        "kernel": fields.text("kernel"),
        "bytes": fields.count("bytes"),
        "seconds": seconds,
    }


def _read_device(fields: Fields) -> str:
    device = fields.text("device")
    kinds = "|".join(row.name for row in ACCELERATORS)
    if not re.fullmatch(rf"{CPU}|({kinds})(:\d+)?", device):
        *others, last = [CPU, *(f"{row.name}{n}" for row in ACCELERATORS for n in ("", ":N"))]
        fields.refuse("device", f"{', '.join(others)} or {last}")
    return device


def _read_seconds(fields: Fields) -> Array:
    return np.array(fields.counts("nanoseconds")) / 1e9


def _bytes_of(tensor: Tensor) -> int:
    """Returns the bytes of a value; 0 of a type without a size."""
    bits = _BITS.get(tensor.dtype, 0)
    if not bits:
        with contextlib.suppress(TypeError):
            bits = 8 * np.dtype(tensor.dtype.lower()).itemsize
    return -(-tensor.elements * bits // 8)
