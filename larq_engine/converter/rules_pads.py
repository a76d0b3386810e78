"""Rewrites PADV2 with 0 as PAD, because XNNPACK supports PAD and not PADV2."""

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import Graph, Op
from larq_engine.converter.options import Options
from larq_engine.converter.rules_int8 import is_per_tensor_int8
from larq_engine.converter.signs import pad_value


def pad_with_zero(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites PADV2 with 0 as PAD."""
    if not (_pads_with_zero(op) or _pads_with_zero_point(op)):
        return None
    return [Op("PAD", op.inputs[:2], op.outputs, schema.make_options("PadOptions"))]


def _pads_with_zero(op: Op) -> bool:
    value = pad_value(op)
    return value == 0 and not np.signbit(value) and op.output.dtype == "FLOAT32"


def _pads_with_zero_point(op: Op) -> bool:
    """Tells whether an int8 PADV2 pads with the output's zero point, as PAD does."""
    x, value = op.inputs[0], op.input(2)
    if x is None or value is None or value.data is None or not is_per_tensor_int8(op.output):
        return False
    quantization = op.output.quantization
    if quantization is None or x.quantization != quantization:
        return False
    return value.dtype == "INT8" and bool((value.data == quantization.zero_point[0]).all())
