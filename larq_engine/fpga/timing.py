"""Counts the cycles of one image through a pipeline, layer by layer, as its modules pass pixels.

Queues are taken to be long enough. tests/fpga compares with simulations, from which it differs by a
cycle or two.
"""

from collections.abc import Sequence

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.fpga.layers import Join, Network, Node, Pool, Product, Sum, ToSigns
from larq_engine.fpga.product_module import Lanes, product_stages
from larq_engine.fpga.value_modules import SIGN_STAGES, SUM_STAGES
from larq_engine.fpga.walks import taken_times, window_times

# A pixel passes a queue, and a window, in so many cycles.
_QUEUE, _WINDOW = 2, 1


def image_cycles(network: Network) -> int:
    """Returns the cycles from the first pixel of an image to the last one of its result."""
    times = pixel_times(network, np.arange(network.source.pixels, dtype=np.int64))
    return int(times[-1][-1]) + _QUEUE + 1


def stages_of(node: Node) -> int:
    """Returns the stages from the last cycle of what a layer reads for a pixel to the pixel."""
    layer = node.layer
    if isinstance(layer, Product):
        return product_stages(Lanes(layer, node.fold))
    if isinstance(layer, Pool):
        return 0 if layer.source.kind == "sign" else max(1, (layer.window.taps - 1).bit_length())
    return SUM_STAGES if isinstance(layer, Sum) else 0


def cycles_to_pixel(node: Node) -> int:
    """Returns the cycles from the one in which a layer begins a pixel to the pixel."""
    before = _WINDOW if isinstance(node.layer, (Pool, Product)) else _decided(node)
    return before + node.fold - 1 + stages_of(node)


def _decided(node: Node) -> int:
    """Returns the cycles that go by before a sum takes a pixel that is there."""
    return int(isinstance(node.layer, Sum) and node.fold > 1)


def pixel_times(network: Network, source: Array) -> list[Array]:
    """Returns when each pixel of each value is there, where those of the input are at `source`."""
    times = [source]
    for node in network.nodes:
        times.append(_times(node, [times[value] for value in node.reads]))
    return times


def taken_at(node: Node, reads: Sequence[Array]) -> Array:
    """Returns when a layer takes each pixel of what it reads."""
    layer = node.layer
    if isinstance(layer, ToSigns):
        return reads[0]
    if isinstance(layer, (Sum, Join)):
        return _one_by_one(np.maximum.reduce(reads) + _QUEUE, node.fold) + _decided(node)
    assert isinstance(layer, (Pool, Product))
    return taken_times(layer.window, reads[0] + _QUEUE, node.fold)


def layer_cycles(node: Node) -> int:
    """Returns the same for a layer alone; all that it reads comes at the same time."""
    ready = np.arange(node.layer.source.pixels, dtype=np.int64)
    return int(_times(node, [ready] * len(node.reads))[-1]) + 1


def _times(node: Node, reads: list[Array]) -> Array:
    """Returns when each pixel of a layer is there."""
    layer, fold = node.layer, node.fold
    if isinstance(layer, ToSigns):
        return reads[0] + SIGN_STAGES
    if isinstance(layer, (Sum, Join)):
        return taken_at(node, reads) + fold - 1 + stages_of(node)
    assert isinstance(layer, (Pool, Product))
    windows = _WINDOW + window_times(layer.window, reads[0] + _QUEUE, fold)
    found = windows + fold - 1 + stages_of(node)
    return found[layer.beats - 1 :: layer.beats] if isinstance(layer, Product) else found


def _one_by_one(ready: Array, fold: int) -> Array:
    """Returns the first cycle of each of several that take `fold` cycles each, in their order."""
    order = np.arange(len(ready)) * fold
    return np.asarray(np.maximum.accumulate(ready - order) + order)
