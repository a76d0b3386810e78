"""Describes for people the machine on which a profile was measured."""

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

from larq_engine.python import library
from larq_engine.python.devices import accelerator_of
from larq_engine.python.hosts import import_host

_TITLES = {"ai_edge_litert": "LiteRT", "tensorflow": "TensorFlow Lite", "tflite_runtime": "tflite"}


def describe_machine() -> dict[str, Any]:
    """Describes the machine before anything is measured."""
    return {
        "cpu": cpu_name(),
        "cores": library.usable_cpus(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        **_load(),
    }


def _load() -> dict[str, float]:
    """Returns the load of the last minute; nothing if the system does not tell, as Windows."""
    getloadavg = getattr(os, "getloadavg", None)
    return {"load_average": getloadavg()[0]} if getloadavg else {}


def cpu_name() -> str:
    """Returns the CPU's name, as far as the system tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        text = ""
    lines = [line.partition(":") for line in reversed(text.splitlines())]
    facts = {name.strip(): value.strip() for name, _, value in lines}
    return facts.get("model name") or facts.get("Model") or platform.machine()


def host_title(host: str | None) -> str:
    """Returns the host's name and version."""
    package = import_host(host).__name__.partition(".")[0]
    names = importlib.metadata.packages_distributions().get(package, [])
    versions = sorted({importlib.metadata.version(name) for name in names})
    return f"{_TITLES.get(package, package)} {'/'.join(versions)} with XNNPACK".replace("  ", " ")


def gpus() -> dict[str, str]:
    """Returns the title of each GPU that the machine has, by the device's name."""
    lines = [line.partition(": ") for line in library.devices().splitlines()]
    return {
        name: title
        for name, _, title in lines
        if accelerator_of(name) and ":" in name and not title.startswith("none")
    }
