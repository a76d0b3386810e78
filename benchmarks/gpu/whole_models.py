"""Whole models on a GPU: equal to the CPU, then the times, batch by batch, as lines of JSON.

python -m benchmarks.gpu.whole_models MODEL.tflite...
"""

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import larq_engine

BATCHES = (1, 8, 64, 256)
_RUNS = 30
_REPETITIONS = 200  # of the run whose results must never change


def _images(interpreter: larq_engine.Interpreter, samples: int) -> np.ndarray:
    rng = np.random.default_rng(samples)
    shape = (samples, *interpreter.input_shapes[0][1:])
    return rng.standard_normal(shape).astype(np.float32)


def _measure(path: Path, samples: int) -> dict[str, Any]:
    gpu = larq_engine.Interpreter(path, device="cuda")
    cpu = larq_engine.Interpreter(path, device="cpu", num_threads=8)
    images = _images(gpu, samples)
    for interpreter in (gpu, cpu):
        interpreter.resize([images.shape])
    first = gpu.predict(images)
    seconds = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        result = gpu.predict(images)
        seconds.append(time.perf_counter() - start)
    again = (gpu.predict(images) for _ in range(_REPETITIONS // samples))
    steady = all(results.tobytes() == first.tobytes() for results in again)
    expected = cpu.predict(images)
    rows = list(gpu.profile(inputs=images, runs=10))
    kernels = [row for row in rows if row.device.startswith("cuda") and row.op != "TRANSFER"]
    return {
        "model": path.stem,
        "batch": samples,
        "end_to_end_s": statistics.median(seconds),
        "kernels_s": sum(row.ms_per_call for row in kernels) * 1e-3,
        "transfers": sum(row.op == "TRANSFER" for row in rows),
        "equal_to_cpu": bool(np.array_equal(result, expected)),
        "largest_difference": float(np.abs(result - expected).max()),
        "same_class": float((result.argmax(-1) == expected.argmax(-1)).mean()),
        "same_every_time": steady,
    }


def main() -> None:
    for path in map(Path, sys.argv[1:]):
        for samples in BATCHES:
            print(json.dumps(_measure(path, samples)), flush=True)


if __name__ == "__main__":
    main()
