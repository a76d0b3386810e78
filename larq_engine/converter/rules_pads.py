"""PADV2 with 0 is PAD, which XNNPACK takes over and PADV2 it does not."""

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import Graph, Op
from larq_engine.converter.options import Options
from larq_engine.converter.signs import pad_value


def pad_with_zero(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """PADV2 with 0 -> PAD."""
    value = pad_value(op)
    if value is None or value != 0 or np.signbit(value) or op.output.dtype != "FLOAT32":
        return None
    return [Op("PAD", op.inputs[:2], op.outputs, schema.make_options("PadOptions"))]
