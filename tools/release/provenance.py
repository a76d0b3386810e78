"""Says what was built from what: an unsigned in-toto statement with SLSA's provenance.

The publisher of a release signs it (`cosign attest-blob`, or the index's own attestations).
"""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_NAME = "urn:larq_engine:release"

# Debian's compilers for other machines.
_COMPILERS = {"aarch64": "aarch64-linux-gnu-g++", "armv7l": "arm-linux-gnueabihf-g++"}


def compilers(wheels: Mapping[str, Path]) -> list[str]:
    """Returns the names of the system's compilers that compiled libraries for these machines."""
    others = sorted(wheels.keys() & _COMPILERS.keys() - {platform.machine()})
    return ["g++", *(_COMPILERS[machine] for machine in others)]


def statement(
    *,
    artifacts: Iterable[Path],
    commit: str,
    version: str,
    pins: Iterable[Path],
    compilers: Iterable[tuple[str, str]],
) -> dict[str, Any]:
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": file.name, "digest": {"sha256": _sha256(file)}} for file in sorted(artifacts)
        ],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{_NAME}:make-release",
                "externalParameters": {"version": version, "commit": commit},
                "internalParameters": {
                    "python": platform.python_version(),
                    "system": platform.platform(),
                },
                "resolvedDependencies": [
                    {"name": "larq_engine", "digest": {"gitCommit": commit}},
                    *({"name": name, "digest": {"sha256": sha256}} for name, sha256 in compilers),
                    *(package for file in pins for package in _packages(file.read_text())),
                ],
            },
            "runDetails": {"builder": {"id": f"{_NAME}:own-machine"}},
        },
    }


def _packages(text: str) -> list[dict[str, Any]]:
    """Returns each package, with the hashes of the files that may have been installed."""
    packages = []
    for requirement in text.replace("\\\n", " ").splitlines():
        name = re.match(r"([\w.-]+)==(\S+)", requirement)
        if name:
            hashes = re.findall(r"--hash=sha256:(\w+)", requirement)
            packages.append(
                {
                    "uri": f"pkg:pypi/{name[1]}@{name[2]}",
                    "annotations": {"sha256 of its files": hashes},
                }
            )
    return packages


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
