"""What `Interpreter.predict` adds to a host's own calls: `python -m benchmarks.predict`.

A model of one addition, so that nearly all of the time is that of the calls. The ways take turns,
and the median of all rounds counts.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

import larq_engine
from larq_engine.python import host
from larq_engine.python.text_table import align_columns
from tests.model_builder import ModelBuilder


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.predict", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=5000, metavar="N", help="rounds of turns (default: 5000)"
    )
    rounds = parser.parse_args().rounds
    x = np.ones((1, 8, 8, 4), np.float32)
    ways = make_ways(one_addition(x.shape), x)
    for call in ways.values():
        np.testing.assert_array_equal(call(), 2 * x)
    medians = measure(ways, rounds)
    least = min(medians.values())
    rows = [[name, f"{us:.1f}", f"{us - least:.1f}"] for name, us in medians.items()]
    print(*align_columns(["call", "us", "more"], rows, ["us", "more"]), sep="\n")


def one_addition(shape: tuple[int, ...]) -> bytes:
    builder = ModelBuilder()
    x, y = builder.tensor(shape, name="x"), builder.tensor(shape, name="y")
    builder.builtin("ADD", [x, x], [y])
    return builder.finish([x], [y])


def make_ways(model: bytes, x: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    module = host.import_runtime(None)
    stock = module.Interpreter(
        model_content=model, experimental_delegates=[host.load_delegate(None)]
    )
    stock.allocate_tensors()
    source = stock.get_input_details()[0]["index"]
    result = stock.get_output_details()[0]["index"]

    def run_stock() -> np.ndarray:
        stock.set_tensor(source, x)
        stock.invoke()
        return stock.get_tensor(result)

    ours = larq_engine.Interpreter(model)
    return {
        "the host's set_tensor, invoke, get_tensor": run_stock,
        "predict(array)": lambda: ours.predict(x),
        "predict([array])": lambda: ours.predict([x]),
        "predict({name: array})": lambda: ours.predict({"x": x})["y"],
    }


def measure(ways: dict[str, Callable[[], np.ndarray]], rounds: int) -> dict[str, float]:
    times: dict[str, list[int]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, call in ways.items():
            start = time.perf_counter_ns()
            call()
            times[name].append(time.perf_counter_ns() - start)
    return {name: statistics.median(spent) / 1000 for name, spent in times.items()}


if __name__ == "__main__":
    main()
