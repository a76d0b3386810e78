"""What a profile was measured on, in words and numbers for people."""

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

from larq_engine.python import library
from larq_engine.python.host import import_runtime

_TITLES = {"ai_edge_litert": "LiteRT", "tensorflow": "TensorFlow Lite", "tflite_runtime": "tflite"}


def describe_machine() -> dict[str, Any]:
    """The machine, before anything is measured."""
    return {
        "cpu": cpu_name(),
        "cores": library.usable_cpus(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        **_load(),
    }


def _load() -> dict[str, float]:
    """Of the last minute; nothing where the system does not tell, as Windows does not."""
    getloadavg = getattr(os, "getloadavg", None)
    return {"load_average": getloadavg()[0]} if getloadavg else {}


def cpu_name() -> str:
    """As far as the system tells."""
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        text = ""
    lines = [line.partition(":") for line in reversed(text.splitlines())]
    facts = {name.strip(): value.strip() for name, _, value in lines}
    return facts.get("model name") or facts.get("Model") or platform.machine()


def host_title(runtime: str | None) -> str:
    """The host and its version."""
    package = import_runtime(runtime).__name__.partition(".")[0]
    names = importlib.metadata.packages_distributions().get(package, [])
    versions = sorted({importlib.metadata.version(name) for name in names})
    return f"{_TITLES.get(package, package)} {'/'.join(versions)} with XNNPACK".replace("  ", " ")


def gpus() -> dict[str, str]:
    """The GPUs that there are, as devices are named, and what they are."""
    lines = [line.partition(": ") for line in library.devices().splitlines()]
    return {
        name: title
        for name, _, title in lines
        if name.startswith("cuda:") and not title.startswith("none")
    }
