"""Measures the networks of the paper on Espresso: `python -m benchmarks.espresso`.

Its perceptron and its convolutional network read images of bytes; weights are drawn. Beside them
TensorFlow Lite with the same models in float32, as its own converter makes them. Where the
perceptron computes one image, what it can be is the time to read its weights once: `dense_bench`,
run at the end, has that.
"""

from __future__ import annotations

import os
import subprocess
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

CONTENDERS = (OURS, XNNPACK_FLOAT32)
DENSE_BENCH = machine.BGEMM_BENCH.parent / "dense_bench"

# Of the largest output. Sums of floats round, which may turn a sign that is next to 0.
TOLERANCE = 1e-2

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class NetworkCase:
    """One network, so many images at once."""

    name: str
    macs: int

    def __str__(self) -> str:
        return self.name


def main() -> int:
    description = "The networks of the paper on Espresso, checked, interleaved."
    options = make_parser("espresso", description, rounds=5, seconds=0.3).parse_args()
    summary = measure("espresso", CONTENDERS, make_trials, options)
    status = finish(summary, options.json)
    if DENSE_BENCH.exists():
        print("\nthe perceptron's layers on packed data, and reading their weights:")
        subprocess.run([str(DENSE_BENCH)], check=True)
    else:
        print("\ndense_bench is not built: tools/run_bazel.sh build //benchmarks/kernels:all")
    return status


def make_trials(progress: Progress) -> Iterator[Trial]:
    networks: dict[str, Callable[[], Any]] = {
        **{f"perceptron, batch {batch}": partial(build_mlp, batch) for batch in (1, 8, 64)},
        "Espresso's CNN": build_cnn,
    }
    for name, build in networks.items():
        progress.say(f"preparing {name}", "Keras")
        yield from make_network_trials(name, build())


def make_network_trials(name: str, model: Any) -> Iterator[Trial]:
    import tensorflow as tf

    import larq_engine

    (tensor,) = model.inputs
    shape = (tensor.shape[0] or 1, *tensor.shape[1:])
    rng = np.random.default_rng(1)
    image: Array = rng.integers(0, 256, shape).astype(np.uint8)
    right: Array = model(image, training=False).numpy()
    ours = larq_engine.convert_keras_model(model)
    theirs = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    case = NetworkCase(name, larq_engine_macs(bytes(theirs)))
    for contender, file in zip(CONTENDERS, (bytes(ours), bytes(theirs)), strict=True):
        check = partial(find_error, image, right)
        yield Trial(contender, case, lambda file=file: file, check, f"to {TOLERANCE:.0e}")


def larq_engine_macs(model: bytes) -> int:
    """Multiply-accumulates of a float model."""
    from larq_engine.command_line.model_facts import collect_facts

    return collect_facts(model).float_macs


def find_error(image: Array, right: Array, answer: Answer) -> str | None:
    """What is wrong with a model's outputs, or None."""
    off = np.abs(answer(image)[0] - right).max() / np.abs(right).max()
    return None if off <= TOLERANCE else f"off by {off:.2g} of the largest output"


def build_mlp(batch: int) -> Any:
    """784-4096-4096-4096-10, of bytes."""
    layers = _keras().layers
    steps = [layers.Flatten()]
    for number, units in enumerate((4096, 4096, 4096, 10)):
        steps += [_quant("QuantDense", number, units), layers.BatchNormalization()]
    return _network((batch, 28, 28), steps)


def build_cnn() -> Any:
    """128-128-pool-256-256-pool-512-512-pool-1024-1024-10, of bytes."""
    layers = _keras().layers
    steps: list[Any] = []
    for number, filters in enumerate((128, 128, 256, 256, 512, 512)):
        steps.append(_quant("QuantConv2D", number, filters, 3, padding="same"))
        if number % 2:
            steps.append(layers.MaxPool2D())
        steps.append(layers.BatchNormalization())
    steps.append(layers.Flatten())
    for number, units in enumerate((1024, 1024, 10), start=6):
        steps += [_quant("QuantDense", number, units), layers.BatchNormalization()]
    return _network((1, 32, 32, 3), steps)


def _keras() -> Any:
    import tensorflow as tf

    return tf.keras


def _quant(kind: str, number: int, *sizes: int, **options: Any) -> Any:
    import larq

    if number:
        options["input_quantizer"] = "ste_sign"
    layer = getattr(larq.layers, kind)
    return layer(*sizes, kernel_quantizer="ste_sign", use_bias=False, **options)


def _network(shape: tuple[int, ...], steps: list[Any]) -> Any:
    keras = _keras()
    keras.utils.set_random_seed(1)
    image = keras.Input(shape[1:], batch_size=shape[0], dtype="uint8")
    model = keras.Sequential([image, keras.layers.Rescaling(1 / 256), *steps])
    rng = np.random.default_rng(1)
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            gamma, beta, mean, variance = layer.get_weights()
            # Sixteenths and a half: no sum is as near to one as floats round.
            mean = np.rint(rng.normal(0, 64, mean.shape)) / 16 + 1 / 1024
            layer.set_weights([gamma, beta, mean, 64 * variance])
    return model


if __name__ == "__main__":
    raise SystemExit(main())
