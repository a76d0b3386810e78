"""Whole networks as exporters write them, in the manner of HEP-BNN, PyTorch and Brevitas."""

import numpy as np
import pytest
from onnx import numpy_helper

import larq_engine
from larq_engine.converter import schema
from tests.converter.graphs import run_engine, run_stock, signs, steps
from tests.converter.onnx_models import OnnxNet, compare, float_model, reference

# Tables I and II of the paper: a number is the channels of a convolution, 3x3 and padded with 0, or
# after "flatten" the outputs of a dense layer. Poolings are 2x2.
HEP = {
    "fashion": ((1, 28, 28), (64, "pool", "step", 64, "pool", "step", "flatten", 2048, "step", 10)),
    "cifar": (
        (3, 32, 32),
        (
            *(64, "step", 64, "pool", "step"),
            *(256, "step", 256, "pool", "step"),
            *(512, "step", 512, "pool", "step"),
            *("flatten", 1024, "step", 10),
        ),
    ),
}


def _hep(rng, name, last=None):
    """Builds the network, whose steps are thresholds of a batch norm as PyTorch exports them."""
    shape, parts = HEP[name]
    net = OnnxNet(11)
    x, channels, size, is_flat = net.input("batch", *shape), shape[0], shape[1], False
    for number, part in enumerate(parts):
        if part == "pool":
            x, size = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), size // 2
        elif part == "step":
            ones, zeros = np.ones(channels), np.zeros(channels)
            x = net.batch_norm(x, ones, zeros, rng.integers(-8, 9, channels), ones)
            zero, one, other = (
                net.op("Constant", value=numpy_helper.from_array(np.array(number, np.float32)))
                for number in (0, 1, -1)
            )
            x = net.op("Where", net.op("Greater", x, zero), one, other)
        elif part == "flatten":
            x, channels, is_flat = (
                net.op("Reshape", x, [-1, channels * size**2]),
                channels * size**2,
                True,
            )
        elif is_flat:
            x = net.op("Gemm", x, signs(rng, part, channels), transB=1, name=f"fc_{number}")
            channels = part
        else:
            weights = signs(rng, part, channels, 3, 3)
            x = net.conv(x, weights, pads=[1] * 4, name=f"conv_{number}")
            channels = part
    if last is not None:
        # With larger differences, the reference evaluator would take the logarithm of 0.
        x = net.op(last, net.op("Mul", x, np.float32(2**-6)), axis=1)
    return net.finish(x), shape


@pytest.mark.parametrize("name", HEP)
def test_hep_networks(rng, name):
    content, shape = _hep(rng, name)
    image = rng.integers(0, 256, (1, *shape)).astype(np.float32)
    converted = compare(content, [image])
    became = {layer.name: layer.became for layer in converted.report.layers}
    first, *others = became
    assert became == {first: "weights only", **dict.fromkeys(others, "binary")}
    assert len(others) == {"fashion": 3, "cifar": 7}[name]
    # Steps between binary layers are thresholds, so only the first layer's comparison is left.
    assert converted.report.operators.get("GREATER", 0) <= 1


def test_the_end_of_a_hep_network(rng):
    content, shape = _hep(rng, "fashion", "LogSoftmax")
    compare(content, [rng.integers(0, 256, (2, *shape)).astype(np.float32)], 1e-6, batch=2)


def _kinds(content):
    return [op.kind for op in schema.read(content).graphs[0].ops]


def _norm(net, rng, x, channels):
    """Adds a batch norm whose results float32 holds exactly."""
    factor = rng.choice(np.array([-2, -1, 0.5, 1], np.float32), channels)
    ones = np.ones(channels)
    return net.batch_norm(x, factor, steps(rng, channels), steps(rng, channels), ones)


def test_a_quantized_net_of_brevitas(rng):
    net = OnnxNet(20)
    x = net.input("batch", 3, 16, 16)
    x = net.conv(x, steps(rng, 32, 3, 3, 3), pads=[1] * 4)
    x = net.bipolar(_norm(net, rng, x, 32), 0.125)
    weights = net.bipolar(rng.standard_normal((64, 32, 3, 3)).astype(np.float32), 0.5)
    x = net.conv(x, weights, pads=[1] * 4, strides=[2, 2], name="second")
    x = net.bipolar(_norm(net, rng, x, 64))
    x = net.conv(x, net.bipolar(steps(rng, 64, 64, 3, 3)), name="third")
    x = net.op("ReduceMean", x, np.array([2, 3], np.int64), keepdims=0)
    x = net.bipolar(x)
    x = net.op("Gemm", x, net.bipolar(steps(rng, 10, 64)), steps(rng, 10), transB=1, name="fc")
    converted = compare(net.finish(x), [steps(rng, 2, 3, 16, 16)], batch=2)
    became = {layer.name: layer.became for layer in converted.report.layers}
    assert {name: became[name] for name in ("second", "third", "fc")} == dict.fromkeys(
        ("second", "third", "fc"), "binary"
    )


