"""Removes extensions of LCE's format from converted files, where LCE can do the same without."""

from dataclasses import replace

import numpy as np

from larq_engine.converter.graph import NUMPY_TYPES, Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.padding import NO_PADS, read_pads, same_pads, with_padding


def unpack_weights(op: Op, graph: Graph, options: Options) -> Tensor | None:
    """Rewrites an LceUnpackWeights as a constant, for LCE."""
    return unpacked(op, graph) if options.for_lce else None


def unpacked(op: Op, graph: Graph) -> Tensor | None:
    """Returns the output of an LceUnpackWeights as a constant."""
    bits, scale = op.inputs
    if bits is None or bits.data is None:
        return None
    if scale is None or scale.data is None or not graph.is_internal(op.output):
        return None
    content = np.ascontiguousarray(bits.data, "<i4").view(np.uint8)
    output = op.output
    negative = np.unpackbits(content, bitorder="little", count=output.elements)
    shape = [1] * len(output.shape)
    if scale.elements > 1:
        shape[op.options["axis"]] = scale.elements
    sizes = scale.data.reshape(shape)
    data = np.where(negative.reshape(output.shape), -sizes, sizes)
    return output.like(output.name, data=data.astype(NUMPY_TYPES[output.dtype]))


def pad_as_same(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites pads of an LceBconv2d as SAME if they are that at the file's sizes, or as VALID."""
    bits, filters = op.inputs[0], op.inputs[1]
    if not options.for_lce or "padding" in op.options or bits is None or filters is None:
        return None
    pads = read_pads(op.options)
    same = tuple(
        same_pads(
            bits.shape[axis],
            filters.shape[axis],
            op.options[f"stride_{direction}"],
            op.options[f"dilation_{direction}_factor"],
        )
        for axis, direction in ((1, "height"), (2, "width"))
    )
    is_open = bits.signature is not None and -1 in bits.signature[1:]
    if pads != NO_PADS and (pads != same or is_open):
        return None
    return [replace(op, options=with_padding(op.options, NO_PADS if pads == NO_PADS else None))]
