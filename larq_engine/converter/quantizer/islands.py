"""Chooses the operators that become int8: islands of host operators, each with a layer that gains.

A layer of many products is several times as fast in int8. QUANTIZE and DEQUANTIZE cost one pass
over the values each. So other operators are int8 if their neighbours are. They stay in float if
they follow binary layers: there the engine computes them in the same pass, and every sign stays the
same.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.lce_ops import takes_sign
from larq_engine.converter.macs import count_macs
from larq_engine.converter.quantizer.table import int8_form, is_layer, value_positions

# Fewest products for each tap of a layer's filter, input channels times output channels. With AMX
# in XNNPACK's kernels, an int8 convolution of up to 64 x 64 channels takes 4 ns for each pixel and
# tap, a float one 0.013 ns for each product. So int8 takes four times as long as float for 3 x 16
# channels, half as long for 8 x 64 and a twelfth for 64 x 64. Depthwise layers take twice as long
# in int8.
PRODUCTS_A_TAP = 512

# On x86, convolutions of at most this number of channels are the engine's own, and gain by the
# products for a value. Their int8 time, as a share of float with VNNI and with only AVX2: 0.29 and
# 0.87 for 147 products (7x7 taps of 3 channels, to 64), 0.36 and 0.70 for 49, 0.50 and 1.25 for 27.
_FEW_CHANNELS = 4
_PRODUCTS_OF_FEW_CHANNELS = 48

# Fewest products of an island for each value that it reads from float or writes to float. With only
# AVX2, XNNPACK multiplies int8 no faster than floats. From float to float, int8 then takes 1.4 of
# the float time for a layer of 32 products a value (1x1 of 64 to 64), 1.3 for 43 (64 to 128), 1.04
# for 64 and 0.98 for 128. With AVX-512 VNNI these take 0.9, 0.7, 0.55 and 0.45, with AMX 0.8, 0.5,
# 0.3 and 0.2. The limit is where VNNI gains more than AVX2 loses.
_PRODUCTS_A_VALUE = 40


@dataclass(frozen=True)
class Ends:
    """The ends of a graph that are int8 in its file, and whether all between them is, if it can be.

    Chips without floats need the latter. There results are rounded to the nearest before a sign,
    unless nothing but signs reads them.
    """

    inputs: bool = False
    outputs: bool = False
    everything: bool = False


@dataclass(frozen=True)
class Islands:
    """The operators that become int8, and the reasons why other host operators do not."""

    ops: set[Op]
    reasons: dict[Op, str]
    # Tensors of the islands that signs are taken of, directly or after moving their values.
    signed: set[Tensor]


def find_islands(graph: Graph, ends: Ends, in_float: Mapping[Op, str] | None = None) -> Islands:
    """Chooses operators of a graph whose binary layers have been found.

    Args:
        graph: The graph.
        ends: The ends of the graph that are int8.
        in_float: Operators that must not become int8, with reasons.
    """
    return _Finder(graph, ends, in_float or {}).find()


class _Finder:
    def __init__(self, graph: Graph, ends: Ends, in_float: Mapping[Op, str]) -> None:
        self._graph = graph
        self._ends = ends
        self._reasons = {op: reason for op in graph.ops if (reason := _no_form(op))}
        self._reasons.update(in_float)
        self._inside = {
            op
            for op in graph.ops
            if op not in self._reasons
            and int8_form(op) is not None
            and any(tensor.dtype == "FLOAT32" for tensor in op.outputs)
        }

    def find(self) -> Islands:
        if self._ends.everything:
            return Islands(self._inside, self._reasons, self._read_by_signs_alone(self._signed()))
        # The loop ends because each step only removes operators.
        while self._leave(self._misplaced()) or self._leave(self._small()):
            pass
        return Islands(self._inside, self._reasons, self._signed())

    def _leave(self, found: dict[Op, str]) -> bool:
        self._inside -= found.keys()
        self._reasons |= found
        return bool(found)

    def _misplaced(self) -> dict[Op, str]:
        signed = self._signed()
        found: dict[Op, str] = {}
        for op in self._graph.ops:
            if op not in self._inside:
                continue
            form = int8_form(op)
            assert form is not None
            if not gains(op):
                if not all(map(self._comes_as_int8, values(op))):
                    found[op] = "what it reads is in float32"
                    if is_layer(op):
                        found[op] += ", and it has too few products to quantize that"
                elif form.pixelwise and not all(map(self._goes_as_int8, op.outputs)):
                    found[op] = "what reads it is in float32"
            if any(tensor in signed for tensor in op.outputs):
                exact = is_layer(op) or form.moves
                # Such values are rounded to the nearest, and may be just below 0.
                rounded = any(t.is_constant or self._is_input(t) for t in values(op))
                if not exact or (form.moves and rounded):
                    found.setdefault(op, "a sign is taken of it, and int8 would round that")
                elif self._ends.outputs and any(map(self._is_output, op.outputs)):
                    found.setdefault(op, "a sign is taken of it, and it is an int8 output")
        return found

    def _comes_as_int8(self, tensor: Tensor) -> bool:
        return (
            tensor.is_constant
            or tensor.producer in self._inside
            or (self._ends.inputs and self._is_input(tensor))
        )

    def _goes_as_int8(self, tensor: Tensor) -> bool:
        ends = self._ends.outputs or not self._is_output(tensor)
        return ends and all(op in self._inside for op in tensor.consumers)

    def _is_input(self, tensor: Tensor) -> bool:
        return any(tensor is end for end in self._graph.inputs)

    def _is_output(self, tensor: Tensor) -> bool:
        return any(tensor is end for end in self._graph.outputs)

    def _signed(self) -> set[Tensor]:
        """Returns tensors that operators inside make and that signs are taken of, maybe moved."""
        waiting = [
            tensor
            for op in self._graph.ops
            if takes_sign(op)
            for tensor in op.inputs
            if tensor is not None
        ]
        signed: set[Tensor] = set()
        while waiting:
            tensor = waiting.pop()
            op = tensor.producer
            if tensor in signed or op is None or op not in self._inside:
                continue
            signed.add(tensor)
            form = int8_form(op)
            if form is not None and form.moves:
                waiting += [*values(op), *op.outputs]
        return signed

    def _read_by_signs_alone(self, signed: set[Tensor]) -> set[Tensor]:
        """Returns the tensors that can be rounded down: all that makes and reads them allows it."""

        def keeps(op: Op) -> bool:
            return op in self._inside and is_moving(op) and all(t in left for t in op.outputs)

        def is_moving(op: Op) -> bool:
            form = int8_form(op)
            return form is not None and form.moves

        def stays(tensor: Tensor) -> bool:
            op = tensor.producer
            if op is None or self._is_output(tensor):
                return False
            if not all(takes_sign(reader) or keeps(reader) for reader in tensor.consumers):
                return False
            return is_layer(op) or (is_moving(op) and all(t in left for t in values(op)))

        left = set(signed)
        while gone := {tensor for tensor in left if not stays(tensor)}:
            left -= gone
        return left

    def _small(self) -> dict[Op, str]:
        found: dict[Op, str] = {}
        for island in self._connected():
            products = sum(count_macs(op) for op in island if gains(op))
            given = {t for op in island for t in values(op) if self._is_border(t, island)}
            made = {t for op in island for t in op.outputs if self._leaves(t, island)}
            border = sum(tensor.elements for tensor in given | made)
            if products < _PRODUCTS_A_VALUE * border:
                reason = (
                    f"faster in float: {products} products for {border} values to quantize and "
                    "dequantize"
                )
                found |= dict.fromkeys(island, reason)
        return found

    def _is_border(self, tensor: Tensor, island: set[Op]) -> bool:
        from_end = self._ends.inputs and self._is_input(tensor)
        return not (tensor.is_constant or tensor.producer in island or from_end)

    def _leaves(self, tensor: Tensor, island: set[Op]) -> bool:
        """Tells whether a tensor is dequantized; a sign reads int8."""
        readers = (op for op in tensor.consumers if not takes_sign(op))
        is_float_end = not self._ends.outputs and self._is_output(tensor)
        return is_float_end or any(op not in island for op in readers)

    def _connected(self) -> list[set[Op]]:
        islands: list[set[Op]] = []
        left = set(self._inside)
        for first in self._graph.ops:
            if first not in left:
                continue
            island, waiting = set(), [first]
            while waiting:
                op = waiting.pop()
                if op not in left:
                    continue
                left.remove(op)
                island.add(op)
                waiting += [t.producer for t in values(op) if t.producer is not None]
                waiting += [
                    reader for t in op.outputs for reader in t.consumers if t in values(reader)
                ]
            islands.append(island)
        return islands


def gains(op: Op) -> bool:
    """Tells whether an operator on its own is faster in int8."""
    weights = op.input(1)
    if not is_layer(op) or op.kind == "DEPTHWISE_CONV_2D" or weights is None:
        return False
    taps = math.prod(weights.shape[1:-1])
    channels = weights.shape[-1]
    if op.kind == "CONV_2D" and channels <= _FEW_CHANNELS:
        return taps * channels >= _PRODUCTS_OF_FEW_CHANNELS
    return weights.elements >= PRODUCTS_A_TAP * taps


def values(op: Op) -> list[Tensor]:
    """Returns the tensors that an operator computes with, without weights and biases."""
    if int8_form(op) is None:
        return []
    found = (op.input(index) for index in value_positions(op))
    return [tensor for tensor in found if tensor is not None]


def _no_form(op: Op) -> str:
    """Returns why an operator cannot be int8 in any surroundings; empty if it can."""
    if op.custom or not any(tensor.dtype == "FLOAT32" for tensor in op.outputs):
        return ""
    if int8_form(op) is None:
        return "hosts have no fast int8 form of it"
    given = values(op)
    if any(tensor.dtype != "FLOAT32" for tensor in [*given, *op.outputs]):
        return "it computes with other types than float32"
    if any(tensor.data is not None and not _is_finite(tensor) for tensor in given):
        return "one of its constants is not finite"
    if all(tensor.is_constant for tensor in given):
        return "it reads constants alone"
    return _no_layer(op) if is_layer(op) else ""


def _no_layer(op: Op) -> str:
    weights, known = op.input(1), op.known.weights
    assert known is not None
    bias = op.input(known.bias)
    constants: Iterable[Tensor | None] = (weights, bias)
    if weights is None or any(t is not None and t.data is None for t in constants):
        return "its weights or bias are computed when the model runs"
    if any(t is not None and t.dtype != "FLOAT32" for t in constants):
        return "its weights are no float32"
    if any(t is not None and not _is_finite(t) for t in constants):
        return "its weights or bias are not finite"
    if getattr(op.options, "weightsFormat", 0) != 0:
        return "its weights have an order of their own"
    return ""


def _is_finite(tensor: Tensor) -> bool:
    return tensor.data is None or bool(np.isfinite(tensor.data).all())
