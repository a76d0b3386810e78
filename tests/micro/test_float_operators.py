"""Compares operators on floats in C with the engine without a host, bit for bit."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from larq_engine.micro.api import export_c
from tests.micro import boards, c_model
from tests.micro.float_models import (
    UNIT_STEPS,
    Model,
    add_bit_products,
    add_bytes_of_floats,
    add_conv,
    add_dense,
    add_dense_of_bits,
    add_floats_of_bytes,
    add_functions,
    add_int8_dense_of_bits,
    add_means,
    add_pairs,
    add_pairs_with_constants,
    add_places,
    add_pools,
    add_softmax,
    all_operators,
    check,
    floats,
)
from tests.model_builder import PADDING, add_weights, one_op_model
from tests.numpy_net import Model as NetModel
from tests.numpy_net import Net

# ---- Layers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_convolutions(seed: int, tmp_path: Path) -> None:
    model = Model(seed)
    height, width = (int(size) for size in model.rng.integers(3, 10, 2))
    image = height, width, int(model.rng.choice([1, 3, 4, 6, 12]))
    x = model.input(*image)
    for _ in range(12):
        add_conv(model, x, image)
    model.check(tmp_path)


def test_pads_are_multiplied(tmp_path: Path) -> None:
    """Infinite weights make NaN of pads, and a pad makes 0.0 of a sum that is -0.0."""
    model = Model(1)
    x = model.input(3, 3, 2, data=np.full((1, 3, 3, 2), 1e-30, np.float32))
    weights = np.full((2, 3, 3, 2), -1e-30, np.float32)
    weights[0, 0, 0, 0], weights[1, 2, 2, 1] = np.inf, 1e-30
    bias = model.builder.constant(np.full(2, -0.0, np.float32))
    for op, filters in (("CONV_2D", weights), ("DEPTHWISE_CONV_2D", weights[:1])):
        operands = [x, model.builder.constant(filters), bias]
        options = {"depthMultiplier": 1} if op == "DEPTHWISE_CONV_2D" else {}
        model.add(op, operands, (1, 3, 3, 2), padding=PADDING["SAME"], **UNIT_STEPS, **options)
    model.check(tmp_path)


def test_products_and_sums_are_rounded_once(tmp_path: Path) -> None:
    """A sum is so near to the middle between two floats that a double rounds to that."""
    model = Model(1)
    one, small = 1 + 2.0**-23, 2.0**-24
    pairs = np.array([[one, one], [-one, one], [1, one], [one, -one]], np.float32)
    x = model.input(1, 1, 2, data=pairs.reshape(4, 1, 1, 2))
    weights = np.array([[1, small * (1 - 2.0**-23)], [1, -small * (1 - 2.0**-23)]], np.float32)
    operands = [x, model.builder.constant(weights.reshape(2, 1, 1, 2)), model.constant(2)]
    zeros = [*operands[:2], model.builder.constant(np.zeros(2, np.float32))]
    for inputs in (operands, zeros):
        model.add("CONV_2D", inputs, (1, 1, 1, 2), padding=PADDING["VALID"], **UNIT_STEPS)
    model.check(tmp_path)


def test_convolution_of_bits(tmp_path: Path) -> None:
    model = Model(2)
    signs = model.rng.choice([-1, 1], (7, 3, 3, 3))
    weights = add_weights(model.builder, signs, model.values(7), 0)
    operands = [model.input(5, 5, 3), weights, model.constant(7)]
    model.add("CONV_2D", operands, (1, 5, 5, 7), padding=PADDING["SAME"], **UNIT_STEPS)
    model.check(tmp_path)


# The engine rounds in another way from 65537 weights on.
@pytest.mark.parametrize(
    ("rows", "depth", "units"),
    [(1, 1, 1), (1, 17, 5), (3, 33, 4), (1, 256, 256), (1, 255, 257), (1, 257, 256), (2, 300, 230)],
)
def test_dense(rows: int, depth: int, units: int, tmp_path: Path) -> None:
    model = Model(depth)
    add_dense(model, rows, depth, units)
    model.check(tmp_path)


@pytest.mark.parametrize(("rows", "depth", "units"), [(2, 37, 9), (1, 544, 130), (1, 3, 2)])
def test_dense_of_bits(rows: int, depth: int, units: int, tmp_path: Path) -> None:
    model = Model(depth)
    add_dense_of_bits(model, rows, depth, units)
    add_int8_dense_of_bits(model, rows, depth, units)
    model.check(tmp_path)


@pytest.mark.parametrize(
    ("depth", "rows", "columns"), [(1, 1, 1), (32, 3, 5), (45, 4, 2), (700, 2, 7)]
)
def test_products_of_bits(depth: int, rows: int, columns: int, tmp_path: Path) -> None:
    model = Model(depth)
    add_bit_products(model, depth, rows, columns)
    model.check(tmp_path)


# ---- Values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((1, 3, 4, 5), (1, 3, 4, 5)),
        ((1, 3, 4, 5), (1, 1, 1, 5)),
        ((1, 3, 1, 5), (1, 1, 4, 1)),
        ((1, 3, 4, 1), (1, 3, 4, 5)),
        ((1, 1, 1, 1), (1, 3, 4, 5)),
        ((1, 7), (1, 1)),
        ((1, 2, 3, 2, 2, 2), (1, 2, 3, 1, 1, 1)),
    ],
)
def test_pairs(a: tuple[int, ...], b: tuple[int, ...], tmp_path: Path) -> None:
    model = Model(len(a))
    add_pairs(model, a, b)
    model.check(tmp_path)


@pytest.mark.parametrize(
    "shape", [(), (1,), (5,), (1, 1, 1, 5), (4, 5), (3, 4, 1), (1, 3, 4, 5), (1, 1, 1)]
)
def test_pairs_with_constants(shape: tuple[int, ...], tmp_path: Path) -> None:
    model = Model(len(shape))
    add_pairs_with_constants(model, shape)
    model.check(tmp_path)


def test_functions(tmp_path: Path) -> None:
    model = Model(1)
    for shape in ((1,), (2, 3, 19), (33,)):
        add_functions(model, shape)
    near = np.linspace(-90, 90, 4000, dtype=np.float32).reshape(4, -1)
    model.add("LOGISTIC", [model.input(1000, data=near)], (1, 1000))
    model.check(tmp_path)


def test_softmax(tmp_path: Path) -> None:
    model = Model(1)
    for channels in (1, 2, 10, 16, 17, 100):
        add_softmax(model, channels)
    extremes = [[np.nan, 1], [np.inf, 0], [-np.inf, -np.inf], [-0.0, 0]]
    data = np.array(extremes, np.float32).reshape(4, 2)
    model.add("SOFTMAX", [model.input(2, data=data)], (1, 2), beta=1.0)
    model.check(tmp_path)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_places_of_extremes(dtype: type, tmp_path: Path) -> None:
    model = Model(1)
    add_places(model, dtype)
    model.check(tmp_path)


@pytest.mark.parametrize("image", [(7, 5, 3), (4, 4, 8), (5, 6, 1), (1, 3, 2)])
@pytest.mark.parametrize("op", ["MAX_POOL_2D", "AVERAGE_POOL_2D"])
def test_pools(op: str, image: tuple[int, int, int], tmp_path: Path) -> None:
    model = Model(sum(image))
    add_pools(model, op, image)
    model.check(tmp_path)


@pytest.mark.parametrize(
    "shape", [(4, 4, 3), (7, 5, 6), (1, 33, 2), (17, 1, 20), (9,), (2, 3, 4, 5, 6)]
)
def test_means(shape: tuple[int, ...], tmp_path: Path) -> None:
    model = Model(len(shape))
    add_means(model, shape)
    model.check(tmp_path)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_bytes_of_floats(dtype: type, tmp_path: Path) -> None:
    model = Model(3)
    add_bytes_of_floats(model, dtype)
    model.check(tmp_path)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.bool_])
def test_floats_of_bytes(dtype: type, tmp_path: Path) -> None:
    model = Model(4)
    add_floats_of_bytes(model, dtype)
    model.check(tmp_path)


# ---- Networks ------------------------------------------------------------------------------------


def _network(seed: int) -> NetModel:
    """Makes a network in which the engine computes several operators in one go."""
    net = Net(np.random.default_rng(seed))
    x = net.input(floats(net.rng, (9, 8, 6)))

    def weights(*shape: int) -> np.ndarray:
        return net.rng.uniform(-1, 1, shape).astype(np.float32)

    y = net.float_conv(x, weights(32, 3, 3, 6), weights(32), stride=(1, 2), activation="RELU")
    y = net.pool(net.mul(y, net.per_channel(32)), (3, 3), (2, 2), "SAME")
    for _ in range(2):
        row = net.reshape(net.mean(y, (1, 2), keep=True), -1, 32)
        gate = net.reshape(net.logistic(net.dense(row, weights(32, 32))), -1, 1, 1, 32)
        z = net.prelu(net.mul(net.conv(y, 32), gate), net.per_channel(32, dims=3))
        y = net.add(z, y, "RELU")
    halves = net.split(y, 2)
    y = net.concatenate([net.float_conv(x, weights(8, 3, 3, 16), weights(8)) for x in halves])
    row = net.mean(net.conv(y, 16), (1, 2), keep=False)
    return net.finish(net.softmax(net.dense(row, weights(10, 16))))


@pytest.mark.parametrize("seed", range(2))
def test_networks(seed: int, tmp_path: Path) -> None:
    with np.errstate(all="ignore"):
        model = _network(seed)
    check(model.content, model.inputs, tmp_path)


# ---- What holds for all --------------------------------------------------------------------------


def test_nothing_is_read_or_written_outside(tmp_path: Path) -> None:
    all_operators().check(tmp_path, flags=c_model.SANITIZE)


def test_no_library_is_called(tmp_path: Path) -> None:
    """A chip with floats has instructions for all that the kernels compute."""
    boards.require()
    export_c(all_operators().content()).save(tmp_path)
    compiler = boards.BOARDS["m4"].compile
    subprocess.run([*compiler, "-O2", "-c", "model.c", "-o", "model.o"], cwd=tmp_path, check=True)
    lister = compiler[0].removesuffix("gcc") + "nm"
    listed = subprocess.run([lister, "-u", "model.o"], cwd=tmp_path, stdout=-1, check=True)
    assert set(listed.stdout.decode().split()) == {"U", "memcpy", "memset"}


_FLOATS = {"shape": (1, 4, 4, 2)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            one_op_model("MEAN", _FLOATS, {"shape": (1, 4)}, ["x", np.array([1, 3], np.int32)]),
            "expected axes that are neighbours, got [1, 3]",
        ),
        (
            one_op_model("ADD", _FLOATS, _FLOATS, ["x", np.ones((3, 1), np.float32)]),
            "ADD 'y'",
        ),
        (
            one_op_model(
                "MAX_POOL_2D",
                _FLOATS,
                {"shape": (1, 4, 4, 2)},
                filterHeight=2,
                filterWidth=2,
                strideH=1,
                strideW=1,
                padding=PADDING["VALID"],
            ),
            "expected 3 positions of its window, got 4",
        ),
        (
            one_op_model(
                "CONV_2D",
                {"shape": (2, 4, 4, 2)},
                {"shape": (2, 4, 4, 2)},
                ["x", np.ones((2, 1, 1, 2), np.float32)],
                padding=PADDING["SAME"],
                **UNIT_STEPS,
            ),
            "expected one image",
        ),
        (
            one_op_model(
                "CONV_2D",
                _FLOATS,
                _FLOATS,
                ["x", np.ones((2, 1, 1, 2), np.int8)],
                padding=PADDING["SAME"],
                **UNIT_STEPS,
            ),
            "expected a model that the engine runs without a host",
        ),
        (
            one_op_model("CAST", _FLOATS, {"shape": (1, 4, 4, 2), "dtype": np.int8}),
            "expected bytes to float32, got FLOAT32 to INT8",
        ),
        (one_op_model("DIV", _FLOATS, _FLOATS, ["x", "x"]), "no kernel in C computes it"),
    ],
)
def test_other_forms_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        export_c(content)
    assert message in str(caught.value)


@pytest.mark.parametrize("axes", [[1, 2], [1, 2, 3], [3]])
def test_means_of_images_of_one_channel(axes: list[int], tmp_path: Path) -> None:
    """The last dimension has one index, but only where it is an axis are sums those of lines."""
    image = np.random.default_rng(1).normal(size=(1, 9, 11, 1)).astype(np.float32)
    shape = tuple(size for axis, size in enumerate(image.shape) if axis not in axes)
    content = one_op_model(
        "MEAN",
        {"shape": image.shape},
        {"shape": shape},
        ["x", np.array(axes, np.int32)],
        keepDims=False,
    )
    (got,) = c_model.run(content, [image], folder=tmp_path)
    expected = larq_engine.Interpreter(content, host="none").predict(image)
    assert got.tobytes() == expected.tobytes()
