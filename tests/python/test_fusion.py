"""The host's float operators that plans compute between ours give the same results, to the bit.

Every model runs fused and not fused, and is compared with NumPy in float32, in the model's order.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import larq_engine
from tests import oracle
from tests.hosts import HOSTS
from tests.kernel_rows import KERNELS
from tests.model_builder import (
    add_weights,
)
from tests.numpy_net import (
    ACTIVATIONS,
    Model,
    Net,
    Value,
    claimed,
    random_images,
    random_net,
    residual_net,
)

Array = np.ndarray

_CONV = ["LceQuantize", "LceBconv2d"]
# Channels around the widths of vectors and words; images with enough pixels to fuse, and with few.
_SHAPES = [(3, 9, 7, 33), (2, 3, 5, 1), (1, 1, 1, 40), (2, 8, 8, 64)]


# Batches of more than a megabyte. They are computed sample by sample, two at a time, and all at
# once, as 101 samples cannot be divided into parts.
_LARGE_BATCHES = [(3, 70, 71, 33), (12, 30, 29, 40), (101, 4, 5, 64)]


@pytest.fixture
def net(rng) -> Net:
    return Net(rng)


def _two_tensors(net: Net, op: str, x: Value, activation: str) -> Value:
    return net.binary(op, net.conv(x, x.array.shape[3]), x, activation)


def _channels_right(net: Net, op: str, x: Value, activation: str) -> Value:
    return net.binary(op, net.conv(x, 35), net.per_channel(35), activation)


def _channels_left(net: Net, op: str, x: Value, activation: str) -> Value:
    return net.binary(op, net.per_channel(35, dims=4), net.conv(x, 35), activation)


def _scalar(net: Net, op: str, x: Value, activation: str) -> Value:
    return net.binary(op, net.conv(x, 35), net.constant(np.array(0.7)), activation)


def _single_value(net: Net, op: str, x: Value, activation: str) -> Value:
    return net.binary(op, net.constant(np.full((1, 1, 1, 1), -1.3)), net.conv(x, 35), activation)


def _itself(net: Net, op: str, x: Value, activation: str) -> Value:
    y = net.conv(x, 17)
    return net.binary(op, y, y, activation)


def _itself_in_words(net: Net, op: str, x: Value, activation: str) -> Value:
    y = net.conv(x, 64)
    return net.binary(op, y, y, activation)


def _gate_of_channels(net: Net, op: str, x: Value, activation: str) -> Value:
    gate = net.input(random_images(net.rng, len(x.array), 1, 1, 35))
    return net.binary(op, net.conv(x, 35), gate, activation)


def _gate_of_pixels(net: Net, op: str, x: Value, activation: str) -> Value:
    gate = net.input(random_images(net.rng, *x.array.shape[:3], 1))
    return net.binary(op, gate, net.conv(x, 35), activation)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("op", ["ADD", "MUL"])
@pytest.mark.parametrize(
    "form",
    [
        _two_tensors,
        _channels_right,
        _channels_left,
        _scalar,
        _single_value,
        _itself,
        _itself_in_words,
        _gate_of_channels,
        _gate_of_pixels,
    ],
    ids=lambda form: form.__name__[1:],
)
def test_sums_and_products(form: Callable[..., Value], op, host, rng):
    for shape, activation in zip(_SHAPES, ACTIVATIONS, strict=True):
        net = Net(rng)
        y = form(net, op, net.input(random_images(rng, *shape)), activation)
        assert net.finish(y).check_both(host=host) == [*_CONV, op]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("kind", ["RELU", "RELU6", "RELU_N1_TO_1"])
def test_relus(kind, host, rng):
    for shape in _SHAPES:
        net = Net(rng)
        y = net.relu(net.conv(net.input(random_images(rng, *shape)), 19), kind)
        assert net.finish(y).check_both(host=host) == [*_CONV, kind]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("dims", [1, 3])
def test_prelu(dims, host, rng):
    for shape in _SHAPES:
        net = Net(rng)
        y = net.prelu(
            net.conv(net.input(random_images(rng, *shape)), 19), net.per_channel(19, dims=dims)
        )
        assert net.finish(y).check_both(host=host) == [*_CONV, "PRELU"]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_max_pools(padding, host, rng):
    windows = [((2, 2), (2, 2)), ((3, 3), (2, 2)), ((3, 2), (1, 3)), ((1, 1), (2, 2))]
    for (window, stride), activation in zip(windows, ACTIVATIONS, strict=True):
        for shape in [(3, 9, 7, 33), (2, 5, 3, 1)]:
            net = Net(rng)
            x = net.conv(net.input(random_images(rng, *shape)), 21)
            y = net.pool(x, window, stride, padding, activation)
            assert net.finish(y).check_both(host=host) == [*_CONV, "MAX_POOL_2D"]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("axis", [-1, 3])
@pytest.mark.parametrize("parts", [2, 3, 8])
def test_concatenations(parts, axis, host, rng):
    for shape in _SHAPES:
        net = Net(rng)
        x = net.input(random_images(rng, *shape))
        values = [net.conv(x, 3 + 5 * i) for i in range(parts - 1)]
        y = net.concatenate([*values, x], axis)
        assert net.finish(y).check_both(host=host) == [*_CONV * (parts - 1), "CONCATENATION"]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("growth", [32, 64, 20])
@pytest.mark.parametrize("threads", [1, 2])
def test_dense_blocks(threads, growth, host, rng):
    """A block's layers read all earlier results; a batch norm, a pool and a relu end it.

    Concatenations of whole words with enough pixels are computed in parts.
    """
    for shape in [(2, 9, 10, 32), (1, 3, 5, 64), (1, 4, 4, 7)]:
        net = Net(rng)
        x = net.relu(net.input(random_images(rng, *shape)), "RELU6")
        for layer in range(3):
            channels = x.array.shape[3]
            scaled = net.mul(x, net.per_channel(channels)) if layer > 0 else x
            made = net.conv(net.add(scaled, net.per_channel(channels)), growth)
            x = net.concatenate([x, made] if layer < 2 else [made, x, made])
        y = net.pool(net.mul(x, net.per_channel(x.array.shape[3])), (2, 2), (2, 2), "SAME", "RELU")
        y = net.prelu(y, net.per_channel(y.array.shape[3]))
        outputs = [made] if growth == 64 else []
        model = net.finish(*outputs, y, net.conv(y, 5))
        assert len(model.check_both(num_threads=threads, host=host)) == 15


_RESIDUAL_STEPS = [
    *_CONV, "MUL", "ADD", "PRELU", "ADD", *_CONV, "ADD", "RELU6", "MAX_POOL_2D", *_CONV,
    "CONCATENATION", *_CONV,
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_network(threads, host, rng):
    for shape in [(3, 14, 13, 37), (2, 4, 4, 64), (1, 3, 2, 5), (1, 40, 30, 8)]:
        model = residual_net(rng, random_images(rng, *shape))
        steps = model.check_both(num_threads=threads, host=host)
        assert sorted(steps) == sorted(_RESIDUAL_STEPS)


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel(kernel, rng):
    model = residual_net(rng, random_images(rng, 2, 9, 10, 70))
    for threads in (1, 2):
        model.check_both(num_threads=threads, kernel=kernel)


@pytest.mark.parametrize("host", HOSTS)
def test_other_batches_and_sizes_one_after_another(host, rng):
    constants = int(rng.integers(1000))

    def model(images: Array) -> Model:
        return residual_net(np.random.default_rng(constants), images)

    first = model(random_images(rng, 1, 6, 6, 20))
    interpreters = [first.open(fuse=fuse, host=host) for fuse in (True, False)]
    for shape in [(5, 6, 6, 20), (2, 17, 9, 20), (1, 2, 2, 20), (3, 6, 6, 20)]:
        images = random_images(rng, *shape)
        for interpreter in interpreters:
            if interpreter.input_shapes[0][1:] != shape[1:]:
                interpreter.resize([(1, *shape[1:])])
            got = interpreter.predict(images)
            np.testing.assert_array_equal(got, model(images).expected[0])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", _LARGE_BATCHES)
def test_large_batches_in_parts(shape, threads, rng):
    model = residual_net(rng, random_images(rng, *shape))
    model.check_both(num_threads=threads)


def _product_of_what_a_sum_ended(net: Net, x: Value) -> list[Value]:
    """Adds a convolution p, and after it a sum that p outlives by one step of the sum's group."""
    p = net.conv(x, x.array.shape[3])
    a = net.add(net.conv(p, x.array.shape[3]), p)
    b = net.mul(p, a)
    d = net.conv(b, x.array.shape[3])
    return [net.bits(net.add(d, a))]


