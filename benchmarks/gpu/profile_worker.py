"""Runs a model once for kernel_times.py, with the engine that the environment names.

    python -P profile_worker.py ncu|torch|engine MODEL.tflite SAMPLES

With `ncu`, the program must run under ncu, which profiles one run of the model. With `torch` and
`engine`, the program prints the launches of a run as lines of JSON. It imports nothing of this
repository but the engine, which may be of another commit.
"""

import ctypes
import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import larq_engine

_RUNS = 10  # over which the engine's own profile takes means
_COPIES = ("Memcpy", "Memset")  # events of PyTorch's that are no launches


def _under_ncu(model: larq_engine.Interpreter, images: np.ndarray[Any, Any]) -> Iterator[Any]:
    driver = ctypes.CDLL("libcuda.so.1")
    driver.cuProfilerStart()
    model.predict(images)
    driver.cuProfilerStop()
    yield from ()


def _by_torch(model: larq_engine.Interpreter, images: np.ndarray[Any, Any]) -> Iterator[Any]:
    import torch
    from torch.profiler import ProfilerActivity, profile

    torch.zeros(1, device="cuda")  # without this, the profiler sees no GPU
    with profile(activities=[ProfilerActivity.CUDA]) as found:
        model.predict(images)
        torch.cuda.synchronize()
    events = [
        event
        for event in found.events()
        if "CUDA" in str(event.device_type) and not event.name.startswith(_COPIES)
    ]
    for event in sorted(events, key=lambda event: event.time_range.start):
        yield {"kernel": event.name, "time_s": event.time_range.elapsed_us() * 1e-6}


def _by_engine(model: larq_engine.Interpreter, images: np.ndarray[Any, Any]) -> Iterator[Any]:
    # An operator that another one's launch computes has a row, but no time.
    for row in model.profile(inputs=images, runs=_RUNS):
        if row.kernel and row.device.startswith("cuda") and row.ms_per_call > 0:
            yield {"kernel": row.kernel, "layer": row.name, "time_s": row.ms_per_call * 1e-3}


_PROFILERS = {"ncu": _under_ncu, "torch": _by_torch, "engine": _by_engine}


def main() -> None:
    profiler, path, samples = _PROFILERS[sys.argv[1]], sys.argv[2], int(sys.argv[3])
    with larq_engine.Interpreter(path, device="cuda") as model:
        shape = (samples, *model.input_shapes[0][1:])
        images = np.random.default_rng(samples).standard_normal(shape)
        images = images.astype(model.input_types[0])
        model.resize([shape])
        for _ in range(2):  # the first run records the graph
            model.predict(images)
        for launch in profiler(model, images):
            print(json.dumps(launch), flush=True)


if __name__ == "__main__":
    main()
