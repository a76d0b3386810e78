"""Workers for the tests of Ray, which note what they do or end their process.

They are in a module of their own, which workers import. As they are processes, they write what they
do into files, line by line.
"""

import os
import resource
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from larq_engine.batch import Predictor
from larq_engine.batch.ray_serve import Server


class Watched(Predictor):
    """Writes a line when it is made, and one for each call.

    A call waits until enough workers were made.
    """

    def __init__(
        self, model: str, column: str, *, folder: str, together: int = 1, **options: Any
    ) -> None:
        self.together = together
        self.folder = Path(folder)
        record(self.folder / "made", os.getpid())
        record(self.folder / "batch_size", options.get("batch_size") or 0)
        super().__init__(model, column, **options)

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        record(self.folder / "called", *batch["id"])
        end = time.monotonic() + 300
        while len(records(self.folder / "made")) < self.together and time.monotonic() < end:
            time.sleep(0.05)
        return {**super().__call__(batch), "pid": np.full(len(batch["id"]), os.getpid())}


class DiesOnce(Watched):
    """A worker whose process ends, without a word, when row 40 comes for the first time."""

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        if 40 in batch["id"] and not (self.folder / "died").exists():
            record(self.folder / "died", os.getpid())
            os._exit(1)
        return super().__call__(batch)


class DiesAlways(Watched):
    """A worker whose process ends at each row 40."""

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        if 40 in batch["id"]:
            record(self.folder / "died", os.getpid())
            os._exit(1)
        return super().__call__(batch)


class Peak(Predictor):
    """Adds the most memory that its process ever had."""

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        result = super().__call__(batch)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return {**result, "peak": np.full(len(batch["id"]), peak)}


def generate(batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns images of one of seven values."""
    rows = np.empty((len(batch["id"]), 96, 96, 3), np.float32)
    rows[:] = batch["id"][:, None, None, None] % 7 - 3
    return {**batch, "image": rows}


class WatchedServer(Server):
    """Writes the number of rows that it runs at once."""

    def predict_rows(self, rows: list[Any]) -> list[dict[str, Any]]:
        record(Path(os.environ["BATCHES_FILE"]), len(rows))
        return super().predict_rows(rows)


class SlowServer(Server):
    def predict_rows(self, rows: list[Any]) -> list[dict[str, Any]]:
        time.sleep(0.5)
        return super().predict_rows(rows)


class ImpatientServer(Server):
    body_seconds = 1.0


def record(file: Path, *words: object) -> None:
    """Adds a line to a file."""
    with file.open("a") as opened:
        opened.write(" ".join(map(str, words)) + "\n")


def records(file: Path) -> list[list[int]]:
    """Returns the numbers of each line of a file."""
    return [[int(word) for word in line.split()] for line in file.read_text().splitlines()]
