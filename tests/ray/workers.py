"""What the tests of Ray put in the place of a worker, to watch it or to break it.

In a module of their own, which workers import. They tell by lines of files, as they are processes.
"""

import os
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

from larq_engine.batch import Predictor
from larq_engine.batch.ray_serve import Server


class Watched(Predictor):
    """Writes a line when it is made, and one for each call, which waits until so many are made."""

    def __init__(
        self, model: str, column: str, *, folder: str, together: int = 1, **options: Any
    ) -> None:
        self.together = together
        self.folder = Path(folder)
        tell(self.folder / "made", os.getpid())
        tell(self.folder / "batch_size", options.get("batch_size") or 0)
        super().__init__(model, column, **options)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        tell(self.folder / "called", *batch["id"])
        end = time.monotonic() + 300
        while len(told(self.folder / "made")) < self.together and time.monotonic() < end:
            time.sleep(0.05)
        return {**super().__call__(batch), "pid": np.full(len(batch["id"]), os.getpid())}


class DiesOnce(Watched):
    """The process ends, without a word, when row 40 comes for the first time."""

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        if 40 in batch["id"] and not (self.folder / "died").exists():
            tell(self.folder / "died", os.getpid())
            os._exit(1)
        return super().__call__(batch)


class DiesAlways(Watched):
    """Row 40 ends every process."""

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        if 40 in batch["id"]:
            tell(self.folder / "died", os.getpid())
            os._exit(1)
        return super().__call__(batch)


class Peak(Predictor):
    """Adds the most memory that its process ever had."""

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        result = super().__call__(batch)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return {**result, "peak": np.full(len(batch["id"]), peak)}


def generate(batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Images of one of seven values."""
    rows = np.empty((len(batch["id"]), 96, 96, 3), np.float32)
    rows[:] = batch["id"][:, None, None, None] % 7 - 3
    return {**batch, "image": rows}


class WatchedServer(Server):
    """Writes how many rows it runs at once."""

    def predict_rows(self, rows: list[Any]) -> list[dict[str, Any]]:
        tell(Path(os.environ["BATCHES_FILE"]), len(rows))
        return super().predict_rows(rows)


class SlowServer(Server):
    def predict_rows(self, rows: list[Any]) -> list[dict[str, Any]]:
        time.sleep(0.5)
        return super().predict_rows(rows)


class ImpatientServer(Server):
    body_seconds = 1.0


def tell(file: Path, *words: object) -> None:
    """Adds a line."""
    with file.open("a") as opened:
        opened.write(" ".join(map(str, words)) + "\n")


def told(file: Path) -> list[list[int]]:
    """The lines."""
    return [[int(word) for word in line.split()] for line in file.read_text().splitlines()]
