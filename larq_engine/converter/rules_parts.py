"""Moves a change of some channels of a concatenation to the part that has these channels.

The blocks of MeliusNet add values to their last channels, padded with zeros for the other channels.
"""

from dataclasses import replace

import numpy as np

from larq_engine.converter.activations import fused_activation
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.rules_fuse import NONE, producer


def add_to_part(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites ADD(CONCATENATION(parts), PAD(x)) as CONCATENATION of parts, one with x added."""
    if fused_activation(op) != NONE:
        return None
    for index in (0, 1):
        pad = producer(op.input(index), "PAD", graph)
        joined = op.input(1 - index)
        concatenation = joined.producer if joined is not None else None
        if pad is None or concatenation is None or not joins_channels(concatenation):
            continue
        number = _padded_part(concatenation, pad)
        if number is None:
            continue
        part, x = concatenation.inputs[number], pad.inputs[0]
        assert part is not None
        made = part.like(f"{op.output.name}/part")
        parts: list[Tensor | None] = [*concatenation.inputs]
        parts[number] = made
        inputs = [x, part] if index == 0 else [part, x]
        return [
            replace(op, inputs=inputs, outputs=[made]),
            replace(concatenation, inputs=parts, outputs=op.outputs),
        ]
    return None


def joins_channels(op: Op) -> bool:
    """Tells whether it is a CONCATENATION along the last dimension without an activation."""
    if op.kind != "CONCATENATION":
        return False
    rank = len(op.output.shape)
    return bool(op.options.axis % rank == rank - 1 and fused_activation(op) == NONE)


def _padded_part(concatenation: Op, pad: Op) -> int | None:
    """Returns the number of the part whose channels are not padding; None if there is none."""
    x, pads = pad.inputs[:2]
    if x is None or x.dtype != "FLOAT32" or pads is None or pads.data is None:
        return None
    if pad.output.shape != concatenation.output.shape or np.any(pads.data[:-1]):
        return None
    shapes = [part.shape for part in concatenation.inputs if part is not None]
    starts = np.cumsum([0, *(shape[-1] for shape in shapes)])
    (found,) = np.nonzero(starts[:-1] == pads.data[-1, 0])
    matching = [int(number) for number in found if shapes[number] == x.shape]
    return matching[0] if matching else None
