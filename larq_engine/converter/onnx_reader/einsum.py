"""Maker of Einsum: sums of products that are written with letters."""

import math

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.layout import OPEN, Shape, Value
from larq_engine.converter.onnx_reader.moving import bring, turned
from larq_engine.converter.onnx_reader.pooling import reduced
from larq_engine.converter.onnx_reader.weighted import product


def einsum(call: Call) -> Value:
    """Makes an Einsum of one or two operands, if no letter occurs twice in an operand."""
    equation = call.text("equation", "").replace(" ", "")
    given, arrow, wanted = equation.partition("->")
    letters = given.split(",")
    operands = [call.floats(n) for n in range(len(call.inputs))]
    if not arrow:
        wanted = "".join(sorted(x for x in {*given} - {","} if given.count(x) == 1))
    ranks = [len(operand.shape) for operand in operands]
    if (
        not 1 <= len(letters) <= 2
        or [len(names) for names in letters] != ranks
        or any(len({*names}) < len(names) for names in [*letters, wanted])
        or not {*wanted} <= {*given}
        or not all(letter.isalpha() for letter in given.replace(",", ""))
    ):
        raise call.error(
            "an equation of one or two operands, a letter for each dimension",
            f"'{equation}' of {ranks} dimensions",
            "use matmul, transpose and sum",
        )
    if len(operands) == 1:
        x, names = _summed(call, operands[0], letters[0], wanted)
        return _in_order(call, call.net.value(x), names, wanted)
    (a, a_letters), (b, b_letters) = (
        _summed(call, operand, names, wanted + letters[1 - n])
        for n, (operand, names) in enumerate(zip(operands, letters, strict=True))
    )
    return _multiplied(call, a, a_letters, b, b_letters, wanted)


def _summed(call: Call, x: Array | Value, names: str, kept: str) -> tuple[Array | Value, str]:
    """Sums over the dimensions whose letters occur nowhere else."""
    gone = [axis for axis, name in enumerate(names) if name not in kept]
    if gone:
        x = reduced(call, "SUM", call.net.value(x), gone, keeps=False)
    return x, "".join(name for name in names if name in kept)


def _multiplied(
    call: Call, a: Array | Value, a_letters: str, b: Array | Value, b_letters: str, wanted: str
) -> Value:
    """Makes a product of matrices: [batch, left, inner] times [batch, inner, right]."""
    batch = "".join(name for name in a_letters if name in b_letters and name in wanted)
    inner = "".join(name for name in a_letters if name in b_letters and name not in wanted)
    left = "".join(name for name in a_letters if name not in b_letters)
    right = "".join(name for name in b_letters if name not in a_letters)
    sizes = dict(zip(a_letters + b_letters, a.shape + b.shape, strict=True))

    def size(names: str) -> int:
        opens = [name for name in names if sizes[name] == OPEN]
        if opens and len(names) > 1:
            raise call.error("an open batch by itself", names, "export it with a fixed batch")
        return OPEN if opens else math.prod(sizes[name] for name in names)

    stack = [sizes[name] for name in batch]
    # If there is one matrix, an open batch can stay a dimension of its own.
    rows = [size(left)] if batch or not left else [sizes[name] for name in left]
    a = _arranged(call, a, a_letters, batch + left + inner, (*stack, *rows, size(inner)))
    b = _arranged(call, b, b_letters, batch + inner + right, (*stack, size(inner), size(right)))
    made = product(call, call.net.value(a), b, None)
    names = batch + left + right
    whole = bring(call.net, made, tuple(sizes[name] for name in names))
    return _in_order(call, whole, names, wanted)


def _arranged(call: Call, x: Array | Value, names: str, wanted: str, shape: Shape) -> Array | Value:
    """Returns an operand with its dimensions in another order, and then in another shape."""
    turn = [names.index(name) for name in wanted]
    if isinstance(x, np.ndarray):
        return x.transpose(turn).reshape(shape)
    return bring(call.net, _in_order(call, x, names, wanted), shape)


def _in_order(call: Call, x: Value, names: str, wanted: str) -> Value:
    """Returns the same tensor with its dimensions in another order."""
    return turned(call.net, x, [names.index(name) for name in wanted])