def _sum_with_a_pool(net: Net, x: Value) -> list[Value]:
    """Adds a sum with a pool that reads the neighbours of the sum's pixels."""
    p = net.conv(x, x.array.shape[3])
    a = net.add(net.pool(p, (3, 3), (1, 1), "SAME"), p)
    d = net.conv(a, x.array.shape[3])
    return [net.add(d, a)]


_IN_PLACE = {
    _product_of_what_a_sum_ended: [*_CONV * 2, "ADD", "MUL", *_CONV, "ADD", "LceQuantize"],
    _sum_with_a_pool: [*_CONV, "MAX_POOL_2D", "ADD", *_CONV, "ADD"],
}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("form", _IN_PLACE, ids=lambda form: form.__name__[1:])
def test_sums_that_may_not_be_written_over_their_operand(net, form, threads, host, rng):
    """The image has several tiles; a sum in place would spoil the operand for the next tile."""
    model = net.finish(*form(net, net.input(random_images(rng, 2, 40, 40, 64))))
    steps = model.check_both(num_threads=threads, host=host)
    assert sorted(steps) == sorted(_IN_PLACE[form])


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("threads", [1, 2])
def test_outputs_in_the_middle_of_a_group(net, threads, host, rng):
    x = net.input(random_images(rng, 3, 9, 8, 34))
    values = [net.conv(x, 34)]
    values.append(net.add(values[-1], x))
    values.append(net.relu(values[-1], "RELU"))
    bits = net.bits(values[-1])
    same_bits = net.bits(values[-1])
    last = net.add(net.conv(values[-1], 34), values[1])
    model = net.finish(*values, bits, same_bits, last)
    steps = model.check_both(num_threads=threads, host=host)
    expected = [*_CONV, "ADD", "RELU", "LceQuantize", "LceQuantize", *_CONV, "ADD"]
    assert sorted(steps) == sorted(expected)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("threads", [1, 2])
