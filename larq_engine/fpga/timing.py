"""Counts the cycles of one image through a pipeline, layer by layer, as its modules pass pixels.

Queues are taken to be long enough. tests/fpga compares with simulations, from
which it differs by a cycle or two.
"""

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.fpga.layers import Layer, Network, Node, Pool, Product, Sum, ToSigns, Window
from larq_engine.fpga.product_module import Lanes, product_stages

# A pixel passes a queue, and a window, in so many cycles.
_QUEUE, _WINDOW = 2, 1

# Stages of a sum of two streams.
_SUM_STAGES = 4


def image_cycles(network: Network) -> int:
    """Returns the cycles from the first pixel of an image to the last one of its result."""
    times: list[Array] = [np.arange(network.source.pixels, dtype=np.int64)]
    for node in network.nodes:
        times.append(_times(node.layer, node.fold, [times[value] for value in node.reads]))
    return int(times[-1][-1]) + 1


def layer_cycles(node: Node) -> int:
    """Returns the same for a layer alone; all that it reads comes at the same time."""
    ready = np.arange(node.layer.source.pixels, dtype=np.int64)
    return int(_times(node.layer, node.fold, [ready] * len(node.reads))[-1]) + 1


def _times(layer: Layer, fold: int, reads: list[Array]) -> Array:
    """Returns when each pixel of a layer is there."""
    if isinstance(layer, ToSigns):
        return reads[0]
    if isinstance(layer, Sum):
        return _one_by_one(np.maximum(*reads) + _QUEUE, fold) + _SUM_STAGES
    assert isinstance(layer, (Pool, Product))
    windows = _windows(layer.window, reads[0] + _QUEUE, fold)
    if isinstance(layer, Pool):
        taps = layer.window.taps
        return windows if layer.source.kind == "sign" else windows + max(1, (taps - 1).bit_length())
    found = windows + fold - 1 + product_stages(Lanes(layer, fold))
    return found[layer.beats - 1 :: layer.beats]


def _one_by_one(ready: Array, fold: int) -> Array:
    """Returns when each of several is done that take `fold` cycles each, in their order."""
    order = np.arange(len(ready)) * fold
    return np.asarray(np.maximum.accumulate(ready - order) + order + fold)


def _windows(window: Window, ready: Array, fold: int) -> Array:
    """Returns when each window is complete; the walk waits for pixels and for the layer."""
    rows, columns = window.rows, window.columns
    y, x = np.divmod(np.arange(rows.walked * columns.walked), columns.walked)
    inside = (y >= rows.before) & (y < rows.before + rows.size)
    inside &= (x >= columns.before) & (x < columns.before + columns.size)
    come = np.zeros(y.shape, np.int64)  # pads before the first pixel wait for nothing
    come[inside] = ready
    wanted = _is_position(y, rows.extent, rows.stride, rows.positions)
    wanted &= _is_position(x, columns.extent, columns.stride, columns.positions)
    # A window takes `fold` cycles, in which the walk stands still, and other places take one.
    before = np.concatenate([[0], np.cumsum(np.where(wanted, fold, 1))[:-1]])
    moved = np.maximum.accumulate(come - before) + before
    return np.asarray((moved + _WINDOW)[wanted])


def _is_position(place: Array, extent: int, stride: int, positions: int) -> Array:
    first = place - (extent - 1)
    return np.asarray((first >= 0) & (first % stride == 0) & (first // stride < positions))
