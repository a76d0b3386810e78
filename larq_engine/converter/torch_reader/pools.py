"""Writes max pools whose last window may end beyond the image as pads and pools that do not.

litert_torch pads a dimension in which the windows end with the image as much as one in which
they do not.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from larq_engine.converter.torch_reader.nodes import Node, add_node, kind, shape
from larq_engine.converter.torch_reader.packages import import_torch


@dataclass(frozen=True)
class Windows:
    """The windows of a max pool in one dimension, the last of which may end beyond the image."""

    size: int
    taps: int
    step: int
    pad: int
    gap: int

    @property
    def count(self) -> int:
        """How many windows there are; none or fewer if the image is too small for one."""
        count = -(-self._room // self.step) + 1
        # The last one begins in the image or in the pad before it.
        return count - 1 if (count - 1) * self.step >= self.size + self.pad else count

    @property
    def beyond(self) -> int:
        """How far the last window ends beyond the image and its pad."""
        return max(0, (self.count - 1) * self.step - self._room)

    @property
    def is_for_every_size(self) -> bool:
        """Whether the pads of this image make the right windows of an image of any size.

        What is beyond repeats with the step, but for images that are smaller than the window.
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
        """How far the first window could move until it ends with the image and its pad."""
        return self.size + 2 * self.pad - self.gap * (self.taps - 1) - 1


@dataclass(frozen=True)
class _Pool:
    """A max pool with `ceil_mode`, and its windows in each dimension."""

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
    """Why the file of a graph as it was exported has one size; nothing if its pools have any."""
    for pool in _rounded_up(module):
        if not all(windows.is_for_every_size for windows in pool.windows):
            return f"how far the windows of '{pool.node.name}' reach follows from the image's size"
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
