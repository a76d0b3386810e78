"""Files that would compute something else at other sizes are not resized; all others are."""

from types import SimpleNamespace

import numpy as np
import pytest

import larq_engine
from larq_engine.converter import schema
from larq_engine.converter.api import convert_onnx, convert_tflite
from larq_engine.converter.other_sizes import mark_fixed_sizes
from larq_engine.placing.placed_file import with_placement
from tests.converter.graphs import Net, Value, signs, steps
from tests.converter.onnx_models import OnnxNet, reference

_SHAPE = (1, 8, 8, 4)


def _resized(kind: str, net: Net, x: Value) -> Value:
    return net.op(kind, x, np.array([16, 16], np.int32), shape=(1, 16, 16, 4))


def _transposed(net: Net, x: Value) -> Value:
    sizes, filters = np.array([1, 16, 16, 4], np.int32), np.ones((4, 2, 2, 4), np.float32)
    operands = (sizes, filters, x)
    return net.op(
        "TRANSPOSE_CONV", *operands, shape=(1, 16, 16, 4), strideH=2, strideW=2, padding=1
    )


def _dense(net: Net, x: Value) -> Value:
    return net.dense(net.reshape(x, 1, 256), np.ones((3, 256), np.float32))


def _border(net: Net, x: Value) -> Value:
    """Adds a padded layer whose inputs have a centre, so that an image corrects its border."""
    y = net.op("ADD", net.op("MUL", net.sign(x), 0.75), 0.25)
    filters = signs(np.random.default_rng(1), 8, 3, 3, x.shape[-1])
    return net.conv(y, filters, padding="SAME", stride=(2, 2))


_FIXED = {
    "nearest": lambda net, x: _resized("RESIZE_NEAREST_NEIGHBOR", net, x),
    "bilinear": lambda net, x: _resized("RESIZE_BILINEAR", net, x),
    "transposed": _transposed,
    "image of one size": lambda net, x: net.op(
        "ADD", net.max_pool(x, (4, 4), (4, 4)), np.ones((1, 2, 2, 4), np.float32)
    ),
    "border of zeros": _border,
    # The layer's image has one pixel at all sizes that are tried.
    "border of a pixel": lambda net, x: _border(net, net.max_pool(x, (1, 1), (32, 32))),
    "flattened": lambda net, x: _binary(net, _dense(net, x)),
}


def _binary(net: Net, x: Value) -> Value:
    return net.dense(net.sign(x), signs(np.random.default_rng(1), 64, x.shape[-1]))


@pytest.mark.parametrize("form", _FIXED)
def test_a_file_of_one_size(net, form):
    content = net.finish(_FIXED[form](net, net.input(*_SHAPE)))
    _refuses(convert_tflite(content), (1, 7, 8, 4))


def _refuses(converted: larq_engine.ConvertedModel, shape: tuple[int, ...]) -> None:
    reason = converted.report.fixed_sizes
    assert reason and reason in str(converted.report)
    interpreter = larq_engine.Interpreter(converted)
    before = interpreter.input_shapes
    with pytest.raises(ValueError, match="the sizes that the file was made for") as refused:
        interpreter.resize([shape])
    assert reason in str(refused.value) and "convert the model" in str(refused.value)
    assert interpreter.input_shapes == before
    interpreter.resize(before)


def _network(open_sizes: bool = False) -> bytes:
    net, rng = Net(), np.random.default_rng(2)
    signature = {"signature": (1, -1, -1, 32)} if open_sizes else {}
    x = net.input(1, 8, 8, 32, **signature)
    return net.finish(net.conv(net.sign(x), signs(rng, 64, 3, 3, 32), stride=(2, 2)))


def test_a_file_of_all_sizes(rng):
    converted = convert_tflite(_network())
    assert not converted.report.fixed_sizes
    x = steps(rng, 1, 11, 7, 32)
    interpreter = larq_engine.Interpreter(converted)
    interpreter.resize([x.shape])
    stock = larq_engine.Interpreter(_network())
    stock.resize([x.shape])
    np.testing.assert_array_equal(interpreter.predict(x), stock.predict(x))


def test_sizes_that_were_not_compared(net):
    """A rule may have written a size into the file; only a model that no rule changed is exempt."""
    _refuses(convert_tflite(_network(), check=False), (1, 9, 9, 32))
    content = net.finish(net.op("RELU", net.input(*_SHAPE)))
    assert not convert_tflite(content, check=False).report.fixed_sizes


def test_the_mark_stays_when_a_file_is_converted_or_placed_again():
    converted = convert_tflite(_network(), check=False)
    again = convert_tflite(bytes(converted))
    placement = SimpleNamespace(option="1:cpu", to_json=lambda: "{}")
    placed = with_placement(schema.read(converted), placement)
    for content in (again, placed):
        with pytest.raises(ValueError, match="check=False"):
            larq_engine.Interpreter(content).resize([(1, 9, 9, 32)])


