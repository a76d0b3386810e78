"""Describes this package and what it finds on this machine, for people and for fault reports."""

import importlib.metadata
import importlib.util
import os
import platform
from pathlib import Path

from larq_engine.python import library
from larq_engine.python.hosts import HOSTS, package_of


def about() -> str:
    """Returns lines of text: versions, hosts, the CPU's kernels, GPUs or why there is none.

    It opens NVIDIA's driver to look for GPUs. That takes a while, and some memory of each GPU until
    it returns.
    """
    package = Path(__file__).resolve().parents[1]
    version = (package / "version.txt").read_text(encoding="utf-8").strip()
    lines = [
        f"larq_engine {version} at {package}",
        f"Python {platform.python_version()}, NumPy {importlib.metadata.version('numpy')}, "
        f"{platform.platform()}",
        f"hosts: {', '.join(map(_host, HOSTS))}",
        f"plug-in: {_plug_in()}",
    ]
    settings = [f"{name}={value}" for name, value in sorted(os.environ.items()) if _is_ours(name)]
    if settings:
        lines.append(f"environment: {' '.join(settings)}")
    return "\n".join(lines)


def _host(name: str) -> str:
    """Returns a host's name and version; does not import its package, which would take seconds."""
    package = package_of(name)
    if importlib.util.find_spec(package) is None:
        return f"no {name}"
    distributions = importlib.metadata.packages_distributions().get(package, [])
    versions = {importlib.metadata.version(distribution) for distribution in distributions}
    version = "/".join(sorted(versions)) or "of an unknown version"
    return f"{name} {version}" if package == name else f"{name} ({package} {version})"


def _plug_in() -> str:
    """Describes the plug-in; each device is a line of its own."""
    try:
        return f"{library.version()} at {library.delegate_path()}\n{library.devices()}"
    except OSError as error:
        return f"none: {error}"


def _is_ours(variable: str) -> bool:
    return variable.startswith("LARQ_ENGINE_") or variable == "CUDA_VISIBLE_DEVICES"
