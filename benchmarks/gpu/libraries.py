"""The present engine of a bundle, and the one that it is compared with: each in its own process."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.gpu.bench import ROOT


@dataclass(frozen=True)
class Library:
    """A plug-in with its kernels, and the Python package of the same commit.

    Attributes:
        name: "present" or "baseline".
        folder: Has the plug-in, with the kernels beside it.
        package: Has the folder `larq_engine`.
        site: Has what Python needs besides.
    """

    name: str
    folder: Path
    package: Path
    site: Path

    def environment(self) -> Mapping[str, str]:
        """Returns the variables of a process that runs models with it."""
        return {
            **os.environ,
            "LARQ_ENGINE_LIBRARY": str(self.folder / "liblarq_engine.so"),
            "PYTHONPATH": os.pathsep.join(map(str, (self.package, self.site))),
        }


def libraries_of(bundle: Path) -> list[Library]:
    """The present one first."""
    found = [Library("present", bundle, ROOT, bundle / "site")]
    baseline = bundle / "baseline"
    if baseline.is_dir():
        found.append(Library("baseline", baseline, baseline, bundle / "site"))
    return found
