"""Rewrites max pools whose last window may end beyond the image as pads and plain pools.

litert_torch pads all dimensions equally, also one in which the windows end with the image.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from larq_engine.converter.torch_reader.nodes import Node, add_node, kind, layer_name, shape
from larq_engine.converter.torch_reader.packages import import_torch


@dataclass(frozen=True)
class Windows:
    """Windows of a max pool along one dimension; the last may end beyond the image."""

    size: int
    taps: int
    step: int
    pad: int
    gap: int

    @property
    def count(self) -> int:
        """Number of windows; 0 or less if the image is too small for one."""
        count = -(-self._room // self.step) + 1
        # The last window must begin in the image or in the pad before it.
        return count - 1 if (count - 1) * self.step >= self.size + self.pad else count

    @property
    def beyond(self) -> int:
        """Number of pixels by which the last window ends beyond the image and its pad."""
        return max(0, (self.count - 1) * self.step - self._room)

    @property
    def is_for_every_size(self) -> bool:
        """Tells whether this image's pads give the right windows for an image of any size.

        The pixels beyond repeat with the step, except for images that are smaller than the window.
        """
        others = [
            replace(self, size=size)
            for size in range(1, self.gap * self.taps + self.pad + 2 * self.step + 1)
        ]
        return all(
            (other._room + self.beyond) // self.step + 1 == other.count
            for other in others
            if other.count > 0
        )

    @property
    def _room(self) -> int:
        """Distance that the first window can move until it ends with the image and its pad."""
        return self.size + 2 * self.pad - self.gap * (self.taps - 1) - 1


@dataclass(frozen=True)
class _Pool:
    """A max pool with `ceil_mode`, and its windows along each dimension."""

    node: Node
    windows: tuple[Windows, ...]


def write_pools(module: Any) -> None:
    """Replaces max pools with `ceil_mode`."""
    graph = module.graph
    aten = import_torch().ops.aten
    for pool in list(_rounded_up(module)):
        node, windows = pool.node, pool.windows
        pads = [n for w in reversed(windows) for n in (w.pad, w.pad + w.beyond)]
        numbers = [[w.taps for w in windows], [w.step for w in windows], [0, 0]]
        numbers.append([w.gap for w in windows])
        with graph.inserting_before(node):
            padded = add_node(
                graph, node, aten.constant_pad_nd.default, node.args[0], pads, -math.inf
            )
            pooled = add_node(graph, node, aten.max_pool2d.default, padded, *numbers)
        node.replace_all_uses_with(pooled)
    graph.eliminate_dead_code()
    module.recompile()


def held_pool(module: Any) -> str:
    """Returns why a graph's file has one size; empty if its pools allow any size."""
    for pool in _rounded_up(module):
        if not all(windows.is_for_every_size for windows in pool.windows):
            layer = layer_name(pool.node)
            return f"how far the windows of '{layer}' reach follows from the image's size"
    return ""


def _rounded_up(module: Any) -> Iterator[_Pool]:
    for node in module.graph.nodes:
        if kind(node) != "aten.max_pool2d.default":
            continue
        defaults: list[Any] = [None, None, [], 0, 1, False]
        given = [*node.args, *defaults[len(node.args) :]]
        x, numbers, rounds_up = given[0], given[1:-1], given[-1]
        sizes = shape(x)
        if not rounds_up or sizes is None:
            continue
        window, stride, padding, dilation = map(_pair, numbers)
        each = zip(sizes[-2:], window, stride or window, padding, dilation, strict=True)
        yield _Pool(node, tuple(Windows(*numbers) for numbers in each))


def _pair(numbers: int | Sequence[int]) -> list[int]:
    several = [numbers] if isinstance(numbers, int) else [*numbers]
    return several * 2 if len(several) == 1 else several
