"""Convolutions of int8 images of few channels, which the engine takes from the host.

Results are those of the host's XNNPACK, byte by byte.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import larq_engine
from tests.hosts import HOSTS
from tests.kernel_rows import KERNELS
from tests.model_builder import ACTIVATION, ModelBuilder

Array = np.ndarray

_SAME, _VALID = 0, 1


@dataclass
class _Layer:
    """Draws the constants of a layer anew for each file."""

    shape: tuple[int, int, int, int] = (1, 12, 11, 3)
    filters: int = 8
    kernel: tuple[int, int] = (3, 3)
    strides: tuple[int, int] = (2, 2)
    padding: int = _SAME
    activation: str = "NONE"
    in_zero: int = -3
    out_zero: int = 5
    per_channel: bool = True
    dilation: int = 1
    lowest_weight: int = -127

    def build(self, rng: np.random.Generator) -> bytes:
        builder = ModelBuilder()
        in_scale = np.float32(rng.uniform(0.01, 0.1))
        scales = rng.uniform(0.001, 0.01, self.filters if self.per_channel else 1)
        scales = scales.astype(np.float32)
        weights = rng.integers(-127, 128, (self.filters, *self.kernel, self.shape[3]))
        weights.flat[0] = self.lowest_weight
        depth = weights[0].size
        out_scale = float(np.float32(in_scale * scales.mean() * 75 * np.sqrt(depth)))
        x = builder.tensor(
            self.shape, np.int8, name="x", scale=float(in_scale), zero_point=self.in_zero
        )
        w = builder.constant(weights.astype(np.int8), scale=scales, zero_point=[0] * len(scales))
        values = rng.integers(-20_000, 20_000, self.filters).astype(np.int32)
        bias = builder.constant(values, scale=in_scale * scales, zero_point=[0] * len(scales))
        y = builder.tensor(
            (self.shape[0], *self._size(), self.filters),
            np.int8,
            name="y",
            scale=out_scale,
            zero_point=self.out_zero,
        )
        builder.builtin(
            "CONV_2D",
            [x, w, bias],
            [y],
            padding=self.padding,
            strideH=self.strides[0],
            strideW=self.strides[1],
            dilationHFactor=self.dilation,
            dilationWFactor=self.dilation,
            fusedActivationFunction=ACTIVATION[self.activation],
        )
        return builder.finish([x], [y])

    def _size(self) -> list[int]:
        sizes = zip(self.shape[1:3], self.kernel, self.strides, strict=True)
        if self.padding == _SAME:
            return [-(-size // stride) for size, _, stride in sizes]
        reach = [(kernel - 1) * self.dilation + 1 for kernel in self.kernel]
        return [
            (size - taps) // stride + 1
            for (size, _, stride), taps in zip(sizes, reach, strict=True)
        ]

    def inputs(self, rng: np.random.Generator) -> Array:
        return rng.integers(-128, 128, self.shape).astype(np.int8)


def _rows(interpreter: larq_engine.Interpreter, x: Array) -> list[str]:
    """Returns the rows that computed the engine's layers."""
    kernels = [row.kernel for row in interpreter.profile(x, runs=1).rows]
    return [kernel for kernel in kernels if kernel]


def _host(model: bytes, x: Array, host: str | None = None) -> Array:
    with larq_engine.Interpreter(model, host=host, fuse=False) as interpreter:
        assert _rows(interpreter, x) == []
        return np.asarray(interpreter.predict(x))


def _check(
    layer: _Layer,
    rng: np.random.Generator,
    host: str | None = None,
    kernel: str = "auto",
    num_threads: int = 1,
) -> None:
    """Compares with the host's XNNPACK, and with the kernel that tflite_runtime has instead."""
    model, x = layer.build(rng), layer.inputs(rng)
    with larq_engine.Interpreter(
        model, host=host, num_threads=num_threads, placement=_place(kernel)
    ) as interpreter:
        assert len(_rows(interpreter, x)) == 1
        y = np.asarray(interpreter.predict(x))
    expected = _host(model, x, host)
    if host == "tflite_runtime":  # it multiplies in integers, which rounds otherwise
        off = np.abs(y.astype(np.int32) - expected)
        assert off.max() <= 1
        assert (off != 0).mean() < 0.02
    else:
        np.testing.assert_array_equal(y, expected)


