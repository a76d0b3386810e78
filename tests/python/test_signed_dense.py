"""Dense layers whose weights are bits in the file and whose inputs are not are read as bits.

int8 results are those of XNNPACK on the same weights, byte by byte; float results are those of
NumPy in the order of docs/host_operators.md, bit by bit.
"""

from typing import Any

import numpy as np
import pytest

import larq_engine
from tests import oracle
from tests.hosts import HOSTS
from tests.kernel_rows import KERNELS, kernel_rows
from tests.model_builder import ABSENT, ACTIVATION, ModelBuilder
from tests.oracle import pack_bits

Array = np.ndarray

# Inputs and outputs of layers: sizes around words of 32 and blocks of 16, and some that several
# threads share.
_SIZES = [(1, 1), (31, 15), (32, 16), (33, 17), (64, 64), (100, 130), (784, 10), (300, 700)]


class Layer:
    """The constants of a layer, and its file with the weights as bits or as they are."""

    def __init__(self, rng: np.random.Generator, depth: int, units: int, dtype: Any) -> None:
        self.rng = rng
        self.dtype = np.dtype(dtype)
        self.signs = oracle.signs(rng.standard_normal((units, depth)))
        self.is_int8 = self.dtype == np.int8
        self.scale: Array = rng.uniform(0.1, 2, units).astype(np.float32)
        self.bias: Array | None = rng.standard_normal(units).astype(np.float32)
        if self.is_int8:
            self.scale = rng.integers(-127, 128, units).astype(np.float32)
            self.bias = rng.integers(-20_000, 20_000, units).astype(np.int32)
        self.weight_scale: Array = rng.uniform(0.001, 0.01, units).astype(np.float32)
        self.in_scale, self.in_zero = float(np.float32(rng.uniform(0.01, 0.1))), 0
        self.out_scale, self.out_zero = float(np.float32(0.05 * np.sqrt(depth))), 0
        self.activation = "NONE"
        self.shape: tuple[int, ...] = (1, depth)
        self.keep_dims = False

    def _quantization(self, scale: Any, zero: Any) -> dict[str, Any]:
        return {"scale": scale, "zero_point": zero} if self.is_int8 else {}

    def build(self, *, packed: bool) -> bytes:
        builder = ModelBuilder()
        units, depth = self.signs.shape
        x = builder.tensor(
            self.shape, self.dtype, name="x", **self._quantization(self.in_scale, self.in_zero)
        )
        quantization = self._quantization(self.weight_scale, [0] * len(self.weight_scale))
        if packed:
            bits = builder.constant(pack_bits(self.signs.ravel()))
            scale = builder.constant(self.scale)
            weights = builder.tensor((units, depth), self.dtype, name="w", **quantization)
            builder.custom("LceUnpackWeights", [bits, scale], [weights], {"axis": 0})
        else:
            values = (self.signs * self.scale.reshape(-1, 1)).astype(self.dtype)
            weights = builder.constant(values, **quantization)
        bias = ABSENT
        if self.bias is not None:
            bias_scale = np.float32(self.in_scale) * self.weight_scale
            zeros = [0] * len(bias_scale)
            bias = builder.constant(self.bias, **self._quantization(bias_scale, zeros))
        rows = int(np.prod(self.shape)) // depth
        dims = (*self.shape[:-1], units) if self.keep_dims else (rows, units)
        y = builder.tensor(
            dims, self.dtype, name="y", **self._quantization(self.out_scale, self.out_zero)
        )
        builder.builtin(
            "FULLY_CONNECTED",
            [x, weights, bias],
            [y],
            fusedActivationFunction=ACTIVATION[self.activation],
            keepNumDims=self.keep_dims,
        )
        return builder.finish([x], [y])

    def inputs(self) -> Array:
        if self.is_int8:
            return self.rng.integers(-128, 128, self.shape).astype(np.int8)
        return self.rng.standard_normal(self.shape).astype(np.float32)

    def expected(self, x: Array) -> Array:
        """Returns the result in float32, in the documented order."""
        units, depth = self.signs.shape
        total = oracle.signed_sums(x.reshape(-1, depth), self.signs)
        scale = np.broadcast_to(self.scale, units)
        total = total * scale + (np.zeros(units, np.float32) if self.bias is None else self.bias)
        low, high = {
            "NONE": (-np.inf, np.inf),
            "RELU": (0, np.inf),
            "RELU_N1_TO_1": (-1, 1),
            "RELU6": (0, 6),
        }[self.activation]
        return np.clip(total, np.float32(low), np.float32(high))


def _signed_rows(interpreter: larq_engine.Interpreter, x: Array) -> list[str]:
    """Returns the rows that computed layers from bits.

    Layers with many rows of inputs are computed by products of bytes.
    """
    kernels = [row.kernel for row in interpreter.profile(x, runs=1).rows]
    return [kernel for kernel in kernels if kernel.startswith(("signed_sums_", "bytes_"))]


