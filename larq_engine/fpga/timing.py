"""Counts the cycles of one image through a pipeline, layer by layer, as its modules pass pixels.

Queues are taken to be long enough. tests/fpga compares with simulations, from which it differs by a
cycle or two.
"""

from collections.abc import Sequence

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.fpga.layers import Layer, Network, Node, Pool, Product, Sum, ToSigns
from larq_engine.fpga.product_module import Lanes, product_stages
from larq_engine.fpga.walks import taken_times, window_times

# A pixel passes a queue, and a window, in so many cycles.
_QUEUE, _WINDOW = 2, 1

# Stages of a sum of two streams, which is more than those of a pool.
SUM_STAGES = 4


def image_cycles(network: Network) -> int:
    """Returns the cycles from the first pixel of an image to the last one of its result."""
    return int(pixel_times(network, np.arange(network.source.pixels, dtype=np.int64))[-1][-1]) + 1


def pixel_times(network: Network, source: Array) -> list[Array]:
    """Returns when each pixel of each value is there, where those of the input are at `source`."""
    times = [source]
    for node in network.nodes:
        times.append(_times(node.layer, node.fold, [times[value] for value in node.reads]))
    return times


def taken_at(node: Node, reads: Sequence[Array]) -> Array:
    """Returns when a layer takes each pixel of what it reads."""
    layer = node.layer
    if isinstance(layer, ToSigns):
        return reads[0]
    if isinstance(layer, Sum):
        return _one_by_one(np.maximum(*reads) + _QUEUE, node.fold)
    assert isinstance(layer, (Pool, Product))
    return taken_times(layer.window, reads[0] + _QUEUE, node.fold)


def layer_cycles(node: Node) -> int:
    """Returns the same for a layer alone; all that it reads comes at the same time."""
    ready = np.arange(node.layer.source.pixels, dtype=np.int64)
    return int(_times(node.layer, node.fold, [ready] * len(node.reads))[-1]) + 1


def _times(layer: Layer, fold: int, reads: list[Array]) -> Array:
    """Returns when each pixel of a layer is there."""
    if isinstance(layer, ToSigns):
        return reads[0]
    if isinstance(layer, Sum):
        return _one_by_one(np.maximum(*reads) + _QUEUE, fold) + SUM_STAGES
    assert isinstance(layer, (Pool, Product))
    windows = _WINDOW + window_times(layer.window, reads[0] + _QUEUE, fold)
    if isinstance(layer, Pool):
        taps = layer.window.taps
        return windows if layer.source.kind == "sign" else windows + max(1, (taps - 1).bit_length())
    found = windows + fold - 1 + product_stages(Lanes(layer, fold))
    return found[layer.beats - 1 :: layer.beats]


def _one_by_one(ready: Array, fold: int) -> Array:
    """Returns when each of several is done that take `fold` cycles each, in their order."""
    order = np.arange(len(ready)) * fold
    return np.asarray(np.maximum.accumulate(ready - order) + order + fold)