def test_the_host_reads_from_the_middle_of_a_group(net, threads, host, rng):
    x = net.input(random_images(rng, 2, 8, 7, 33))
    y = net.add(net.conv(x, 33), x)
    negative = net.host("NEG", y, -y.array)
    z = net.conv(net.relu(y, "RELU"), 33)
    model = net.finish(net.add(z, negative))
    steps = model.check_both(num_threads=threads, host=host)
    assert sorted(steps) == sorted([*_CONV, "ADD", "RELU", *_CONV, "ADD"])


@pytest.mark.parametrize("host", HOSTS)
def test_float_operators_before_the_first_bits(net, host, rng):
    """Operators are claimed if they lead to an LceQuantize; others stay with the host."""
    x = net.input(random_images(rng, 2, 8, 7, 33))
    y = net.add(net.mul(x, net.per_channel(33)), net.per_channel(33))
    y = net.prelu(y, net.per_channel(33))
    elsewhere = net.relu(net.add(x, net.per_channel(33)), "RELU")
    model = net.finish(net.conv(y, 5), net.host("NEG", elsewhere, -elsewhere.array))
    assert model.check_both(host=host) == ["MUL", "ADD", "PRELU", *_CONV]


def _batch_norm(net: Net, x: Value, ops: Sequence[str]) -> Value:
    """Adds constants of both signs on either side, and a number for all channels as the fourth."""
    channels = x.array.shape[3]
    for i, op in enumerate(ops):
        constant = net.constant(net.rng.uniform(-2, 2, 1)) if i == 3 else net.per_channel(channels)
        x = net.binary(op, *((x, constant) if i % 2 else (constant, x)))
    return x


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    "ops", [["MUL"], ["ADD"], ["MUL", "ADD"], ["ADD", "MUL"], ["MUL", "ADD", "MUL", "MUL"]]
)
def test_batch_norms_become_part_of_the_quantization(ops, host, rng):
    for shape, threads in zip(
        [(3, 9, 7, 33), (2, 3, 5, 1), (2, 8, 8, 150)], (1, 2, 2), strict=True
    ):
        net = Net(rng)
        x = net.input(random_images(rng, *shape))
        first = net.conv(_batch_norm(net, x, ops), 35)
        second = net.bits(_batch_norm(net, first, ops))
        model = net.finish(second)
        assert model.check_both(num_threads=threads, host=host) == [*_CONV, "LceQuantize"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("threads", [1, 2])
def test_batch_norms_in_every_kernel(kernel, threads, rng):
    for channels in (1, 31, 64, 70, 129, 200):
        net = Net(rng)
        x = net.input(random_images(rng, 2, 9, 5, channels))
        y = net.bits(_batch_norm(net, x, ["MUL", "ADD"]))
        model = net.finish(y)
        assert model.check_both(num_threads=threads, kernel=kernel) == ["LceQuantize"]


@pytest.mark.parametrize("host", HOSTS)
def test_batch_norms_of_other_batches_and_sizes_one_after_another(host, rng):
    constants = int(rng.integers(1000))

    def model(images: Array) -> Model:
        net = Net(np.random.default_rng(constants))
        y = net.conv(net.input(images), 20)
        return net.finish(net.conv(_batch_norm(net, y, ["MUL", "ADD"]), 7))

    interpreter = model(random_images(rng, 1, 6, 6, 20)).open(host=host)
    for shape in [(5, 6, 6, 20), (2, 17, 9, 20), (1, 2, 2, 20), (3, 6, 6, 20)]:
        images = random_images(rng, *shape)
        if interpreter.input_shapes[0][1:] != shape[1:]:
            interpreter.resize([(1, *shape[1:])])
        np.testing.assert_array_equal(interpreter.predict(images), model(images).expected[0])
    assert claimed(interpreter) == _CONV * 2


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_batch_norms_of_infinities_nan_and_negative_zero(net, host, rng):
    """Every special value meets every pair of constants, overflows among them; no denormals."""
    finite = np.array([1, -1, 7, -7, 0.1, 1e-30, -1e-30, 3e38, -3e38], np.float32)
    factors, summands = map(np.ravel, np.meshgrid(finite, np.append(finite, [0.0, -0.0])))
    values = np.concatenate([_SPECIAL, finite, -1 / finite[:-2], -finite / 7])
    x = net.input(np.tile(values.reshape(1, 1, -1, 1), (1, 1, 1, len(factors))))
    scaled = net.mul(x, net.constant(factors))
    y = net.bits(net.add(scaled, net.constant(summands)))
    z = net.bits(net.mul(net.add(x, net.constant(summands)), net.constant(factors)))
    model = net.finish(y, z)
    assert model.check_both(host=host) == ["LceQuantize"] * 2


@pytest.mark.parametrize("host", HOSTS)
def test_batch_norms_of_denormals(net, host, rng):
    """Half of the smallest denormal is a zero, and no zero is negative."""
    tiny = np.array([1e-40, -1e-40, 1e-45, -1e-45] * 8, np.float32).reshape(1, 8, 4, 1)
    x = net.input(tiny)
    y = net.bits(net.mul(x, net.constant(np.array(0.5))))
    z = net.bits(net.add(x, net.constant(np.array(1e-40))))
    model = net.finish(y, z)
    assert model.check(host=host) == ["LceQuantize"] * 2


def _output_in_the_middle(net: Net, x: Value) -> list[Value]:
    y = net.mul(x, net.per_channel(6))
    return [y, net.bits(net.add(y, net.per_channel(6)))]


def _two_quantizations(net: Net, x: Value) -> list[Value]:
    y = net.mul(x, net.per_channel(6))
    return [net.bits(y), net.bits(net.add(y, net.per_channel(6)))]


def _two_quantizations_of_a_sum(net: Net, x: Value) -> list[Value]:
    y = net.add(net.mul(x, net.per_channel(6)), net.per_channel(6))
    return [net.bits(y), net.conv(y, 5)]


def _read_twice_by_a_step(net: Net, x: Value) -> list[Value]:
    y = net.mul(x, net.per_channel(6))
    return [net.bits(net.mul(net.add(y, y), net.per_channel(6)))]


def _activation(net: Net, x: Value) -> list[Value]:
    y = net.mul(x, net.per_channel(6), "RELU6")
    return [net.bits(net.add(y, net.per_channel(6)))]


def _zero_factor(net: Net, x: Value) -> list[Value]:
    factors = net.rng.uniform(-1, 1, 6)
    factors[4] = 0
    return [net.bits(net.add(net.mul(x, net.constant(factors)), net.per_channel(6)))]


def _zero_factor_of_all(net: Net, x: Value) -> list[Value]:
    y = net.add(net.mul(x, net.constant(np.array(0.0))), net.constant(np.array(-0.5)))
    return [net.bits(y)]


# Float operators of each form that still run.
_NOT_ABSORBED = {
    _output_in_the_middle: ["MUL"],
    _two_quantizations: ["MUL"],
    _two_quantizations_of_a_sum: ["MUL", "ADD"],
    _read_twice_by_a_step: ["MUL", "ADD"],
    _activation: ["MUL"],
    _zero_factor: ["MUL", "ADD"],
    _zero_factor_of_all: ["MUL", "ADD"],
}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("form", _NOT_ABSORBED, ids=lambda form: form.__name__[1:])
def test_what_is_computed_before_a_quantization(form, threads, host, rng):
    for shape in [(3, 5, 4, 6), (1, 1, 2, 6)]:
        net = Net(rng)
        x = net.conv(net.input(random_images(rng, *shape)), 6)
        model = net.finish(*form(net, x))
        steps = model.check_both(num_threads=threads, host=host)
        assert [step for step in steps if step not in _CONV] == _NOT_ABSORBED[form]


def _int8_sum(net: Net, x: Value) -> Value:
    """Adds an LceDequantize to int8, whose sum with itself is the host's."""
    narrow = net.floats(net.bits(x), oracle.signs(x.array), np.int8)
    number = net.builder.tensor((1, *x.array.shape[1:]), np.int8, scale=1.0)
    twice = Value(number, 2 * narrow.array)
    net.builder.builtin("ADD", [narrow.number] * 2, [twice.number], fusedActivationFunction=0)
    return twice


def _constant_of_all_pixels(net: Net, x: Value) -> Value:
    shape = (1, *x.array.shape[1:])
    return net.add(net.conv(x, shape[3]), net.constant(random_images(net.rng, *shape)))


def _constant_of_a_column(net: Net, x: Value) -> Value:
    rows = x.array.shape[1]
    return net.mul(net.conv(x, 6), net.constant(random_images(net.rng, 1, rows, 1, 1)))


def _constant_that_widens(net: Net, x: Value) -> Value:
    return net.add(net.conv(x, 1), net.per_channel(7))


def _concatenation_of_columns(net: Net, x: Value) -> Value:
    return net.concatenate([net.conv(x, 6), net.conv(x, 6)], axis=2)


def _concatenation_of_nine(net: Net, x: Value) -> Value:
    return net.concatenate([net.conv(x, 2)] * 9)


def _concatenation_with_a_constant(net: Net, x: Value) -> Value:
    y = net.conv(x, 6)
    z = net.constant(random_images(net.rng, 1, *x.array.shape[1:]))
    z.array = np.repeat(z.array, len(x.array), axis=0)
    return net.concatenate([y, z])


def _prelu_of_all_pixels(net: Net, x: Value) -> Value:
    return net.prelu(net.conv(x, 6), net.constant(random_images(net.rng, *x.array.shape[1:3], 6)))


_NOT_CLAIMED = {
    _int8_sum: ["LceQuantize", "LceDequantize"],
    _constant_of_all_pixels: _CONV,
    _constant_of_a_column: _CONV,
    _constant_that_widens: _CONV,
    _concatenation_of_columns: _CONV * 2,
    _concatenation_of_nine: _CONV,
    _prelu_of_all_pixels: _CONV,
}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("form", _NOT_CLAIMED, ids=lambda form: form.__name__[1:])
def test_what_stays_with_the_host(net, form, host, rng):
    y = form(net, net.input(random_images(rng, 3, 5, 4, 6)))
    assert net.finish(y).check_both(host=host) == _NOT_CLAIMED[form]


@pytest.mark.parametrize("host", HOSTS)
def test_a_concatenation_with_a_constant_stays_with_the_host(net, host, rng):
    """The result has one sample, as the constant has."""
    y = _concatenation_with_a_constant(net, net.input(random_images(rng, 1, 5, 4, 6)))
    assert net.finish(y).check_both(host=host) == _CONV


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("op", ["ADD", "MUL"])
def test_activations_that_are_not_known_stay_with_the_host(op, host, rng):
    """No host has a kernel for tanh in an ADD; none of them rejects it either."""
    for activation in (4, 5):
        net = Net(rng)
        x = net.input(random_images(rng, 1, 5, 4, 6))
        y = net.binary(op, net.conv(x, 6), x)
        net.builder.graph.operators[-1].builtinOptions.fusedActivationFunction = activation
        model = net.finish(y)
        outcomes = []
        for fuse in (False, True):
            interpreter = model.open(fuse=fuse, host=host)
            outcomes.append(interpreter.predict(model.inputs))
            assert claimed(interpreter) == _CONV
        np.testing.assert_array_equal(*outcomes)


@pytest.mark.parametrize("host", HOSTS)
def test_a_gate_of_an_image_of_any_size(net, host, rng):
    """A file declares open dimensions as 1, so that a gate and its image look alike."""
    x = net.input(random_images(rng, 1, 1, 1, 6), signature=(-1, -1, -1, 6))
    gate = net.input(random_images(rng, 1, 1, 1, 6), signature=(-1, 1, 1, 6))
    y = net.mul(net.conv(x, 6, taps=1), gate)
    net.builder.graph.tensors[net.builder.graph.operators[-2].outputs[0]].shapeSignature = np.array(
        (-1, -1, -1, 6), np.int32
    )
    model = net.finish(y)
    interpreters = [model.open(fuse=fuse, host=host) for fuse in (True, False)]
    image, weights = random_images(rng, 2, 5, 4, 6), random_images(rng, 2, 1, 1, 6)
    for interpreter in interpreters:
        interpreter.resize([image.shape, weights.shape])
    fused, alone = (interpreter.predict([image, weights]) for interpreter in interpreters)
    assert alone.shape == image.shape
    np.testing.assert_array_equal(fused, alone)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("op", ["ADD", "MUL"])
def test_weights_of_a_bit_as_an_operand(net, op, host, rng):
    """The weights become a constant when they are unpacked, after the file was read."""
    x = net.input(random_images(rng, 1, 5, 4, 6))
    signs = oracle.signs(rng.standard_normal(x.array.shape))
    weights = Value(
        add_weights(net.builder, signs, np.array([0.5], np.float32), 0), signs * np.float32(0.5)
    )
    y = net.binary(op, net.conv(x, 6), weights)
    net.finish(y).check_both(host=host)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("op", ["ADD", "MUL"])
def test_what_the_host_computes_of_constants_is_for_all_samples(net, op, host, rng):
    """The result looks like a tensor of one sample, and does not grow with the batch."""
    x = net.input(random_images(rng, 3, 5, 4, 6))
    half = random_images(rng, 1, 5, 4, 6).astype(np.float16)
    whole = Value(net.builder.tensor(half.shape), half.astype(np.float32))
    net.builder.builtin("DEQUANTIZE", [net.builder.constant(half)], [whole.number])
    y = net.binary(op, net.conv(x, 6), whole)
    assert net.finish(y).check_both(host=host) == _CONV


@pytest.mark.parametrize("host", HOSTS)
def test_shapes_that_only_the_data_decide(net, host, rng):
    """The shapes of tensors after such a reshape are unknown when operators are claimed."""
    builder = net.builder
    flat, shape = builder.tensor([120], signature=[-1]), builder.tensor([4], np.int32)
    image = random_images(rng, 2, 5, 4, 6)
    x = Value(builder.tensor([]), image)
    builder.builtin("RESHAPE", [flat, shape], [x.number])
    y = net.relu(net.conv(x, 6), "RELU")
    content = builder.finish([flat, shape], [net.add(y, x).number])
    for fuse in (True, False):
        interpreter = larq_engine.Interpreter(content, fuse=fuse, host=host)
        interpreter.resize([(image.size,), (4,)])
        got = interpreter.predict([image.ravel(), np.array(image.shape, np.int32)])
        np.testing.assert_array_equal(got, np.add(y.array, image))


def _leave_open(net: Net, x: Value) -> Value:
    """Declares every dimension of a tensor as open."""
    tensor = net.builder.graph.tensors[x.number]
    tensor.shape = np.ones(x.array.ndim, np.int32)
    tensor.shapeSignature = np.full(x.array.ndim, -1, np.int32)
    return x


def _open_image(net: Net) -> Value:
    """Adds values in a row, which a reshape gives a shape from another input."""
    image = random_images(net.rng, 2, 5, 4, 6)
    flat = net.input(image.ravel(), signature=[-1])
    shape = Value(net.builder.tensor([4], np.int32), np.array(image.shape, np.int32))
    net.inputs.append(shape)
    return _leave_open(net, net.host("RESHAPE", flat, image, shape.number))


def _open_relu(net: Net) -> Value:
    return net.relu(_open_image(net), "RELU6")


def _open_product(net: Net) -> Value:
    return net.mul(_open_image(net), net.constant(np.array(-0.7)))


def _open_prelu(net: Net) -> Value:
    return net.prelu(_open_image(net), net.constant(np.full((1, 1, 1), -0.3)))


def _open_sum(net: Net) -> Value:
    return net.add(_open_image(net), _open_image(net))


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    "form",
    [_open_relu, _open_product, _open_prelu, _open_sum],
    ids=lambda form: form.__name__[1:],
)
def test_channels_that_only_the_data_decide(net, form, host, rng):
    """A file declares open dimensions as 1, so that six channels look like one."""
    x = _leave_open(net, form(net))
    y = net.conv(x, 6)
    for model in (net.finish(y), net.finish(x, y)):
        for fuse in (False, True):
            interpreter = model.open(fuse=fuse, host=host)
            interpreter.resize([array.shape for array in model.inputs])
            got = interpreter.predict(model.inputs)
            results = got if isinstance(got, list) else [got]
            for result, expected in zip(results, model.expected, strict=True):
                np.testing.assert_array_equal(result, expected)