def _place(kernel: str) -> str:
    """Returns a placement by which the engine computes the layer whatever its size."""
    return "0:cpu" if kernel == "auto" else f"0:cpu:{kernel}"


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("padding", [_SAME, _VALID])
@pytest.mark.parametrize("strides", [(1, 1), (2, 2), (3, 1)])
@pytest.mark.parametrize("size", [(1, 1), (3, 3), (7, 7), (2, 5)])
def test_results_are_those_of_the_host(size, strides, padding, kernel, rng):
    for channels, filters in [(1, 1), (3, 8), (3, 33), (4, 64), (2, 16)]:
        layer = _Layer((1, 13, 17, channels), filters, size, strides, padding)
        _check(layer, rng, kernel=kernel)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("activation", ACTIVATION)
def test_activations_and_zero_points(activation, host, rng):
    for in_zero, out_zero in [(0, 0), (-128, 127), (5, -128), (127, -3)]:
        for per_channel in [True, False]:
            layer = _Layer(
                activation=activation,
                in_zero=in_zero,
                out_zero=out_zero,
                per_channel=per_channel,
            )
            _check(layer, rng, host)


@pytest.mark.parametrize("threads", [1, 2])
def test_stems_and_batches(threads, rng):
    for layer in [
        _Layer((1, 224, 224, 3), 64, (7, 7)),
        _Layer((1, 57, 133, 3), 32),
        _Layer((5, 20, 20, 1), 32, (5, 5), (1, 1), _VALID),
    ]:
        _check(layer, rng, num_threads=threads)


def test_any_layer(rng):
    for _ in range(60):
        kernel = tuple(int(size) for size in rng.integers(1, 6, 2))
        layer = _Layer(
            shape=(
                int(rng.integers(1, 4)),
                *(int(size) for size in rng.integers(6, 24, 2)),
                int(rng.integers(1, 12)),
            ),
            filters=int(rng.integers(1, 70)),
            kernel=(kernel[0], kernel[1]),
            strides=(int(rng.integers(1, 4)), int(rng.integers(1, 4))),
            padding=int(rng.integers(0, 2)),
            activation=str(rng.choice(list(ACTIVATION))),
            in_zero=int(rng.integers(-128, 128)),
            out_zero=int(rng.integers(-128, 128)),
            per_channel=bool(rng.integers(0, 2)),
        )
        _check(layer, rng, kernel=str(rng.choice(KERNELS)), num_threads=int(rng.integers(1, 3)))


def _is_claimed(layer: _Layer, rng: np.random.Generator, **options: Any) -> bool:
    model, x = layer.build(rng), layer.inputs(rng)
    with larq_engine.Interpreter(model, **options) as interpreter:
        rows = _rows(interpreter, x)
        np.testing.assert_array_equal(np.asarray(interpreter.predict(x)), _host(model, x))
    return rows != []


# Rows of ARM were not timed beside a host.
_HAS_FAST_ROW = any(row.startswith("bytes_") and row.endswith("_avx2") for row in KERNELS)


def test_the_host_computes_what_it_computes_faster(rng):
    for kernel in KERNELS:  # results do not depend on the kernel
        assert _is_claimed(_Layer(), rng, kernel=kernel) == _HAS_FAST_ROW
    assert not _is_claimed(_Layer(), rng, fuse=False)
    assert not _is_claimed(_Layer((1, 9, 9, 8)), rng)
    assert not _is_claimed(_Layer(kernel=(1, 1)), rng)
    assert not _is_claimed(_Layer(dilation=2, strides=(1, 1)), rng)
    assert not _is_claimed(_Layer(lowest_weight=-128), rng)


def test_inputs_may_be_resized(rng):
    layer = _Layer()
    model = layer.build(rng)
    interpreter = larq_engine.Interpreter(model, placement=_place("auto"))
    host = larq_engine.Interpreter(model, fuse=False)
    for shape in [(1, 12, 11, 3), (4, 30, 5, 3), (1, 12, 11, 3)]:
        layer.shape = shape
        interpreter.resize([shape])
        host.resize([shape])
        x = layer.inputs(rng)
        np.testing.assert_array_equal(interpreter.predict(x), host.predict(x))
