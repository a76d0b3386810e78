"""Writes kept results into docs/performance.md: `make bench-docs`.

Each pair of marks of the page encloses a block that is made from the files in benchmarks/results,
one file for each kind of core. All figures of the page are in these blocks.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

from benchmarks.contenders import (
    LCE,
    LCE_INDIRECT,
    ONNX_FLOAT32,
    ONNX_INT8,
    OPENVINO,
    OURS,
    OURS_BITS,
    OURS_BITS_FLOAT,
    XNNPACK_FLOAT32,
    XNNPACK_INT8,
)
from benchmarks.kept import RESULTS, read_kept
from benchmarks.kept_runs import (
    NOTHING,
    Run,
    against,
    facts,
    percent,
    quartiles,
    share,
    threads_of,
    times,
    wrapped,
)
from benchmarks.machine import ROOT
from benchmarks.markdown import replace_between, table

PAGE = ROOT / "docs" / "performance.md"

# Kinds of cores by the names of their files. A core that is not here has its file's name.
CORES = {"amd-25-1": "Zen 3", "amd-25-17": "Zen 4", "intel-6-167": "Xeon with AMX"}

# Other engines, and their names on the page.
PEERS = {
    LCE_INDIRECT.name: "LCE, faster mode",
    LCE.name: "LCE, default",
    OPENVINO.name: "OpenVINO, binary",
    XNNPACK_FLOAT32.name: "XNNPACK float32",
    XNNPACK_INT8.name: "XNNPACK int8",
    ONNX_FLOAT32.name: "ONNX Runtime float32",
    ONNX_INT8.name: "ONNX Runtime int8",
}
FORMS = {
    OURS.name: "larq_engine, float to float",
    OURS_BITS_FLOAT.name: "larq_engine, bits to float",
    OURS_BITS.name: "larq_engine, bits to bits",
}
# Contenders whose layers are near enough to the limit to be compared with it.
BINARY = {**FORMS, OPENVINO.name: PEERS[OPENVINO.name]}

_GEOMETRIC = "geometric mean"
_BINARY_GROUP = "binary convolutions"  # a group of operators in a profile


@dataclass(frozen=True)
class Core:
    """A kind of core, and its kept runs."""

    name: str
    convs: Run | None
    models: Sequence[Run]  # runs by the number of threads


def read_cores(folder: Path) -> list[Core]:
    """Reads all kept results of a folder."""
    cores = []
    for file in sorted(folder.glob("*.json")):
        kept = read_kept(file)
        models = [
            Run(summary, PEERS) for summary in kept.values() if summary["benchmark"] == "models"
        ]
        models.sort(key=lambda run: run.threads)
        convs = Run(kept["convs"], PEERS) if "convs" in kept else None
        cores.append(Core(CORES.get(file.stem, file.stem), convs, models))
    return cores


# ---- In short ------------------------------------------------------------------------------------


def speeds(cores: Sequence[Core]) -> Iterator[str]:
    """Yields the table of ratios between larq_engine's speed and the peers' on each core."""
    rows = []
    for core in cores:
        if core.convs:
            means = {peer: times(core.convs.mean(peer)) for peer in core.convs.peers}
            rows.append((f"{core.name}: convolutions A to D", means))
        for run in core.models:
            ranges = {peer: _range(list(run.ratios(peer).values())) for peer in run.peers}
            rows.append((f"{core.name}: whole models, {threads_of(run)}", ranges))
    peers = [peer for peer in PEERS if any(peer in cells for _, cells in rows)]
    titles = ["times as fast as", *(PEERS[peer] for peer in peers)]
    yield from table(
        titles, ([row, *(cells.get(p, NOTHING) for p in peers)] for row, cells in rows)
    )


def _range(ratios: Sequence[float]) -> str:
    return f"{times(min(ratios))} to {times(max(ratios))}"


def limits(cores: Sequence[Core]) -> Iterator[str]:
    """Yields the layers' share of the limit, and the binary layers' share of a model's time."""
    rows = []
    cases: dict[str, str] = {}
    for core in cores:
        if not core.convs:
            continue
        cases |= core.convs.cases
        name, rate = core.convs.limit
        for subject, label in BINARY.items():
            shares = [share(core.convs, subject, case) for case in core.convs.cases]
            rows.append([core.name, label, *shares, f"{rate:.0f} GMAC/s, `{name}`"])
    yield from table(["core", "layers of", *cases.values(), "limit of a core"], rows)
    for core in cores:
        for run in core.models:
            profiles = run.profiles.values()
            parts = [groups[_BINARY_GROUP] / sum(groups.values()) for groups in profiles]
            if parts:
                yield ""
                yield from wrapped(
                    f"On a {core.name} with {threads_of(run)}, binary convolutions take "
                    f"{percent(min(parts))} to {percent(max(parts))} of a model's time."
                )


