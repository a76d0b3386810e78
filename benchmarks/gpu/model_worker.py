"""Runs models for whole_models.py, with the engine that the environment names.

    python -P model_worker.py

Reads one order from each line, and writes each answer as a line of JSON. `open`, followed by a file
and a number of samples, with tabs between them, opens a model and answers with the places that it
can read images from. The name of such a place times runs with images there. `check` compares
results. The program imports nothing of this repository but the engine, which may be of another
commit.
"""

import hashlib
import json
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import larq_engine

_SECONDS = 0.1  # time of a turn
_REPETITIONS = 200  # samples at most whose results must not change from run to run


def images_of(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Returns made-up images, which are the same for the same shape."""
    rng = np.random.default_rng(shape[0])
    if dtype == np.uint8:
        return rng.integers(0, 256, shape, np.uint8)
    return rng.standard_normal(shape).astype(dtype)


def places_of(images: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Returns the same images in ordinary memory of the host, in pinned memory, and on the GPU."""
    places: dict[str, Any] = {"host": images}
    try:
        import torch
    except ImportError:
        return places
    if torch.cuda.is_available():
        places["pinned"] = torch.from_numpy(images).pin_memory().numpy()
        places["gpu"] = torch.from_numpy(images).cuda()
    return places


def _is_read(model: larq_engine.Interpreter, images: Any) -> bool:
    """Tells whether the model can read images there: the CPU cannot read the memory of the GPU."""
    try:
        model.predict(images)
    except ValueError:
        return False
    return True


def _time(model: larq_engine.Interpreter, images: Any) -> dict[str, Any]:
    model.predict(images)
    seconds = []
    end = time.perf_counter() + _SECONDS
    while time.perf_counter() < end:
        begun = time.perf_counter()
        model.predict(images)
        seconds.append(time.perf_counter() - begun)
    return {"median_s": statistics.median(seconds)}


def _again(model: larq_engine.Interpreter, images: np.ndarray[Any, Any]) -> Iterator[Any]:
    """Yields the results of more runs, for a second at most."""
    end = time.perf_counter() + 1
    for _ in range(_REPETITIONS // len(images)):
        if time.perf_counter() < end:
            yield model.predict(images)


def _check(path: Path, model: larq_engine.Interpreter, places: dict[str, Any]) -> dict[str, Any]:
    """Compares the results with those of the CPU, and those of one place with those of another."""
    images = places["host"]
    result = model.predict(images)
    again = [model.predict(place) for place in places.values()]
    again += _again(model, images)
    with larq_engine.Interpreter(path, device="cpu", num_threads=8) as cpu:
        cpu.resize([images.shape])
        expected = cpu.predict(images)
    rows = list(model.profile(inputs=images, runs=10))
    kernels = [row for row in rows if row.device.startswith("cuda") and row.op != "TRANSFER"]
    return {
        "kernels_s": sum(row.ms_per_call for row in kernels) * 1e-3,
        "transfers": sum(row.op == "TRANSFER" for row in rows),
        "equal_to_cpu": bool(np.array_equal(result, expected)),
        "largest_difference": float(np.abs(result - expected).max()),
        "same_class": float((result.argmax(-1) == expected.argmax(-1)).mean()),
        "same_every_time": all(other.tobytes() == result.tobytes() for other in again),
        "sha256": hashlib.sha256(result.tobytes()).hexdigest(),
    }


def main() -> None:
    model: larq_engine.Interpreter | None = None
    for order, *arguments in (line.rstrip("\n").split("\t") for line in sys.stdin):
        if order == "open":
            if model is not None:
                model.close()
            path, samples = Path(arguments[0]), int(arguments[1])
            model = larq_engine.Interpreter(path, device="cuda")
            images = images_of((samples, *model.input_shapes[0][1:]), model.input_types[0])
            model.resize([images.shape])
            places = {
                name: data for name, data in places_of(images).items() if _is_read(model, data)
            }
            answer = {"places": list(places)}
        elif model is None:
            raise ValueError(f"expected 'open' first, got {order!r}")
        elif order == "check":
            answer = _check(path, model, places)
        else:
            answer = _time(model, places[order])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
