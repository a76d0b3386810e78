"""Engines of a bundle: the present one and a baseline, each for a process of its own."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.gpu.bench import ROOT


@dataclass(frozen=True)
class Library:
    """A plug-in with its kernels, and the Python package of the same commit.

    Attributes:
        name: "present" or "baseline", or the way in which the present engine launches.
        folder: Has the plug-in and the library of kernels.
        package: Has the folder `larq_engine`.
        site: Has the Python packages that it needs.
        variables: Are added to the environment of its process.
    """

    name: str
    folder: Path
    package: Path
    site: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def environment(self) -> Mapping[str, str]:
        """Returns the variables of a process that runs models with it."""
        return {
            **os.environ,
            "LARQ_ENGINE_LIBRARY": str(self.folder / "liblarq_engine.so"),
            "PYTHONPATH": os.pathsep.join(map(str, (self.package, self.site))),
            **self.variables,
        }


def libraries_of(bundle: Path) -> list[Library]:
    """Returns the present engine, and then the baseline if the bundle has one."""
    found = [Library("present", bundle, ROOT, bundle / "site")]
    baseline = bundle / "baseline"
    if baseline.is_dir():
        found.append(Library("baseline", baseline, baseline, bundle / "site"))
    return found


def launches_of(bundle: Path) -> list[Library]:
    """Returns the present engine twice: with early launches, and with launches in turn."""
    present = libraries_of(bundle)[0]
    return [
        replace(present, name=name, variables={"LARQ_ENGINE_EARLY_LAUNCHES": answer})
        for name, answer in (("early launches", "on"), ("launches in turn", "off"))
    ]
