"""Writes a device file: what each layer, and each run of them, costs on the chip, for placement."""

import json
from collections.abc import Iterator
from typing import Any

from larq_engine.fpga.chips import Chip, area_of, queue_area
from larq_engine.fpga.layers import Network, Node
from larq_engine.fpga.queues import queues_of
from larq_engine.fpga.runs import Run
from larq_engine.fpga.timing import image_cycles, layer_cycles

# The link of the FPGA-GPU paper (arXiv 2102.01343): PCIe gen2 x4. Its latency is not known.
_BYTES_PER_SECOND = 2.5e9
_LINK = "assumed: PCIe gen2 x4, 2.5 GB/s; its latency is not known and counts as none"


def device_file(
    run: Run, chip: Chip, clock: int, share: float, watts: float | None, sha256: str
) -> str:
    """Returns the text of the file, which `larq-engine place --device-file` reads.

    `watts` are those of the chip while it runs the whole pipeline. Layers share them by their LUTs.
    """
    missing = ["latency of the link"]
    if watts is None:
        missing.append("joules of layers and of the link")
    ends = (("host", "fpga"), ("fpga", "host"))
    fields = {
        "larq_engine_device": 1,
        "device": {
            "name": "fpga",
            "title": f"{chip.about} at {clock} MHz",
            "memory": "fpga",
            "area": max(1, int(chip.area.luts * share)),
        },
        "source": "Cycles are those of the exported pipelines, counted; areas are estimates.",
        "links": [
            {
                "from": source,
                "to": target,
                "seconds": 0.0,
                "bytes_per_second": _BYTES_PER_SECOND,
                "joules_per_byte": None if watts is None else 0.0,
                "source": _LINK if watts is None else f"{_LINK}; its joules count as none",
            }
            for source, target in ends
        ],
        "classes": [],
        "missing": missing,
        "model": {"sha256": sha256},
        "layers": list(_layers(run, clock, watts)),
    }
    return json.dumps(fields, indent=1) + "\n"


def _layers(run: Run, clock: int, watts: float | None) -> Iterator[dict[str, Any]]:
    """Yields each operator, with its area, and each run of several."""
    areas = _areas(run)

    def entry(first: int, end: int, cycles: int) -> dict[str, Any]:
        seconds = cycles / (clock * 1e6)
        fields = {
            "nodes": list(range(run.first + first, run.first + end)),
            "seconds": seconds,
            "source": f"{cycles} cycles",
        }
        if watts is not None:
            share = watts * sum(areas[first:end]) / sum(areas)
            fields["joules"] = share * seconds
            fields["source"] = f"{cycles} cycles, {share:.3g} of {watts:g} W, by LUTs"
        return fields

    count = len(run.ops)
    for first in range(count):
        number = run.nodes[first]
        node = None if number is None else run.network.nodes[number]
        cycles = 0 if node is None else layer_cycles(node)
        yield {**entry(first, first + 1, cycles), "area": areas[first]}
        for end in range(first + 2, count + 1):
            part = _part(run.network, [n for n in run.nodes[first:end] if n is not None])
            if part is not None:
                yield entry(first, end, image_cycles(part))


def _areas(run: Run) -> list[int]:
    """Returns the LUTs of each operator, with its queues."""
    nodes, queues, areas = run.network.nodes, queues_of(run.network), []
    for number in run.nodes:
        area = 0
        if number is not None:
            node = nodes[number]
            area = area_of(node.layer, node.fold).luts
            # The last layer has the output's queue as well.
            readers = {number, len(nodes)} if number == len(nodes) - 1 else {number}
            area += sum(
                queue_area(run.network, queue).luts
                for (reader, _), queue in queues.items()
                if reader in readers
            )
        areas.append(area)
    return areas


def _part(network: Network, numbers: list[int]) -> Network | None:
    """Returns the network of some nodes, or None if it has several inputs or outputs."""
    made = {number + 1 for number in numbers}
    read = {value for number in numbers for value in network.nodes[number].reads}
    outside = read - made
    after = {
        value
        for value in made
        if value == len(network.nodes)
        or any(reader not in numbers for reader, _ in network.readers(value))
    }
    if len(outside) != 1 or len(after) != 1:
        return None
    [source] = outside
    place = {source: 0} | {number + 1: n for n, number in enumerate(numbers, 1)}
    part = Network(network.stream(source))
    for number in numbers:
        node = network.nodes[number]
        reads = tuple(place[value] for value in node.reads)
        part.nodes.append(Node(node.layer, reads, node.fold))
    return part
