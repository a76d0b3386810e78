"""Checks that a graph is legal, after every rule, so that a broken rule is caught at once."""

from larq_engine.converter import lce_ops
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.padding import read_pads


def verify(graph: Graph, after: str) -> None:
    """Raises AssertionError if the graph is not legal; the error names the step before."""
    made: set[int] = {id(tensor) for tensor in graph.inputs}
    for op in graph.ops:
        for tensor in op.inputs:
            if tensor is None:
                continue
            # In a file, operators may read variables and empty tensors that no operator makes.
            from_file = tensor.producer is None and tensor.origin is not None
            known = tensor.is_constant or id(tensor) in made or from_file
            _expect(known, after, op, f"reads '{tensor.name}' before it is made")
            _expect(op in tensor.consumers, after, op, f"'{tensor.name}' does not know its reader")
        for tensor in op.outputs:
            _expect(tensor.producer is op, after, op, f"'{tensor.name}' has another producer")
            _expect(id(tensor) not in made, after, op, f"'{tensor.name}' is made twice")
            _expect(not tensor.is_constant, after, op, f"writes the constant '{tensor.name}'")
            made.add(id(tensor))
        if lce_ops.is_ours(op):
            _check_form(op, after)
            _LEGAL[op.kind](op, after)
        if op.kind == "RESHAPE" and op.extra is None:
            # This one was made by a rule. In a file, sizes known only at run time may be any
            # numbers.
            _reshape(op, after)
    for tensor in graph.outputs:
        legal = id(tensor) in made or tensor.is_constant
        if not legal:
            raise AssertionError(f"after {after}: nothing makes the output '{tensor.name}'")


def _expect(legal: bool, after: str, op: Op, problem: str) -> None:
    if not legal:
        raise AssertionError(f"after {after}: {op.kind} '{op.name}': {problem}")


# For our operators with one number of inputs: this number, how many of the first must be there, and
# keys that options must have.
_FORMS: dict[str, tuple[int, int, tuple[str, ...]]] = {
    "LceBMaxPool2d": (1, 1, ()),
    "LceBconv2d": (5, 2, ("channels_in", "stride_height", "stride_width")),
    "LceBmatmul": (3, 3, ("depth",)),
    "LceDequantize": (1, 1, ()),
    "LceUnpackWeights": (2, 2, ("axis",)),
}


def _check_form(op: Op, after: str) -> None:
    """Checks what the checks of single operators rely on."""
    count, needed, keys = _FORMS.get(op.kind, (len(op.inputs), 1, ()))
    there = [tensor is not None for tensor in op.inputs]
    _expect(len(there) == count, after, op, "wrong number of inputs")
    _expect(len(there) >= needed and all(there[:needed]), after, op, "wrong input")
    options = op.options if isinstance(op.options, dict) else {}
    for key in keys:
        _expect(key in options, after, op, f"no option '{key}'")


# Types of which signs are taken, and types that bits become again.
_NUMBERS = ("FLOAT32", "INT8", "BOOL")


def _quantize(op: Op, after: str) -> None:
    x = op.inputs[0]
    _expect(x is not None and bool(x.shape), after, op, "wrong input")
    assert x is not None
    bits = lce_ops.bits_made(op)
    of_bytes = bits == 8 and x.dtype == "UINT8"
    _expect(of_bytes or x.dtype in _NUMBERS, after, op, f"quantizes {x.dtype}")
    shape = lce_ops.packed_shape(x.shape, bits)
    if of_bytes:
        _expect(op.input(1) is None, after, op, "limits of bytes")
    elif bits > 1:
        limits = op.input(1)
        shapes = [(lce_ops.largest(bits),), (lce_ops.largest(bits), x.shape[-1])]
        legal = x.dtype == "FLOAT32" and limits is not None and limits.is_constant
        _expect(legal and limits is not None and limits.shape in shapes, after, op, "wrong limits")
    _expect(op.output.dtype == "INT32" and op.output.shape == shape, after, op, "wrong output")


