"""Profiles a model: what to measure, who takes part, and what comes of it."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from larq_engine.converter.graph import Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.lce_ops import is_ours
from larq_engine.converter.macs import count_macs
from larq_engine.placing import profile_file as file
from larq_engine.profiling import energy, machine
from larq_engine.profiling.column import AUTO, CPU, HOST, CannotRunError, Column, Runner
from larq_engine.profiling.compare import find_difference
from larq_engine.profiling.empty import EmptyRun
from larq_engine.profiling.links import measure_links
from larq_engine.profiling.network import Cut, Network
from larq_engine.profiling.noise import Noise
from larq_engine.profiling.reference import Reference
from larq_engine.profiling.request import Request
from larq_engine.profiling.rounds import Lane, Trial, measure_lanes
from larq_engine.python import library
from larq_engine.python.progress import count_rounds

# Of what all candidates that are open at a time read and write; more are measured in parts.
_MOST_BYTES = 1 << 30

_SINGLES, _RUNS, _WHOLE = "singles", "runs", "whole"


@dataclass(frozen=True)
class Share:
    """How a whole model's time divides: what each device took, beside the whole.

    Attributes:
        total: The whole, as measured.
        rows: The seconds of the rows that make it up, transfers included; the host's one by one.
        together: The same with what the host runs in one go as it was measured together.
        missing: Operators that no row has.
    """

    total: file.Total
    rows: float
    together: float
    missing: tuple[int, ...]

    @property
    def percent(self) -> float:
        """How far the rows' sum is from the whole."""
        return self._difference(self.rows)

    @property
    def percent_together(self) -> float:
        """How far it is where the host's operators run together."""
        return self._difference(self.together)

    def _difference(self, seconds: float) -> float:
        return 100 * (seconds / self.total.seconds.median - 1)


@dataclass(frozen=True)
class ProfileResult:
    """A profile, and what is worth knowing beside it.

    Attributes:
        profile: What `write_profile` writes.
        shares: Of each total of the profile.
        wrong: Candidates whose outputs were wrong, and which have no time therefore.
        noise: How quiet the machine was.
    """

    profile: file.Profile
    shares: tuple[Share, ...]
    wrong: tuple[str, ...]
    noise: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the profile's file."""
        file.write_profile(self.profile, path)

    def __str__(self) -> str:
        from larq_engine.profiling.table import format_result

        return format_result(self)


@dataclass(frozen=True)
class _Spec:
    """A candidate to be: which operators, by whom, for how many samples."""

    ops: tuple[int, ...]
    column: Column
    lane: str
    times: int


@dataclass
class _Found:
    """What was measured of a candidate."""

    spec: _Spec
    kernel: str | None
    seconds: file.Timing
    joules: float | None


@dataclass
class _Layout:
    """Who computes what when a device gets the whole model.

    Attributes:
        runs: Operators that the engine runs together, more than one.
        host_runs: Those of the host that nothing of the engine comes between.
        taken: The device of each operator that the engine took.
        moved: The bytes of each transfer, and whether it leads to the device.
    """

    runs: list[tuple[int, ...]] = field(default_factory=list)
    host_runs: list[tuple[int, ...]] = field(default_factory=list)
    taken: dict[int, str] = field(default_factory=dict)
    moved: list[tuple[int, bool]] = field(default_factory=list)


def profile(
    model: Any,
    *,
    devices: Sequence[str] | None = None,
    threads: Sequence[int] = (1,),
    kernels: str | Sequence[str] = AUTO,
    batch: Sequence[int] | None = None,
    rounds: int = 20,
    seconds: float = 2.0,
    energy_sensor: str | os.PathLike[str] | None = None,
    runtime: str | None = None,
    verbose: int = 0,
) -> ProfileResult:
    """Measures each operator of a model on each device, with each kernel that could serve it.

    Args:
        model: The content of a .tflite file, as bytes or anything with a buffer, or its path.
        devices: Of "cpu" (this engine), "host" (the host's own operators), "cuda" or "cuda:N"; all
            that there are if None. The host is always there: what no other takes is its.
        threads: Numbers of threads, each measured.
        kernels: "auto" for the one that the engine chooses, "all", or names of kernel rows, which
            are measured beside it.
        batch: Numbers of samples at once; the one that the model declares if None.
        rounds: How often each candidate comes; there are two samples of it in each.
        seconds: After so long a column rests in the later rounds.
        energy_sensor: The file of a sensor that measures the CPU's or the board's energy or power.
        runtime: "ai_edge_litert", "tensorflow" or "tflite_runtime"; the first installed if None.
        verbose: Say what is done where no terminal shows it.

    Raises:
        ValueError: The model cannot be run alone, operator by operator, or an argument is not
            valid; the message names the valid ones.
        FileNotFoundError: There is no such model, or the plug-in was not built.
        ImportError: No host runtime is installed.
    """
    request = Request.parse(model, devices, threads, kernels, batch)
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise ValueError(f"rounds: expected a whole number from 1 on, got {rounds!r}")
    sensor = None if energy_sensor is None else Path(energy_sensor)
    meter = energy.cpu_meter(sensor)
    return _Profiler(request, rounds, seconds, meter, runtime, verbose).run()


