"""Finds the scale of each tensor of the islands."""

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
_OF_SIGNS = Quantization((1 / 127,), (0,))


@dataclass(frozen=True)
class Place:
    """A float tensor as int8: rounded down for signs, or to the nearest for all other readers."""

    tensor: Tensor
    rounds_down: bool


class Places:
    """Scales of all places; places that an operator requires to be alike have the same one."""

    def __init__(self, graph: Graph, islands: Islands, ranges: Mapping[Tensor, Range]) -> None:
        self._islands = islands
        self._ranges = ranges
        self._group: dict[Place, list[Place]] = {}
        self._scales: dict[Place, Quantization] = {}
        self._being_found: set[Place] = set()
        for op in graph.ops:
            if op in islands.ops and _scale(op) is Scale.SAME:
                first, *others = self._all(op)
                for other in others:
                    self._join(first, other)

    def made(self, tensor: Tensor) -> Place:
        """Returns the place where an operator of an island writes a tensor."""
        return Place(tensor, tensor in self._islands.signed)

    def read(self, op: Op, tensor: Tensor) -> Place:
        """Returns the place where an operator reads a tensor.

        It is rounded down only if the operator moves values, and signs are taken of its output.
        """
        form = int8_form(op)
        moves_signs = form is not None and form.moves and op.output in self._islands.signed
        return Place(tensor, moves_signs and tensor in self._islands.signed)

    def scale(self, place: Place) -> Quantization:
        """Returns the scale and zero point of a place."""
        group = self._members(place)
        if group[0] not in self._scales:
            self._being_found.update(group)
            self._scales[group[0]] = self._find(group)
            self._being_found.difference_update(group)
        return self._scales[group[0]]

    def range(self, place: Place) -> Range:
        """Returns the range that samples showed of a place, and of all with the same scale."""
        seen = [self._seen(member.tensor) for member in self._members(place)]
        return Range(min(one.low for one in seen), max(one.high for one in seen))

    def _seen(self, tensor: Tensor) -> Range:
        return Range.of(tensor.data) if tensor.data is not None else self._ranges[tensor]

    def _all(self, op: Op) -> list[Place]:
        return [*(self.read(op, t) for t in values(op)), *(self.made(t) for t in op.outputs)]

    def _members(self, place: Place) -> list[Place]:
        return self._group.setdefault(place, [place])

    def _join(self, first: Place, second: Place) -> None:
        group, other = self._members(first), self._members(second)
        if group is not other:
            group += other
            for place in other:
                self._group[place] = group

    def _find(self, group: list[Place]) -> Quantization:
        makers = [place.tensor.producer for place in group]
        fixed = {form.fixed for op in makers if op in self._islands.ops if (form := int8_form(op))}
        known = fixed - {None}
        if len(known) == 1 and all(_keeps_fixed(op, self._islands) for op in makers):
            (only,) = known
            assert only is not None
            return only
        maker = makers[0]
        if len(group) == 1 and maker is not None and maker.kind == "LceDequantize":
            return _OF_SIGNS
        seen = self.range(group[0])
        found = quantize_range(seen.low, seen.high)
        least = max((self._least(op) for op in makers if op in self._islands.ops), default=0.0)
        if found.scale[0] < least:
            low = min(seen.low, 0.0)
            found = quantize_range(low, max(seen.high, low + 255 * least))
        return found

    def _least(self, op: Op | None) -> float:
        """Returns the smallest scale that an operator can write."""
        assert op is not None
        if op.kind in ("ADD", "SUB"):
            read = [self.read(op, tensor) for tensor in values(op)]
            known = (place for place in read if place not in self._being_found)
            return least_sum_scale(self.scale(place).scale[0] for place in known)
        if not is_layer(op):
            return 0.0
        weights, (data,) = op.inputs[1], values(op)
        place = self.read(op, data)
        if weights is None or weights.data is None or place in self._being_found:
            return 0.0
        return least_output_scale(float(np.abs(weights.data).max()), self.scale(place))


def _scale(op: Op) -> Scale | None:
    form = int8_form(op)
    return None if form is None else form.scale


def _keeps_fixed(op: Op | None, islands: Islands) -> bool:
    """Tells whether an operator's output has the range of its input, if that is fixed."""
    return op is not None and op in islands.ops and _scale(op) in (Scale.SAME, Scale.FIXED)
