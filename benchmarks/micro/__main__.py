"""Counts what exported models take of emulated microcontrollers:

    python -m benchmarks.micro RESULTS_FOLDER [--peer FILE]

It writes RESULTS_FOLDER/micro.json and prints tables. Instructions are those of an emulator: they
are no cycles, and nothing is run on silicon. `tools/setup.sh micro` installs what this needs;
`--peer` names counts of int8 models by another engine, in the same form, to show beside ours.
"""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_commit
from benchmarks.micro import counting, layers, networks
from benchmarks.micro.table import CORE, tables
from benchmarks.progress import Progress
from benchmarks.result_files import as_lines, read_results
from larq_engine.converter.graph import Op
from larq_engine.converter.macs import count_macs


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.micro",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="RESULTS_FOLDER", help="where micro.json goes")
    parser.add_argument(
        "--peer", type=Path, metavar="FILE", help="counts of int8 models by another engine"
    )
    arguments = parser.parse_args()
    peer: dict[str, Any] = {"by": "", "results": []}
    if arguments.peer:
        peer = read_results(arguments.peer)
    progress = Progress()
    results = [*_count_layers(progress), *_count_networks(progress)]
    progress.end()
    content = {
        "date": datetime.date.today().isoformat(),
        "commit": describe_commit(),
        "tools": counting.tools(),
        "results": results,
    }
    arguments.folder.mkdir(parents=True, exist_ok=True)
    (arguments.folder / "micro.json").write_text(as_lines(content))
    print(tables(results, peer["results"], peer["by"]))


def _count_layers(progress: Progress) -> list[dict[str, Any]]:
    results = []
    for layer in layers.LAYERS:
        for form in layers.FORMS:
            content = layers.build(layer, form)
            facts = {"kind": "layer", "name": layer.name, "form": form}
            for core in counting.CORES:
                progress.say(layer.name, f"{form}, {core}")
                counts = counting.count(content, core)
                results.append({**facts, "core": core, "products": layer.products, **counts})
    return results


def _count_networks(progress: Progress) -> list[dict[str, Any]]:
    results = []
    for name in networks.NETWORKS:
        progress.say(name, "converting")
        content = networks.binary(name)
        facts = {"kind": "network", "name": name, "form": "binary"}
        neighbours = counting.neighbours(content)
        for core in counting.CORES:
            progress.say(name, core)
            counts = counting.count(content, core)
            results.append({**facts, "core": core, **counts, "neighbours": neighbours})
        for number, (op, part) in enumerate(counting.layers(content)):
            progress.say(name, f"layer {number}")
            results.append(
                {
                    "kind": "network layer",
                    "name": name,
                    "number": number,
                    "layer": _describe(op),
                    "form": "binary" if op.kind == "LceBconv2d" else "int8",
                    "core": CORE,
                    "products": count_macs(op),
                    **counting.count(part, CORE),
                }
            )
    return results


def _describe(op: Op) -> str:
    weights = op.inputs[1]
    assert weights is not None
    is_conv = len(weights.shape) == 4
    taps = "x".join(map(str, weights.shape[1:3])) if is_conv else "dense"
    image = "x".join(map(str, op.output.shape[1:3])) if is_conv else "1"
    inputs = op.options["channels_in"] if op.custom else weights.shape[-1]
    to = "bits" if op.output.dtype == "INT32" else op.output.dtype.lower()
    return f"{taps} {inputs} -> {weights.shape[0]}, {image} pixels, to {to}"


if __name__ == "__main__":
    main()
