"""Tests of the host's float operators that only GPUs take over.

Results are close to the host's, and equal if nothing is rounded. Whole models have no transfer
inside.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from tests import oracle
from tests.kernel_rows import TAKES_FLOAT_CONVOLUTIONS
from tests.numpy_net import Array, Model, Net, Value, claimed, random_images

_EPS = float(np.finfo(np.float32).eps)


@dataclass
class _Numbers:
    """Makes data and weights, and the sizes that bounds of errors are computed from."""

    rng: np.random.Generator
    exact: bool = False  # values have few bits, so sums are exact in any order
    absolute: bool = False  # values are absolute ones, for bounds
    seen: dict[str, Array] = field(default_factory=dict)

    def draw(self, name: str, *shape: int) -> Array:
        values = self.rng.integers(-8, 9, shape) / 4 if self.exact else None
        if values is None:
            values = self.rng.standard_normal(shape)
        values = self.seen.setdefault(name, values.astype(np.float32))
        return np.abs(values) if self.absolute else values


def _conv(
    net: Net,
    numbers: _Numbers,
    x: Value,
    channels: int,
    taps: tuple[int, int] = (3, 3),
    stride: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    *,
    depthwise: int = 0,
    activation: str = "NONE",
    dilation: int = 1,
) -> Value:
    """Adds a convolution to `channels`, or one with `depthwise` outputs for each channel."""
    depth, name = x.array.shape[3], f"weights{x.number}"
    shape = (1, *taps, depth * depthwise) if depthwise else (channels, *taps, depth)
    return net.float_conv(
        x,
        numbers.draw(name, *shape),
        numbers.draw(f"bias{x.number}", depth * depthwise or channels),
        stride=stride,
        padding=padding,
        activation=activation,
        dilation=dilation,
        depthwise=depthwise > 0,
    )


def _dense(
    net: Net, numbers: _Numbers, x: Value, units: int, *, keep: bool = False, bias: bool = True
) -> Value:
    weights = numbers.draw(f"weights{x.number}", units, x.array.shape[-1])
    biases = numbers.draw(f"bias{x.number}", units) if bias else None
    return net.dense(x, weights, biases, keep=keep)


def _pad(net: Net, x: Value, *pads: tuple[int, int]) -> Value:
    return net.host("PAD", x, np.pad(x.array, pads), net.builder.constant(np.array(pads, np.int32)))


def _pad_with(net: Net, x: Value, value: float, *pads: tuple[int, int]) -> Value:
    constants = np.array(pads, np.int32), np.array(value, np.float32)
    return net.host(
        "PADV2",
        x,
        np.pad(x.array, pads, constant_values=value),
        *map(net.builder.constant, constants),
    )


_Make = Callable[[Net, _Numbers, Value], Value]

# Operators that sum, with the number of products of a sum: the error of rounding is at most this
# number times eps, times the sum of absolute values.
_SUMS: dict[str, tuple[_Make, int]] = {
    "3x3": (lambda n, d, x: _conv(n, d, x, 19), 9 * 13 + 2),
    "strides": (lambda n, d, x: _conv(n, d, x, 35, (3, 2), (2, 3)), 6 * 13 + 2),
    "valid": (lambda n, d, x: _conv(n, d, x, 8, (2, 5), padding="VALID"), 10 * 13 + 2),
    "pointwise": (lambda n, d, x: _conv(n, d, x, 70, (1, 1)), 15),
    "depthwise": (lambda n, d, x: _conv(n, d, x, 0, depthwise=1, stride=(2, 2)), 11),
    "multiplied": (lambda n, d, x: _conv(n, d, x, 0, depthwise=3, padding="VALID"), 11),
    "dense": (lambda n, d, x: _dense(n, d, n.reshape(x, -1, 7 * 9 * 13), 21), 7 * 9 * 13 + 2),
    "dense rows": (lambda n, d, x: _dense(n, d, x, 21), 15),
    "dense, no bias": (lambda n, d, x: _dense(n, d, x, 5, bias=False), 14),
    "dense, all dimensions": (lambda n, d, x: _dense(n, d, x, 33, keep=True), 15),
    "average": (lambda n, d, x: n.average(x, 3, 2, "SAME"), 11),
    "average, inside": (lambda n, d, x: n.average(x, 2, 1, "VALID"), 6),
    "mean": (lambda n, d, x: n.mean(x, (1, 2), keep=False), 65),
    "mean, all dimensions": (lambda n, d, x: n.mean(x, (2, 1), keep=True), 65),
    "mean of lines": (lambda n, d, x: n.mean(x, (1,), keep=True), 9),
    "mean of columns": (lambda n, d, x: n.mean(x, (-2,), keep=False), 11),
}
# Operators whose results are the same on both devices, to the bit.
_COPIES: dict[str, _Make] = {
    "pad": lambda n, d, x: _pad(n, x, (0, 0), (1, 2), (0, 3), (4, 0)),
    "pad with a number": lambda n, d, x: _pad_with(n, x, -1.5, (0, 0), (1, 2), (0, 3), (4, 0)),
    "reshape": lambda n, d, x: n.reshape(x, -1, 9 * 13),
    "split": lambda n, d, x: n.add(*n.split(x, 3, 2)[::2]),
    "split of one": lambda n, d, x: n.split(x, 1, 1)[0],
    "split by sizes": lambda n, d, x: n.concatenate(n.split(x, [4, 7, 2])[::-1]),
    "split with a rest": lambda n, d, x: n.add(*n.split(x, [1, -1, 3, 2], -3)[:2]),
    "slice": lambda n, d, x: n.slice(x, [0, 2, 0, 4], [-1, 3, -1, 9]),
    "box": lambda n, d, x: n.strided_slice(
        x, slice(None), slice(1, -2), slice(-7, None), slice(-20, 8)
    ),
    "reshape in a chain": lambda n, d, x: n.reshape(n.relu(x, "RELU"), -1, 63, 13),
}
_CURVES: dict[str, _Make] = {
    "softmax": lambda n, d, x: n.softmax(x),
    "logistic": lambda n, d, x: n.logistic(x),
}


def _model(numbers: _Numbers, make: _Make, activation: str = "NONE") -> Model:
    """Returns a model of the operator and a quantization, without which the host would keep it."""
    net = Net(numbers.rng)
    x = net.input(numbers.draw("images", 3, 7, 9, 13))
    y = make(net, numbers, x)
    if activation != "NONE":
        y = net.relu(y, activation)
    bits = net.host("NEG", y, y.array)
    net.builder.graph.operators.pop()  # only the tensor is wanted
    net.builder.model.operatorCodes.pop()
    words = -(-y.array.shape[-1] // 32)
    net.builder.graph.tensors[bits.number].shape = np.array(
        [1, *y.array.shape[1:-1], words], np.int32
    )
    net.builder.graph.tensors[bits.number].type = 2
    net.builder.custom("LceQuantize", [y.number], [bits.number])
    return net.finish(y)


def _run(model: Model, device: str) -> Array:
    # The host computes the operators on the CPU, independently of the engine.
    with model.open(device=device, fuse=device == "cuda") as interpreter:
        result: Array = interpreter.predict(model.inputs)
        for _ in range(2):
            assert interpreter.predict(model.inputs).tobytes() == result.tobytes()
        if device == "cuda":
            rows = interpreter.profile(runs=1)
            assert [row.op for row in rows if row.device != "cuda"] == ["TRANSFER", "host runtime"]
    return result


@pytest.mark.parametrize("name", _SUMS)
def test_sums_are_as_close_as_rounding_allows(name, rng):
    make, count = _SUMS[name]
    numbers = _Numbers(rng)
    model = _model(numbers, make)
    numbers.absolute = True
    sizes = _run(_model(numbers, make), "cpu")
    difference = np.abs(_run(model, "cuda").astype(float) - _run(model, "cpu"))
    assert (difference <= 2 * count * _EPS * sizes).all()


@pytest.mark.skipif(not TAKES_FLOAT_CONVOLUTIONS, reason="the host computes convolutions here")
@pytest.mark.parametrize("activation", ["NONE", "RELU6"])
@pytest.mark.parametrize("name", ["3x3", "strides", "valid", "pointwise", "depthwise", "split"])
def test_the_plug_ins_convolutions_are_the_same_on_the_cpu(name, activation, rng):
    make = _SUMS[name][0] if name in _SUMS else _COPIES[name]
    model = _model(_Numbers(rng), make, activation)
    with model.open(device="cpu") as cpu:
        assert {"CONV_2D", "DEPTHWISE_CONV_2D", "SPLIT"} & set(claimed(cpu))
        assert cpu.predict(model.inputs).tobytes() == _run(model, "cuda").tobytes()


@pytest.mark.parametrize("activation", ["NONE", "RELU6"])
@pytest.mark.parametrize("name", [name for name in _SUMS if "me" not in name and "av" not in name])
def test_exact_sums_are_the_same(name, activation, rng):
    model = _model(_Numbers(rng, exact=True), _SUMS[name][0], activation)
    assert _run(model, "cuda").tobytes() == _run(model, "cpu").tobytes()


@pytest.mark.parametrize("name", _COPIES)
def test_copies_are_the_same(name, rng):
    model = _model(_Numbers(rng), _COPIES[name])
    assert _run(model, "cuda").tobytes() == _run(model, "cpu").tobytes()


@pytest.mark.parametrize("name", [*_SUMS, *_COPIES, *_CURVES])
def test_small_operators_are_expected_to_be_faster_on_the_cpu(name, rng):
    """A launch and two copies take longer, so the engine computes them there."""
    make = _SUMS[name][0] if name in _SUMS else {**_COPIES, **_CURVES}[name]
    model = _model(_Numbers(rng, exact=True), make)
    with model.open(device="auto") as interpreter:
        result = interpreter.predict(model.inputs)
        rows = interpreter.profile(runs=1)
        assert set(claimed(interpreter)) - {"LceQuantize"}
    assert {row.device for row in rows if row.op != "host runtime"} == {"cpu"}
    np.testing.assert_allclose(result, _run(model, "cpu"), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("op", ["CAST", "DEQUANTIZE"])
def test_bytes_become_floats(op, dtype, rng, assert_no_leaks):
    """Bytes are uploaded, converted on the GPU, and read by the operators that follow."""
    images = rng.permutation(np.arange(3 * 8 * 4 * 40) % 256).astype(np.uint8).view(dtype)
    images = images.reshape(3, 8, 4, 40)
    scale, zero_point = (np.float32(0.0173), 100) if op == "DEQUANTIZE" else (np.float32(1), 0)
    net = Net(rng)
    quantization = {"scale": scale, "zero_point": zero_point} if op == "DEQUANTIZE" else {}
    x = Value(net.builder.tensor((1, 8, 4, 40), dtype, **quantization), images)
    net.inputs.append(x)
    y = net.host(op, x, (images.astype(np.float32) - np.float32(zero_point)) * scale)
    z = net.add(net.mul(y, net.per_channel(40)), net.per_channel(40), "RELU6")
    model = net.finish(y, z, net.bits(z))
    model.check(device="cpu", fuse=False)  # computed by the host
    model.check(device="cuda")
    with model.open(device="cuda") as interpreter:
        rows = list(interpreter.profile(images[:1], runs=1))
        names = list(interpreter.input_names)
    uploads = [row.tensor for row in rows if row.op == "TRANSFER" and row.device == "cuda"]
    assert uploads == names
    steps = [row for row in rows if row.device == "cuda" and row.op != "TRANSFER"]
    assert len(steps) == 4
    # The time of a launch is shown in the row of its first operator.
    assert [row.op for row in steps if row.ms_per_call > 0] == [op]
    assert_no_leaks()


def test_bytes_with_scales_of_channels_stay_with_the_host(rng):
    net = Net(rng)
    images = rng.integers(-128, 128, (2, 3, 3, 4)).astype(np.int8)
    scales = np.linspace(0.1, 1, 4, dtype=np.float32)
    number = net.builder.tensor(
        (1, 3, 3, 4), np.int8, scale=scales, zero_point=[0] * 4, quantized_dimension=3
    )
    x = Value(number, images)
    net.inputs.append(x)
    y = net.host("DEQUANTIZE", x, images * scales)
    model = net.finish(net.bits(net.relu(y, "RELU")))
    assert "DEQUANTIZE" not in model.check(device="cuda")


@pytest.mark.parametrize("kind", [np.int32, np.int8])
def test_bits_and_bytes_are_split(kind, rng):
    """Bits are split by words, of which the last one has 8 channels."""
    images = random_images(rng, 3, 4, 5, 72)
    net = Net(rng)
    bits = net.bits(net.input(images))
    signs = oracle.signs(images)
    outputs = []

    if kind is np.int32:
        words, last = net.split(bits, [-1, 1])
        outputs.append(net.floats(words, signs[..., :64]))
        outputs.append(net.floats(last, signs[..., 64:]))
    else:
        for part in net.split(net.floats(bits, signs, np.int8), 3):
            outputs.append(net.floats(net.bits(part), part.array))
    model = net.finish(*outputs)
    model.check(device="cpu")
    steps = model.check(device="cuda")
    assert [step for step in steps if step.startswith("SPLIT")] == (
        ["SPLIT_V"] * 2 if kind is np.int32 else ["SPLIT"] * 3
    )


@pytest.mark.parametrize("kind", [np.int32, np.int8])
def test_bits_and_bytes_are_reshaped(kind, rng):
    """An image becomes rows, as before a dense layer. Words of bits stay whole."""
    images = random_images(rng, 3, 4, 5, 64)
    net = Net(rng)
    x = net.bits(net.input(images))
    size = 4 * 5 * 64
    if kind is np.int8:
        x = net.floats(x, oracle.signs(images), np.int8)
    units = size // 32 if kind is np.int32 else size
    scale = None if kind is np.int32 else 1.0
    rows = net.builder.tensor((1, 1, 1, units), kind, scale=scale)
    shape = net.builder.constant(np.array([-1, 1, 1, units], np.int32))
    net.builder.builtin("RESHAPE", [x.number, shape], [rows])
    if kind is np.int8:
        words = net.builder.tensor((1, 1, 1, size // 32), np.int32)
        net.builder.custom("LceQuantize", [rows], [words])
        rows = words
    y = net.builder.tensor((1, 1, 1, size), np.float32)
    net.builder.custom("LceDequantize", [rows], [y])
    model = net.finish(Value(y, oracle.signs(images).reshape(3, 1, 1, size).astype(np.float32)))
    model.check(device="cpu")
    assert "RESHAPE" in [step.split()[0] for step in model.check(device="cuda")]


def test_parts_that_nobody_reads_or_two_devices_do(rng):
    images = random_images(rng, 2, 4, 5, 96)
    net = Net(rng)
    x = net.conv(net.input(images), 96)
    first, _, last = net.split(x, 3)
    model = net.finish(net.conv(first, 8), net.conv(last, 8), net.add(first, last))
    with model.open(device="cuda") as interpreter:
        rows = [row for row in interpreter.profile(runs=1) if row.op != "TRANSFER"]
    assert [row.op for row in rows].count("SPLIT") == 3
    node = next(row.node for row in rows if row.op == "ADD")
    for placement in ("", f"{node}:cpu", f"{node - 1}:cpu,{node}:cpu"):
        model.check(device="cuda", placement=placement)


def test_a_size_that_cannot_be_split(rng):
    net = Net(rng)
    left, right = net.split(net.conv(net.input(random_images(rng, 1, 4, 6, 32)), 32), 2, 2)
    interpreter = net.finish(net.add(left, right)).open(device="cuda")
    with pytest.raises(ValueError, match=r"SPLIT.*: input: expected a shape whose dimension 2"):
        interpreter.resize([(1, 4, 7, 32)])


def _sum_of_seven_dimensions(rng: np.random.Generator) -> tuple[Model, int]:
    """Returns a sum between operators that the GPU computes, and the node of the sum."""
    net = Net(rng)
    curves = []
    for shape in ((1, 2, 1, 2, 1, 2, 8), (1, 1, 2, 1, 2, 2, 8)):
        x = net.input(random_images(rng, *shape))
        curves.append(net.logistic(x))
    both = net.add(*curves)
    y = net.logistic(both)
    return net.finish(y, net.bits(y)), 2


def test_sums_that_only_the_cpu_computes(rng):
    model, node = _sum_of_seven_dimensions(rng)
    with model.open(device="cuda") as interpreter:
        result, _ = interpreter.predict(model.inputs)
        np.testing.assert_allclose(result, model.expected[0], rtol=1e-5)
        rows = [row for row in interpreter.profile(runs=1) if row.op != "TRANSFER"]
        devices = {row.node: row.device for row in rows}
        assert devices[node] == "cpu" and devices[node + 1] == "cuda"
        # Sums of equal shapes are a step of another kernel on the GPU.
        for shape, device in ((1, "cuda"), (2, "cpu"), (1, "cuda")):
            interpreter.resize([(1, shape, 1, 1, 1, 2, 8), (1, 1, 1, 1, 1, 2, 8)])
            rows = interpreter.profile(runs=1)
            assert {row.device for row in rows if row.op == "ADD"} == {device}


def test_a_plan_around_a_sum_that_only_the_cpu_computes_is_on_the_cpu(rng):
    model, _ = _sum_of_seven_dimensions(rng)
    with model.open(device="auto") as interpreter:
        result, _ = interpreter.predict(model.inputs)
        np.testing.assert_allclose(result, model.expected[0], rtol=1e-5)
        rows = interpreter.profile(runs=1)
        assert {row.device for row in rows if row.op != "host runtime"} == {"cpu"}


def test_a_sum_that_is_placed_where_nobody_computes_it(rng):
    model, node = _sum_of_seven_dimensions(rng)
    with pytest.raises(
        ValueError,
        match=r"ADD.* \(#2\): placement: expected a device that computes it, got cuda: its inputs "
        r"of unlike shapes have more than 6 dimensions: \[1, 2, 2, 2, 2, 2, 8\]",
    ):
        model.open(device="auto", placement=f"{node}:cuda").predict(model.inputs)


@pytest.mark.parametrize("name", ["average", "average, inside", "mean", "mean of lines"])
def test_averages_are_those_of_the_cpu_to_the_bit(name, rng):
    model = _model(_Numbers(rng), _SUMS[name][0])
    with model.open(device="cpu") as interpreter:
        assert {"AVERAGE_POOL_2D", "MEAN"} & set(claimed(interpreter))
        expected = interpreter.predict(model.inputs)
    assert _run(model, "cuda").tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", _CURVES)
def test_curves_are_close(name, rng):
    model = _model(_Numbers(rng), _CURVES[name])
    np.testing.assert_allclose(_run(model, "cuda"), _run(model, "cpu"), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("activation", ["RELU", "RELU_N1_TO_1", "RELU6"])
def test_activations_within_operators(activation, rng):
    def make(net: Net, numbers: _Numbers, x: Value) -> Value:
        y = _conv(net, numbers, x, 9, activation=activation)
        y = _conv(net, numbers, y, 0, depthwise=1, activation=activation)
        return net.average(y, 2, 2, "SAME", activation)

    model = _model(_Numbers(rng, exact=True), make)
    np.testing.assert_allclose(_run(model, "cuda"), _run(model, "cpu"), rtol=1e-6, atol=1e-6)


def _unknown(net: Net, numbers: _Numbers, x: Value) -> Value:
    return _conv(net, numbers, x, 9, dilation=2)


def _computed_weights(net: Net, numbers: _Numbers, x: Value) -> Value:
    weights = net.host("NEG", net.constant(numbers.draw("w", 9, 1, 1, 13)), np.zeros((9, 1, 1, 13)))
    return net.host(
        "CONV_2D", x, np.zeros((3, 7, 9, 9), np.float32), weights.number,
        net.builder.constant(np.zeros(9, np.float32)), strideH=1, strideW=1, padding=0,
    )  # fmt: skip


_REFUSED: dict[str, _Make] = {
    "dilated": _unknown,
    "groups": lambda n, d, x: n.host(
        "CONV_2D", n.reshape(x, -1, 9, 13, 7),
        np.zeros((3, 9, 13, 7), np.float32),
        n.builder.constant(d.draw("w", 7, 1, 1, 1)), n.builder.constant(np.zeros(7, np.float32)),
        strideH=1, strideW=1, padding=0,
    ),
    "every other": lambda n, d, x: n.strided_slice(
        x, slice(None), slice(0, 7, 2), slice(None), slice(None)
    ),
    "ellipsis": lambda n, d, x: n.strided_slice(
        x, slice(None), slice(None), slice(None), slice(None), ellipsisMask=1
    ),
    "slice where a tensor says": lambda n, d, x: n.host(
        "SLICE", x, x.array[:, :2],
        n.host("NEG", Value(n.builder.constant(np.zeros(4, np.int32)), np.zeros(4)),
               np.zeros(4, np.int32)).number,
        n.builder.constant(np.array([-1, 2, -1, -1], np.int32)),
    ),
    "mean of channels": lambda n, d, x: n.mean(x, (3,), keep=True),
    "mean of every other": lambda n, d, x: n.mean(x, (0, 2), keep=True),
}  # fmt: skip


@pytest.mark.parametrize("name", _REFUSED)
def test_what_stays_with_the_host(name, rng):
    model = _model(_Numbers(rng), _REFUSED[name])
    with model.open(device="cuda") as interpreter:
        ops = claimed(interpreter)
    assert "LceQuantize" in ops
    assert not {"CONV_2D", "MEAN", "SLICE", "STRIDED_SLICE"} & set(ops)


def _small_quicknet(rng: np.random.Generator) -> Model:
    """Returns a stem, blocks, a transition and a head; all sums but the softmax's are exact."""
    numbers = _Numbers(rng, exact=True)
    net = Net(rng)
    x = net.input(numbers.draw("images", 2, 32, 32, 3))
    y = _conv(net, numbers, x, 8, stride=(2, 2), activation="RELU")
    y = _conv(net, numbers, y, 0, depthwise=1, stride=(2, 2))
    y = _conv(net, numbers, y, 32, (1, 1))
    for _ in range(2):
        y = net.add(net.conv(y, 32, activation="RELU"), y)
    y = net.pool(net.relu(y, "RELU"), (3, 3), (1, 1), "SAME", "RELU_N1_TO_1")
    y = _conv(net, numbers, y, 0, depthwise=1, stride=(2, 2))
    y = _conv(net, numbers, y, 64, (1, 1))
    y = net.add(net.conv(y, 64, activation="RELU"), y)
    y = net.mean(net.relu(y, "RELU"), (1, 2), keep=True)
    logits = _dense(net, numbers, net.reshape(y, -1, 64), 10)
    return net.finish(net.softmax(logits))


