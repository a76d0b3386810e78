"""Says how many pixels the queues between layers hold."""

import math
from dataclasses import dataclass

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.fpga.layers import Join, Layer, Network, Node, Pool, Product, Sum, ToSigns
from larq_engine.fpga.timing import cycles_to_pixel, pixel_times, stages_of, taken_at
from larq_engine.fpga.value_modules import SIGN_STAGES

# A queue with places for two pixels passes one each cycle.
_SHORT = 2

# A memory in tables of the chip has so many words at least.
_ROW = 16

# Longer memories are blocks, which take three times as long to read.
MOST_IN_TABLES = 64

# A layer hears so many cycles late that a queue has room.
_HEARD = 2

# More pixels wait for no layer that keeps its pace.
_LONGEST = 4096


@dataclass(frozen=True)
class Queue:
    """A queue of `depth` pixels of a value; `kept` places are for pixels that a layer has begun."""

    value: int
    depth: int
    kept: int


def queues_of(network: Network) -> dict[tuple[int, int], Queue]:
    """Returns the queue of each place of each node; the output has one as if a node read it.

    They hold what comes while a layer is busy with a row of windows, or with pads, so that no layer
    that keeps its pace waits for room. They also hold what it takes until the layer before it has
    heard of room and made another pixel. Where streams join, one waits for the other. The windows
    of the other's layers hold pixels back, which the queue must take, or both would wait for each
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
    found: dict[tuple[int, int], Queue] = {}
    for number, node in enumerate(network.nodes):
        if isinstance(node.layer, ToSigns):
            continue  # takes what comes at once
        taken = taken_at(node, [times[value] for value in node.reads])
        late = None
        if len(node.reads) > 1:
            late = np.maximum.reduce([needed[value] for value in node.reads])
        for place, value in enumerate(node.reads):
            there = np.searchsorted(times[value], taken, side="right")
            waiting = int((there - np.arange(len(taken))).max())
            room = min(max(_SHORT, waiting), _LONGEST)
            if late is not None:
                there = np.searchsorted(needed[value], late, side="right")
                held = int((there - np.arange(len(late))).max())
                ahead = max(under_way[other] for other in node.reads) - under_way[value]
                room = max(room, held + ahead)
            found[number, place] = _queue(network, value, room, node.fold)
    found[len(network.nodes), 0] = _queue(network, len(network.nodes), _SHORT, 1)
    return found


def _queue(network: Network, value: int, waiting: int, fold: int) -> Queue:
    """Returns the queue of a value for a layer of a fold, before which so many pixels wait."""
    maker, late, apart = value, _HEARD, 1
    while maker > 0 and isinstance(network.nodes[maker - 1].layer, ToSigns):
        [maker] = network.nodes[maker - 1].reads
        late += SIGN_STAGES
    if maker > 0:
        node = network.nodes[maker - 1]
        late += cycles_to_pixel(node)
        apart = node.fold * (node.layer.beats if isinstance(node.layer, Product) else 1)
    kept = math.ceil(late / apart)
    taken = math.ceil(late / max(fold, apart))
    return Queue(value, max(waiting + taken + kept, _ROW), kept)


def _held(node: Node) -> int:
    """Returns how many pixels a layer holds that keeps its pace: in its queue, window, stages."""
    return _SHORT + 2 + math.ceil(stages_of(node) / node.fold)


def _needed(layer: Layer, reads: list[Array]) -> Array:
    """Returns how many pixels of the input must have come before each pixel of a layer is made."""
    if isinstance(layer, (Sum, Join)):
        return np.asarray(np.maximum.reduce(reads))
    [source] = reads
    if isinstance(layer, ToSigns):
        return source
    assert isinstance(layer, (Pool, Product))
    pixels = layer.window.needed()
    found: Array = source[np.maximum(pixels, 1) - 1]
    beats = layer.beats if isinstance(layer, Product) else 1
    return found[beats - 1 :: beats]
