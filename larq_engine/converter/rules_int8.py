"""Makes binary layers between int8 layers read and write int8 themselves.

A sign after DEQUANTIZE only tells on which side of the zero point a value lies. A QUANTIZE after a
convolution is a scaling and a rounding that the convolution can do itself.
"""

from dataclasses import replace

import numpy as np

from larq_engine.converter.graph import Graph, Op, Quantization, Tensor
from larq_engine.converter.lce_ops import is_ours, takes_sign
from larq_engine.converter.options import Options
from larq_engine.converter.padding import is_zero_padded
from larq_engine.converter.rules_fuse import float_convolution, producer


def is_per_tensor_int8(tensor: Tensor | None) -> bool:
    if tensor is None or tensor.dtype != "INT8" or tensor.quantization is None:
        return False
    return len(tensor.quantization.scale) == len(tensor.quantization.zero_point) == 1


def quantize_ends(graph: Graph, int8_range: tuple[float, float]) -> None:
    """Quantizes those inputs and outputs of the model that only binary operators read or make.

    TensorFlow's quantizer, which knows only builtin operators, leaves them in float32.
    """
    low, high = int8_range
    scale = float(np.float32((high - low) / 255))
    zero_point = int(np.clip(np.round(-128 - low / scale), -128, 127))
    quantization = Quantization((scale,), (zero_point,))

    def through_int8(x: Tensor, y: Tensor) -> list[Op]:
        q = x.like(f"{x.name}/int8", dtype="INT8", quantization=quantization)
        return [Op("QUANTIZE", [x], [q]), Op("DEQUANTIZE", [q], [y])]

    for x in graph.inputs:
        if x.dtype == "FLOAT32" and x.consumers and all(map(is_ours, x.consumers)):
            y = x.like(f"{x.name}/dequantized")
            graph.redirect(x, y)
            graph.add(through_int8(x, y))
    for y in graph.outputs:
        op = y.producer
        if y.dtype == "FLOAT32" and op is not None and is_ours(op) and graph.only_use(y):
            x = y.like(f"{y.name}/float")
            graph.replace(op, [replace(op, outputs=[x]), *through_int8(x, y)])
    graph.sort()


def quantize_int8(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites LceQuantize(DEQUANTIZE(q)) as LceQuantize(q)."""
    x = op.inputs[0]
    dequantize = x.producer if x is not None else None
    if not takes_sign(op) or dequantize is None or dequantize.kind != "DEQUANTIZE":
        return None
    if not is_per_tensor_int8(dequantize.inputs[0]):
        return None
    return [replace(op, inputs=[dequantize.inputs[0]])]


def write_int8(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites QUANTIZE(LceBconv2d) as an LceBconv2d with int8 output."""
    convolution = float_convolution(op.input(0), graph)
    if convolution is None or not is_per_tensor_int8(op.output):
        return None
    if options.for_lce and is_zero_padded(convolution.options):
        return None  # LCE's kernels refuse it.
    return [replace(convolution, outputs=op.outputs)]


def dequantize_to_int8(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites QUANTIZE(LceDequantize) as an LceDequantize to int8."""
    dequantize = producer(op.input(0), "LceDequantize", graph)
    if dequantize is None or dequantize.output.dtype != "FLOAT32":
        return None
    if not is_per_tensor_int8(op.output):
        return None
    return [replace(dequantize, outputs=op.outputs)]