def test_a_mark_that_a_stranger_wrote():
    """A terminal shows the mark, so the error has only little of it, and no control characters."""
    model = schema.read(_network())
    mark_fixed_sizes(model, "\x1b[2J" + "a" * 10_000)
    with pytest.raises(ValueError, match="\ufffd") as refused:
        larq_engine.Interpreter(schema.write(model)).resize([(1, 9, 9, 32)])
    assert "\x1b" not in str(refused.value) and len(str(refused.value)) < 1000


def test_open_sizes_stay_open():
    model = schema.read(_network(open_sizes=True))
    mark_fixed_sizes(model, "of another place")
    interpreter = larq_engine.Interpreter(schema.write(model))
    interpreter.resize([(1, 9, 9, 32)])
    assert interpreter.input_shapes == [(1, 9, 9, 32)]


def _onnx_resize(net: OnnxNet, x: str) -> str:
    return str(net.op("Resize", x, None, np.float32([1, 1, 2, 2]), mode="nearest"))


_ONNX = {
    "resized": _onnx_resize,
    "transposed": lambda net, x: net.op(
        "ConvTranspose", x, np.ones((4, 1, 2, 2), np.float32), strides=[2, 2]
    ),
    "flattened": lambda net, x: net.op(
        "MatMul", net.op("Flatten", x), np.ones((256, 2), np.float32)
    ),
}


@pytest.mark.parametrize("form", _ONNX)
def test_an_onnx_file_of_one_size(form):
    net = OnnxNet()
    content = net.finish(_ONNX[form](net, net.input(1, 4, 8, 8)))
    _refuses(convert_onnx(content), (1, 4, 4, 16))


@pytest.mark.parametrize("open_batch", [False, True])
@pytest.mark.parametrize("channels_last", [False, True])
def test_an_onnx_file_of_all_sizes(rng, channels_last, open_batch):
    net = OnnxNet()
    x = net.input("batch" if open_batch else 1, 32, 8, 8)
    y = net.conv(net.bipolar(x), signs(rng, 64, 32, 3, 3), strides=[2, 2])
    content = net.finish(net.op("MaxPool", y, kernel_shape=[2, 2], ceil_mode=1))
    image = steps(rng, 1, 32, 13, 10) + np.float32(0.25)
    (expected,) = reference(content, [image])
    interpreter = larq_engine.Interpreter(convert_onnx(content, channels_last=channels_last))
    if channels_last:
        image, expected = (np.moveaxis(array, 1, -1) for array in (image, expected))
    interpreter.resize([image.shape])
    np.testing.assert_array_equal(interpreter.predict(np.ascontiguousarray(image)), expected)


@pytest.mark.parametrize("size", [18, 16, 24])
def test_a_model_that_halves_images_of_even_sizes_only(rng, size):
    """A shortcut with an average pool is such a model; at odd sizes pool and layer differ."""
    net = OnnxNet()
    x = net.input(1, 8, size, size)
    y = net.conv(net.bipolar(x), signs(rng, 8, 8, 3, 3), pads=[1, 1, 1, 1], strides=[2, 2])
    pooled = net.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    converted = convert_onnx(net.finish(net.op("Add", y, pooled)))
    assert not converted.report.fixed_sizes


def test_an_onnx_file_that_was_not_compared():
    net = OnnxNet()
    content = net.finish(net.op("Relu", net.input(1, 4, 8, 8)))
    _refuses(convert_onnx(content, check=False), (1, 4, 9, 9))


def _trace_of_a_resize(net: OnnxNet) -> str:
    """Adds an image whose largest value is the same at every size if no pixel is left out."""
    x = net.op("Resize", net.input(1, 4, 6, 6), None, np.float32([1, 1, 2, 2]))
    return net.op("GlobalMaxPool", x)


def _trace_of_a_stride(net: OnnxNet) -> str:
    """Adds SAME_LOWER, whose pad before the first pixel depends on the size modulo the stride."""
    x, filters = net.input(1, 4, 8, 8), np.ones((4, 4, 2, 2), np.float32)
    y = net.op("Conv", x, filters, auto_pad="SAME_LOWER", strides=[2, 2])
    return net.op("GlobalMaxPool", net.op("Clip", y, np.float32(0), np.float32(1e-3)))


def _trace_of_a_slice(net: OnnxNet) -> str:
    """Adds a slice of 6 pixels, which are the whole of the image that the model was made for."""
    numbers = [np.array([number]) for number in (1, 6, 3, 1)]
    x = net.op("Slice", net.input(1, 4, 6, 6), *numbers)
    return net.op("GlobalMaxPool", net.op("Clip", x, np.float32(0), np.float32(1e-3)))


@pytest.mark.parametrize("form", [_trace_of_a_resize, _trace_of_a_stride, _trace_of_a_slice])
def test_a_file_of_one_size_whose_results_agree(form):
    net = OnnxNet()
    interpreter = larq_engine.Interpreter(convert_onnx(net.finish(form(net))))
    with pytest.raises(ValueError, match="does not compute what the model does"):
        interpreter.resize([(1, 4, 31, 31)])
