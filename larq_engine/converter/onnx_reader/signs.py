"""Makers of comparisons and of operators with two values."""

from collections.abc import Callable

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import NUMPY_TYPES, Array, Tensor
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.elementwise import Maker
from larq_engine.converter.onnx_reader.graph_builder import GraphBuilder
from larq_engine.converter.onnx_reader.layout import Value, closed
from larq_engine.converter.onnx_reader.moving import OPEN_SIZE
from larq_engine.converter.sign_values import uniform
from larq_engine.converter.third_values import PlainSign, third_value_error

# The c in sign(sign(x) + c), which is +1 for 0.
_SHIFT = np.array(0.1, np.float32)


def sign(call: Call) -> Value:
    made = call.each("SIGN", call.value())
    call.net.plain_signs[made.tensor] = _plain_sign(call)
    return made


def _plain_sign(call: Call) -> PlainSign:
    return PlainSign(call.node.title, call.net.layer, "use Where")


def bipolar_quant(call: Call) -> Value:
    """Makes scale * (x >= 0 ? 1 : -1)."""
    sign_of_value = call.each("SIGN", call.value())
    made = call.each("SIGN", call.each("ADD", sign_of_value, _SHIFT))
    scale = call.weights(1, "its scale")
    return made if (scale == 1).all() else call.each("MUL", made, scale)


def quant(call: Call) -> Value:
    """Makes a Quant: values become integers of some bits and floats again, as in fold_quant."""
    scale, zero_point = call.weights(1, "its scale"), call.weights(2, "its zero point")
    low, high, rounding = _quant_form(call, call.weights(3, "its bits"))
    x = _times(call, "DIV", call.value(), scale)
    x = _plus(call, "ADD", x, zero_point)
    x = call.each("MINIMUM", call.each("MAXIMUM", x, low), high)
    x = _round(call, x, rounding)
    return _times(call, "MUL", _plus(call, "SUB", x, zero_point), scale)


_ROUNDING_OPERATORS = {np.rint: "ROUND", np.ceil: "CEIL", np.floor: "FLOOR"}


def _round(call: Call, x: Value, rounding: Callable[[Array], Array]) -> Value:
    if rounding is not np.trunc:
        return call.each(_ROUNDING_OPERATORS[rounding], x)
    zero = np.array(0, np.float32)
    up = call.each("CEIL", call.each("MINIMUM", x, zero))
    return call.each("ADD", call.each("FLOOR", call.each("MAXIMUM", x, zero)), up)


def _times(call: Call, kind: str, x: Value, scale: Array) -> Value:
    return x if (scale == 1).all() else call.each(kind, x, scale)


def _plus(call: Call, kind: str, x: Value, zero_point: Array) -> Value:
    return call.each(kind, x, zero_point) if zero_point.any() else x


def compare(kind: str) -> Maker:
    def make(call: Call) -> Value:
        a, b = (call.net.value(call.operand(number)) for number in (0, 1))
        if a.tensor.dtype != b.tensor.dtype:
            types = f"{a.tensor.dtype.lower()} and {b.tensor.dtype.lower()}"
            raise call.error("values of one type", types, "export the model again")
        return call.each(kind, call.operand(0), call.operand(1), dtype="BOOL")

    return make


def logical_not(call: Call) -> Value:
    return call.each("LOGICAL_NOT", call.net.value(call.operand(0)), dtype="BOOL")


def logical(kind: str) -> Maker:
    """Returns a maker of an operator on two truth values."""

    def make(call: Call) -> Value:
        return call.each(kind, call.operand(0), call.operand(1), dtype="BOOL")

    return make


def is_nan(call: Call) -> Value:
    """Makes an IsNaN; only NaN is not equal to itself."""
    return call.each("NOT_EQUAL", call.value(), call.value(), dtype="BOOL")


def where(call: Call) -> Value:
    return _select(call, call.operand(0), call.floats(1), call.floats(2))


def scatter(call: Call) -> Value:
    """Makes `out[mask] = number` (masks.py)."""
    there, mask = call.operand(0), call.operand(1)
    _check_mask(call, there, mask)
    return _select(call, mask, call.floats(2), call.floats(0))


def _check_mask(call: Call, there: Array | Value, mask: Array | Value) -> None:
    is_mask = (mask.tensor.dtype if isinstance(mask, Value) else mask.dtype) in ("BOOL", np.bool_)
    if not is_mask or closed(there.shape) != closed(mask.shape):
        raise call.error(
            "one number at the places of a mask, as of out[mask] = number",
            "other places or numbers",
            "export it with torch.where",
        )


def _select(call: Call, condition: Array | Value, a: Array | Value, b: Array | Value) -> Value:
    return call.each("SELECT_V2", condition, a, _seen(call.net, condition, b))


_OPPOSITES = {
    "GREATER": "LESS_EQUAL",
    "GREATER_EQUAL": "LESS",
    "LESS": "GREATER_EQUAL",
    "LESS_EQUAL": "GREATER",
}