def _place(kernel: str) -> str:
    """Returns a placement by which the layer is computed from bits whatever its size."""
    return "1:cpu" if kernel == "auto" else f"1:cpu:{kernel}"


def _check(
    layer: Layer, host: str | None = None, kernel: str = "auto", num_threads: int = 1
) -> None:
    x = layer.inputs()
    with larq_engine.Interpreter(
        layer.build(packed=True), host=host, placement=_place(kernel), num_threads=num_threads
    ) as packed:
        assert len(_signed_rows(packed, x)) == 1
        y = np.asarray(packed.predict(x))
    if layer.is_int8:
        with larq_engine.Interpreter(layer.build(packed=False), host=host) as unpacked:
            expected = np.asarray(unpacked.predict(x))
    else:
        expected = layer.expected(x)
    np.testing.assert_array_equal(y.reshape(expected.shape), expected)
    may_be_constant = layer.activation != "NONE" and layer.out_zero > 100
    assert len(np.unique(y)) > 1 or y.size < 16 or may_be_constant


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.int8, np.float32])
@pytest.mark.parametrize("depth, units", _SIZES)
def test_results_are_those_of_any_kernel(depth, units, dtype, kernel, rng):
    _check(Layer(rng, depth, units, dtype), kernel=kernel)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("activation", ACTIVATION)
@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_activations_and_zero_points(dtype, activation, host, rng):
    for in_zero, out_zero in [(0, 0), (-128, 127), (5, -128), (127, -3)]:
        layer = Layer(rng, 200, 150, dtype)
        layer.in_zero, layer.out_zero, layer.activation = in_zero, out_zero, activation
        _check(layer, host)


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_one_scale_and_no_bias(dtype, rng):
    for has_bias in (True, False):
        layer = Layer(rng, 70, 40, dtype)
        layer.scale, layer.weight_scale = layer.scale[:1], layer.weight_scale[:1]
        layer.scale[0] = 100
        layer.bias = layer.bias if has_bias else None
        _check(layer)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [np.int8, np.float32])
@pytest.mark.parametrize(
    "shape, keep_dims", [((7, 90), False), ((2, 3, 90), True), ((3, 6, 30), False)]
)
def test_rows_of_inputs(shape, keep_dims, dtype, threads, rng):
    layer = Layer(rng, 90, 530, dtype)
    layer.shape, layer.keep_dims = shape, keep_dims
    _check(layer, num_threads=threads)


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_any_layer(dtype, rng):
    for _ in range(40):
        depth, units = (int(size) for size in rng.integers(1, 400, 2))
        layer = Layer(rng, depth, units, dtype)
        layer.in_zero, layer.out_zero = (int(zero) for zero in rng.integers(-128, 128, 2))
        layer.activation = str(rng.choice(list(ACTIVATION)))
        layer.shape = (int(rng.integers(1, 5)), depth)
        if rng.random() < 0.3:
            layer.bias = None
        _check(layer, kernel=str(rng.choice(KERNELS)), num_threads=int(rng.integers(1, 3)))


def _host_computes(model: bytes, x: Array, **options: Any) -> bool:
    with larq_engine.Interpreter(model, **options) as interpreter:
        return not _signed_rows(interpreter, x)


def _is_faster(dtype: Any, rows: int) -> bool:
    """Tells whether this CPU's rows compute a layer of many weights from bits."""
    isas = {kernel.rsplit("_", 1)[-1] for kernel in kernel_rows()}
    if "avx512bw" in isas:
        return rows <= 2
    if "avx2" in isas:
        return rows <= 2 or np.dtype(dtype) == np.int8
    return "neon" in isas and rows == 1


@pytest.mark.parametrize("rows", [1, 2, 3, 512])
@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_the_host_computes_what_it_computes_faster(dtype, rows, rng):
    layer = Layer(rng, 512, 256, dtype)
    layer.shape = (rows, 512)
    for kernel in ("auto", "reference", *kernel_rows()):  # results do not depend on the kernel
        is_hosts = _host_computes(layer.build(packed=True), layer.inputs(), kernel=kernel)
        assert is_hosts != _is_faster(dtype, rows)
    assert _host_computes(layer.build(packed=True), layer.inputs(), fuse=False)
    small = Layer(rng, 64, 48, dtype)
    assert _host_computes(small.build(packed=True), small.inputs())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kernel", KERNELS)
def test_inputs_may_be_resized(kernel, threads, rng):
    layer = Layer(rng, 100, 330, np.int8)
    layer.in_zero, layer.out_zero = 5, -7
    model, host = layer.build(packed=True), layer.build(packed=False)
    packed = larq_engine.Interpreter(model, placement=_place(kernel), num_threads=threads)
    unpacked = larq_engine.Interpreter(host)
    for rows in (9, 1, 300, 3, 40):
        layer.shape = (rows, 100)
        x = layer.inputs()
        np.testing.assert_array_equal(packed.predict(x), unpacked.predict(x))
