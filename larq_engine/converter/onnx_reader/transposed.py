"""Maker of transposed convolutions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import Array, Tensor
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.file import MOST_BYTES
from larq_engine.converter.onnx_reader.graph_builder import GraphBuilder
from larq_engine.converter.onnx_reader.layout import OPEN, Shape, Value
from larq_engine.converter.onnx_reader.moving import part_of
from larq_engine.converter.onnx_reader.windows import as_image, from_image
from larq_engine.converter.padding import VALID


def conv_transpose(call: Call) -> Value:
    """Makes a TRANSPOSE_CONV without pads, and cuts the pads off its result."""
    net, x, filters = call.net, call.value(), call.weights(1, "its weights")
    rank, groups = len(x.shape), call.integer("group", 1)
    call.rank(x, 3, 4)
    channels, per_group, *taps = filters.shape
    if len(taps) != rank - 2 or channels != x.shape[1] or groups < 1 or channels % groups:
        raise call.error(
            f"weights for {x.shape[1]} channels in {groups} groups",
            f"the shape {list(filters.shape)}",
            "it is damaged: export it again",
        )
    spread = _spread(call, filters, groups)
    whole = spread if rank == 4 else spread[:, :, None]
    outputs = per_group * groups
    sides = _read_sides(call, x.shape[2:], taps)
    sizes = [1] * (4 - rank) + [side.full for side in sides]
    options = schema.make_options(
        "TransposeConvOptions",
        padding=VALID,
        strideH=1 if rank == 3 else sides[0].stride,
        strideW=sides[-1].stride,
    )
    image = as_image(net, x)
    stored_shape = (x.shape[0], *sizes, outputs)
    inputs = [
        _open_sizes(net, image, stored_shape),
        net.constant(whole.transpose(1, 2, 3, 0)),
        image,
    ]
    made = net.op("TRANSPOSE_CONV", inputs, stored_shape, options=options)
    shape = (x.shape[0], outputs, *[side.full for side in sides])
    parts = [
        slice(side.begin or None, side.begin + side.kept - side.full or None) for side in sides
    ]
    result = part_of(call, from_image(net, made, shape), [slice(None), slice(None), *parts])
    if call.input(2) is None:
        return result
    bias = call.weights(2, "its biases")
    return call.each("ADD", result, bias.reshape(-1, *[1] * (rank - 2)))


@dataclass(frozen=True)
class _Side:
    """One direction of the result: its size with the pads, and where the part without pads is."""

    stride: int
    full: int
    begin: int
    kept: int


def _read_sides(call: Call, sizes: Shape, taps: Sequence[int]) -> list[_Side]:
    rank = len(sizes)
    strides = call.integers("strides") or [1] * rank
    pads = call.integers("pads") or [0] * 2 * rank
    more = call.integers("output_padding") or [0] * rank
    is_usual = (
        call.text("auto_pad", "NOTSET") in ("NOTSET", "VALID")
        and set(call.integers("dilations") or [1]) == {1}
        and call.integers("output_shape") is None
        and len(strides) == len(more) == rank
        and len(pads) == 2 * rank
    )
    if not is_usual or min(*strides, *taps) < 1 or min(*pads, *more) < 0:
        raise call.error(
            "pads in numbers, and no dilations",
            f"pads {pads}, strides {strides}, dilations {call.integers('dilations')}",
            "export it with such pads",
        )
    sides = []
    for n, (size, count, stride) in enumerate(zip(sizes, taps, strides, strict=True)):
        extent = (size - 1) * stride + count
        kept = extent - pads[n] - pads[n + rank] + more[n]
        full = max(extent, pads[n] + kept)
        if kept < 1 or more[n] >= stride > 1 or full - extent >= stride:
            raise call.error(
                "pads and an output_padding less than the stride that leave an image",
                f"pads {pads}, output_padding {more}, strides {strides}",
                "use smaller ones",
            )
        sides.append(_Side(stride, full, pads[n], kept))
    return sides


def _spread(call: Call, filters: Array, groups: int) -> Array:
    """Returns the weights of groups as those of a single group, with zeros between the groups."""
    if groups == 1:
        return filters
    channels, outputs, *taps = filters.shape
    each = channels // groups
    if math.prod(filters.shape) * groups * 4 >= MOST_BYTES:
        raise call.error("weights of less than 2 GB", f"{groups} groups", "use fewer groups")
    spread = np.zeros((channels, outputs * groups, *taps), np.float32)
    for g in range(groups):
        rows, columns = slice(g * each, (g + 1) * each), slice(g * outputs, (g + 1) * outputs)
        spread[rows, columns] = filters[rows]
    return spread


def _open_sizes(net: GraphBuilder, image: Tensor, stored_shape: Shape) -> Tensor:
    """Returns a shape as a tensor, with the image's batch if the batch is open."""
    if stored_shape[0] != OPEN:
        return net.constant(list(stored_shape))
    options = schema.make_options("ShapeOptions", outType=schema.type_number("INT32"))
    sizes = net.op("SHAPE", [image], (4,), "INT32", options)
    batch = net.op("SLICE", [sizes, net.constant([0]), net.constant([1])], (1,), "INT32")
    options = schema.make_options("ConcatenationOptions")
    parts = [batch, net.constant(list(stored_shape[1:]))]
    return net.op("CONCATENATION", parts, (4,), "INT32", options)
