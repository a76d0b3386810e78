"""Models of transposed convolutions on int8 values."""

from typing import Any

import numpy as np

from tests.model_builder import ABSENT, ACTIVATION, PADDING, ModelBuilder

_ACTIVATIONS = ("NONE", "RELU", "RELU6")


def _add(builder: ModelBuilder, rng: np.random.Generator, x: int, **changed: Any) -> int:
    """Adds a random layer of an image of 5x4 pixels of 6 channels, and returns its output."""
    strides = changed.get("strides", tuple(int(n) for n in rng.integers(1, 4, 2)))
    taps = changed.get("taps", tuple(int(rng.integers(n, n + 3)) for n in strides))
    padding = changed.get("padding", str(rng.choice(["SAME", "VALID"])))
    outputs = int(rng.choice([1, 5, 8]))
    sizes = tuple(
        size * stride if padding == "SAME" else (size - 1) * stride + tap
        for size, stride, tap in zip((5, 4), strides, taps, strict=True)
    )
    shape = changed.get("shape", (1, *sizes, outputs))
    weights = builder.constant(
        rng.integers(-127, 128, (outputs, *taps, 6)).astype(np.int8),
        scale=rng.uniform(0.001, 0.01, outputs).astype(np.float32),
        zero_point=[0] * outputs,
        quantized_dimension=0,
    )
    bias = builder.constant(rng.normal(0, 9000, outputs).astype(np.int32))
    y = builder.tensor(shape, np.int8, scale=0.05, zero_point=int(rng.integers(-60, 60)))
    operands = [builder.constant(np.array(shape, np.int32)), weights, x]
    builder.builtin(
        "TRANSPOSE_CONV",
        [*operands, bias if rng.random() < 0.7 else ABSENT],
        [y],
        strideH=strides[0],
        strideW=strides[1],
        padding=PADDING[padding],
        fusedActivationFunction=ACTIVATION[str(rng.choice(_ACTIVATIONS))],
    )
    return y


def model(seed: int, count: int = 8, **changed: Any) -> tuple[bytes, np.ndarray]:
    """Returns a model of random layers, all alike if `changed` says so, and an image for it."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder()
    x = builder.tensor((1, 5, 4, 6), np.int8, scale=0.03, zero_point=-9)
    results = [_add(builder, rng, x, **changed) for _ in range(count)]
    return builder.finish([x], results), rng.integers(-128, 128, (1, 5, 4, 6)).astype(np.int8)