class _Profiler:
    def __init__(
        self,
        request: Request,
        rounds: int,
        limit: float,
        meter: energy.Meter,
        runtime: str | None,
        verbose: int,
    ) -> None:
        self._request = request
        self._rounds = rounds
        self._limit = limit
        self._runtime = runtime
        self._verbose = verbose
        self._machine = machine.describe_machine()
        self._network = Network(request.content)
        self._reference = Reference(self._network, runtime)
        self._batches = request.batches or (self._reference.declared,)
        self._times = {batch: self._reference.times(batch) for batch in self._batches}
        self._others = np.ones(self._network.constant_bytes // 8, np.int64)
        self._noise = Noise()
        self._empty = {threads: EmptyRun(threads, runtime) for threads in request.threads}
        self._meters = dict.fromkeys((CPU, HOST), meter)
        for gpu in request.gpus:
            self._meters[gpu] = energy.gpu_meter(int(gpu.partition(":")[2] or 0))
        self._found: list[_Found] = []
        self._known: set[tuple[Any, ...]] = set()
        self._wrong: list[str] = []
        self._layouts: dict[tuple[Column, int], _Layout] = {}

    def run(self) -> ProfileResult:
        specs = list(dict.fromkeys(self._specs()))
        chunks = list(self._chunks(specs))
        lanes = sum(len({(spec.column, spec.lane, spec.times) for spec in c}) for c in chunks)
        with count_rounds("profiling", lanes * self._rounds, self._verbose) as progress:
            for chunk in chunks:
                self._measure(chunk, progress)
        return self._result()

    # ---- What to measure -------------------------------------------------------------------------

    def _specs(self) -> Iterator[_Spec]:
        """All candidates; the engine's own choice of kernels before others that may be the same."""
        positions = range(len(self._network.ops))
        everything = tuple(positions)
        for times in sorted(set(self._times.values())):
            for column in self._request.columns():
                if column.kernel == AUTO:
                    layout = self._lay_out(column, times)
                    yield _Spec(everything, column, _WHOLE, times)
                else:
                    layout = self._layouts[Column(column.device, column.threads), times]
                for position in positions:
                    if column.device != HOST or not is_ours(self._network.ops[position]):
                        yield _Spec((position,), column, _SINGLES, times)
                for run in layout.runs:
                    yield _Spec(run, column, _RUNS, times)
                for run in layout.host_runs:
                    yield _Spec(run, Column(HOST, column.threads), _RUNS, times)

    def _lay_out(self, column: Column, times: int) -> _Layout:
        """Runs the whole model once to see who takes what."""
        layout = _Layout()
        groups: dict[int, set[int]] = {}
        whole = self._network.whole()
        position_of = dict(zip(whole.nodes, whole.ops, strict=True))
        for step in self._open(whole, column, times, placed=False).steps:
            if step["op"] == "TRANSFER":
                there = step["device"] == column.device.partition(":")[0]
                layout.moved.append((step["bytes"], there))
                continue
            nodes = {step["node"], *step["absorbed"]} & position_of.keys()
            positions = {position_of[node] for node in nodes}
            layout.taken.update(dict.fromkeys(positions, step["device"]))
            groups.setdefault(step["group"], set()).update(positions)
        layout.runs = sorted(tuple(sorted(run)) for run in groups.values() if len(run) > 1)
        layout.host_runs = _consecutive(set(whole.ops) - layout.taken.keys())
        self._layouts[column, times] = layout
        return layout

    def _chunks(self, specs: Sequence[_Spec]) -> Iterator[list[_Spec]]:
        """Candidates of operators that are near each other, no more than memory has room for."""
        chunk: list[_Spec] = []
        size = 0
        # Whole models come first; the order within a lane is that of the operators.
        order = sorted(specs, key=lambda spec: (spec.times, spec.lane != _WHOLE, spec.ops[0]))
        for spec in order:
            tensors = [t for op in spec.ops for t in self._tensors(op)]
            needed = sum(self._reference.values[t].nbytes for t in dict.fromkeys(tensors))
            needed *= spec.times
            if chunk and (size + needed > _MOST_BYTES or spec.times != chunk[0].times):
                yield chunk
                chunk, size = [], 0
            chunk.append(spec)
            size += needed
        if chunk:
            yield chunk

    def _tensors(self, position: int) -> list[Tensor]:
        op = self._network.ops[position]
        return [*self._network.reads(op), *op.outputs]

    # ---- Measuring -------------------------------------------------------------------------------

    def _open(self, cut: Cut, column: Column, times: int, *, placed: bool) -> Runner:
        values = [self._reference.values[tensor] for tensor in cut.given]
        return Runner(cut, column, self._runtime, values, times, placed=placed)

    def _measure(self, specs: Sequence[_Spec], progress: Callable[[int], None]) -> None:
        wanted = {(spec.column, spec.lane, spec.times) for spec in specs}
        lanes: dict[tuple[Column, str, int], Lane] = {}
        opened: list[tuple[_Spec, str | None, Trial]] = []
        # The engine's choice first: a forced kernel that is the same is no other candidate.
        for spec in sorted(specs, key=lambda spec: spec.column.kernel != AUTO):
            candidate = self._try(spec)
            if candidate is None:
                continue
            kernel, trial = candidate
            opened.append((spec, kernel, trial))
            key = (spec.column, spec.lane, spec.times)
            one_thread = spec.column.threads == 1 and not spec.column.is_gpu
            lanes.setdefault(key, Lane([], one_thread)).trials.append(trial)
        for empty in self._empty.values():
            empty.measure()
        measure_lanes(
            list(lanes.values()), self._rounds, self._limit, self._noise, lambda: progress(1)
        )
        progress((len(wanted) - len(lanes)) * self._rounds)
        for empty in self._empty.values():
            empty.measure()
        for spec, kernel, trial in opened:
            base = 0.0 if trial.on_device else self._empty[spec.column.threads].seconds
            joules = None
            if spec.column.kernel == AUTO:
                joules = self._meters[spec.column.device].measure(trial.runner.time_ns)
            self._found.append(_Found(spec, kernel, _summarize(trial.seconds, base), joules))

    def _try(self, spec: _Spec) -> tuple[str | None, Trial] | None:
        """Opens a candidate and compares what it computes; None if it is none."""
        network, column = self._network, spec.column
        is_whole = spec.lane == _WHOLE
        cut = network.whole() if is_whole else network.cut(spec.ops)
        try:
            runner = self._open(cut, column, spec.times, placed=not is_whole)
        except CannotRunError:
            if is_whole or (column == Column(CPU, column.threads) and all(cut.is_ours)):
                raise  # What the engine has to run.
            return None
        kernel = "+".join(runner.kernels) or None
        if column.kernel not in (AUTO, kernel):
            return None  # It is for other operators.
        key = (spec.ops, column.device, column.threads, spec.times, kernel, spec.lane)
        if key in self._known:
            return None
        expected = [self._reference.values[tensor] for tensor in cut.wanted]
        rounds = len(spec.ops) > 1 or not all(cut.is_ours)
        # A sign that rounding turns makes all that follows another: of a whole model on a GPU the
        # operators are compared one by one.
        problem = None
        if not (is_whole and column.is_gpu):
            problem = find_difference(runner.outputs(), expected, rounds=rounds)
        if problem is not None:
            names = "the whole model" if is_whole else ", ".join(map(self._describe, spec.ops))
            self._wrong.append(f"{names} ({column}): {problem}")
            return None
        self._known.add(key)
        others = self._others[:0] if is_whole else self._others
        return kernel, Trial(runner, column.is_gpu and not is_whole, others)

    def _describe(self, position: int) -> str:
        op = self._network.ops[position]
        return f"{op.kind} '{op.name}' (node {self._network.nodes[position]})"

    # ---- The result ------------------------------------------------------------------------------

    def _result(self) -> ProfileResult:
        batch_of = {times: batch for batch, times in self._times.items()}
        measurements, totals = [], []
        for found in self._found:
            spec = found.spec
            if spec.lane == _WHOLE:
                total = file.Total(
                    batch_of[spec.times],
                    spec.column.device,
                    spec.column.threads,
                    found.seconds,
                    found.joules,
                )
                totals.append((spec, total))
                continue
            measurements.append(
                file.Measurement(
                    ops=spec.ops,
                    batch=batch_of[spec.times],
                    device=spec.column.device,
                    threads=spec.column.threads,
                    kernel=found.kernel,
                    seconds=found.seconds,
                    joules=found.joules,
                )
            )
        links = [
            link
            for gpu in self._request.gpus
            for link in measure_links(Column(gpu, 1), self._runtime, gpu)
        ]
        profile = file.Profile(
            engine=library.version(),
            model=file.ModelIdentity(
                self._request.name,
                hashlib.sha256(self._request.content).hexdigest(),
                len(self._request.content),
            ),
            values=tuple(self._values()),
            ops=tuple(self._ops()),
            devices=tuple(self._devices()),
            links=tuple(links),
            measurements=tuple(measurements),
            totals=tuple(total for _, total in totals),
            machine={
                **self._machine,
                "noise": str(self._noise),
                "empty_invocation_seconds": min(e.seconds for e in self._empty.values()),
            },
            energy=self._energy(),
        )
        shares = tuple(self._share(spec, total, links) for spec, total in totals)
        return ProfileResult(profile, shares, tuple(self._wrong), str(self._noise))

    def _energy(self) -> str:
        sources = {
            device: meter.source
            for device, meter in self._meters.items()
            if device != HOST  # The same as that of the CPU.
        }
        if len(sources) == 1:
            return next(iter(sources.values()))
        return "; ".join(f"{device}: {source}" for device, source in sources.items())

    def _devices(self) -> Iterator[file.Device]:
        cpu = self._machine["cpu"]
        for device in self._request.devices:
            if device == CPU:
                yield file.Device(CPU, f"larq_engine {library.version()} on {cpu}", "host")
            elif device == HOST:
                yield file.Device(HOST, machine.host_title(self._runtime), "host")
            else:
                yield file.Device(device, self._request.gpus[device], device)

    def _values(self) -> Iterator[file.Value]:
        network = self._network
        for number, tensor in enumerate(network.values()):
            kind = "inner"
            if tensor in network.outputs:
                kind = "output"
            if tensor in network.inputs:
                kind = "input"
            yield file.Value(number, tensor.name, self._sizes(tensor), kind)

    def _sizes(self, tensor: Tensor) -> Mapping[int, int]:
        size = self._reference.values[tensor].nbytes
        return {batch: size * times for batch, times in self._times.items()}

    def _ops(self) -> Iterator[file.Op]:
        number = {tensor: n for n, tensor in enumerate(self._network.values())}
        for position, (node, op) in enumerate(
            zip(self._network.nodes, self._network.ops, strict=True)
        ):
            macs = count_macs(op)
            yield file.Op(
                id=position,
                node=node,
                op=op.kind,
                layer=name_layer(op),
                name=op.name,
                macs={batch: macs * times for batch, times in self._times.items()} if macs else {},
                inputs=tuple(number[tensor] for tensor in self._network.reads(op)),
                outputs=tuple(number[tensor] for tensor in op.outputs),
            )

    def _share(self, spec: _Spec, total: file.Total, links: Sequence[file.Link]) -> Share:
        """Adds up the rows that a whole model is made of."""
        layout = self._layouts[spec.column, spec.times]
        seconds = {
            (f.spec.ops, f.spec.column.device): f.seconds.median
            for f in self._found
            if f.spec.times == spec.times
            and f.spec.lane != _WHOLE
            and f.spec.column.threads == spec.column.threads
            and f.spec.column.kernel == AUTO
        }
        device = spec.column.device
        together = {**dict.fromkeys(layout.host_runs, HOST), **dict.fromkeys(layout.runs, device)}
        moves = sum(
            link.seconds_of(size)
            for size, there in layout.moved
            for link in links
            if device == (link.target if there else link.source)
        )
        sums = []
        for runs in (dict.fromkeys(layout.runs, device), together):
            known = {run: seconds[run, who] for run, who in runs.items() if (run, who) in seconds}
            single = sorted(set(spec.ops).difference(*known))
            rows = [
                seconds.get(((position,), self._device_of(position, spec.column, layout)))
                for position in single
            ]
            sums.append(moves + sum(known.values()) + sum(row or 0.0 for row in rows))
            if runs is not together:
                missing = tuple(p for p, row in zip(single, rows, strict=True) if row is None)
        return Share(total, sums[0], sums[1], missing)

    def _device_of(self, position: int, column: Column, layout: _Layout) -> str:
        """Who computes an operator, as the request calls it."""
        taken = layout.taken.get(position, HOST)
        return taken if taken in (CPU, HOST) else column.device


def _consecutive(positions: Iterable[int]) -> list[tuple[int, ...]]:
    """Two or more that follow one another."""
    runs: list[list[int]] = []
    for position in sorted(positions):
        if runs and position == runs[-1][-1] + 1:
            runs[-1].append(position)
        else:
            runs.append([position])
    return [tuple(run) for run in runs if len(run) > 1]


def _summarize(samples: Sequence[float], base: float) -> file.Timing:
    low, median, high = np.maximum(np.percentile(samples, [25, 50, 75]) - base, 0.0)
    return file.Timing(float(median), float(low), float(high), len(samples))
