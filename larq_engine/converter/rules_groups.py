"""Before int8, merges layers of groups of channels between a SPLIT and a CONCATENATION.

Hosts take as long for a pixel and tap with few channels as for one with many. So neighbouring
groups gain by becoming one layer, with zeros as the weights between them. In float they would not
gain.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.graph import Array, Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.quantizer.islands import PRODUCTS_A_TAP
from larq_engine.converter.rules_float import can_change, free_layer
from larq_engine.converter.rules_fuse import per_channel, producer, values
from larq_engine.converter.rules_parts import joins_channels

# Most groups in a merged layer. More would multiply more zeros than a host without VNNI has time
# for. The stem of MeliusNet22 has 4 groups of 8 to 8 channels and 8 groups of 4 to 8. Merged, it
# takes 0.3 of its time in float with AMX and with AVX-512 VNNI, and 0.9 with AVX2.
_MOST_MERGED = 4


def merge_groups(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Merges layers of a SPLIT's parts before a CONCATENATION into fewer that gain by int8."""
    layers = _layers_of_groups(op, graph)
    if layers is None:
        return None
    first = layers[0].inputs[1]
    assert first is not None
    products = first.shape[0] * first.shape[3]
    merged = _merged(len(layers), products)
    if merged is None:
        return None
    split = producer(layers[0].inputs[0], "SPLIT", graph)
    assert split is not None
    sets = [layers[start : start + merged] for start in range(0, len(layers), merged)]
    if len(sets) == 1:
        return [_one_layer(sets[0], split.inputs[1], op.output)]
    parts = [_joined([layer.inputs[0] for layer in one]) for one in sets]
    made = [_joined([layer.output for layer in one]) for one in sets]
    fewer = replace(split, outputs=parts, options=lce_ops.with_options(split, numSplits=len(parts)))
    joined = [_one_layer(*each) for each in zip(sets, parts, made, strict=True)]
    return [fewer, *joined, replace(op, inputs=list(made))]


def spread_affine(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites f(CONCATENATION(layers)) as CONCATENATION(f(layers)), for f by channel.

    f has one constant for each channel. Then the layers take f in.
    """
    for index in (0, 1):
        concatenation = producer(op.input(index), "CONCATENATION", graph)
        if concatenation is None or not joins_channels(concatenation):
            continue
        constant = per_channel(op.input(1 - index), op.output.shape[-1])
        if constant is None:
            continue
        parts = concatenation.inputs
        if concatenation.output.shape != op.output.shape or not all(
            (layer := free_layer(part, graph)) is not None and can_change(layer.inputs[1])
            for part in parts
        ):
            continue
        ends = np.cumsum([part.shape[-1] for part in parts if part is not None])
        pieces = np.split(constant, ends[:-1])
        spread = []
        for part, piece in zip(parts, pieces, strict=True):
            assert part is not None
            inputs: list[Tensor | None] = [part, lce_ops.constant(np.ascontiguousarray(piece))]
            output = part.like(f"{op.name}/{part.name}")
            spread.append(
                replace(op, inputs=inputs if index == 0 else inputs[::-1], outputs=[output])
            )
        return [
            *spread,
            replace(concatenation, inputs=[o.output for o in spread], outputs=op.outputs),
        ]
    return None


def _layers_of_groups(op: Op, graph: Graph) -> list[Op] | None:
    """Returns the convolutions in a CONCATENATION, if they read the parts of a SPLIT in order."""
    if not joins_channels(op):
        return None
    layers = [producer(tensor, "CONV_2D", graph) for tensor in op.inputs]
    found = [layer for layer in layers if layer is not None]
    if len(found) < 2 or len(found) != len(layers):
        return None
    split = producer(found[0].inputs[0], "SPLIT", graph)
    if split is None or [layer.inputs[0] for layer in found] != split.outputs:
        return None
    x, axis = split.inputs[1], split.inputs[0]
    if x is None or axis is None or axis.data is None or x.dtype != "FLOAT32":
        return None
    rank = len(x.shape)
    along_channels = rank == 4 and int(axis.data.item()) % rank == rank - 1
    return found if along_channels and all(_alike(layer, found[0]) for layer in found) else None


def _alike(layer: Op, other: Op) -> bool:
    """Tells whether both have own constants, the same options and the same number of channels."""
    weights, bias = layer.inputs[1], layer.input(2)
    x, like = layer.inputs[0], other.inputs[1]
    assert x is not None and like is not None
    if not can_change(weights) or (bias is not None and bias.data is None):
        return False
    assert weights is not None
    return (
        weights.shape == like.shape
        and weights.shape[3] == x.shape[3]
        and vars(layer.options) == vars(other.options)
    )


def _merged(count: int, products: int) -> int | None:
    """Returns how many neighbours to merge; None if they gain without merging, or never."""
    if products >= PRODUCTS_A_TAP:
        return None
    numbers = range(2, min(count, _MOST_MERGED) + 1)
    return next((n for n in numbers if count % n == 0 and n * n * products >= PRODUCTS_A_TAP), None)


def _joined(tensors: Sequence[Tensor | None]) -> Tensor:
    """Returns a tensor for the concatenated channels of several."""
    first = tensors[0]
    assert first is not None
    channels = sum(tensor.shape[-1] for tensor in tensors if tensor is not None)
    signature = None if first.signature is None else (*first.signature[:-1], channels)
    shape = (*first.shape[:-1], channels)
    return first.like(f"{first.name}/merged", shape=shape, signature=signature)


def _one_layer(layers: Sequence[Op], x: Tensor | None, output: Tensor) -> Op:
    count = len(layers)
    groups = [values(layer, 1) for layer in layers]
    outputs, height, width, channels = groups[0].shape
    weights = np.zeros((count, outputs, height, width, count, channels), np.float32)
    for number, group in enumerate(groups):
        weights[number, :, :, :, number] = group
    flat = weights.reshape(count * outputs, height, width, count * channels)
    bias = np.concatenate([_bias(layer, outputs) for layer in layers])
    inputs = [x, lce_ops.constant(flat), lce_ops.constant(bias)]
    return replace(layers[0], inputs=inputs, outputs=[output])


def _bias(layer: Op, outputs: int) -> Array:
    return np.zeros(outputs, np.float32) if layer.input(2) is None else values(layer, 2)
