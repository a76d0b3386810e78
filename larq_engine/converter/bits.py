"""Turns a recognised sign into operators that make its bits.

An operator that moves values is put after the sign if it can move whole words, as it then moves 32
times less data. Otherwise it is put before the sign, which is exact for every such operator.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.graph import Array, Meaning, Op, Tensor
from larq_engine.converter.levels import Levels
from larq_engine.converter.options import Options
from larq_engine.converter.signs import (
    TRUTH_MOVES,
    Binary,
    Condition,
    Moved,
    Positive,
    Source,
    moved_inputs,
)


def make_bits(binary: Binary, image: tuple[int, ...], options: Options) -> tuple[Tensor, list[Op]]:
    """Returns the bits of a binary value in the shape of an image, and operators to make them.

    An operator that another reader of the same sign already has is reused, not made again.
    """
    tensor, source = binary.tensor, binary.source
    if tensor.shape != image:
        signature = None if tensor.signature is None else (-1, *image[1:])
        shaped = Tensor(f"{tensor.name}/image", image, "FLOAT32", signature=signature)
        source = Moved(lce_ops.reshape(tensor, shaped), (source,), shaped)
        tensor = shaped
    maker = _Maker(pools_bits=not options.for_xcore)
    bits = maker.bits(source, tensor)
    note_meaning(bits, binary, binary.tensor, image[-1])
    return bits, maker.ops


def make_planes(levels: Levels, image: tuple[int, ...]) -> tuple[Tensor, list[Op]]:
    """Returns the bit planes of values that are one of few numbers, and operators to make them."""
    x, ops = levels.x, list[Op]()
    if levels.ops:
        x, ops = _add_pools(levels)
    if levels.order is not None:
        turned = levels.tensor.like(f"{x.name}/turned")
        ops.append(lce_ops.transpose(x, levels.order, turned))
        x = turned
    if x.shape[-1] != image[-1]:
        signature = None if x.signature is None else (-1, *image[1:])
        shaped = Tensor(f"{x.name}/image", image, x.dtype, signature=signature)
        made = lce_ops.reshape(x, shaped)
        reshape = next((op for op in x.consumers if computes_the_same(op, made)), made)
        if reshape is made:
            ops.append(made)
        x = reshape.output
    name = f"{levels.tensor.name}/bits"
    made = lce_ops.quantize_planes(x, levels.limits, levels.bits, name)
    quantize = next((op for op in x.consumers if computes_the_same(op, made)), made)
    if quantize is made:
        ops.append(made)
    planes = quantize.output
    if x.shape != image:
        shape = lce_ops.packed_shape(image, levels.bits)
        signature = None if x.signature is None else (-1, *shape[1:])
        shaped = Tensor(f"{name}/image", shape, "INT32", signature=signature)
        ops.append(lce_ops.reshape(planes, shaped))
        planes = shaped
    found = levels.tensor.counterpart
    if found is not None:
        meaning = Meaning(found.origin, image[-1], levels=levels.levels, order=found.order)
        if meaning not in planes.meanings:
            planes.meanings.append(meaning)
    return planes, ops


def note_meaning(
    bits: Tensor,
    binary: Binary,
    tensor: Tensor,
    channels: int,
    pads: Sequence[tuple[int, int]] = (),
    pad_sign: int = 0,
) -> None:
    """Records which tensor of the float model has the values that the bits stand for."""
    found = tensor.counterpart
    if found is None:
        return
    meaning = Meaning(
        found.origin, channels, binary.alpha, binary.beta, tuple(pads), pad_sign, found.order
    )
    if meaning not in bits.meanings:
        bits.meanings.append(meaning)


def _add_pools(levels: Levels) -> tuple[Tensor, list[Op]]:
    """Returns the values whose levels were found, and those of their max poolings that are new."""
    x = levels.ops[0].inputs[0]
    assert x is not None
    ops = list[Op]()
    for op in levels.ops:
        made = replace(op, inputs=[x])
        pool = next((other for other in x.consumers if computes_the_same(other, made)), made)
        if pool is made:
            ops.append(made)
        x = pool.output
    return x, ops


def values_before_sign(binary: Binary) -> tuple[Tensor, list[Op]]:
    """Returns the tensor that a binary value is the sign (or the condition) of, and its operators.

    If the sign of 0 is -1, the returned value is 0 there, and nothing else marks it.
    """
    maker = _Maker(pools_bits=False, compares=False)
    value = maker.value(binary.source, binary.tensor)
    return value, maker.ops


class _Maker:
    def __init__(self, *, pools_bits: bool, compares: bool = True) -> None:
        self._compares = compares
        self._pools_bits = pools_bits
        self.ops: list[Op] = []

    def _add(self, op: Op) -> Op:
        """Returns the operator, or one that exists already and computes the same."""
        x = next(tensor for tensor in op.inputs if tensor is not None and not tensor.is_constant)
        for known in [*x.consumers, *self.ops]:
            if computes_the_same(known, op):
                return known
        self.ops.append(op)
        return op

    def bits(self, source: Source, tensor: Tensor) -> Tensor:
        if isinstance(source, Moved):
            moved = self._move_bits(source)
            if moved is not None:
                return moved
        value = self.value(source, tensor)
        return self._add(lce_ops.quantize(value, f"{tensor.name}/bits")).output

    def value(self, source: Source, tensor: Tensor) -> Tensor:
        """Returns the floats or truth values whose sign is the binary value."""
        if isinstance(source, Condition):
            return self._condition(source)
        if isinstance(source, Positive):
            return self._positive(source, tensor)
        return self._move_values(source)

    def _condition(self, source: Condition) -> Tensor:
        truth = source.tensor
        if not source.negated:
            return truth
        return self._add(Op("LOGICAL_NOT", [truth], [truth.like(f"{truth.name}/not")])).output

    def _positive(self, source: Positive, tensor: Tensor) -> Tensor:
        x, bound = source.tensor, source.bound
        if source.strict and self._compares:
            kind, fields = (
                ("LESS", "LessOptions") if source.negated else ("GREATER", "GreaterOptions")
            )
            limit = lce_ops.constant(np.array(0, np.float32)) if bound is None else bound
            truth = x.like(f"{tensor.name}/truth", dtype="BOOL", quantization=None)
            return self._add(Op(kind, [x, limit], [truth], schema.make_options(fields))).output
        if bound is not None:
            sides: list[Tensor | None] = [bound, x] if source.negated else [x, bound]
            difference = x.like(f"{tensor.name}/difference", quantization=None)
            subtraction = Op("SUB", sides, [difference], schema.make_options("SubOptions"))
            return self._add(subtraction).output
        if source.negated:
            return self._add(Op("NEG", [x], [x.like(f"{tensor.name}/negative")])).output
        return x

    def _as_float(self, value: Tensor) -> Tensor:
        """Returns the value as float32, the only type that all operators that move values take."""
        if value.dtype == "FLOAT32":
            return value
        bits = self._add(lce_ops.quantize(value, f"{value.name}/bits")).output
        signs = value.like(f"{value.name}/signs", dtype="FLOAT32", quantization=None)
        return self._add(Op("LceDequantize", [bits], [signs], custom=True)).output

    def _move_values(self, source: Moved) -> Tensor:
        op = source.op
        values = [self.value(part, _tensor_of(part, op)) for part in source.parts]
        if op.kind not in TRUTH_MOVES or values[0].dtype != "BOOL":
            values = [self._as_float(value) for value in values]
        inputs = list(op.inputs)
        for index, value in zip(moved_inputs(op), values, strict=True):
            inputs[index] = value
        kind, options = op.kind, op.options
        if kind in ("PAD", "PADV2"):
            fill = np.array(source.pad_sign, np.float32)
            kind, options = "PADV2", schema.make_options("PadV2Options")
            inputs = [*inputs[:2], lce_ops.constant(fill)]
        outputs = [
            tensor.like(f"{tensor.name}/before_sign", dtype=values[0].dtype)
            for tensor in op.outputs
        ]
        moved = replace(op, kind=kind, inputs=inputs, outputs=outputs, options=options)
        return self._add(moved).outputs[_index_of(source.output, op)]

    def _move_bits(self, source: Moved) -> Tensor | None:
        op, output = source.op, source.output
        mover = _BIT_MOVES.get(op.kind)
        if op.kind == "MAX_POOL_2D" and not self._pools_bits:
            return None
        shapes = [_tensor_of(part, op).shape for part in source.parts]
        if mover is None or not mover(op, shapes, output.shape):
            return None
        pads_with_ones = op.kind in ("PAD", "PADV2") and source.pad_sign == -1
        if pads_with_ones and output.shape[-1] % lce_ops.WORD:
            return None  # The unused bits of a pixel's last word must stay 0.
        bits = [self.bits(part, _tensor_of(part, op)) for part in source.parts]
        result = Tensor(
            f"{output.name}/bits",
            lce_ops.packed_shape(output.shape),
            "INT32",
            signature=lce_ops.packed_signature(output),
        )
        if op.kind == "MAX_POOL_2D":
            moved = lce_ops.bmaxpool(bits[0], op, result)
        elif op.kind in ("RESHAPE", "SQUEEZE", "EXPAND_DIMS"):
            moved = lce_ops.reshape(bits[0], result)
        elif pads_with_ones:
            ones = lce_ops.constant(np.array(-1, np.int32))
            options = schema.make_options("PadV2Options")
            moved = Op("PADV2", [bits[0], op.inputs[1], ones], [result], options)
        elif op.kind in ("PAD", "PADV2"):
            moved = Op("PAD", [bits[0], op.inputs[1]], [result], schema.make_options("PadOptions"))
        else:
            moved = replace(op, inputs=[*bits], outputs=[result])
        moved.layer = op.layer
        return self._add(moved).output


def computes_the_same(a: Op, b: Op) -> bool:
    """Tells whether two operators have equal kinds and options and the same inputs.

    Constant inputs are the same if their values are equal.
    """
    if (a.kind, a.custom, len(a.inputs)) != (b.kind, b.custom, len(b.inputs)):
        return False
    results = [[(t.shape, t.dtype, t.quantization) for t in op.outputs] for op in (a, b)]
    return (
        results[0] == results[1]
        and has_same_options(a, b)
        and all(_is_same_value(x, y) for x, y in zip(a.inputs, b.inputs, strict=True))
    )


def has_same_options(a: Op, b: Op) -> bool:
    """Tells whether two operators of one kind have equal options."""
    if isinstance(a.options, bytes) or isinstance(b.options, bytes):
        return bool(a.options == b.options)
    fields, others = _fields(a), _fields(b)
    return fields.keys() == others.keys() and all(
        np.array_equal(fields[name], others[name]) for name in fields
    )


def has_same_data(a: Array, b: Array) -> bool:
    """Returns whether two constants have equal values; NaN is equal to NaN."""
    return a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def _fields(op: Op) -> dict[str, Any]:
    if not op.options:
        return {}
    return op.options if isinstance(op.options, dict) else vars(op.options)


def _is_same_value(a: Tensor | None, b: Tensor | None) -> bool:
    if a is None or b is None or a.data is None or b.data is None:
        return a is b
    return a.dtype == b.dtype and np.array_equal(a.data, b.data)


def _tensor_of(part: Source, op: Op) -> Tensor:
    """Returns the tensor of the float model that `part` is, for its shape and name."""
    if isinstance(part, Moved):
        return part.output
    return part.tensor


def _index_of(tensor: Tensor, op: Op) -> int:
    return next(index for index, output in enumerate(op.outputs) if output is tensor)


def _reshapes_words(op: Op, shapes: list[tuple[int, ...]], output: tuple[int, ...]) -> bool:
    if not shapes[0] or not output:
        return False
    before, after = shapes[0][-1], output[-1]
    return before == after or (before % lce_ops.WORD == 0 and after % lce_ops.WORD == 0)


def _joins_words(op: Op, shapes: list[tuple[int, ...]], output: tuple[int, ...]) -> bool:
    last = op.options.axis in (-1, len(output) - 1)
    return not last or all(shape[-1] % lce_ops.WORD == 0 for shape in shapes[:-1])


def _pads_pixels(op: Op, shapes: list[tuple[int, ...]], output: tuple[int, ...]) -> bool:
    return not _integers(op.inputs[1])[-1].any()


def _integers(tensor: Tensor | None) -> Array:
    assert tensor is not None and tensor.data is not None
    return tensor.data


# For each operator that can move words of bits: tells whether it can for these shapes of values.
# TRANSPOSE is missing because XNNPACK of tflite_runtime 2.14 takes it for words and then fails on
# their type.
_BIT_MOVES: dict[str, Callable[[Op, list[tuple[int, ...]], tuple[int, ...]], bool]] = {
    "RESHAPE": _reshapes_words,
    "SQUEEZE": _reshapes_words,
    "EXPAND_DIMS": _reshapes_words,
    "CONCATENATION": _joins_words,
    "PAD": _pads_pixels,
    "PADV2": _pads_pixels,
    "MAX_POOL_2D": lambda op, shapes, output: len(output) == 4,
}
