"""Measures networks that earlier engines were measured with: `python -m benchmarks.published`.

Espresso's and HEP-BNN's of examples/published, which read images of bytes, with weights and batch
norms that are drawn. Beside them TensorFlow Lite with the same models in float32, as its own
converter makes them. Where the perceptron computes one image, what it can be is the time to read
its weights once: `dense_bench`, run at the end, has that.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import machine
from benchmarks.contenders import OURS, XNNPACK_FLOAT32
from benchmarks.interleave import Answer, Trial, finish, make_parser, measure
from benchmarks.progress import Progress

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # larq is for Keras 2; read when TensorFlow is imported
sys.path.append(str(machine.ROOT / "examples"))  # the examples are programs, not a package

import tensorflow as tf
from published import comparing, espresso, hep_bnn

CONTENDERS = (OURS, XNNPACK_FLOAT32)
DENSE_BENCH = machine.BGEMM_BENCH.parent / "dense_bench"

# Of the largest output. Floats round to less than 1e-6 of it; one sign of the last layer's inputs
# that is another changes an output by some 1e-2.
TOLERANCE = 1e-4

NETWORKS: dict[str, tuple[Callable[..., Any], int]] = {
    **{f"Espresso's perceptron, batch {n}": (espresso.mlp, n) for n in (1, 8, 64)},
    "Espresso's CNN": (espresso.cnn, 1),
    "HEP-BNN's for FashionMNIST": (hep_bnn.fashion, 1),
    "HEP-BNN's for CIFAR-10": (hep_bnn.cifar, 1),
}

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class NetworkCase:
    """One network, so many images at once."""

    name: str
    macs: int

    def __str__(self) -> str:
        return self.name


def main() -> int:
    description = "Networks of earlier engines, checked, interleaved."
    options = make_parser("published", description, rounds=5, seconds=0.3).parse_args()
    summary = measure("published", CONTENDERS, make_trials, options)
    status = finish(summary, options.json)
    if DENSE_BENCH.exists():
        print("\nthe perceptron's layers on packed data, and reading their weights:")
        subprocess.run([str(DENSE_BENCH)], check=True)
    else:
        print("\ndense_bench is not built: tools/run_bazel.sh build //benchmarks/kernels:all")
    return status


def make_trials(progress: Progress) -> Iterator[Trial]:
    for name, (build, batch) in NETWORKS.items():
        progress.say(f"preparing {name}", "Keras")
        yield from make_network_trials(name, of_bytes(build(), batch))


def make_network_trials(name: str, model: Any) -> Iterator[Trial]:
    import larq_engine
    from larq_engine.command_line.model_facts import collect_facts

    image: Array = np.random.default_rng(1).integers(0, 256, model.input_shape).astype(np.uint8)
    right: Array = model(image, training=False).numpy()
    ours = larq_engine.convert_keras_model(model)
    theirs = comparing.convert_with_tensorflow(model)
    case = NetworkCase(name, collect_facts(theirs).float_macs)
    for contender, file in zip(CONTENDERS, (bytes(ours), theirs), strict=True):
        check = partial(find_error, image, right)
        yield Trial(contender, case, lambda file=file: file, check, f"to {TOLERANCE:.0e}")


def find_error(image: Array, right: Array, answer: Answer) -> str | None:
    """What is wrong with a model's outputs, or None."""
    off = np.abs(answer(image)[0] - right).max() / np.abs(right).max()
    return None if off <= TOLERANCE else f"off by {off:.2g} of the largest output"


def of_bytes(model: Any, batch: int) -> Any:
    """A network without its softmax, which hides what differs, for so many images of uint8."""
    comparing.make_up_norms(model)
    scores = tf.keras.Model(model.inputs, model.layers[-2].output)
    images = tf.keras.Input(model.input_shape[1:], batch_size=batch, dtype="uint8")
    return tf.keras.Model(images, scores(images))


if __name__ == "__main__":
    raise SystemExit(main())
