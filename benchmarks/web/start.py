"""Measures what a page needs to its first answer: `python -m benchmarks.web.start [MODEL...]`.

A time is that from a click, when nothing of the engine is loaded, to the first output: scripts and
module are fetched from this machine and compiled, the model is fetched and opened, and one image
runs. Each time a new browser does that, with an empty cache. The bytes are those of the files of
the engine that the page fetched.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.contenders import OURS, Contender, Sample
from benchmarks.interleave import Place, finish, measure
from benchmarks.web import models
from benchmarks.web.browser import HERE, Browser, PageWorker, all_cores, make_server
from benchmarks.web.contenders import PEERS
from benchmarks.web.server import Server
from larq_engine.python.text_table import align_columns

CONTENDERS = (OURS, *PEERS)


def main() -> int:
    options = models.parse_options(
        "web.start",
        "Times the first answer of models in larq_engine's package and in other engines, each in a "
        "new browser. An engine whose output is wrong has no time.",
    )
    with make_server() as server:
        starts = Starts(server, options.threads)
        summary = measure(
            "web_start",
            CONTENDERS,
            lambda progress: models.make_trials(options.models, CONTENDERS, progress),
            options,
            Place(lambda contender: Starter(starts, contender), starts.measure_limits, all_cores),
        )
        summary["bytes"] = {name: sizes(files) for name, files in starts.files.items()}
    status = finish(summary, options.json)
    print("\n" + format_sizes(summary["bytes"]))
    return status


class Starts:
    """Browsers that are started for one answer.

    Attributes:
        files: The files of each contender that a page fetched.
    """

    def __init__(self, server: Server, threads: int) -> None:
        self._server = server
        self._threads = threads
        self.files: dict[str, list[Path]] = {}

    def browser(self) -> Browser:
        return Browser(self._server, self._threads)

    def measure_limits(self) -> dict[str, Any]:
        with self.browser() as browser:
            return browser.measure_limits()

    def milliseconds(self, contender: Contender, model: str, data: str) -> float:
        """Returns the time from a click to the answer, and keeps which files it took."""
        with self.browser() as browser:
            self._server.taken.clear()
            taken: float = browser.call(
                "firstAnswer", contender.runtime, self._threads, model, data
            )
            self.files[contender.name] = engine_files(self._server.taken)
        return taken


class Starter:
    """A contender that starts anew each time."""

    def __init__(self, starts: Starts, contender: Contender) -> None:
        self._starts = starts
        self._contender = contender
        self._models: dict[str, bytes | Path] = {}
        self._addresses: dict[str, tuple[str, str]] = {}
        with starts.browser() as browser:
            self.versions = PageWorker(browser, contender).versions

    def load(self, key: str, model: bytes | Path, threads: int) -> list[str]:
        self._models[key] = model
        return []

    def run(self, key: str, x: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        with self._starts.browser() as browser:
            worker = PageWorker(browser, self._contender)
            worker.load(key, self._models[key], browser.threads)
            self._addresses[key] = worker.addresses(key)
            return worker.run(key, x)

    def time(self, key: str, seconds: float) -> Sample:
        """Times one start, however few seconds there are.

        Its threads share cores, so what they waited says nothing of other programs.
        """
        taken = self._starts.milliseconds(self._contender, *self._addresses[key])
        return Sample(np.array([taken * 1e6]), None)

    def close(self) -> None:
        """Does nothing, as each browser has ended."""


def engine_files(taken: Iterable[Path]) -> list[Path]:
    """Returns the files that are not the benchmark's own page."""
    return [file for file in taken if not file.is_relative_to(HERE / "page")]


def sizes(files: Sequence[Path]) -> dict[str, int]:
    """Returns the bytes of files, as they are and compressed, and those of their largest module."""
    command = ["node", str(HERE / "brotli.mjs"), *map(str, files)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    raw = [file.stat().st_size for file in files]
    compressed: list[int] = json.loads(done.stdout)
    modules = [number for number, file in enumerate(files) if file.suffix == ".wasm"]
    module = max(modules, key=lambda number: raw[number])
    return {
        "all": sum(raw),
        "all_brotli": sum(compressed),
        "module": raw[module],
        "module_brotli": compressed[module],
    }


def format_sizes(found: dict[str, dict[str, int]]) -> str:
    """Returns a row for each contender, in kilobytes."""
    rows = [
        [name, *(f"{size / 1e3:.1f}" for size in each.values())] for name, each in found.items()
    ]
    titles = ["all files, KB", "with brotli", "module, KB", "with brotli"]
    return "\n".join(align_columns(["", *titles], rows, titles))


if __name__ == "__main__":
    raise SystemExit(main())
