"""The table of layers of an exported network."""

from larq_engine.fpga.chips import Chip, area_of, network_area
from larq_engine.fpga.folds import least_fold
from larq_engine.fpga.layers import Network, Product
from larq_engine.fpga.timing import image_cycles
from larq_engine.python.text_table import align_columns, printable

_NUMBERS = ("cycles a pixel", "lanes", "cycles an image", "LUTs", "block RAMs")
_COLUMNS = ("layer", "operator", "output", *_NUMBERS)


def describe(network: Network, chip: Chip, clock: int) -> str:
    """Returns the table, and the sums below it."""
    rows = []
    for node in network.nodes:
        layer, area = node.layer, area_of(node.layer, node.fold)
        lanes = -(-layer.target.channels // node.fold) if isinstance(layer, Product) else 0
        rows.append(
            (
                layer.name,
                layer.op,
                str(layer.target),
                str(node.fold),
                str(lanes or ""),
                str(layer.cycles(node.fold)),
                str(area.luts),
                str(area.blocks),
            )
        )
    total = network_area(network)
    products = sum(node.layer.products for node in network.nodes)
    cycles, one = network.cycles, image_cycles(network)
    lines = [
        *align_columns(_COLUMNS, rows, _NUMBERS),
        "",
        f"{total.luts} of {chip.area.luts} LUTs of {chip.about} "
        f"({total.luts / chip.area.luts:.0%}), "
        f"{total.blocks} of {chip.area.blocks} block RAMs, {total.multipliers} of "
        f"{chip.area.multipliers} multipliers: estimated",
        f"one image every {cycles} cycles: {clock * 1e6 / cycles:.0f} images a second at "
        f"{clock} MHz; latency {one} cycles, {one / clock:.3g} us; {products / cycles:.0f} "
        "products of bits a cycle",
    ]
    if not total.fits(chip.area):
        lines.append(f"This does NOT fit the chip: {_advice(network, chip)}")
    return "\n".join(map(printable, lines))


def _advice(network: Network, chip: Chip) -> str:
    """Returns what is missing, and what fits."""
    missing = network_area(network) - chip.area
    amounts = (
        (missing.luts, "LUTs"),
        (missing.blocks, "block RAMs"),
        (missing.multipliers, "multipliers"),
    )
    lacks = ", ".join(f"{amount} {what}" for amount, what in amounts if amount > 0)
    fold = least_fold(network, chip)
    fits = f"a fold of {fold} fits, or" if fold else "no one fold fits; leave it out, or"
    return f"it lacks {lacks}; {fits} take fewer layers or a larger chip"