def test_a_whole_model_is_one_part_of_the_graph(rng, assert_no_leaks):
    model = _small_quicknet(rng)
    with model.open(device="cuda") as gpu, model.open(device="cpu") as cpu:
        # A sign that rounding flips would show here, because the blocks of both sum the same bits.
        np.testing.assert_allclose(
            gpu.predict(model.inputs), cpu.predict(model.inputs), rtol=1e-3, atol=1e-5
        )
        rows = gpu.profile(runs=2)
        assert [row.device for row in rows if row.op == "TRANSFER"] == ["cuda", "cpu"]
        assert {row.device for row in rows if row.op not in ("TRANSFER", "host runtime")} == {
            "cuda"
        }
        assert len([row for row in rows if row.op not in ("TRANSFER", "host runtime")]) == 21
        assert not {"SOFTMAX", "MEAN", "FULLY_CONNECTED"} & set(claimed(cpu))
    assert_no_leaks()


def test_a_model_that_pads_with_ones_and_flattens_bits_is_one_part(rng):
    """HEP-BNN's network does this: its dense layers begin with the bits of an image."""
    net = Net(rng)
    x = net.input(random_images(rng, 3, 6, 6, 3))
    y = _conv(net, _Numbers(rng, exact=True), _pad_with(net, x, 1.0, (0, 0), *[(1, 1)] * 2, (0, 0)),
              32, padding="VALID")  # fmt: skip
    bits = net.bits(y)
    rows = net.builder.tensor((1, 1, 1, 36), np.int32)
    shape = net.builder.constant(np.array([-1, 1, 1, 36], np.int32))
    net.builder.builtin("RESHAPE", [bits.number, shape], [rows])
    out = net.builder.tensor((1, 1, 1, 36 * 32), np.float32)
    net.builder.custom("LceDequantize", [rows], [out])
    model = net.finish(Value(out, y.array))
    with model.open(device="cuda") as gpu, model.open(device="cpu") as cpu:
        np.testing.assert_array_equal(gpu.predict(model.inputs), cpu.predict(model.inputs))
        table = gpu.profile(runs=1)
    assert [row.device for row in table if row.op == "TRANSFER"] == ["cuda", "cpu"]
    assert {"PADV2", "RESHAPE"} <= {row.op for row in table if row.device == "cuda"}


@pytest.mark.parametrize(("place", "left"), [("host", 1), ("cpu", 2)])
def test_placement_leaves_operators_to_the_host(place, left, rng):
    model = _small_quicknet(rng)
    with model.open(device="cuda") as interpreter:
        nodes = {row.node: row.op for row in interpreter.profile(runs=1)}
    first = min(node for node, op in nodes.items() if op == "DEPTHWISE_CONV_2D")
    with model.open(device="cuda", placement=f"{first}:{place}") as interpreter:
        ops = claimed(interpreter)
        devices = [row.device for row in interpreter.profile(runs=1) if row.node == first]
    assert ops.count("DEPTHWISE_CONV_2D") == left
    assert devices == ["cpu"] * (left - 1)


def test_random_images_through_a_dense_layer_alone_stay_with_the_host(rng):
    """No operator of the plug-in is next to the dense layer."""
    net = Net(rng)
    x = net.input(random_images(rng, 2, 5))
    model = net.finish(_dense(net, _Numbers(rng), x, 3))
    with model.open(device="cuda") as interpreter:
        assert claimed(interpreter) == []