# Tests use every pair of these. XNNPACK, which runs the hosts' float operators, takes denormals for
# zeros; the engine computes with them, as the hosts' own kernels do.
_SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 7, -7, 3e38, -3e38], np.float32)


def _special_images(values: Array) -> tuple[Array, Array]:
    """Returns two images whose pixels together are all pairs of values."""
    columns, rows = (axis[np.newaxis, ..., np.newaxis] for axis in np.meshgrid(values, values))
    return np.ascontiguousarray(columns), np.ascontiguousarray(rows)


def _bit_patterns(x: Array) -> Array:
    """Returns the bits as whole numbers, which tell -0.0 from 0.0; all NaNs are the same number."""
    return np.where(np.isnan(x), np.float32(np.nan), x).view(np.int32)


def _special_result(net: Net, op: str, option: str | float, x: Value, y: Value) -> Value:
    if op in ("ADD", "MUL"):
        return net.binary(op, x, y, str(option))
    if op == "PRELU":
        return net.prelu(x, net.constant(np.array([option])))
    if op == "MAX_POOL_2D":
        return net.pool(x, (1, 2), (1, 1), "SAME", str(option))
    return net.relu(x, op)


def _special_operators() -> list[tuple[str, str | float]]:
    sums = [(op, activation) for op in ("ADD", "MUL") for activation in ACTIVATIONS]
    relus = [(kind, 0) for kind in ACTIVATIONS[1:]]
    pools = [("MAX_POOL_2D", activation) for activation in ACTIVATIONS]
    return [*sums, *relus, ("PRELU", 0.5), ("PRELU", -0.5), ("PRELU", 0), *pools]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(("op", "option"), _special_operators())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_infinities_nan_and_negative_zero(net, op, option, host, rng):
    """Results are equal to the bit to host_operators.md, and to the host's where hosts agree.

    Hosts differ for NaN in a pool and in the sign of zeros: for -0.0, XNNPACK's PRELU goes by the
    sign bit with AVX2 and by a comparison with AVX-512.
    """
    values = _SPECIAL if op != "MAX_POOL_2D" else _SPECIAL[1:]
    x, y = map(net.input, _special_images(values))
    result = _special_result(net, op, option, x, y)
    bits = net.bits(result)
    model = net.finish(result, bits)
    fused = model.open(host=host)
    assert claimed(fused) == [op, "LceQuantize"]
    got, got_bits = fused.predict(model.inputs)
    np.testing.assert_array_equal(_bit_patterns(got), _bit_patterns(result.array))
    np.testing.assert_array_equal(got_bits, bits.array)
    of_host, bits_of_host = model.open(fuse=False, host=host).predict(model.inputs)
    np.testing.assert_array_equal(of_host, result.array)  # here 0.0 equals -0.0
    np.testing.assert_array_equal(bits_of_host, bits.array)


