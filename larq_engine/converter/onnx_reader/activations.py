"""Makers of activations: of those that hosts have, and of those that take several operators."""

import math

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import Array
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.layout import Value


def number(value: float) -> Array:
    return np.array(value, np.float32)


def gelu(call: Call) -> Value:
    approximate = call.text("approximate", "none")
    if approximate not in ("none", "tanh"):
        raise call.error("its approximate to be none or tanh", approximate, "export it again")
    options = schema.make_options("GeluOptions", approximate=approximate == "tanh")
    return call.each("GELU", call.value(), options=options)


def erf(call: Call) -> Value:
    """Makes erf of GELU, the only operator of hosts with it: x * (1 + erf(x / sqrt(2))) / 2.

    Inputs that are too small to divide by are replaced by 1e-20. Inputs are limited to 10, as erf
    gives the same float32 beyond.
    """
    scaled = call.each("MUL", call.value(), number(math.sqrt(2)))
    scaled = call.each("MAXIMUM", call.each("MINIMUM", scaled, number(10)), number(-10))
    is_tiny = call.each("LESS", call.each("ABS", scaled), number(1e-20), dtype="BOOL")
    x = call.each("SELECT_V2", is_tiny, number(1e-20), scaled)
    share = call.each("DIV", call.each("GELU", x, options=schema.make_options("GeluOptions")), x)
    return call.each("SUB", call.each("MUL", share, number(2)), number(1))


def hard_sigmoid(call: Call) -> Value:
    scaled = call.each("MUL", call.value(), number(call.number("alpha", 0.2)))
    return call.each("RELU_0_TO_1", call.each("ADD", scaled, number(call.number("beta", 0.5))))


def softplus(call: Call) -> Value:
    return _softplus(call, call.value())


def _softplus(call: Call, x: Value) -> Value:
    """Makes log(1 + exp(x)) without overflow in the exponential."""
    below = call.each("EXP", call.each("NEG", call.each("ABS", x)))
    rest = call.each("LOG", call.each("ADD", below, number(1)))
    return call.each("ADD", call.each("RELU", x), rest)


def mish(call: Call) -> Value:
    x = call.value()
    return call.each("MUL", x, call.each("TANH", _softplus(call, x)))


def swish(call: Call) -> Value:
    x, alpha = call.value(), call.number("alpha", 1.0)
    scaled = x if alpha == 1 else call.each("MUL", x, number(alpha))
    return call.each("MUL", x, call.each("LOGISTIC", scaled))


def softsign(call: Call) -> Value:
    x = call.value()
    return call.each("DIV", x, call.each("ADD", call.each("ABS", x), number(1)))


def elu(call: Call) -> Value:
    return _elu(call, call.number("alpha", 1.0), 1.0, 1.0)


def celu(call: Call) -> Value:
    alpha = call.number("alpha", 1.0)
    return _elu(call, alpha, alpha, 1.0)


def selu(call: Call) -> Value:
    # These are ONNX's defaults.
    alpha = call.number("alpha", 1.67326319217681884765625)
    return _elu(call, alpha, 1.0, call.number("gamma", 1.05070102214813232421875))


def _elu(call: Call, alpha: float, divisor: float, gamma: float) -> Value:
    """Makes gamma * x above 0, else gamma * alpha * (exp(x / divisor) - 1)."""
    x = call.value()
    if divisor == 0:
        raise call.error("its alpha not to be 0", alpha, "train the model again")
    below = call.each("MINIMUM", x, number(0))
    if divisor != 1:
        below = call.each("DIV", below, number(divisor))
    below = call.each("ELU", below)
    if gamma * alpha != 1:
        below = call.each("MUL", below, number(gamma * alpha))
    elif divisor == 1:
        return call.each("ELU", x)
    above = call.each("RELU", x)
    return call.each("ADD", above if gamma == 1 else call.each("MUL", above, number(gamma)), below)


def thresholded_relu(call: Call) -> Value:
    x = call.value()
    is_above = call.each("GREATER", x, number(call.number("alpha", 1.0)), dtype="BOOL")
    return call.each("SELECT_V2", is_above, x, number(0))
