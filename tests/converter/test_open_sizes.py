"""Sizes that a file computes when it runs are constants, as far as the file knows them before."""

import numpy as np
import pytest

import larq_engine
from larq_engine.converter import open_sizes
from larq_engine.converter.errors import ConversionError
from tests.converter.graphs import Net, Value, convert, signs

SIZES = {"SHAPE", "STRIDED_SLICE", "PACK", "MUL", "REDUCE_PROD", "CONCATENATION"}


def shape_of(net: Net, x: Value) -> Value:
    return net.op("SHAPE", x, shape=(len(x.shape),), dtype=np.int32, outType=2)


def size(net: Net, shape: Value, axis: int) -> Value:
    bounds = (np.array([at], np.int32) for at in (axis, axis + 1, 1))
    return net.op("STRIDED_SLICE", shape, *bounds, shape=(), dtype=np.int32, shrinkAxisMask=1)


def slices(net: Net, shape: Value, first: int, last: int, **options: int) -> Value:
    bounds = (np.array([at], np.int32) for at in (first, last, 1))
    return net.op("STRIDED_SLICE", shape, *bounds, shape=(last - first,), dtype=np.int32, **options)


def pack(net: Net, *sizes: Value | int) -> Value:
    parts = [part if isinstance(part, Value) else np.array(part, np.int32) for part in sizes]
    return net.op("PACK", *parts, shape=(len(parts),), dtype=np.int32, valuesCount=len(parts))


def image(net: Net, *signature: int) -> Value:
    return net.open(net.input(*(abs(size) for size in signature)), *signature)


def reshape(net: Net, x: Value, target: Value, *signature: int, shape: tuple[int, ...]) -> Value:
    return net.open(net.op("RESHAPE", x, target, shape=shape), *signature)


def same_results(content: bytes, *data: np.ndarray) -> list[str]:
    """Returns the operators of the converted file, which answers as the given one does."""
    converted = convert(content)
    for x in data:
        expected = larq_engine.Interpreter(content, host="litert").predict(x)
        for host in ("litert", "none"):
            got = larq_engine.Interpreter(converted.content, host=host).predict(x)
            np.testing.assert_array_equal(got, expected)
    return converted.kinds


def images(rng, *shape: int) -> list[np.ndarray]:
    return [rng.normal(size=(batch, *shape)).astype(np.float32) for batch in (1, 3)]


def test_flatten(net, rng):
    x = image(net, -1, 4, 4, 2)
    rows = reshape(net, x, pack(net, size(net, shape_of(net, x), 0), 32), -1, 32, shape=(1, 32))
    content = net.finish(net.open(net.dense(rows, signs(rng, 5, 32)), -1, 5))
    kinds = same_results(content, *images(rng, 4, 4, 2))
    assert not SIZES & set(kinds)


def test_a_product_of_sizes(net, rng):
    """PyTorch's flatten(1) is written so: the product of all sizes behind the batch."""
    x = image(net, -1, 4, 4, 2)
    shape = shape_of(net, x)
    product = net.op(
        "REDUCE_PROD", slices(net, shape, 1, 4), np.array([0], np.int32), shape=(), dtype=np.int32
    )
    target = pack(net, size(net, shape, 0), product)
    content = net.finish(reshape(net, x, target, -1, 32, shape=(1, 32)))
    assert same_results(content, *images(rng, 4, 4, 2)) == ["RESHAPE"]


def test_pixels_of_all_images_as_rows(net, rng):
    x = image(net, -1, 4, 4, 2)
    pixels = net.op("MUL", size(net, shape_of(net, x), 0), np.int32(16), shape=(), dtype=np.int32)
    rows = reshape(net, x, pack(net, pixels, 2), -1, 2, shape=(16, 2))
    assert same_results(net.finish(rows), *images(rng, 4, 4, 2)) == ["RESHAPE"]


def test_an_open_size_beside_one_that_the_file_infers(net, rng):
    x = image(net, -1, 4, 4, 2)
    target = pack(net, size(net, shape_of(net, x), 0), -1, 2)
    content = net.finish(reshape(net, x, target, -1, 16, 2, shape=(1, 16, 2)))
    assert same_results(content, *images(rng, 4, 4, 2)) == ["RESHAPE"]


def test_sizes_that_are_known_need_no_operator(net, rng):
    """An image's height and width are known though its batch is open."""
    x = image(net, -1, 4, 6, 2)
    twice = net.op(
        "MUL",
        slices(net, shape_of(net, x), 1, 3),
        np.array([2, 2], np.int32),
        shape=(2,),
        dtype=np.int32,
    )
    y = net.op("RESIZE_NEAREST_NEIGHBOR", x, twice, shape=(1, 8, 12, 2))
    content = net.finish(net.open(y, -1, 8, 12, 2))
    assert same_results(content, *images(rng, 4, 6, 2)) == ["RESIZE_NEAREST_NEIGHBOR"]


def joined(net: Net, *parts: Value | np.ndarray) -> Value:
    count = sum(1 if isinstance(part, np.ndarray) else part.shape[0] for part in parts)
    return net.op("CONCATENATION", *parts, shape=(count,), dtype=np.int32)