def _dequantize(op: Op, after: str) -> None:
    bits = op.inputs[0]
    _expect(bits is not None and bits.dtype == "INT32", after, op, "wrong input")
    assert bits is not None
    _expect(op.output.dtype in _NUMBERS, after, op, f"dequantizes to {op.output.dtype}")
    legal = bool(op.output.shape) and lce_ops.packed_shape(op.output.shape) == bits.shape
    _expect(legal, after, op, "wrong output")


def _convolution(op: Op, after: str) -> None:
    bits, filters, multiplier, bias, threshold = op.inputs
    assert bits is not None and filters is not None
    channels_in = op.options["channels_in"]
    channels = filters.shape[0]
    legal = len(bits.shape) == 4 and bits.dtype == "INT32"
    bits_in, bits_weights = lce_ops.layer_bits(op)
    plane_words = lce_ops.words(channels_in)
    _expect(legal and bits.shape[3] == bits_in * plane_words, after, op, "wrong input")
    _expect(plane_words * bits_weights % filters.shape[3] == 0, after, op, "wrong filter")
    writes_bits = op.output.dtype == "INT32"
    constants = [threshold] if writes_bits else [multiplier, bias]
    for tensor in constants:
        _expect(tensor is not None and tensor.shape == (channels,), after, op, "wrong constants")
    last = lce_ops.words(channels) if writes_bits else channels
    _expect(op.output.shape[3] == last, after, op, "wrong output")
    if bits.signature is not None or op.output.signature is not None:
        return  # The sizes of an open shape are placeholders.
    pads = read_pads(op.options)
    sizes = [
        _positions(bits.shape[axis], filters.shape[axis], op.options, direction, padding)
        for axis, direction, padding in zip(
            (1, 2), ("height", "width"), pads or (None, None), strict=True
        )
    ]
    _expect(op.output.shape[:3] == (bits.shape[0], *sizes), after, op, "wrong output")


def _positions(
    size: int, taps: int, options: dict[str, int], direction: str, pads: tuple[int, int] | None
) -> int:
    """Returns the number of positions of a filter along one direction."""
    if pads is not None:
        size += sum(pads) - (taps - 1) * options[f"dilation_{direction}_factor"]
    return -(-size // options[f"stride_{direction}"])


def _pool(op: Op, after: str) -> None:
    x = op.inputs[0]
    assert isinstance(x, Tensor)
    legal = len(x.shape) == 4 and x.shape[3] == op.output.shape[3] and x.dtype == "INT32"
    _expect(legal and op.output.dtype == "INT32", after, op, "wrong shape or type")


def _product(op: Op, after: str) -> None:
    left, right, values = op.inputs
    assert left is not None and right is not None and values is not None
    words = lce_ops.words(op.options["depth"])
    _expect(len(left.shape) == len(right.shape) >= 2, after, op, "wrong number of dimensions")
    _expect(left.dtype == right.dtype == "INT32", after, op, "wrong input")
    _expect(left.shape[-1:] == right.shape[-1:] == (words,), after, op, "wrong depth")
    _expect(values.shape == (2, 2) and values.is_constant, after, op, "wrong values")
    shape = (*left.shape[:-1], right.shape[-2])
    _expect(left.shape[:-2] == right.shape[:-2], after, op, "wrong number of matrices")
    _expect(op.output.shape == shape, after, op, "wrong output")


def _unpack_weights(op: Op, after: str) -> None:
    bits, scale = op.inputs
    elements, axis = op.output.elements, op.options["axis"]
    _expect(op.output.dtype in ("FLOAT32", "INT8"), after, op, "wrong output")
    _expect(0 <= axis < len(op.output.shape), after, op, f"wrong axis {axis}")
    legal = bits is not None and bits.dtype == "INT32" and bits.shape == (lce_ops.words(elements),)
    _expect(legal, after, op, "wrong bits")
    sizes = (1, op.output.shape[axis])
    _expect(scale is not None and scale.elements in sizes, after, op, "wrong scale")


def _reshape(op: Op, after: str) -> None:
    x = op.inputs[0]
    _expect(x is not None and x.elements == op.output.elements, after, op, "wrong output")


_LEGAL = {
    "LceBMaxPool2d": _pool,
    "LceBmatmul": _product,
    "LceBconv2d": _convolution,
    "LceDequantize": _dequantize,
    "LceQuantize": _quantize,
    "LceUnpackWeights": _unpack_weights,
}
