"""Writes max pools whose last window may end beyond the image as pads and pools that do not.

litert_torch pads a dimension in which the windows end with the image as much as one in which
they do not.
"""

import math
from collections.abc import Sequence
from typing import Any

from larq_engine.converter.torch_reader.nodes import add_node, kind, shape
from larq_engine.converter.torch_reader.packages import import_torch


def write_pools(module: Any) -> None:
    """Replaces max pools with `ceil_mode`."""
    graph = module.graph
    aten = import_torch().ops.aten
    for node in list(graph.nodes):
        if kind(node) != "aten.max_pool2d.default":
            continue
        defaults: list[Any] = [None, None, [], 0, 1, False]
        given = [*node.args, *defaults[len(node.args) :]]
        x, numbers, rounds_up = given[0], given[1:-1], given[-1]
        sizes = shape(x)
        if not rounds_up or sizes is None:
            continue
        window, stride, padding, dilation = map(_pair, numbers)
        stride = stride or window
        sides = [
            (pad, pad + _beyond(size, taps, step, pad, gap))
            for size, taps, step, pad, gap in zip(
                sizes[-2:], window, stride, padding, dilation, strict=True
            )
        ]
        pads = [number for side in reversed(sides) for number in side]
        with graph.inserting_before(node):
            padded = add_node(graph, node, aten.constant_pad_nd.default, x, pads, -math.inf)
            pooled = add_node(
                graph, node, aten.max_pool2d.default, padded, window, stride, [0, 0], dilation
            )
        node.replace_all_uses_with(pooled)
    graph.eliminate_dead_code()
    module.recompile()


def _pair(numbers: int | Sequence[int]) -> list[int]:
    several = [numbers] if isinstance(numbers, int) else [*numbers]
    return several * 2 if len(several) == 1 else several


def _beyond(size: int, taps: int, step: int, pad: int, gap: int) -> int:
    """How far the last window ends beyond the image and its pad."""
    left = size + 2 * pad - gap * (taps - 1) - 1
    count = -(-left // step)
    # It begins in the image or in the pad before it, or there is none.
    if count * step >= size + pad:
        count -= 1
    return max(0, count * step - left)
