"""Measures what a page needs to its first answer: `python -m benchmarks.web.start [MODEL...]`.

A time is that from a click, when nothing of the engine is loaded, to the first output: scripts and
module are fetched from this machine and compiled, the model is fetched and opened, and one image
runs. Each time a new browser does that, with an empty cache. The bytes are those of the files of
the engine that the page fetched.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

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
    files: dict[str, list[Path]] = {}
    with make_server() as server, Browser(server, options.threads) as browser:
        place = Place(
            lambda contender: Starter(browser, server, contender, files),
            browser.measure_limits,
            all_cores,
        )
        summary = measure(
            "web_start",
            CONTENDERS,
            lambda progress: models.make_trials(options.models, CONTENDERS, progress),
            options,
            place,
        )
    summary["bytes"] = find_sizes(files)
    status = finish(summary, options.json)
    print("\n" + format_sizes(summary["bytes"]))
    return status


class Starter(PageWorker):
    """A contender that is checked in a page with the others, and timed in new browsers."""

    def __init__(
        self, browser: Browser, server: Server, contender: Contender, files: dict[str, list[Path]]
    ) -> None:
        super().__init__(browser, contender)
        self._server = server
        self._contender = contender
        self._threads = browser.threads
        self._files = files  # those that the page of each contender fetched

    def time(self, key: str, seconds: float) -> Sample:
        """Times one start, however few seconds there are.

        Its threads share cores, so what they waited says nothing of other programs.
        """
        with Browser(self._server, self._threads) as browser:
            self._server.taken.clear()
            taken: float = browser.call(
                "firstAnswer", self._contender.runtime, self._threads, *self.addresses(key)
            )
            self._files[self._contender.name] = engine_files(self._server.taken)
        return Sample(np.array([taken * 1e6]), None)


def engine_files(taken: Iterable[Path]) -> list[Path]:
    """Returns the files that are not the benchmark's own page."""
    return [file for file in taken if not file.is_relative_to(HERE / "page")]


def find_sizes(files: Mapping[str, Sequence[Path]]) -> dict[str, dict[str, int]]:
    """Returns the bytes of each contender's files, and of the largest module among them.

    Both are told as they are and compressed.
    """
    every = list(dict.fromkeys(file for each in files.values() for file in each))
    command = ["node", str(HERE / "brotli.mjs"), *map(str, every)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    compressed: dict[Path, int] = dict(zip(every, json.loads(done.stdout), strict=True))
    raw = {file: file.stat().st_size for file in every}
    found = {}
    for name, each in files.items():
        module = max((file for file in each if file.suffix == ".wasm"), key=raw.__getitem__)
        found[name] = {
            "all": sum(raw[file] for file in each),
            "all_brotli": sum(compressed[file] for file in each),
            "module": raw[module],
            "module_brotli": compressed[module],
        }
    return found


def format_sizes(found: dict[str, dict[str, int]]) -> str:
    """Returns a row for each contender, in kilobytes."""
    rows = [
        [name, *(f"{size / 1e3:.1f}" for size in each.values())] for name, each in found.items()
    ]
    titles = ["all files, KB", "with brotli", "module, KB", "with brotli"]
    return "\n".join(align_columns(["", *titles], rows, titles))


if __name__ == "__main__":
    raise SystemExit(main())