@pytest.mark.parametrize("pads_apart", [False, True])
def test_a_residual_net_of_pytorch(rng, pads_apart):
    """Weights are scaled by their mean, with straight-through estimators and strides of 2."""
    net = OnnxNet(17)

    def binary_conv(x, name, channels, stride):
        weights = rng.choice(np.array([-0.25, 0.25], np.float32), (channels, 64, 3, 3))
        weights = net.constant(weights)
        scale = net.op("ReduceMean", net.op("Abs", weights), axes=[1, 2, 3], keepdims=1)
        scaled = net.op("Mul", scale, net.op("Sign", weights))
        clamped = net.op("Clip", weights, np.float32(-1), np.float32(1))
        trained = net.op("Add", net.op("Sub", scaled, clamped), clamped)
        pads = {} if pads_apart else {"pads": [1] * 4}
        if pads_apart:
            x = net.op("Pad", x, np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64))
        return net.conv(x, trained, strides=[stride, stride], name=f"/{name}/Conv", **pads)

    x = net.input(1, 3, 14, 14)
    x = net.op("Relu", net.conv(x, steps(rng, 64, 3, 3, 3), pads=[1] * 4, strides=[2, 2]))
    for number in range(2):
        y = binary_conv(net.op("Sign", _norm(net, rng, x, 64)), f"block.{number}/conv", 64, 1)
        x = net.op("Add", _norm(net, rng, y, 64), x)
    y = binary_conv(net.op("Sign", x), "down/conv", 128, 2)
    short = net.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    x = net.op("Add", y, net.op("Concat", short, short, axis=1))
    x = net.op("GlobalMaxPool", net.op("PRelu", x, steps(rng, 128, 1, 1, step=0.25)))
    x = net.op("Gemm", net.op("Flatten", x), steps(rng, 10, 128), transB=1)
    content = net.finish(x)
    with pytest.raises(larq_engine.ConversionError, match=r"Sign .*block.0/conv.*sign_of_zero"):
        larq_engine.convert_onnx(content)
    converted = compare(content, [steps(rng, 1, 3, 14, 14)], sign_of_zero="+1")
    binary = [layer.name for layer in converted.report.layers if layer.became == "binary"]
    assert binary == ["block.0/conv", "block.1/conv", "down/conv"]
    assert _kinds(float_model(content, sign_of_zero="+1")).count("TRANSPOSE") == 1


def test_a_sign_flipped_by_rounding_is_all_that_differs(rng):
    """Weights and batch norms are as after training; the values before the sign are an output."""
    net = OnnxNet()
    x = net.input(2, 3, 12, 12)
    weights = rng.standard_normal((32, 3, 3, 3)).astype(np.float32)
    y = net.conv(x, weights, rng.standard_normal(32).astype(np.float32), pads=[1] * 4)
    numbers = [rng.uniform(0.5, 2, 32) for _ in range(4)]
    before = net.batch_norm(y, *numbers)
    after = net.bipolar(before)
    content = net.finish(before, after)
    image = rng.standard_normal((2, 3, 12, 12)).astype(np.float32)
    want_before, want_after = reference(content, [image])
    for run, model in (
        (run_stock, float_model(content)),
        (run_engine, larq_engine.convert_onnx(content)),
    ):
        have_before, have_after = run(model, [image])
        # A sum has 27 products and a bias, then comes a batch norm: each step rounds by at most
        # 2**-24 of the sum of sizes.
        bound = 32 * 2.0**-24 * (np.abs(want_before).max() + 40 * numbers[0].max())
        assert np.abs(have_before - want_before).max() <= bound
        differs = have_after != want_after
        assert (np.abs(want_before[differs]) <= bound).all()
        assert differs.mean() < 1e-3


def _classifier(rng, net, x):
    x = net.bipolar(net.conv(x, steps(rng, 32, 3, 3, 3), pads=[1] * 4))
    x = net.conv(x, signs(rng, 32, 32, 3, 3), pads=[1] * 4, strides=[2, 2])
    x = net.op("Transpose", x, perm=[0, 2, 3, 1])
    x = net.op("Relu", x)
    x = net.op("Transpose", x, perm=[0, 3, 1, 2])
    x = net.op("Flatten", net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]))
    x = net.op("PRelu", _norm(net, rng, x, 32 * 4), steps(rng, 32 * 4, step=0.25))
    return net.op("Gemm", net.bipolar(x), signs(rng, 32 * 4, 10))


def test_images_are_turned_once(rng):
    net = OnnxNet()
    content = net.finish(_classifier(rng, net, net.input("batch", 3, 8, 8)))
    assert _kinds(float_model(content)).count("TRANSPOSE") == 1
    image = steps(rng, 2, 3, 8, 8)
    compare(content, [image], batch=2)
    model = larq_engine.convert_onnx(content, channels_last=True)
    assert "TRANSPOSE" not in _kinds(model)
    (want,) = reference(content, [image])
    np.testing.assert_array_equal(run_engine(model, [image.transpose(0, 2, 3, 1)])[0], want)


def test_images_given_out(rng):
    net = OnnxNet()
    x = net.conv(net.input(1, 3, 8, 8), steps(rng, 32, 3, 3, 3), pads=[1] * 4)
    content = net.finish(net.conv(net.bipolar(x), signs(rng, 5, 32, 1, 1)))
    image = steps(rng, 1, 3, 8, 8)
    compare(content, [image])
    assert _kinds(float_model(content)).count("TRANSPOSE") == 2
    model = larq_engine.convert_onnx(content, channels_last=True)
    assert "TRANSPOSE" not in _kinds(model)
    (want,) = reference(content, [image])
    (have,) = run_engine(model, [image.transpose(0, 2, 3, 1)])
    np.testing.assert_array_equal(have, want.transpose(0, 2, 3, 1))