def _seen(net: GraphBuilder, condition: Array | Value, other: Array | Value) -> Array | Value:
    """Returns the part of a value that is used where a condition is false.

    In where(x < 0, -1, where(x >= 0, 1, b)), b is used only for NaN. There PyTorch has
    uninitialized memory, which may itself be NaN. So the inner choice is replaced by its number, 1.
    """
    if not isinstance(condition, Value) or not isinstance(other, Value):
        return other
    test, select = net.producers.get(condition.tensor), net.producers.get(other.tensor)
    if test is None or select is None or select.kind != "SELECT_V2":
        return other
    held, taken, _ = select.inputs
    opposite = net.producers.get(held) if held is not None else None
    is_opposite = (
        opposite is not None
        and opposite.kind == _OPPOSITES.get(test.kind)
        and all(map(_are_equal, opposite.inputs, test.inputs))
    )
    number = uniform(taken)
    return (
        number if is_opposite and number is not None and other.shape == condition.shape else other
    )


def _are_equal(a: Tensor | None, b: Tensor | None) -> bool:
    if a is b or a is None or b is None:
        return a is b
    return a.data is not None and b.data is not None and np.array_equal(a.data, b.data)


# Names of types, by ONNX's numbers.
_TYPES = {
    1: "FLOAT32",
    2: "UINT8",
    3: "INT8",
    5: "INT16",
    6: "INT32",
    7: "INT64",
    9: "BOOL",
}


def cast(call: Call) -> Value:
    x, dtype = call.net.value(call.operand(0)), target_type(call)
    if x.tensor.dtype == dtype:
        return x
    options = schema.make_options(
        "CastOptions",
        inDataType=schema.type_number(x.tensor.dtype),
        outDataType=schema.type_number(dtype),
    )
    return call.each("CAST", x, dtype=dtype, options=options)


def target_type(call: Call) -> str:
    number = call.integer("to")
    if number not in _TYPES:
        raise call.error(
            "a cast to float32, whole numbers or truth values",
            f"type {number} of ONNX",
            "export the model in float32",
        )
    return _TYPES[number]


# ---- Of constants --------------------------------------------------------------------------------


def fold_cast(call: Call, x: Array) -> Array | None:
    """Keeps open sizes in a cast to any integer type; raises an error for other types."""
    if x.dtype.kind != "i" or OPEN_SIZE not in x:
        return None
    if np.dtype(NUMPY_TYPES[target_type(call)]).kind == "i":
        return x
    raise call.error("sizes that are known", "the open batch", "export a fixed batch")


def fold_sign(call: Call, x: Array) -> Array:
    """Takes signs of constants; without negative ones they are 0 and 1, and stay so."""
    result = np.sign(x)
    zeros = result == 0
    sign = _plain_sign(call)
    call.net.constant_signs.append(sign)
    if not zeros.any() or not (x < 0).any():
        return result
    wanted = call.sign_of_zero.of(sign.layer)
    if wanted is None:
        raise third_value_error(sign, f"{zeros.sum()} of {x.size} constants")
    return np.where(zeros, np.float32(wanted), result)


def fold_scatter(call: Call, there: Array, where: Array, numbers: Array) -> Array | None:
    """Evaluates a scatter at a mask; the reference evaluates one at places."""
    if where.dtype != np.bool_:
        return None
    _check_mask(call, there, where)
    return np.where(where, numbers, there)


def fold_bipolar_quant(call: Call, x: Array, scale: Array) -> Array:
    return np.asarray(scale * np.where(x >= 0, np.float32(1), np.float32(-1)))


_ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "ROUND": np.rint,
    "HALF_EVEN": np.rint,
    "CEIL": np.ceil,
    "FLOOR": np.floor,
    "ROUND_TO_ZERO": np.trunc,
    "DOWN": np.trunc,
}


def fold_quant(call: Call, x: Array, scale: Array, zero_point: Array, bits: Array) -> Array:
    """Evaluates a Quant as QONNX does: to integers of some bits and back to floats."""
    low, high, rounding = _quant_form(call, bits)
    limited = np.clip(x / scale + zero_point, low, high)
    return np.asarray((rounding(limited) - zero_point) * scale)


def _quant_form(call: Call, bits: Array) -> tuple[Array, Array, Callable[[Array], Array]]:
    """Returns the smallest and the largest integer, and the rounding function."""
    width, signed, narrow = float(bits.reshape(())), call.integer("signed"), call.integer("narrow")
    mode = call.text("rounding_mode", "ROUND").upper()
    if width < 1 + signed or width % 1 or mode not in _ROUNDINGS:
        raise call.error(
            f"2 bits or more (1 without a sign), rounded by one of {', '.join(_ROUNDINGS)}",
            f"{width:g} bits, {mode}",
            "for one bit use BipolarQuant",
        )
    low = -(2.0 ** (width - 1)) + narrow if signed else 0.0
    high = 2.0 ** (width - 1) - 1 if signed else 2.0**width - 1 - narrow
    return np.array(low, np.float32), np.array(high, np.float32), _ROUNDINGS[mode]