# ---- Core by core --------------------------------------------------------------------------------


def details(cores: Sequence[Core]) -> Iterator[str]:
    """Yields all times of each core."""
    for number, core in enumerate(cores):
        runs = [*([core.convs] if core.convs else []), *core.models]
        if not runs:
            continue
        if number:
            yield ""
        yield f"## {core.name}"
        machine = runs[0].summary["machine"]
        yield ""
        yield from wrapped(
            f"{machine['cpu']} ({machine['cpu_ids']}) with {', '.join(machine['features'])}."
        )
        if core.convs:
            yield from ["", f"### {core.name}: convolutions A to D", ""]
            yield from _convs(core.convs)
        for run in core.models:
            yield from ["", f"### {core.name}: whole models, {threads_of(run)}", ""]
            yield from _models(run, core.models[0])


def _convs(run: Run) -> Iterator[str]:
    yield from wrapped(f"{threads_of(run).capitalize()}, {facts(run)}")
    yield ""
    rows = [
        [label, *(quartiles(run, subject, case, 3) for case in run.cases)]
        for subject, label in {**FORMS, **{peer: PEERS[peer] for peer in run.peers}}.items()
    ]
    yield from table(["ms a layer (quartiles)", *run.cases.values()], rows)
    yield ""
    rows = [
        [
            PEERS[peer],
            *(times(run.ratios(peer)[c]) if run.has(peer, c) else NOTHING for c in run.cases),
            times(run.mean(peer)),
        ]
        for peer in run.peers
    ]
    yield from table(["float to float, times as fast as", *run.cases, _GEOMETRIC], rows)


def _models(run: Run, of_one_thread: Run) -> Iterator[str]:
    yield from wrapped(
        f"One image, {facts(run)} Brackets behind other engines have how many times as fast "
        "larq_engine is."
    )
    yield ""
    gains = _gains(run, of_one_thread)
    gain_title = ["against one thread"] if gains else []
    rows = [
        [
            title,
            quartiles(run, OURS.name, case, 2),
            *([times(gains[case])] if gains else []),
            *(against(run, peer, case) for peer in run.peers),
        ]
        for case, title in run.cases.items()
    ]
    means = [
        *([times(geometric_mean(gains.values()))] if gains else []),
        *(f"({times(run.mean(peer))})" for peer in run.peers),
    ]
    titles = ["ms (quartiles)", OURS.name, *gain_title, *(PEERS[peer] for peer in run.peers)]
    yield from table(titles, [*rows, [_GEOMETRIC, "", *means]])
    if run.profiles:
        yield ""
        yield from _profiles(run.profiles)


def _gains(run: Run, of_one_thread: Run) -> dict[str, float]:
    """Returns how many times as fast larq_engine is with several threads as with one.

    Two commits may differ by more than the number of threads, so their runs are not compared.
    """
    if run.threads == 1 or run.summary["commit"] != of_one_thread.summary["commit"]:
        return {}
    return {case: of_one_thread.ms(OURS.name, case) / run.ms(OURS.name, case) for case in run.cases}


def _profiles(profiles: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    names = list(dict.fromkeys(name for groups in profiles.values() for name in groups))
    rows = [
        [model, *(f"{groups[n]:.2f} ({percent(groups[n] / sum(groups.values()))})" for n in names)]
        for model, groups in profiles.items()
    ]
    yield from table(["ms of larq_engine in", *names], rows)


# ---- The page ------------------------------------------------------------------------------------

BLOCKS: dict[str, Callable[[Sequence[Core]], Iterator[str]]] = {
    "speeds": speeds,
    "limits": limits,
    "details": details,
}


def render(page: str, cores: Sequence[Core]) -> str:
    """Returns the page with all its blocks made anew."""
    for name, block in BLOCKS.items():
        begin, end = (f"<!-- Made by `make bench-docs`: {w} {name}. -->" for w in ("begin", "end"))
        page = replace_between(page, begin, end, "\n".join(block(cores)))
    return page


def main() -> None:
    argparse.ArgumentParser(
        prog="python -m benchmarks.docs", description=__doc__.splitlines()[0]
    ).parse_args()
    PAGE.write_text(render(PAGE.read_text(), read_cores(RESULTS)))
    print(f"written: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
