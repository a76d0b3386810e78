"""Float convolutions, slices and differences next to binary layers equal NumPy's results exactly.

All sums are of few bits. The tests also show which of them the plug-in computes, in which steps.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from larq_engine.python import hosts
from tests import oracle
from tests.hosts import RUNNERS
from tests.kernel_rows import TAKES_FLOAT_CONVOLUTIONS
from tests.model_builder import add_weights
from tests.numpy_net import Array, Model, Net, Value, claimed

convolutions = pytest.mark.skipif(
    not TAKES_FLOAT_CONVOLUTIONS, reason="the host computes convolutions here"
)


def _quarters(rng: np.random.Generator, *shape: int) -> Array:
    return (rng.integers(-8, 9, shape) / 4).astype(np.float32)


def _conv(
    net: Net,
    x: Value,
    channels: int,
    *,
    taps: tuple[int, int] = (3, 3),
    stride: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
    as_bits: bool = False,
) -> Value:
    weights = _quarters(net.rng, channels, *taps, x.array.shape[3])
    bias = _quarters(net.rng, channels)
    stored = None
    if as_bits:
        weights = oracle.signs(weights)
        stored = add_weights(net.builder, weights, np.ones(channels, np.float32), 0)
    return net.float_conv(
        x, weights, bias, stride=stride, padding=padding, activation=activation, stored=stored
    )


def _model(
    rng: np.random.Generator, make: Callable[[Net, Value], Value | Sequence[Value]], channels: int
) -> Model:
    """Builds what `make` adds to an input of two images, and a binary layer of its first result."""
    net = Net(rng)
    made = make(net, net.input(_quarters(rng, 2, 9, 11, channels)))
    outputs = [made] if isinstance(made, Value) else list(made)
    return net.finish(*outputs[1:], net.conv(outputs[0], 16))


def _steps(model: Model, **options: object) -> list[tuple[str, tuple[int, ...]]]:
    """Returns the plug-in's rows: the operator, and the nodes that it absorbed."""
    with model.open(**options) as interpreter:
        rows = interpreter.profile(runs=1)
    return [(row.op, row.absorbed) for row in rows if row.op != "host runtime"]


def _groups(
    net: Net, x: Value, groups: int, channels: int = 6, axis: int = 3, **how: object
) -> tuple[list[Value], list[Value]]:
    """Splits an image and convolves each part; returns the parts and the results."""
    parts = net.split(x, groups, axis)
    return parts, [_conv(net, part, channels, **how) for part in parts]


@convolutions
@pytest.mark.parametrize("host", RUNNERS)
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"taps": (1, 1)},
        {"stride": (2, 2), "activation": "RELU"},
        {"taps": (2, 3), "stride": (1, 3), "padding": "VALID", "activation": "RELU6"},
    ],
    ids=["3x3", "1x1", "strides", "valid"],
)
@pytest.mark.parametrize(("groups", "channels"), [(2, 8), (3, 5), (8, 4)])
def test_a_convolution_in_groups_is_one_step(groups, channels, how, host, rng):
    model = _model(
        rng,
        lambda net, x: net.concatenate(_groups(net, x, groups, **how)[1]),
        groups * channels,
    )
    model.check_both(host=host)
    for threads in (1, 2):
        model.check(num_threads=threads, host=host)
    # Node 0 splits the image, nodes 1 to `groups` convolve a group each, and the last one joins
    # them.
    absorbed = (*range(2, groups + 1), 0, groups + 1)
    assert _steps(model, host=host)[0] == ("CONV_2D", absorbed)


@convolutions
def test_a_step_of_groups_counts_the_products_of_all(rng):
    model = _model(rng, lambda net, x: net.concatenate(_groups(net, x, 3)[1]), 12)
    with model.open() as interpreter:
        row = interpreter.profile(runs=1).rows[0]
    assert row.gmac_per_s is not None
    products = 9 * 11 * (3 * 6) * (3 * 3 * 4)
    assert row.gmac_per_s * row.ms_per_call * 1e6 == pytest.approx(products)


