"""Makers of operators that normalize values by their own mean and deviation."""

import math
from collections.abc import Sequence

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.converter.onnx_reader.activations import number
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.layout import Value, channels_last
from larq_engine.converter.onnx_reader.moving import bring
from larq_engine.converter.onnx_reader.pooling import reduced


def layer_norm(call: Call) -> list[Value]:
    x = call.value()
    first = call.axis(call.integer("axis", -1), len(x.shape))
    results = _normalized(call, x, range(first, len(x.shape)))
    return [_affine(call, results[0], call.floats(1), _bias(call)), *results[1:]]


def instance_norm(call: Call) -> Value:
    x = call.value()
    rank = len(x.shape)
    if rank < 3:
        raise call.error("an image or a sequence", f"the shape {list(x.shape)}", "reshape it")
    x = call.net.ordered(x, channels_last(rank))
    scale, bias = (_of_channels(call, n, x, x.shape[1]) for n in (1, 2))
    return _affine(call, _normalized(call, x, range(2, rank))[0], scale, bias)


def group_norm(call: Call) -> Value:
    x = call.value()
    groups, channels = call.integer("num_groups"), x.shape[1]
    if groups < 1 or channels % groups:
        raise call.error(f"groups of {channels} channels", groups, "it is damaged: export it again")
    # There is one number for each channel since opset 21, and one for each group before.
    count = channels if call.opset >= 21 else groups
    each = channels // count
    scale, bias = (_of_channels(call, n, x, count).repeat(each, 0) for n in (1, 2))
    rows = bring(call.net, x, (x.shape[0], groups, channels // groups * math.prod(x.shape[2:])))
    whole = bring(call.net, _normalized(call, rows, [2])[0], x.shape)
    return _affine(call, whole, scale, bias)


def rms_norm(call: Call) -> Value:
    """Makes a normalization that does not subtract the mean."""
    x = call.value()
    first = call.axis(call.integer("axis", -1), len(x.shape))
    factor = _factor(call, x, range(first, len(x.shape)))
    return _affine(call, call.each("MUL", x, factor), call.floats(1), None)


def lp_norm(call: Call) -> Value:
    x, power = call.value(), call.integer("p", 2)
    if power not in (1, 2):
        raise call.error("its p to be 1 or 2", power, "export it again")
    axes = [call.axis(call.integer("axis", -1), len(x.shape))]
    total = reduced(call, "SUM", call.each("ABS" if power == 1 else "SQUARE", x), axes, keeps=True)
    return call.each("DIV", x, total if power == 1 else call.each("SQRT", total))


def _normalized(call: Call, x: Value, axes: Sequence[int]) -> list[Value]:
    """Returns the normalized values, their mean, and the inverse of their deviation."""
    mean = reduced(call, "MEAN", x, [*axes], keeps=True)
    centred = call.each("SUB", x, mean)
    factor = _factor(call, centred, axes)
    return [call.each("MUL", centred, factor), mean, factor]


def _factor(call: Call, x: Value, axes: Sequence[int]) -> Value:
    square = reduced(call, "MEAN", call.each("SQUARE", x), [*axes], keeps=True)
    return call.each("RSQRT", call.each("ADD", square, number(call.number("epsilon", 1e-5))))


def _affine(call: Call, x: Value, scale: Array | Value, bias: Array | Value | None) -> Value:
    is_one = isinstance(scale, np.ndarray) and bool((scale == 1).all())
    scaled = x if is_one else call.each("MUL", x, scale)
    is_zero = bias is None or (isinstance(bias, np.ndarray) and not bias.any())
    return scaled if bias is None or is_zero else call.each("ADD", scaled, bias)


def _bias(call: Call) -> Array | Value | None:
    return None if call.input(2) is None else call.floats(2)


def _of_channels(call: Call, index: int, x: Value, count: int) -> Array:
    numbers = call.weights(index, "its scale" if index == 1 else "its offset")
    if numbers.shape != (count,):
        raise call.error(f"{count} numbers", list(numbers.shape), "it is damaged: export it again")
    return numbers.reshape(-1, *[1] * (len(x.shape) - 2))
