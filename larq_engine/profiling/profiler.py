"""Profiles a model: decides what to measure, and measures it."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from larq_engine.converter.lce_ops import is_ours
from larq_engine.profiling import energy, machine
from larq_engine.profiling.compare import find_difference
from larq_engine.profiling.cut_trial import CutTrial
from larq_engine.profiling.empty import EmptyRun
from larq_engine.profiling.interrupts import Interrupts
from larq_engine.profiling.make_result import Samples, make_result
from larq_engine.profiling.model_facts import ModelFacts
from larq_engine.profiling.network import Network
from larq_engine.profiling.reference import Reference
from larq_engine.profiling.request import Request
from larq_engine.profiling.result import ProfileResult
from larq_engine.profiling.rounds import TrialGroup, measure_groups
from larq_engine.profiling.rows import Key, summarize
from larq_engine.profiling.run_config import (
    AUTO,
    CannotRunError,
    RunConfig,
    Runner,
    open_part,
)
from larq_engine.profiling.whole import (
    Layout,
    ModelRun,
    WholeTrial,
    lay_out,
    placement_of,
)
from larq_engine.python import hosts
from larq_engine.python.devices import CPU, HOST
from larq_engine.python.progress import count_measurements

# Most bytes that the open candidates read and write; more candidates are measured in parts.
_MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class _Spec:
    """Operators to cut out of the model, the config that runs them, and the batch."""

    ops: tuple[int, ...]
    config: RunConfig
    times: int


_Candidate = TypeVar("_Candidate", ModelRun, _Spec)


def profile(
    model: Any,
    *,
    devices: str | Sequence[str] | None = None,
    threads: int | Sequence[int] = 1,
    kernels: str | Sequence[str] = AUTO,
    batch: int | Sequence[int] | None = None,
    rounds: int = 20,
    seconds: float = 2.0,
    energy_sensor: str | os.PathLike[str] | None = None,
    host: str | None = None,
    verbose: int = 0,
) -> ProfileResult:
    """Measures each operator of a model on each device, with each kernel that could serve it.

    Args:
        model: The path of a .tflite file, or its content, as bytes or anything with a buffer.
        devices: One or some of "cpu" (this engine), "host" (the host's own operators), "cuda" and
            "cuda:N"; None: the CPU, the host and the first GPU, if there is one. The host is
            always measured: it computes what no other device can.
        threads: The number of threads, or several numbers, each measured. If the process may use
            fewer CPUs, that many run and are reported, and there is a warning.
        kernels: "auto" for the kernel that the engine chooses; "all", or names of kernels, which
            are measured beside that one.
        batch: The number of samples at once, or several numbers; the one that the model declares
            if None.
        rounds: How often each operator is timed on each device with each kernel; each time a few
            samples are taken.
        seconds: A device with a kernel that has taken so long, and has had three rounds, skips the
            others.
        energy_sensor: The file of a sensor that measures the CPU's or the board's energy or power.
        host: "litert", "tensorflow" or "tflite_runtime"; the first installed if None.
        verbose: If 1, print the progress where no terminal shows it.

    Raises:
        ValueError: The model cannot be run alone, operator by operator, or an argument is not
            valid; the message names the valid ones.
        FileNotFoundError: There is no such model, or the plug-in was not built.
        ImportError: No host is installed.
    """
    request = Request.parse(model, devices, threads, kernels, batch)
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise ValueError(f"rounds: expected a whole number from 1 on, got {rounds!r}")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds >= 0:
        raise ValueError(f"seconds: expected a number from 0 on, got {seconds!r}")
    if host in (hosts.NO_HOST, hosts.AUTO):
        raise ValueError(
            f"host: expected a host to compare the engine with, got {host!r}; "
            "Interpreter(model, host='none').profile() times a model without one"
        )
    hosts.import_host(host)  # if there is none, nothing is measured in vain
    sensor = None if energy_sensor is None else Path(energy_sensor)
    meter = energy.cpu_meter(sensor)
    with Interrupts() as interrupts:
        return _Profiler(request, rounds, seconds, meter, host, verbose, interrupts).run()


class _Profiler:
    def __init__(
        self,
        request: Request,
        rounds: int,
        limit: float,
        meter: energy.Meter,
        host: str | None,
        verbose: int,
        interrupts: Interrupts,
    ) -> None:
        self._interrupts = interrupts
        self._request = request
        self._rounds = rounds
        self._limit = limit
        self._host = host
        self._verbose = verbose
        self._machine = machine.describe_machine()
        self._network = Network(request.content)
        self._network.check_parts_can_run()
        self._reference = Reference(self._network, host)
        self._batches = request.batches or (self._reference.declared,)
        self._times = {batch: self._reference.times(batch) for batch in self._batches}
        self._others = np.ones(self._network.constant_bytes // 8, np.int64)
        empty = {threads: EmptyRun(threads, host) for threads in request.threads}
        self._samples = Samples(empty=empty)
        self._meters = dict.fromkeys((CPU, HOST), meter)
        for gpu in request.gpus:
            self._meters[gpu] = energy.gpu_meter(int(gpu.partition(":")[2] or 0))
        self._layouts: dict[tuple[RunConfig, int], Layout] = {}

    def run(self) -> ProfileResult:
        model_runs = list(self._model_runs())
        parts = list(dict.fromkeys(self._parts(model_runs)))
        groups = len(model_runs) + len(
            {(s.config, s.times) for s in parts if self._is_timed_cut_out(s)}
        )
        with count_measurements("profiling", groups * self._rounds, self._verbose) as progress:
            everything = range(len(self._network.ops))
            for chunk in self._chunks(model_runs, lambda model_run: everything):
                self._measure_wholes(chunk, progress)
            for part in self._chunks(parts, lambda spec: spec.ops):
                self._measure_parts(part, progress)
        return make_result(
            self._request,
            ModelFacts(self._network, self._reference, self._times),
            self._samples,
            self._machine,
            {device: meter.source for device, meter in self._meters.items()},
            self._host,
        )

    # ---- What to measure -------------------------------------------------------------------------

    def _model_runs(self) -> Iterator[ModelRun]:
        """Yields each config with the model as it is, and with the engine's operators split."""
        for times in sorted(set(self._times.values())):
            for config in self._request.configs():
                if config.kernel == AUTO:
                    model_run = ModelRun(config, True, times)
                    self._layouts[config, times] = lay_out(self._open_whole(model_run))
                yield ModelRun(config, True, times)
                if config.device != HOST:
                    yield ModelRun(config, False, times)

    def _parts(self, model_runs: Sequence[ModelRun]) -> Iterator[_Spec]:
        """Yields operators one by one, and those that the engine runs together."""
        for model_run in model_runs:
            config = model_run.config
            if model_run.fuse:
                for position, op in enumerate(self._network.ops):
                    if config.device != HOST or not is_ours(op):
                        yield _Spec((position,), config, model_run.times)
                for run in self._layout_of(config, model_run.times).runs:
                    yield _Spec(run, config, model_run.times)

    def _layout_of(self, config: RunConfig, times: int) -> Layout:
        """Returns the layout of a device, which is the same for all kernels."""
        return self._layouts[RunConfig(config.device, config.threads), times]

    def _is_timed_cut_out(self, spec: _Spec) -> bool:
        """Tells whether the whole model gives no time of these operators."""
        if spec.config.device == HOST:
            return True
        taken = self._layout_of(spec.config, spec.times).taken
        device = spec.config.device.partition(":")[0]
        return any(taken.get(op) != device for op in spec.ops)

    def _chunks(
        self, candidates: Sequence[_Candidate], ops_of: Callable[[_Candidate], Sequence[int]]
    ) -> Iterator[list[_Candidate]]:
        """Yields groups of candidates with nearby operators, as large as memory allows."""
        chunk: list[_Candidate] = []
        size = 0
        # Groups keep the order of the operators.
        for candidate in sorted(candidates, key=lambda c: (c.times, ops_of(c)[0])):
            needed = self._bytes_of(ops_of(candidate), candidate.times)
            if chunk and (size + needed > _MOST_BYTES or candidate.times != chunk[0].times):
                yield chunk
                chunk, size = [], 0
            chunk.append(candidate)
            size += needed
        if chunk:
            yield chunk

    def _bytes_of(self, positions: Sequence[int], times: int) -> int:
        """Returns the bytes of operators' values and weights; only values grow with the batch."""
        ops = [self._network.ops[position] for position in positions]
        values = {t for op in ops for t in (*self._network.reads(op), *op.outputs)}
        constants = {t for op in ops for t in op.inputs if t is not None} - values
        return sum(constant.stored_bytes for constant in constants) + times * sum(
            self._reference.values[value].nbytes for value in values
        )

    # ---- Whole models ----------------------------------------------------------------------------

    def _open_whole(self, model_run: ModelRun) -> Runner:
        cut = self._network.whole()
        placement = ""
        if not model_run.fuse:
            placement = placement_of(cut, self._layout_of(model_run.config, model_run.times))
        values = [self._reference.values[tensor] for tensor in cut.given]
        return Runner(
            cut,
            model_run.config,
            self._host,
            values,
            model_run.times,
            fuse=model_run.fuse,
            placement=placement,
        )

    def _measure_wholes(
        self, model_runs: Sequence[ModelRun], progress: Callable[[int], None]
    ) -> None:
        trials = []
        for model_run in model_runs:
            try:
                runner = self._open_whole(model_run)
            except CannotRunError:
                if model_run.config.kernel == AUTO:
                    raise
                continue  # The kernel is for other models.
            # A sign that rounding flips changes all that follows. So on a GPU not the whole model
            # is compared, but each operator by itself.
            problem = (
                None if model_run.config.is_gpu else self._find_difference(runner, rounds=True)
            )
            if problem is None:
                trials.append(WholeTrial(model_run, runner))
            else:
                self._samples.wrong.append(f"the whole model ({model_run.config}): {problem}")
        self._measure_lanes(
            [TrialGroup([trial], _is_one_thread(trial.times.model_run.config)) for trial in trials],
            progress,
            len(model_runs) - len(trials),
        )
        for trial in trials:
            self._samples.model_times.append(trial.times)
            model_run = trial.times.model_run
            if model_run.fuse and model_run.config.kernel == AUTO:
                meter = self._meters[model_run.config.device]
                self._samples.joules[model_run] = meter.measure(trial.runner.time_ns)

    # ---- Parts -----------------------------------------------------------------------------------

    def _measure_parts(self, specs: Sequence[_Spec], progress: Callable[[int], None]) -> None:
        wanted = {(spec.config, spec.times) for spec in specs if self._is_timed_cut_out(spec)}
        groups: dict[tuple[RunConfig, int], list[CutTrial]] = {}
        opened: list[tuple[Key, CutTrial]] = []
        # The engine's choice comes first: a forced kernel that is the same is no new candidate.
        for spec in sorted(specs, key=lambda spec: spec.config.kernel != AUTO):
            found = self._try(spec)
            if found is None:
                continue
            key, runner = found
            if self._is_timed_cut_out(spec):
                trial = CutTrial(runner, spec.config.is_gpu, self._others)
                groups.setdefault((spec.config, spec.times), []).append(trial)
                opened.append((key, trial))
            elif spec.config.kernel == AUTO:
                self._samples.joules[key] = self._meters[key.device].measure(runner.time_ns)
        for empty in self._samples.empty.values():
            empty.measure()
        self._measure_lanes(
            [TrialGroup(trials, _is_one_thread(config)) for (config, _), trials in groups.items()],
            progress,
            len(wanted) - len(groups),
        )
        for empty in self._samples.empty.values():
            empty.measure()
        for key, trial in opened:
            base = 0.0 if trial.on_device else self._samples.empty[key.threads].seconds
            self._samples.cut[key] = summarize(trial.seconds, base)
            if trial.runner.config.kernel == AUTO:
                self._samples.joules[key] = self._meters[key.device].measure(trial.runner.time_ns)

    def _try(self, spec: _Spec) -> tuple[Key, Runner] | None:
        """Opens operators and compares what they compute; returns None if they are no candidate."""
        self._interrupts.check()
        config = spec.config
        cut = self._network.cut(spec.ops)
        try:
            values = [self._reference.values[tensor] for tensor in cut.given]
            runner = open_part(cut, config, self._host, values, spec.times)
        except CannotRunError:
            if config == RunConfig(CPU, config.threads) and all(cut.is_ours):
                raise  # The engine has to run its own operators.
            return None
        kernel = runner.kernels
        if config.kernel not in (AUTO, kernel):
            return None  # The kernel is for other operators.
        key = Key(spec.ops, config.device, config.threads, spec.times, kernel)
        if key in self._samples.verified_keys:
            return None
        rounds = len(spec.ops) > 1 or not all(cut.is_ours)
        problem = self._find_difference(runner, rounds=rounds)
        if problem is not None:
            names = ", ".join(map(self._describe, spec.ops))
            self._samples.wrong.append(f"{names} ({config}): {problem}")
            return None
        self._samples.verified_keys.add(key)
        return key, runner

    def _find_difference(self, runner: Runner, *, rounds: bool) -> str | None:
        expected = [self._reference.values[tensor] for tensor in runner.cut.wanted]
        return find_difference(runner.outputs(), expected, rounds=rounds)

    def _describe(self, position: int) -> str:
        op = self._network.ops[position]
        return f"{op.kind} '{op.name}' (node {self._network.nodes[position]})"

    def _measure_lanes(
        self, groups: Sequence[TrialGroup], progress: Callable[[int], None], skipped: int
    ) -> None:
        def go_on() -> None:
            self._interrupts.check()
            progress(1)

        measure_groups(groups, self._rounds, self._limit, self._samples.noise, go_on)
        progress(skipped * self._rounds)


def _is_one_thread(config: RunConfig) -> bool:
    return config.threads == 1 and not config.is_gpu