def _other_reader_of_a_group(net, x):
    _, made = _groups(net, x, 2)
    return net.concatenate(made), made[1]


def _other_reader_of_a_slice(net, x):
    parts, made = _groups(net, x, 2)
    return net.concatenate(made), parts[0]


def _other_order(net, x):
    _, made = _groups(net, x, 2)
    return net.concatenate(made[::-1])


def _other_activation(net, x):
    parts = net.split(x, 2)
    made = [
        _conv(net, part, 6, activation=a) for part, a in zip(parts, ("NONE", "RELU"), strict=True)
    ]
    return net.concatenate(made)


def _other_filters(net, x):
    parts = net.split(x, 2)
    return net.concatenate([_conv(net, part, n) for part, n in zip(parts, (6, 7), strict=True)])


def _other_taps(net, x):
    parts = net.split(x, 2)
    taps = ((3, 3), (3, 1))
    return net.concatenate(
        [_conv(net, part, 6, taps=of) for part, of in zip(parts, taps, strict=True)]
    )


def _one_group_twice(net, x):
    part = net.split(x, 2)[0]
    return net.concatenate([_conv(net, part, 6), _conv(net, part, 6)])


def _unequal_groups(net, x):
    parts = net.split(x, [3, 5])
    return net.concatenate([_conv(net, part, 6) for part in parts])


def _not_all_groups(net, x):
    parts = net.split(x, 4)
    return net.concatenate([_conv(net, part, 6) for part in parts[:2]])


def _of_two_images(net, x):
    other = net.relu(x, "RELU")
    parts = [net.split(x, 2)[0], net.split(other, 2)[1]]
    return net.concatenate([_conv(net, part, 6) for part in parts])


def _lines(net, x):
    parts = net.split(x, 9, 1)
    return net.concatenate([_conv(net, part, 6) for part in parts[:3]])


_NO_GROUPS = [
    *(_other_reader_of_a_group, _other_reader_of_a_slice, _other_order, _other_activation),
    *(_other_filters, _other_taps, _one_group_twice, _unequal_groups, _not_all_groups),
    *(_of_two_images, _lines),
]


@convolutions
@pytest.mark.parametrize("make", _NO_GROUPS, ids=lambda make: make.__name__.strip("_"))
def test_what_are_no_groups_is_computed_one_by_one(make, rng):
    model = _model(rng, make, 8)
    model.check_both()
    assert all(not absorbed for op, absorbed in _steps(model) if op == "CONV_2D")
    assert [op for op, _ in _steps(model)].count("CONV_2D") in (2, 3)


@convolutions
def test_groups_in_several_places(rng):
    """If one of them is placed on the host, the others are computed one by one."""
    model = _model(rng, lambda net, x: net.concatenate(_groups(net, x, 3)[1]), 6)
    model.check(placement="2:host")
    steps = _steps(model, placement="2:host")
    assert [op for op, _ in steps].count("CONV_2D") == 2
    assert all(not absorbed for op, absorbed in steps if op == "CONV_2D")


@convolutions
@pytest.mark.parametrize("host", RUNNERS)
def test_weights_that_are_unpacked(host, rng):
    model = _model(rng, lambda net, x: _conv(net, x, 21, stride=(2, 1), as_bits=True), 5)
    assert model.check_both(host=host)[0] == "CONV_2D"
    model.check(device="cpu", num_threads=2, host=host)


@pytest.mark.parametrize("channels", [1, 7])
def test_a_constant_is_subtracted(channels, rng):
    def make(net: Net, x: Value) -> Sequence[Value]:
        constant = net.constant(_quarters(rng, channels))
        difference = net.binary("SUB", x, constant)
        return difference, difference

    model = _model(rng, make, 7)
    assert "SUB" in model.check_both()


