"""Measures the gain of `larq_engine.place` with a GPU, on profiled models, as lines of JSON.

    python -m benchmarks.gpu.placements MODEL.tflite...

A model runs on the CPU only, on the GPU only, with `device="auto"` and as placed, in turns.
"""

import json
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import larq_engine

BATCHES = (1, 64)
THREADS = 8
_ROUNDS = 3
_SECONDS = 0.5
_TURNS = 15
_TOLERANCE = (
    0.05  # largest difference of probabilities; a sum that rounds differently may flip a sign
)


def _measure(path: Path, profile: Any, samples: int) -> dict[str, Any]:
    placed = larq_engine.place(path, profile, batch=samples)
    interpreters = {
        "cpu": larq_engine.Interpreter(path, device="cpu", num_threads=THREADS),
        "cuda": larq_engine.Interpreter(path, device="cuda", num_threads=THREADS),
        "auto": larq_engine.Interpreter(path, device="auto", num_threads=THREADS),
        "placed": larq_engine.Interpreter(placed, device="cuda", num_threads=THREADS),
    }
    shape = (samples, *interpreters["cpu"].input_shapes[0][1:])
    images = np.random.default_rng(samples).standard_normal(shape).astype(np.float32)
    for interpreter in interpreters.values():
        interpreter.resize([shape])
    expected = interpreters["cpu"].predict(images)
    seconds: dict[str, list[float]] = {name: [] for name in interpreters}
    difference = np.float32(0)
    for turn in range(_TURNS + 2):
        for name, interpreter in interpreters.items():
            start = time.perf_counter()
            result = interpreter.predict(images)
            if turn >= 2:
                seconds[name].append(time.perf_counter() - start)
            difference = np.maximum(difference, np.abs(result - expected).max())  # NaN stays
    devices = Counter(op.device for op in placed.placement.ops)
    return {
        "model": path.stem,
        "batch": samples,
        **{f"{name}_s": statistics.median(times) for name, times in seconds.items()},
        "predicted_s": placed.placement.seconds,
        "operators_of_the_placed": ", ".join(f"{n} {name}" for name, n in devices.items()),
        "largest_difference": float(difference),
        "wrong": bool(not difference <= _TOLERANCE),
    }


def main() -> None:
    for path in map(Path, sys.argv[1:]):
        profile = larq_engine.profile(
            path, batch=BATCHES, threads=(THREADS,), rounds=_ROUNDS, seconds=_SECONDS
        ).profile
        for samples in BATCHES:
            record = _measure(path, profile, samples)
            print(json.dumps(record), flush=True)
            if record["wrong"]:
                sys.exit(f"{path}: batch {samples}: outputs differ from the CPU's")


if __name__ == "__main__":
    main()
