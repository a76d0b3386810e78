"""Checks what is to be profiled before anything is measured."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from larq_engine.profiling import machine
from larq_engine.profiling.run_config import AUTO, RunConfig
from larq_engine.python import library
from larq_engine.python.devices import ACCELERATORS, CPU, HOST
from larq_engine.python.model_file import read_model
from larq_engine.python.thread_count import running_threads, warn_of_fewer_threads

ALL = "all"


@dataclass(frozen=True)
class Request:
    """The model, and the devices, threads, kernels and batches to measure.

    Attributes:
        content: The bytes of the model's file.
        name: The model's name.
        devices: Names of the devices in order, including the host.
        gpus: Titles of the devices that are GPUs.
        threads: Numbers of threads that run.
        kernels: Names of kernels that are measured beside the engine's choice.
        batches: Numbers of samples; empty for the batch that the model declares.
    """

    content: bytes
    name: str
    devices: tuple[str, ...]
    gpus: Mapping[str, str]
    threads: tuple[int, ...]
    kernels: tuple[str, ...]
    batches: tuple[int, ...]

    @classmethod
    def parse(
        cls,
        model: Any,
        devices: str | Sequence[str] | None,
        threads: int | Sequence[int],
        kernels: str | Sequence[str],
        batches: int | Sequence[int] | None,
    ) -> "Request":
        """Checks the arguments; raises a ValueError that names the valid ones."""
        content = read_model(model)
        found = machine.gpus()
        usual = [CPU, HOST, *dict.fromkeys(name.partition(":")[0] for name in found)]
        known = [*usual, *found]  # the first GPU has two names
        wanted = usual if devices is None else [devices] if isinstance(devices, str) else [*devices]
        for device in wanted:
            if device not in known:
                hints = [
                    f"; larq-engine about says why there is no {row.title}"
                    for row in ACCELERATORS
                    if row.name in device
                ]
                if isinstance(devices, str) and "," in devices:
                    hints = [f"; as in devices={devices.split(',')}"]
                raise ValueError(
                    f"devices: expected some of {', '.join(known)}, got {device!r}" + "".join(hints)
                )
        gpus = {
            name: found[name if name in found else f"{name}:0"]
            for name in wanted
            if name not in (CPU, HOST)
        }
        return cls(
            content=content,
            name=Path(model).name if isinstance(model, (str, os.PathLike)) else "model",
            devices=tuple(dict.fromkeys([*wanted, HOST])),
            gpus=gpus,
            threads=_threads(threads),
            kernels=_parse_kernels(kernels),
            batches=() if batches is None else _numbers("batch", batches, 1 << 20),
        )

    def configs(self) -> Iterator[RunConfig]:
        """Yields the configs to measure; the engine's choice comes first on each device."""
        for threads in self.threads:
            for device in self.devices:
                yield RunConfig(device, threads)
                if device == HOST:
                    continue
                for kernel in self.kernels:
                    if (kernel in _cpu_kernels()) == (device == CPU):
                        yield RunConfig(device, threads, kernel)


def _threads(asked: int | Sequence[int]) -> tuple[int, ...]:
    """Returns the numbers of threads that run, each once."""
    numbers = _numbers("threads", asked, 256)
    # The calls between the user's and this one are `profile`, `Request.parse` and `_threads`.
    warn_of_fewer_threads("threads", max(numbers), stacklevel=4)
    return tuple(dict.fromkeys(map(running_threads, numbers)))


def _numbers(name: str, values: int | Sequence[int], most: int) -> tuple[int, ...]:
    found: list[Any] = [values]
    if isinstance(values, Iterable) and not isinstance(values, (str, bytes)):
        found = [*dict.fromkeys(values)]
    wrong = [v for v in found if isinstance(v, bool) or not isinstance(v, int) or not 0 < v <= most]
    if wrong or not found:
        got = repr(wrong[0]) if wrong else "none"
        raise ValueError(
            f"{name}: expected a whole number from 1 to {most}, or a list of them, got {got}; as "
            f"in {name}=[1, 2]"
        )
    return tuple(found)


def _cpu_kernels() -> tuple[str, ...]:
    return library.kernels()


def _parse_kernels(kernels: str | Sequence[str]) -> tuple[str, ...]:
    if kernels == AUTO:
        return ()
    if kernels == ALL:
        return (*_cpu_kernels(), *library.gpu_kernels())
    names = (kernels,) if isinstance(kernels, str) else tuple(kernels)
    known = (*_cpu_kernels(), *library.gpu_kernels())
    for name in names:
        if name != AUTO and name not in known:
            raise ValueError(
                f"kernels: expected {AUTO}, {ALL} or some of {', '.join(known)}, got '{name}'"
            )
    return tuple(name for name in names if name != AUTO)