@pytest.mark.parametrize("host", HOSTS)
def test_prelu_leaves_negative_zeros_alone(net, host, rng):
    """TensorFlow Lite's reference does so: x >= 0 ? x : x * slope.

    XNNPACK's kernels differ in that.
    """
    x = net.input(np.full((1, 4, 4, 33), -0.0, np.float32))
    y = net.prelu(x, net.constant(np.array(-0.5, np.float32)))
    model = net.finish(y, net.bits(y))
    fused = model.open(host=host)
    assert claimed(fused) == ["PRELU", "LceQuantize"]
    got, bits = fused.predict(model.inputs)
    assert (got == 0).all() and np.signbit(got).all()
    of_host, bits_of_host = model.open(fuse=False, host=host).predict(model.inputs)
    assert (of_host == 0).all()
    np.testing.assert_array_equal(bits, bits_of_host)


@pytest.mark.parametrize("host", HOSTS)
def test_denormals_are_numbers(net, host, rng):
    """A negative denormal has the sign -1 wherever it is computed."""
    tiny = np.array([1e-40, -1e-40, 1e-45, -1e-45] * 8, np.float32).reshape(1, 8, 4, 1)
    x = net.input(tiny)
    y = net.add(net.mul(x, net.constant(np.array(0.5))), x)
    model = net.finish(y, net.bits(y))
    assert model.check(host=host) == ["MUL", "ADD", "LceQuantize"]


@pytest.mark.parametrize("host", HOSTS)
def test_random_networks(host, rng, full):
    for number in range(1000 if full else 60):
        threads, kernel = 1 + number % 2, KERNELS[number % len(KERNELS)]
        random_net(rng).check_both(num_threads=threads, kernel=kernel, host=host)