def as_rows(net: Net, x: Value) -> Value:
    """Writes the target [batch, 32] of images of 32 values by operators of all kinds."""
    batch = slices(net, shape_of(net, x), 0, 1)
    number = net.op("SQUEEZE", batch, shape=(), dtype=np.int32, squeezeDims=[0])
    twice = net.op("ADD", number, number, shape=(), dtype=np.int32)
    once = net.op("SUB", twice, number, shape=(), dtype=np.int32)
    again = net.op("EXPAND_DIMS", once, np.int32(0), shape=(1,), dtype=np.int32)
    same = net.op("RESHAPE", again, np.array([1], np.int32), shape=(1,), dtype=np.int32)
    return joined(net, same, np.array([32], np.int32))


def test_all_operators_on_sizes(net, rng):
    x = image(net, -1, 4, 4, 2)
    content = net.finish(reshape(net, x, as_rows(net, x), -1, 32, shape=(1, 32)))
    assert same_results(content, *images(rng, 4, 4, 2)) == ["RESHAPE"]


def test_a_shape_that_is_an_output_too(net, rng):
    x = image(net, -1, 4, 4, 2)
    target = as_rows(net, x)
    rows = reshape(net, x, target, -1, 32, shape=(1, 32))
    converted = convert(net.finish(rows, target))
    assert converted.ops("RESHAPE")[-1].inputs[1].is_constant
    data = images(rng, 4, 4, 2)[0]
    got = larq_engine.Interpreter(converted.content, host="litert").predict(data)
    np.testing.assert_array_equal(got[0], data.reshape(1, 32))
    np.testing.assert_array_equal(got[1], [1, 32])


# Each of these files fails at the batch 2, or asks for a shape that -1 does not mean.
@pytest.mark.parametrize("case", ["another size is open", "twice", "squared", "negative", "empty"])
def test_a_reshape_that_a_batch_does_not_fit_stays(net, case):
    if case == "another size is open":
        x, shape = image(net, -1, -1, 16, 2), (1, 32)
    elif case == "empty":
        x, shape = image(net, -1, 0), (1, 0, 2)
    else:
        x, shape = image(net, -1, 4, 4, 2), (1, 16, 2) if case == "negative" else (1, 32)
    batch = size(net, shape_of(net, x), 0)
    if case == "twice":
        batch = net.op("MUL", batch, np.int32(2), shape=(), dtype=np.int32)
    elif case == "squared":
        batch = net.op("MUL", batch, batch, shape=(), dtype=np.int32)
    rest = (-5, 2) if case == "negative" else shape[1:]
    target = pack(net, batch, *rest)
    converted = convert(net.finish(reshape(net, x, target, -1, *shape[1:], shape=shape)))
    assert {"SHAPE", "PACK"} <= set(converted.kinds)


def test_sizes_that_are_clamped_stay(net, rng):
    """A fused RELU6 gives 6 for any large batch."""
    x = image(net, -1, 4, 4, 2)
    batch = size(net, shape_of(net, x), 0)
    limited = net.op("ADD", batch, np.int32(0), shape=(), dtype=np.int32, fusedActivationFunction=3)
    target = pack(net, limited, -1)
    converted = convert(net.finish(reshape(net, x, target, -1, 32, shape=(1, 32))))
    assert {"SHAPE", "ADD", "PACK"} <= set(converted.kinds)


def test_numbers_that_grow_are_given_up(net):
    """Without a bound the square of the 40th square would have 2**46 bits."""
    x = image(net, -1, 4)
    number = size(net, shape_of(net, x), 0)
    for _ in range(40):
        number = net.op("MUL", number, number, shape=(), dtype=np.int32)
    converted = convert(net.finish(reshape(net, x, pack(net, number, 4), -1, 4, shape=(1, 4))))
    assert converted.kinds.count("MUL") == 40


def test_more_open_sizes_than_the_bound_stay(net, rng, monkeypatch):
    monkeypatch.setattr(open_sizes, "_MOST_OPEN", 2)
    x = image(net, -1, 4, 2)
    rows = []
    for number in range(3):
        y = net.open(net.op("ADD", x, np.float32(number)), -1, 4, 2)
        target = pack(net, size(net, shape_of(net, y), 0), 8)
        rows.append(reshape(net, y, target, -1, 8, shape=(1, 8)))
    converted = convert(net.finish(*rows))
    assert converted.kinds.count("SHAPE") == 1
    [data] = images(rng, 4, 2)[:1]
    got = larq_engine.Interpreter(converted.content, host="litert").predict(data)
    for number in range(3):
        np.testing.assert_array_equal(got[number], data.reshape(1, 8) + np.float32(number))


def test_the_batch_of_another_input_stays(net):
    """The file is right for two inputs of one batch only, and fails for others."""
    x, y = image(net, -1, 4, 4, 2), image(net, -1, 3)
    target = pack(net, size(net, shape_of(net, y), 0), 32)
    rows = reshape(net, x, target, -1, 32, shape=(1, 32))
    converted = convert(net.finish(rows, net.open(net.op("RELU", y), -1, 3)))
    assert {"SHAPE", "PACK"} <= set(converted.kinds)


