"""Turns the samples into a Profile, wrapped in the ProfileResult that profiling returns."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from larq_engine.placing.profile import Device, ModelIdentity, Profile, Timing, Total
from larq_engine.profiling import machine
from larq_engine.profiling.empty import EmptyRun
from larq_engine.profiling.limits import Limits
from larq_engine.profiling.links import measure_links
from larq_engine.profiling.model_facts import ModelFacts
from larq_engine.profiling.noise import Noise
from larq_engine.profiling.request import Request
from larq_engine.profiling.result import ProfileResult
from larq_engine.profiling.rows import Key, Rows, summarize
from larq_engine.profiling.run_config import RunConfig
from larq_engine.profiling.whole import ModelRun, WholeTimes
from larq_engine.python import library
from larq_engine.python.devices import CPU, HOST


@dataclass
class Samples:
    """Everything that was measured of a model.

    Attributes:
        model_times: Times of runs of the whole model, one for each configuration.
        cut: Times of operators that were cut out of the model.
        joules: The energy of rows and of whole models; None where nothing measures it.
        verified_keys: Keys of the rows whose results were compared and found right.
        wrong: The operators and whole models whose results were wrong, each with its configuration
            and the difference.
        noise: How quiet the machine was.
        empty: Invocations that compute nothing, by the number of threads.
    """

    model_times: list[WholeTimes] = field(default_factory=list)
    cut: dict[Key, Timing] = field(default_factory=dict)
    joules: dict[Key | ModelRun, float | None] = field(default_factory=dict)
    verified_keys: set[Key] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    noise: Noise = field(default_factory=Noise)
    empty: dict[int, EmptyRun] = field(default_factory=dict)


def make_result(
    request: Request,
    facts: ModelFacts,
    samples: Samples,
    machine_facts: Mapping[str, Any],
    sources: Mapping[str, str],
    host: str | None,
) -> ProfileResult:
    """Makes the result; measures what depends on the machine alone, which are limits and links.

    Args:
        request: What was to be measured.
        facts: What is known of the model.
        samples: What was measured.
        machine_facts: Facts about the machine, by name, such as its CPU.
        sources: Says for each device which counter measures its energy, such as RAPL.
        host: The host's name.
    """
    rows = Rows(samples.model_times, samples.cut, samples.verified_keys, facts.batch_of)
    limits = Limits(host)
    links = [link for gpu in request.gpus for link in measure_links(RunConfig(gpu, 1), host, gpu)]
    totals = [
        (
            whole,
            Total(
                facts.batch_of[whole.model_run.times],
                whole.model_run.config.device,
                whole.model_run.config.threads,
                summarize(whole.seconds),
                samples.joules[whole.model_run],
            ),
        )
        for whole in samples.model_times
        if whole.model_run in samples.joules
    ]

    def place_in_file(key: Key) -> tuple[int, ...]:
        """Returns the sort key of a row.

        Rows are sorted by batch, threads and device. On a device, single operators come before
        groups, and both have the order of the model.
        """
        device = request.devices.index(key.device)
        return key.times, key.threads, device, int(len(key.ops) > 1), *key.ops

    measurements = [
        replace(
            rows.rows[key],
            joules=samples.joules.get(key),
            limit_seconds=limits.seconds(
                facts.work(key.ops, key.times), key.device, key.threads, key.kernel
            ),
        )
        for key in sorted(rows.rows, key=place_in_file)
    ]
    profile = Profile(
        engine=library.version(),
        model=ModelIdentity(
            request.name, hashlib.sha256(request.content).hexdigest(), len(request.content)
        ),
        values=tuple(facts.values()),
        ops=tuple(facts.ops()),
        devices=tuple(_devices(request, str(machine_facts["cpu"]), host)),
        links=tuple(links),
        measurements=tuple(measurements),
        totals=tuple(total for _, total in totals),
        machine={
            **machine_facts,
            **limits.describe(),
            "noise": str(samples.noise),
            "empty_invocation_seconds": min(run.seconds for run in samples.empty.values()),
        },
        energy=_energy(sources),
    )
    shares = tuple(rows.share(whole, total, links) for whole, total in totals)
    return ProfileResult(profile, shares, tuple(samples.wrong), str(samples.noise))


def _energy(sources: Mapping[str, str]) -> str:
    # The host's energy is that of the CPU.
    described = {device: source for device, source in sources.items() if device != HOST}
    if len(described) == 1:
        return next(iter(described.values()))
    return "; ".join(f"{device}: {source}" for device, source in described.items())


def _devices(request: Request, cpu: str, host: str | None) -> Iterator[Device]:
    for device in request.devices:
        if device == CPU:
            yield Device(CPU, f"larq_engine {library.version()} on {cpu}", "host")
        elif device == HOST:
            yield Device(HOST, machine.host_title(host), "host")
        else:
            yield Device(device, request.gpus[device], device)