def test_other_differences_stay_with_the_host(rng):
    def make(net: Net, x: Value) -> Value:
        constant = net.constant(_quarters(rng, 7))
        from_constant = net.binary("SUB", constant, x)
        return net.binary("SUB", from_constant, x)

    assert "SUB" not in _model(rng, make, 7).check_both()


_BOXES: dict[str, Callable[[Net, Value], Value]] = {
    "lines": lambda net, x: net.slice(x, (0, 2, 0, 0), (-1, 5, -1, -1)),
    "columns": lambda net, x: net.slice(x, (0, 0, 4, 0), (-1, -1, 6, -1)),
    "channels": lambda net, x: net.slice(x, (0, 0, 0, 3), (-1, -1, -1, 4)),
    "all": lambda net, x: net.slice(x, (0, 1, 2, 3), (-1, 7, 8, 4)),
    "strided": lambda net, x: net.strided_slice(
        x, slice(None), slice(1, None), slice(None, -2), slice(2, 7)
    ),
    "split lines": lambda net, x: net.split(x, 3, 1)[1],
    "split columns": lambda net, x: net.split(x, [4, -1], 2)[1],
}


@pytest.mark.parametrize("name", _BOXES)
def test_boxes(name, rng):
    model = _model(rng, lambda net, x: _BOXES[name](net, net.relu(x, "RELU6")), 8)
    ops = model.check_both()
    assert {"SLICE", "STRIDED_SLICE", "SPLIT", "SPLIT_V"} & set(ops)
    model.check(num_threads=2)


@convolutions
def test_between_binary_layers_nothing_is_left_to_the_host(rng):
    net = Net(rng)
    x = net.input(_quarters(rng, 2, 20, 20, 3))
    y = _conv(net, x, 16, stride=(2, 2), activation="RELU")
    y = net.conv(_conv(net, y, 40, taps=(1, 1)), 24)
    y = net.conv(_conv(net, net.pool(y, (2, 2), (2, 2), "VALID"), 130, taps=(1, 1)), 8)
    with net.finish(y).open() as interpreter:
        hosts = [row.name for row in interpreter.profile(runs=1) if row.op == "host runtime"]
        assert hosts == ["between operators"]
        assert claimed(interpreter).count("CONV_2D") == 3


@pytest.mark.parametrize("shape", [(9, 11, 8), (1, 1, 9, 11, 8), (792,)])
@pytest.mark.parametrize("name", _BOXES)
def test_other_dimensions_are_an_error(name, shape, rng):
    """Hosts have the same limit: they compute the operators before for the size of the resize."""
    model = _model(rng, lambda net, x: _BOXES[name](net, x), 8)
    delegate = hosts.load_delegate()
    interpreter = hosts.import_host(None).Interpreter(
        model_content=model.content, experimental_delegates=[delegate]
    )
    interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], shape)
    with pytest.raises(RuntimeError, match=r"input: expected .* got \[.*; resize the input"):
        interpreter.allocate_tensors()


def test_a_batch_that_the_file_fixes(rng):
    """The batch is so large that other batches go through the steps part by part."""
    images = _quarters(rng, 8, 64, 64, 64)
    net = Net(rng)
    number = net.builder.tensor(images.shape)
    net.inputs.append(x := Value(number, images))
    box = [net.builder.constant(np.array(v, np.int32)) for v in ((0,) * 4, (8, 64, 64, 32))]
    result = Value(net.builder.tensor((8, 64, 64, 32)), images[..., :32])
    net.builder.builtin("SLICE", [x.number, *box], [result.number])
    words = net.builder.tensor((8, 64, 64, 1), np.int32)
    net.builder.custom("LceQuantize", [result.number], [words])
    expected = oracle.pack_bits(oracle.signs(result.array))
    model = net.finish(Value(words, expected))
    with model.open() as interpreter:
        np.testing.assert_array_equal(interpreter.predict(images), expected)
        assert "SLICE" in claimed(interpreter)
