"""Makes the operators of the islands int8, with QUANTIZE and DEQUANTIZE at their ends.

A value before a sign is rounded down instead of to the nearest: q = floor(x / scale), which readers
of numbers take as (q + 1/2) * scale. That is as precise, and q is below the zero point exactly
where x is below 0, so the sign can be taken of q. A layer rounds down if its bias is reduced by
half a step (`scales.quantize_weights`). Here the half step is added again for readers of numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.graph import Array, FloatLayer, Graph, Op, Quantization, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.quantizer.calibration import Range
from larq_engine.converter.quantizer.int8_scales import Int8Scales, Int8Value
from larq_engine.converter.quantizer.islands import Ends, Islands
from larq_engine.converter.quantizer.scales import quantize_weights, to_int8
from larq_engine.converter.quantizer.table import int8_form, is_layer, value_positions
from larq_engine.converter.rules_binary import why_not_binary
from larq_engine.converter.rules_fuse import fuse_affine
from larq_engine.converter.weights import channel_axis


@dataclass(frozen=True)
class Quantized:
    """An int8 tensor, and the range that its scale was made for."""

    tensor: Tensor
    range: Range


class Rewriter:
    """Rewrites one graph.

    Args:
        graph: The graph, which is changed.
        islands: The operators that become int8.
        ranges: Ranges of all that these operators read and make, and of ends that become int8.
        options: Options of the conversion.
    """

    def __init__(
        self, graph: Graph, islands: Islands, ranges: Mapping[Tensor, Range], options: Options
    ) -> None:
        self._graph = graph
        self._islands = islands
        self._ranges = ranges
        self._options = options
        self._scales = Int8Scales(graph, islands, ranges)
        self._int8: dict[Int8Value, Tensor] = {}
        self._half_steps: list[Op] = []
        self._found: list[Quantized] = []

    def rewrite(self, ends: Ends) -> list[Quantized]:
        """Rewrites the graph and returns its int8 tensors."""
        for op in [op for op in self._graph.ops if op in self._islands.ops]:
            self._graph.replace(op, self._as_int8(op))
        for addition in self._half_steps:
            for reader in dict.fromkeys(addition.output.consumers):
                self._drop_half_step(addition, reader)
        if ends.inputs:
            for x in self._graph.inputs:
                self._quantize_input(x)
        if ends.outputs:
            for y in self._graph.outputs:
                self._quantize_output(y)
        self._graph.sort()
        return self._found

    def _as_int8(self, op: Op) -> list[Op]:
        form = int8_form(op)
        assert form is not None
        before: list[Op] = []
        inputs = list(op.inputs)
        for index in value_positions(op):
            tensor = op.inputs[index]
            assert tensor is not None
            inputs[index] = self._read(tensor, self._scales.read(op, tensor), before)
        outputs = [self._make(tensor) for tensor in op.outputs]
        after = [
            made
            for q, y in zip(outputs, op.outputs, strict=True)
            for made in self._dequantize(q, y)
        ]
        if form.fixed is not None and outputs[0].quantization != form.fixed:
            own = outputs[0].like(f"{op.name}/own_scale", quantization=form.fixed)
            after.insert(0, Op("QUANTIZE", [own], [outputs[0]], version=2))
            outputs = [own]
        layer = op.float_layer
        if is_layer(op):
            layer = self._layer(op)
            inputs = self._with_weights(op, inputs, outputs[0])
        version = max(op.version, form.version)
        new = replace(op, inputs=inputs, outputs=outputs, version=version, float_layer=layer)
        for made in [*before, *after]:
            made.layer = op.layer
        return [*before, new, *after]

    def _make(self, tensor: Tensor) -> Tensor:
        return self._new(tensor, self._scales.written(tensor))

    def _new(self, tensor: Tensor, value: Int8Value) -> Tensor:
        quantization, seen = self._scales.scale(value), self._scales.range(value)
        q = tensor.like(f"{tensor.name}/int8", dtype="INT8", quantization=quantization)
        self._int8[value] = q
        self._found.append(Quantized(q, seen))
        return q

    def _read(self, tensor: Tensor, value: Int8Value, before: list[Op]) -> Tensor:
        if tensor.data is not None:
            quantization = self._scales.scale(value)
            data = to_int8(tensor.data, quantization)
            return tensor.like("", dtype="INT8", quantization=quantization, data=data)
        if value not in self._int8:
            before.append(Op("QUANTIZE", [tensor], [self._new(tensor, value)]))
        return self._int8[value]

    def _dequantize(self, q: Tensor, y: Tensor) -> list[Op]:
        """Returns operators that make the float values; they are removed if nothing reads these."""
        if not self._scales.written(y).rounds_down:
            return [Op("DEQUANTIZE", [q], [y], version=2)]
        assert q.quantization is not None
        floor = y.like(f"{y.name}/floor")
        half = lce_ops.constant(np.array([q.quantization.scale[0] / 2], np.float32))
        self._half_steps.append(_add(floor, half, y))
        return [Op("DEQUANTIZE", [q], [floor], version=2), self._half_steps[-1]]

    def _drop_half_step(self, addition: Op, reader: Op) -> None:
        """Lets a reader do without the addition of half a step.

        A sign does not need the half step. Where another value is added, that value takes it in.
        """
        floor, size = addition.inputs[0], addition.inputs[1]
        assert floor is not None and size is not None
        if lce_ops.takes_sign(reader):
            self._graph.replace(reader, [replace(reader, inputs=[floor])])
        if reader.kind != "ADD":
            return
        for index in (0, 1):
            other = reader.inputs[1 - index]
            if reader.inputs[index] is not addition.output or other is None:
                continue
            more = other.like(f"{other.name}/with_half")
            fused = fuse_affine(_add(other, size, more), self._graph, self._options)
            if fused is not None:
                inputs: list[Tensor | None] = [floor, more] if index == 0 else [more, floor]
                self._graph.replace(reader, [*fused, replace(reader, inputs=inputs)])
                return

    def _layer(self, op: Op) -> FloatLayer:
        """Returns what the report says of the layer."""
        weights = op.inputs[1]
        assert weights is not None
        why = why_not_binary(op, self._options)
        return FloatLayer(op.kind, weights.stored_bytes, why.reason, why.remedy)

    def _with_weights(
        self, op: Op, inputs: Sequence[Tensor | None], output: Tensor
    ) -> list[Tensor | None]:
        known, weights = op.known.weights, op.inputs[1]
        assert known is not None and weights is not None and weights.data is not None
        data, bias = inputs[known.data], op.input(known.bias)
        assert data is not None and data.quantization is not None
        assert output.quantization is not None
        axis = channel_axis(op, weights.data.ndim)
        found = quantize_weights(
            weights.data,
            axis,
            None if bias is None else bias.data,
            data.quantization,
            output.quantization,
            rounds_down=self._scales.written(op.output).rounds_down,
        )
        new = list(inputs)
        new[1] = _per_channel(found.weights, "INT8", found.scale, axis)
        if found.bias is not None:
            new += [None] * (known.bias + 1 - len(new))
            new[known.bias] = _per_channel(found.bias, "INT32", found.bias_scale, 0)
        return new

    def _quantize_input(self, x: Tensor) -> None:
        """Makes one QUANTIZE the only reader of an input."""
        if x.dtype != "FLOAT32" or not x.consumers:
            return
        value = Int8Value(x, rounds_down=False)
        before: list[Op] = []
        q = self._read(x, value, before)
        (quantize,) = before or [op for op in x.consumers if op.output is q]
        if x.consumers != [quantize] or any(x is output for output in self._graph.outputs):
            y = x.like(f"{x.name}/dequantized")
            self._graph.redirect(x, y)
            if quantize.inputs[0] is not x:
                y.consumers.remove(quantize)
                quantize.inputs[0] = x
                x.consumers.append(quantize)
            self._graph.add([Op("DEQUANTIZE", [q], [y], version=2, layer=quantize.layer)])
        self._graph.add(before)

    def _quantize_output(self, y: Tensor) -> None:
        """Makes a DEQUANTIZE the producer of an output."""
        op = y.producer
        if y.dtype != "FLOAT32" or op is None or op.kind == "DEQUANTIZE":
            return
        x = y.like(f"{y.name}/float")
        q = self._new(y, Int8Value(y, rounds_down=False))
        outputs = [x if made is y else made for made in op.outputs]
        ends = [Op("QUANTIZE", [x], [q]), Op("DEQUANTIZE", [q], [y], version=2)]
        for end in ends:
            end.layer = op.layer
        self._graph.replace(op, [replace(op, outputs=outputs), *ends])


def _add(x: Tensor, y: Tensor, output: Tensor) -> Op:
    return Op("ADD", [x, y], [output], schema.make_options("AddOptions"))


def _per_channel(data: Array, dtype: str, scale: Array, axis: int) -> Tensor:
    scales = tuple(map(float, scale))
    quantization = Quantization(scales, (0,) * len(scales), axis)
    return Tensor("", data.shape, dtype, data=data, quantization=quantization)
