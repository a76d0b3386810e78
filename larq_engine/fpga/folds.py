"""Chooses in how many cycles each layer computes a pixel: as fast as the chip allows.

The slowest layer decides the cycles between images. So for a number of cycles each layer takes the
folds with which it keeps pace, and what is left is whether some choice of these fits the chip. That
is found exactly for given queues: sums of areas that another sum undercuts in all respects are
dropped. The queues depend on the folds, and are those of a choice before.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from larq_engine.fpga.chips import Area, Chip, area_of, network_area, options_of, waiting_area
from larq_engine.fpga.layers import Layer, Network, Node

_Choice = tuple[Area, tuple[int, ...]]

# Searches from one choice of folds: the second has the same queues as the first in most networks.
_SEARCHES = 3


def choose_folds(network: Network, chip: Chip, share: float) -> None:
    """Sets the folds of all nodes so that images follow each other in the fewest cycles.

    Of those the choice with the fewest tables is taken. `share` of the chip's tables may be used.
    Queues wait for what is under way, which the folds decide, so a search takes the queues of the
    folds that the one before it found.

    Raises:
        ValueError: The chip is too small.
    """
    limit = replace(chip.area, luts=int(chip.area.luts * share))
    found: set[tuple[int, int, tuple[int, ...]]] = set()
    for first in (-1, 0):
        folds: tuple[int, ...] | None = tuple(node.layer.folds[first] for node in network.nodes)
        for _ in range(_SEARCHES):
            assert folds is not None
            _set(network, folds)
            folds = _fastest(network, limit - waiting_area(network))
            if folds is None:
                break
            _set(network, folds)
            area = network_area(network)
            if area.fits(limit):
                found.add((network.cycles, area.luts, folds))
    if not found:
        raise ValueError(_too_small(network, chip, share, limit))
    _set(network, min(found)[2])


def _set(network: Network, folds: Sequence[int]) -> None:
    for node, fold in zip(network.nodes, folds, strict=True):
        node.fold = fold


def _fastest(network: Network, limit: Area) -> tuple[int, ...] | None:
    """Returns the folds with the fewest cycles, and of these the fewest tables, within a limit."""
    layers = [node.layer for node in network.nodes]
    least = max(network.source.pixels, network.target.pixels)
    paces = sorted({max(least, cycles) for layer in layers for _, cycles, _ in options_of(layer)})
    low, high = 0, len(paces) - 1
    best = _cheapest(layers, paces[high], limit)
    if best is None:
        return None
    while low < high:
        middle = (low + high) // 2
        found = _cheapest(layers, paces[middle], limit)
        if found is None:
            low = middle + 1
        else:
            best, high = found, middle
    return best[1]


def set_folds(network: Network, fold: int) -> None:
    """Gives each layer its greatest fold that is not above a number."""
    for node in network.nodes:
        folds = node.layer.folds
        node.fold = max((n for n in folds if n <= fold), default=folds[0])


def least_fold(network: Network, chip: Chip) -> int | None:
    """Returns the least number for `set_folds` with which a network fits a chip, or None."""
    chosen = [node.fold for node in network.nodes]
    found = None
    for fold in sorted({fold for node in network.nodes for fold in node.layer.folds}):
        set_folds(network, fold)
        if network_area(network).fits(chip.area):
            found = fold
            break
    _set(network, chosen)
    return found


def _cheapest(layers: list[Layer], pace: int, limit: Area) -> _Choice | None:
    """Returns the choice with the fewest tables within a limit, or None."""
    sums: list[_Choice] = [(Area(), ())]
    for layer in layers:
        options = _front(
            (area, (fold,)) for fold, cycles, area in options_of(layer) if cycles <= pace
        )
        sums = _front(
            (area + more, (*folds, *fold))
            for area, folds in sums
            for more, fold in options
            if (area + more).fits(limit)
        )
    return min(sums, key=lambda choice: choice[0].luts, default=None)


def _front(choices: Iterable[_Choice]) -> list[_Choice]:
    """Returns the choices that no other one undercuts."""
    kept: list[_Choice] = []
    order = sorted(choices, key=lambda c: (c[0].luts, c[0].blocks, c[0].multipliers))
    for choice in order:
        if not any(other[0].fits(choice[0]) for other in kept):
            kept.append(choice)
    return kept


def _too_small(network: Network, chip: Chip, share: float, limit: Area) -> str:
    """Returns an error that says what is missing, with the least of each layer."""
    for node in network.nodes:
        node.fold = node.layer.folds[-1]
    need = network_area(network)
    largest = max(network.nodes, key=lambda node: area_of(node.layer, node.fold).luts)
    return (
        f"target: expected a chip for at least {need.luts} LUTs, {need.blocks} block RAMs "
        f"and {need.multipliers} multipliers, got {chip.name} with {limit.luts} ({share:.0%} of "
        f"{chip.area.luts}), {limit.blocks} and {limit.multipliers}; each layer had the fold that "
        f"takes least ({_folds(network.nodes)}); the largest is '{largest.layer.name}': export "
        "fewer layers, or take a larger share (area) or chip"
    )


def _folds(nodes: list[Node]) -> str:
    return ", ".join(str(node.fold) for node in nodes)
