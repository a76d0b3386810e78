"""The table of layers of an exported network."""

from larq_engine.fpga.chips import Chip, area_of, network_area
from larq_engine.fpga.layers import Network, Product
from larq_engine.fpga.timing import image_cycles
from larq_engine.python.text_table import align_columns, printable

_COLUMNS = ("layer", "operator", "output", "cycles a pixel", "lanes", "cycles", "tables", "blocks")
_NUMBERS = _COLUMNS[3:]


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
        f"{total.luts} of {chip.area.luts} tables of {chip.about} "
        f"({total.luts / chip.area.luts:.0%}), "
        f"{total.blocks} of {chip.area.blocks} blocks, {total.multipliers} of "
        f"{chip.area.multipliers} multipliers: estimated",
        f"an image each {cycles} cycles: {clock * 1e6 / cycles:.0f} images a second at "
        f"{clock} MHz; one takes {one} cycles, {one / clock:.3g} us; "
        f"{products / cycles:.0f} products a cycle",
    ]
    return "\n".join(map(printable, lines))