def test_the_batch_of_another_value_of_the_only_input(net, rng):
    x = image(net, -1, 4, 4, 2)
    target = pack(net, size(net, shape_of(net, x), 0), 32)
    positive = net.open(net.op("RELU", x), -1, 4, 4, 2)
    content = net.finish(reshape(net, positive, target, -1, 32, shape=(1, 32)))
    assert same_results(content, *images(rng, 4, 4, 2)) == ["RELU", "RESHAPE"]


@pytest.mark.parametrize("known", [True, False])
def test_numbers_beyond_32_bits_are_those_of_the_type(net, known):
    """Such constants are no sizes; doubles do not hold them all."""
    large = np.array([2**53 + 1], np.int64)
    left = net.builder.constant(large), net.builder.constant(large - 1)
    difference = net.builder.tensor((1,), np.int64)
    net.builder.builtin("SUB", left, [difference])
    number = Value(difference, (1,))
    x = image(net, 1 if known else -1, 4)
    one = net.op("CAST", number, shape=(1,), inDataType=4, outDataType=0)
    content = net.finish(net.op("ADD", x, one, shape=(1, 4)))
    data = np.zeros((1, 4), np.float32)
    got = larq_engine.Interpreter(convert(content).content, host="litert").predict(data)
    np.testing.assert_array_equal(got, data + 1)


@pytest.mark.parametrize(
    ("first", "options"), [(-9, {"shrinkAxisMask": 1}), (2, {"shrinkAxisMask": 1, "beginMask": 1})]
)
def test_indices_that_runtimes_understand_otherwise_stay(net, first, options):
    x = image(net, -1, 4, 6, 2)
    bounds = (np.array([at], np.int32) for at in (first, first + 1, 1))
    number = net.op("STRIDED_SLICE", shape_of(net, x), *bounds, shape=(), dtype=np.int32, **options)
    converted = convert(net.finish(net.open(net.op("RELU", x), -1, 4, 6, 2), number))
    assert "STRIDED_SLICE" in converted.kinds


def test_a_custom_operator_of_that_name_stays(net):
    x = image(net, -1, 4, 4, 2)
    target = pack(net, size(net, shape_of(net, x), 0), 32)
    y = net.builder.tensor((1, 32), np.float32)
    net.builder.custom("RESHAPE", [x.number, target.number], [y], b"")
    converted = convert(net.finish(Value(y, (1, 32))))
    assert converted.kinds == ["SHAPE", "STRIDED_SLICE", "PACK", "RESHAPE"]


def test_shape_of_a_value_is_known_unless_it_is_open(net):
    for signature, kinds in ((None, []), ((-1, 4, 6), ["SHAPE"])):
        net = Net()
        x = net.input(3, 4, 6, signature=signature)
        converted = convert(net.finish(shape_of(net, x)))
        assert converted.kinds == kinds
        if not kinds:
            np.testing.assert_array_equal(converted.graph.outputs[0].data, [3, 4, 6])


def test_two_open_sizes_stay(net, rng):
    x = image(net, -1, -1, 4, 2)
    shape = shape_of(net, x)
    target = pack(net, size(net, shape, 0), size(net, shape, 1), 8)
    content = net.finish(reshape(net, x, target, -1, -1, 8, shape=(1, 1, 8)))
    converted = convert(content)
    assert SIZES & set(converted.kinds) == {"SHAPE", "STRIDED_SLICE", "PACK"}
    with pytest.raises(ValueError, match=r"got SHAPE .*; run the model in a host"):
        larq_engine.Interpreter(converted.content, host="none")
    x = rng.normal(size=(3, 5, 4, 2)).astype(np.float32)
    got = larq_engine.Interpreter(converted.content, host="litert").predict(x)
    np.testing.assert_array_equal(got, x.reshape(3, 5, 8))


def test_an_open_size_that_is_read_itself_stays(net, rng):
    """It is no shape: the sum of an image's values divided by the number of images."""
    x = image(net, -1, 2)
    images_ = net.op("CAST", size(net, shape_of(net, x), 0), shape=(), inDataType=2)
    content = net.finish(net.open(net.op("DIV", x, images_, shape=(1, 2)), -1, 2))
    converted = convert(content)
    data = rng.normal(size=(3, 2)).astype(np.float32)
    got = larq_engine.Interpreter(converted.content, host="litert").predict(data)
    np.testing.assert_array_equal(got, data / np.float32(3))


def test_sizes_of_which_no_array_can_be(net):
    """A damaged file: the parts of PACK do not have one shape."""
    x = image(net, -1, 4)
    one = size(net, shape_of(net, x), 0)
    target = net.op(
        "PACK", one, np.array([4, 1], np.int32), shape=(2,), dtype=np.int32, valuesCount=2
    )
    content = net.finish(reshape(net, x, target, -1, 4, shape=(1, 4)))
    with pytest.raises(ConversionError, match="computing its sizes"):
        convert(content)
