"""Finds the scales of the int8 values of the islands."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from larq_engine.converter.graph import Graph, Op, Quantization, Tensor
from larq_engine.converter.quantizer.calibration import Range
from larq_engine.converter.quantizer.islands import Islands, values
from larq_engine.converter.quantizer.scales import (
    least_output_scale,
    least_sum_scale,
    quantize_range,
)
from larq_engine.converter.quantizer.table import Scale, int8_form, is_layer

# The scale that represents the +1 and -1 of an LceDequantize exactly.
_SIGN_SCALE = Quantization((1 / 127,), (0,))


@dataclass(frozen=True)
class Int8Value:
    """A float tensor as int8.

    Attributes:
        tensor: The float tensor.
        rounds_down: Whether values are rounded down, which keeps their signs, or to the nearest.
    """

    tensor: Tensor
    rounds_down: bool


class Int8Scales:
    """The scales of all int8 values. Some operators require that several values share one."""

    def __init__(self, graph: Graph, islands: Islands, ranges: Mapping[Tensor, Range]) -> None:
        self._islands = islands
        self._ranges = ranges
        self._group: dict[Int8Value, list[Int8Value]] = {}
        self._scales: dict[Int8Value, Quantization] = {}
        self._being_found: set[Int8Value] = set()
        for op in graph.ops:
            if op in islands.ops and _scale(op) is Scale.SAME:
                first, *others = self._all(op)
                for other in others:
                    self._join(first, other)

    def written(self, tensor: Tensor) -> Int8Value:
        """Returns the value that an operator of an island writes for a tensor."""
        return Int8Value(tensor, tensor in self._islands.signed)

    def read(self, op: Op, tensor: Tensor) -> Int8Value:
        """Returns the value that an operator reads for a tensor.

        It is rounded down only if the operator moves values, and signs are taken of its output.
        """
        form = int8_form(op)
        moves_signs = form is not None and form.moves and op.output in self._islands.signed
        return Int8Value(tensor, moves_signs and tensor in self._islands.signed)

    def scale(self, value: Int8Value) -> Quantization:
        """Returns the scale and zero point of a value."""
        group = self._members(value)
        if group[0] not in self._scales:
            self._being_found.update(group)
            self._scales[group[0]] = self._find(group)
            self._being_found.difference_update(group)
        return self._scales[group[0]]

    def range(self, value: Int8Value) -> Range:
        """Returns the range of a value in the samples, and of all values with the same scale."""
        seen = [self._seen(member.tensor) for member in self._members(value)]
        return Range(min(one.low for one in seen), max(one.high for one in seen))

    def _seen(self, tensor: Tensor) -> Range:
        return Range.of(tensor.data) if tensor.data is not None else self._ranges[tensor]

    def _all(self, op: Op) -> list[Int8Value]:
        return [*(self.read(op, t) for t in values(op)), *(self.written(t) for t in op.outputs)]

    def _members(self, value: Int8Value) -> list[Int8Value]:
        return self._group.setdefault(value, [value])

    def _join(self, first: Int8Value, second: Int8Value) -> None:
        group, other = self._members(first), self._members(second)
        if group is not other:
            group += other
            for value in other:
                self._group[value] = group

    def _find(self, group: list[Int8Value]) -> Quantization:
        producers = [value.tensor.producer for value in group]
        fixed = {
            form.fixed for op in producers if op in self._islands.ops if (form := int8_form(op))
        }
        known = fixed - {None}
        if len(known) == 1 and all(_keeps_fixed(op, self._islands) for op in producers):
            (only,) = known
            assert only is not None
            return only
        producer = producers[0]
        if len(group) == 1 and producer is not None and producer.kind == "LceDequantize":
            return _SIGN_SCALE
        seen = self.range(group[0])
        found = quantize_range(seen.low, seen.high)
        least = max((self._least(op) for op in producers if op in self._islands.ops), default=0.0)
        if found.scale[0] < least:
            low = min(seen.low, 0.0)
            found = quantize_range(low, max(seen.high, low + 255 * least))
        return found

    def _least(self, op: Op | None) -> float:
        """Returns the smallest scale that an operator can write."""
        assert op is not None
        if op.kind in ("ADD", "SUB"):
            read = [self.read(op, tensor) for tensor in values(op)]
            known = (value for value in read if value not in self._being_found)
            return least_sum_scale(self.scale(value).scale[0] for value in known)
        if not is_layer(op):
            return 0.0
        weights, (data,) = op.inputs[1], values(op)
        value = self.read(op, data)
        if weights is None or weights.data is None or value in self._being_found:
            return 0.0
        return least_output_scale(float(np.abs(weights.data).max()), self.scale(value))


def _scale(op: Op) -> Scale | None:
    form = int8_form(op)
    return None if form is None else form.scale


def _keeps_fixed(op: Op | None, islands: Islands) -> bool:
    """Tells whether an operator's output has the range of its input, if that is fixed."""
    return op is not None and op in islands.ops and _scale(op) in (Scale.SAME, Scale.FIXED)
