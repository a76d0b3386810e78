"""Writes counts as Markdown, beside those of int8 layers where a file of a peer has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.markdown import table
from benchmarks.micro.counting import CORES

Record = Mapping[str, Any]

# Memory and layers of networks are shown of this core alone.
CORE = "m4"


def tables(ours: Sequence[Record], peer: Sequence[Record], by: str) -> str:
    """Returns all tables.

    Args:
        ours: Counts of exported models.
        peer: Counts of int8 models computed by another engine; none where there are no such.
        by: That engine.
    """
    parts = [
        ("Whole networks, millions of instructions", _networks(ours, peer, by)),
        ("Networks on the Cortex-M4", _memory(ours, peer, by)),
        ("Binary layers of the networks on the Cortex-M4", _network_layers(ours, peer, by)),
        ("Single layers, products an instruction", _layers(ours, peer, by)),
    ]
    return "\n".join("\n".join([f"**{title}**", "", *lines, ""]) for title, lines in parts)


def _networks(ours: Sequence[Record], peer: Sequence[Record], by: str) -> list[str]:
    rows = []
    for name, records in _by_name(ours, "network").items():
        counted = {record["core"]: record["instructions"] for record in records}
        rows.append([name, "binary", *(_millions(counted.get(core)) for core in CORES)])
        theirs = _chosen(peer, kind="network", name=name)
        if theirs:
            counted = {record["core"]: record["instructions"] for record in theirs}
            rows.append([name, f"int8, {by}", *(_millions(counted.get(core)) for core in CORES)])
    return table(["network", "layers", *CORES], rows)


def _memory(ours: Sequence[Record], peer: Sequence[Record], by: str) -> list[str]:
    columns = ("instructions", "constants", "flash", "arena", "stack")
    rows = []
    for name, records in _by_name(ours, "network").items():
        [mine] = _chosen(records, core=CORE)
        neighbours = f"{mine['neighbours']:,}"
        rows.append([name, "binary", *(f"{mine[column]:,}" for column in columns), neighbours])
        for other in _chosen(peer, kind="network", name=name, core=CORE):
            rows.append([name, f"int8, {by}", *(f"{other[column]:,}" for column in columns), ""])
            ratios = (_ratio(other[column], mine[column]) for column in columns)
            rows.append([name, "int8 / binary", *ratios, ""])
    return table(["network", "layers", *columns, "read and written by one layer"], rows)


def _network_layers(ours: Sequence[Record], peer: Sequence[Record], by: str) -> list[str]:
    rows = []
    for name, records in _by_name(ours, "network layer").items():
        binary = _chosen(records, form="binary")
        matched = [
            (mine, _chosen(peer, kind="network layer", name=name, number=mine["number"]))
            for mine in binary
        ]
        for mine, theirs in matched:
            rows.append([name, mine["layer"], *_beside(mine, theirs)])
        if matched and all(theirs for _, theirs in matched):
            others = [other for _, theirs in matched for other in theirs]
            rows.append([name, "all of them", *_beside(_sum(binary), [_sum(others)])])
    peer_title = f"int8, {by}"
    titles = ("network", "layer", "products", "instructions", "products an instruction", peer_title)
    return table([*titles, "int8 / binary", "constants, int8 / binary"], rows)


def _beside(mine: Record, theirs: list[Record]) -> list[str]:
    per_instruction = f"{mine['products'] / mine['instructions']:.2f}"
    cells = [f"{mine['products']:,}", f"{mine['instructions']:,}", per_instruction]
    if not theirs:
        return [*cells, "", "", ""]
    [other] = theirs
    ratios = (_ratio(other[column], mine[column]) for column in ("instructions", "constants"))
    return [*cells, f"{other['instructions']:,}", *ratios]


def _sum(records: Sequence[Record]) -> Record:
    columns = ("products", "instructions", "constants")
    return {column: sum(record[column] for record in records) for column in columns}


def _layers(ours: Sequence[Record], peer: Sequence[Record], by: str) -> list[str]:
    rows = []
    for name, records in _by_name(ours, "layer").items():
        forms = dict.fromkeys(record["form"] for record in records)
        groups = [(form, _chosen(records, form=form)) for form in forms]
        groups.append((f"int8, {by}", _chosen(peer, kind="layer", name=name)))
        for form, group in groups:
            speeds = {r["core"]: f"{r['products'] / r['instructions']:.2f}" for r in group}
            if speeds:
                rows.append([name, form, *(speeds.get(core, "") for core in CORES)])
    return table(["layer", "form", *CORES], rows)


def _by_name(records: Sequence[Record], kind: str) -> dict[str, list[Record]]:
    chosen = _chosen(records, kind=kind)
    return {name: _chosen(chosen, name=name) for name in dict.fromkeys(r["name"] for r in chosen)}


def _chosen(records: Sequence[Record], **wanted: Any) -> list[Record]:
    return [r for r in records if all(r.get(key) == value for key, value in wanted.items())]


def _millions(count: int | None) -> str:
    return "" if count is None else f"{count / 1e6:.2f}"


def _ratio(theirs: int, ours: int) -> str:
    return f"{theirs / ours:.2f}" if ours else ""
