"""Says what chips have, and estimates what layers take of it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from larq_engine.fpga.layers import Bytes, Join, Layer, Network, Pool, Product, Sum
from larq_engine.fpga.multiplication import multipliers_for
from larq_engine.fpga.product_module import MOST_IN_LOGIC, Lanes
from larq_engine.fpga.queues import MOST_IN_TABLES, Queue, queues_of
from larq_engine.fpga.text import bits_for, signed_bits


@dataclass(frozen=True)
class Area:
    """Tables of 4 inputs (LUT4), blocks of memory, and multipliers."""

    luts: int = 0
    blocks: int = 0
    multipliers: int = 0

    def __add__(self, other: "Area") -> "Area":
        return Area(
            self.luts + other.luts,
            self.blocks + other.blocks,
            self.multipliers + other.multipliers,
        )

    def __sub__(self, other: "Area") -> "Area":
        return Area(
            self.luts - other.luts,
            self.blocks - other.blocks,
            self.multipliers - other.multipliers,
        )

    def fits(self, other: "Area") -> bool:
        return (
            self.luts <= other.luts
            and self.blocks <= other.blocks
            and self.multipliers <= other.multipliers
        )


@dataclass(frozen=True)
class Chip:
    """A chip; the numbers are from its data sheet."""

    name: str
    about: str
    area: Area


# Lattice's ECP5 family data sheet (FPGA-DS-02012): LFE5U-25F, -45F and -85F.
CHIPS = {
    chip.name: chip
    for chip in (
        Chip("ecp5-25k", "Lattice LFE5U-25F", Area(24_288, 56, 28)),
        Chip("ecp5-45k", "Lattice LFE5U-45F", Area(43_848, 108, 72)),
        Chip("ecp5-85k", "Lattice LFE5U-85F", Area(83_640, 208, 156)),
    )
}

# A block of memory has words of 36 bits, 512 of them; longer tables have narrower words.
_BLOCK_BITS, _BLOCK_WORDS = 36, 512

# A memory in tables takes six for 16 words of 4 bits.
_A_TABLE_MEMORY = 6

# Tables a product of one bit, in a lane: of constant weights, whose first sums lanes share; of
# weights that change each cycle. docs/fpga.md has what yosys made of layers.
_CONSTANT, _CHANGING = 1.5, 3.0

# Tables of what follows a lane's sum, for each bit of it, and of other modules.
_A_SUM_BIT = 4
_A_QUEUE_BIT = 1.5
_A_MAXIMUM_BIT = 2
_A_SUM_LANE = 150
_A_LAYER = 60


def area_of(layer: Layer, fold: int) -> Area:
    """Returns an estimate of what a layer takes, with its queue."""
    queue = math.ceil(_A_QUEUE_BIT * layer.source.pixel_bits) + _A_LAYER
    if isinstance(layer, (Pool, Product)):
        window = layer.window
        lines = (window.rows.extent - 1) * layer.source.pixel_bits
        common = Area(queue) + memory_area(lines, window.columns.walked)
        if isinstance(layer, Product):
            return common + _product_area(Lanes(layer, fold))
        each = 1 if layer.source.kind == "sign" else _A_MAXIMUM_BIT
        return common + Area(each * (window.taps - 1) * layer.source.pixel_bits)
    if isinstance(layer, Sum):
        lanes = math.ceil(layer.target.channels / fold)
        factors = [multipliers_for(signed_bits([by])) for by in (layer.of_a, layer.of_b)]
        return Area(2 * queue + lanes * _A_SUM_LANE, 0, lanes * sum(factors))
    if isinstance(layer, Join):
        return Area(math.ceil(_A_QUEUE_BIT * layer.target.pixel_bits) + _A_LAYER)
    return Area(layer.source.pixel_bits)


def memory_area(bits: int, words: int) -> Area:
    """Returns what a memory takes: tables with 16 words of 4 bits, or blocks if it is long."""
    if words <= MOST_IN_TABLES:
        return Area(_A_TABLE_MEMORY * math.ceil(bits / 4) * math.ceil(words / 16))
    return Area(0, math.ceil(bits / _BLOCK_BITS) * math.ceil(words / _BLOCK_WORDS))


def _product_area(lanes: Lanes) -> Area:
    layer = lanes.layer
    products = lanes.count * layer.taps * layer.planes
    is_constant = lanes.words == 1
    luts = math.ceil(products * (_CONSTANT if is_constant else _CHANGING))
    luts += lanes.count * _A_SUM_BIT * bits_for(layer.most_ones)
    blocks = 0
    if lanes.words > MOST_IN_LOGIC:
        width = max(1, _BLOCK_BITS // math.ceil(lanes.words / _BLOCK_WORDS))
        blocks = math.ceil(lanes.count * lanes.lane_bits / width)
    multipliers = 0
    if isinstance(layer.end, Bytes):
        multipliers = lanes.count * multipliers_for(signed_bits(layer.end.multiplier))
    return Area(luts, blocks, multipliers)


def network_area(network: Network) -> Area:
    """Returns an estimate of what a network takes."""
    total = waiting_area(network)
    for node in network.nodes:
        total += area_of(node.layer, node.fold)
    return total


def waiting_area(network: Network) -> Area:
    """Returns what the memories of the queues take."""
    return sum((queue_area(network, queue) for queue in queues_of(network).values()), Area())


def queue_area(network: Network, queue: Queue) -> Area:
    return memory_area(network.stream(queue.value).pixel_bits, queue.depth)


def options_of(layer: Layer) -> Iterator[tuple[int, int, Area]]:
    """Yields each fold of a layer with its cycles and area."""
    for fold in layer.folds:
        yield fold, layer.cycles(fold), area_of(layer, fold)
