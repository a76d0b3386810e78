"""Says how many pixels the queues between layers hold."""

import math

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.fpga.layers import Layer, Network, Node, Pool, Product, Sum, ToSigns
from larq_engine.fpga.product_module import Lanes, product_stages
from larq_engine.fpga.timing import SUM_STAGES, pixel_times, taken_at

# A queue of two pixels passes one each cycle, and no wire goes through it in one cycle.
_SHORT = 2

# More pixels wait for no layer that keeps its pace.
_LONGEST = 4096


def queue_depths(network: Network) -> dict[tuple[int, int], int]:
    """Returns how many pixels each layer's queues hold.

    They hold what comes while a layer is busy with a row of windows, or with pads, so that no layer
    that keeps its pace waits for room. Where streams join, one waits for the other. The windows of
    the other's layers hold pixels back, which the queue must take, or both would wait for each
    other.
    """
    needed: list[Array] = [np.arange(1, network.source.pixels + 1)]
    under_way: list[int] = [0]
    for node in network.nodes:
        needed.append(_needed(node.layer, [needed[value] for value in node.reads]))
        under_way.append(_held(node) + max(under_way[value] for value in node.reads))
    # Two images, whose pixels come evenly and as fast as the slowest layer lets them.
    pixels = np.arange(2 * network.source.pixels)
    apart = network.cycles / network.source.pixels
    times = pixel_times(network, np.floor(pixels * apart).astype(np.int64))
    depths: dict[tuple[int, int], int] = {}
    for number, node in enumerate(network.nodes):
        taken = taken_at(node, [times[value] for value in node.reads])
        late = None
        if len(node.reads) > 1:
            late = np.maximum.reduce([needed[value] for value in node.reads])
        for place, value in enumerate(node.reads):
            there = np.searchsorted(times[value], taken, side="right")
            waiting = int((there - np.arange(len(taken))).max())
            depths[number, place] = min(max(_SHORT, waiting), _LONGEST)
            if late is not None:
                there = np.searchsorted(needed[value], late, side="right")
                held = int((there - np.arange(len(late))).max())
                ahead = max(under_way[other] for other in node.reads) - under_way[value]
                depths[number, place] = max(depths[number, place], held + ahead)
    return depths


def _held(node: Node) -> int:
    """Returns the most pixels that are under way in a layer: in its queue, window and stages."""
    stages = SUM_STAGES
    if isinstance(node.layer, Product):
        stages = product_stages(Lanes(node.layer, node.fold))
    return _SHORT + 2 + math.ceil(stages / node.fold)


def _needed(layer: Layer, reads: list[Array]) -> Array:
    """Returns how many pixels of the input must have come before each pixel of a layer is made."""
    if isinstance(layer, Sum):
        return np.asarray(np.maximum(*reads))
    [source] = reads
    if isinstance(layer, ToSigns):
        return source
    assert isinstance(layer, (Pool, Product))
    pixels = layer.window.needed()
    found: Array = source[np.maximum(pixels, 1) - 1]
    beats = layer.beats if isinstance(layer, Product) else 1
    return found[beats - 1 :: beats]
