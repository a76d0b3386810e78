"""Undoes three rewrites of litert_torch that hold only at the example's size.

litert_torch writes explicit pads as SAME if SAME pads equally at that size, an open slice such as
x[1:] with a fixed end, and the transposition of a single channel as RESHAPE. At other sizes the
file would differ from the module.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.graph import Array, Graph, Op, Tensor
from larq_engine.converter.padding import SAME, VALID, is_size_free, same_pads
from larq_engine.converter.torch_reader.slices import Slice
from larq_engine.converter.transposed import order_of_single_channel

_CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D")


def pad_by_numbers(graph: Graph) -> None:
    """Rewrites SAME as PAD and VALID, unless the pads of SAME do not depend on the image's size.

    PyTorch itself has "same" only for a stride of 1, so in all other cases the pads were numbers.
    """
    for op in list(graph.ops):
        if op.kind not in (*_CONVOLUTIONS, "MAX_POOL_2D") or op.options.padding != SAME:
            continue
        x = op.inputs[0]
        assert x is not None
        windows = _windows(op)
        if all(is_size_free(taps, stride) for taps, stride, _ in windows):
            continue
        sides = [
            same_pads(size, *window) for size, window in zip(x.shape[1:3], windows, strict=True)
        ]
        graph.replace(op, _padded(op, x, np.array([(0, 0), *sides, (0, 0)], np.int32)))
    graph.sort()


def _windows(op: Op) -> list[tuple[int, int, int]]:
    """Returns taps, stride and dilation of height and width."""
    options = op.options
    if op.kind == "MAX_POOL_2D":
        taps, dilations = (options.filterHeight, options.filterWidth), (1, 1)
    else:
        filters = op.inputs[1]
        assert filters is not None
        taps = filters.shape[1], filters.shape[2]
        dilations = options.dilationHFactor, options.dilationWFactor
    return list(zip(taps, (options.strideH, options.strideW), dilations, strict=True))


def _padded(op: Op, x: Tensor, pads: Array) -> list[Op]:
    shape = tuple(int(size) for size in np.array(x.shape) + pads.sum(axis=1))
    larger = x.like(f"{op.name}/padded", shape=shape)
    inputs: list[Tensor | None] = [x, lce_ops.constant(pads)]
    if op.kind == "MAX_POOL_2D":
        lowest = lce_ops.constant(np.array(-np.inf, np.float32))
        pad = Op("PADV2", [*inputs, lowest], [larger], schema.make_options("PadV2Options"))
    else:
        pad = Op("PAD", inputs, [larger], schema.make_options("PadOptions"))
    options = lce_ops.with_options(op, padding=VALID)
    return [pad, replace(op, inputs=[larger, *op.inputs[1:]], options=options)]


def transpose_single_channels(graph: Graph) -> None:
    """Rewrites a RESHAPE that moves the single channel of images as TRANSPOSE."""
    for op in list(graph.ops):
        x = op.inputs[0]
        if op.kind != "RESHAPE" or x is None:
            continue
        order = order_of_single_channel(x.shape, op.output.shape)
        if order is not None:
            graph.replace(op, [lce_ops.transpose(x, order, op.output)])
    graph.sort()


def slice_to_ends(
    graph: Graph, named: Mapping[Tensor, Slice], slices: Collection[Slice]
) -> list[Tensor]:
    """Gives slices the module's numbers, and an open end if they reach the last pixel.

    A SLICE becomes a STRIDED_SLICE, because the output of a SLICE keeps its size if hosts resize a
    file. litert_torch names some slices after a later node. Such a slice is matched by begin, end
    and step, if exactly one of the module's slices has these.

    Args:
        graph: The graph, which is changed.
        named: Maps an output of a slice in the file to the module's slice of the same name.
        slices: All slices of the module.

    Returns:
        The outputs of slices without a name, or with other numbers than the module's.
    """
    unknown = []
    for op in list(graph.ops):
        strided = _strided(op) if op.kind == "SLICE" else op
        if strided is None or strided.kind != "STRIDED_SLICE":
            continue
        candidates = [named[op.output]] if op.output in named else slices
        made, is_known = _restore_slice(strided, candidates)
        if not is_known or op.output not in named:
            unknown.append(op.output)
        graph.replace(op, [made])
    graph.sort()
    return unknown


def _restore_slice(op: Op, candidates: Collection[Slice]) -> tuple[Op, bool]:
    """Returns the slice, and whether it has the numbers of one candidate or cuts nothing."""
    x, begin, end, step = op.inputs
    if x is None or begin is None or end is None or step is None:
        return op, False
    if begin.data is None or end.data is None or step.data is None:
        return op, False
    if op.options.newAxisMask or op.options.ellipsisMask:
        return op, False  # The numbers do not belong to dimensions then.
    sizes = np.array(x.shape)
    begins, ends = begin.data.astype(np.int64), end.data.astype(np.int64)
    is_open = (ends == sizes) & (step.data > 0)
    cut = np.flatnonzero((begins != 0) | (ends != sizes) | (step.data != 1))
    is_known = not len(cut)
    if len(cut) == 1:
        (axis,) = cut
        numbers = (begins[axis], ends[axis], step.data[axis])
        fitting = {fit for fit in candidates if fit.at(x.shape[axis]) == numbers}
        if len(fitting) == 1:
            (module_slice,) = fitting
            begins[axis], is_open[axis] = module_slice.begin, module_slice.end is None
            ends[axis] = module_slice.end or 0
            is_known = True
    mask = sum(1 << axis for axis in np.flatnonzero(is_open).tolist())
    options = lce_ops.with_options(op, endMask=op.options.endMask | mask)
    constants = [lce_ops.constant(n.astype(np.int32)) for n in (begins, np.where(is_open, 0, ends))]
    return replace(op, inputs=[x, *constants, step], options=options), is_known


def _strided(op: Op) -> Op | None:
    x, begin, sizes = op.inputs
    if x is None or begin is None or sizes is None or begin.data is None or sizes.data is None:
        return None
    ends = np.where(sizes.data < 0, x.shape, begin.data + sizes.data).astype(np.int32)
    inputs = [begin, lce_ops.constant(ends), lce_ops.constant(np.ones(len(x.shape), np.int32))]
    options = schema.make_options("StridedSliceOptions")
    return Op("STRIDED_SLICE", [x, *inputs], op.outputs, options)
