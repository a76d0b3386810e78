"""Makers of elementwise operators."""

from collections.abc import Callable

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.layout import Value

Maker = Callable[[Call], Value]


def unary(kind: str) -> Maker:
    def make(call: Call) -> Value:
        return call.each(kind, call.value())

    return make


def binary(kind: str) -> Maker:
    def make(call: Call) -> Value:
        return call.each(kind, call.floats(0), call.floats(1))

    return make


def chain(kind: str) -> Maker:
    """Returns a maker of an operator with any number of inputs, from one with two."""

    def make(call: Call) -> Value:
        result = call.value()
        for number in range(1, len(call.inputs)):
            result = call.each(kind, result, call.floats(number))
        return result

    return make


def reciprocal(call: Call) -> Value:
    return call.each("DIV", np.array(1, np.float32), call.value())


# Powers for which hosts have faster or more precise operators.
_POWERS = {2.0: "SQUARE", 0.5: "SQRT", -0.5: "RSQRT"}


def power(call: Call) -> Value:
    exponent = call.operand(1)
    if isinstance(exponent, Value) or exponent.size != 1:
        # ONNX allows an exponent of another type.
        is_float = isinstance(exponent, Value) or exponent.dtype == np.float32
        return call.each(
            "POW", call.floats(0), call.floats(1) if is_float else np.asarray(exponent, np.float32)
        )
    x, number = call.value(), float(exponent.reshape(()))
    rank = max(len(x.shape), exponent.ndim)
    if rank > len(x.shape):
        raise call.error("an exponent of no more dimensions", exponent.shape, "reshape it")
    if number == 1:
        return x
    if number in _POWERS:
        return call.each(_POWERS[number], x)
    if number == 3:
        return call.each("MUL", call.each("SQUARE", x), x)
    if number == -1:
        return call.each("DIV", np.array(1, np.float32), x)
    return call.each("POW", x, np.array(number, np.float32))


def leaky_relu(call: Call) -> Value:
    options = schema.make_options("LeakyReluOptions", alpha=call.number("alpha", 0.01))
    return call.each("LEAKY_RELU", call.value(), options=options)


def prelu(call: Call) -> Value:
    x, slopes = call.value(), call.weights(1, "its slopes")
    tensors, like = call.net.align(x, slopes)
    if like.shape != x.shape:
        raise call.error("slopes no larger than its input", list(slopes.shape), "export it again")
    # Hosts have a slope for each value of a sample, and broadcast dimensions of size 1.
    data = tensors[1].data
    assert data is not None
    rank = max(len(x.shape) - 1, 1)
    whole = data if data.ndim > rank else data.reshape((1,) * (rank - data.ndim) + data.shape)
    if whole.size == 1:
        whole = np.broadcast_to(whole, (*whole.shape[:-1], like.stored_shape[-1]))
    made = call.net.op("PRELU", [tensors[0], call.net.constant(whole)], like.stored_shape)
    return Value(like.shape, made, like.order, like.image)


# Ranges for which hosts have operators.
_CLAMPS = {
    (0.0, np.inf): "RELU",
    (0.0, 6.0): "RELU6",
    (0.0, 1.0): "RELU_0_TO_1",
    (-1.0, 1.0): "RELU_N1_TO_1",
}


def clip(call: Call) -> Value:
    low, high = clip_range(call)
    x = call.value()
    if (low, high) in _CLAMPS:
        return call.each(_CLAMPS[low, high], x)
    if low > -np.inf:
        x = call.each("MAXIMUM", x, np.array(low, np.float32))
    if high < np.inf:
        x = call.each("MINIMUM", x, np.array(high, np.float32))
    return x


def clip_range(call: Call) -> tuple[float, float]:
    """Returns the limits: attributes before opset 11, inputs since; infinite if absent."""
    ends = [call.number("min", -np.inf), call.number("max", np.inf)]
    for number in (1, 2):
        if call.input(number) is not None:
            ends[number - 1] = float(call.weights(number, "its limits").reshape(()))
    largest = float(np.finfo(np.float32).max)
    low, high = ends
    return (-np.inf if low <= -largest else low), (np.inf if high >= largest else high)


def softmax(kind: str) -> Maker:
    def make(call: Call) -> Value:
        x = call.value()
        rank = len(x.shape)
        # Before opset 13, all dimensions from this one on were taken as one.
        axis = call.axis(call.integer("axis", -1 if call.opset >= 13 else 1), rank)
        if call.opset < 13 and any(size != 1 for size in x.shape[axis + 1 :]):
            raise call.error(
                "one dimension to sum along",
                f"the shape {list(x.shape)} from dimension {axis} on",
                "export it with opset 13 or newer",
            )
        if x.order[-1] != axis:
            x = call.net.ordered(x, (*(a for a in range(rank) if a != axis), axis))
        options = schema.make_options("SoftmaxOptions", beta=1.0) if kind == "SOFTMAX" else None
        return call.each(kind, x, options=options)

    return make
