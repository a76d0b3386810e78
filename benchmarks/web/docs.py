"""Writes kept results into docs/browser_performance.md: `make bench-docs`.

Each pair of marks of the page encloses a block that is made from the files in benchmarks/results,
one file for each kind of core. All figures of the page are in these blocks.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmarks.contenders import OURS, OURS_BITS, OURS_BITS_FLOAT
from benchmarks.docs import CORES
from benchmarks.kept import RESULTS, read_kept
from benchmarks.kept_runs import (
    NOTHING,
    Run,
    against,
    facts,
    quartiles,
    share,
    threads_of,
    times,
    wrapped,
)
from benchmarks.machine import ROOT
from benchmarks.markdown import replace_between, table
from benchmarks.web.contenders import OURS_IN_PAGE, PEERS

PAGE = ROOT / "docs" / "browser_performance.md"

_MODELS, _CONVS, _START = "web_models", "web_convs", "web_start"
_FORMS = {
    OURS.name: "float to float",
    OURS_BITS_FLOAT.name: "bits to float",
    OURS_BITS.name: "bits to bits",
}
_SIZES = {
    "all": "all files, KB",
    "all_brotli": "with brotli",
    "module": "its module, KB",
    "module_brotli": "with brotli",
}

Cores = Mapping[str, list[Run]]  # runs in browsers, by the names of cores


def read_cores(folder: Path) -> dict[str, list[Run]]:
    """Reads the kept results of a folder; a core without runs in browsers is left out."""
    peers = [peer.name for peer in PEERS]
    cores = {}
    for file in sorted(folder.glob("*.json")):
        kept = read_kept(file).values()
        runs = [Run(summary, peers) for summary in kept if summary["benchmark"].startswith("web_")]
        if runs:
            cores[CORES.get(file.stem, file.stem)] = runs
    return cores


def models(run: Run) -> Iterator[str]:
    """Yields the times of whole models."""
    yield from wrapped(
        f"One image, {threads_of(run)}, {facts(run)} Brackets behind other engines have how many "
        "times as fast larq_engine is."
    )
    yield ""
    here = run.has(OURS_IN_PAGE.name, next(iter(run.cases)))
    rows = [
        [
            title,
            quartiles(run, OURS.name, case, 2),
            *([quartiles(run, OURS_IN_PAGE.name, case, 2)] if here else []),
            *(against(run, peer, case) for peer in run.peers),
        ]
        for case, title in run.cases.items()
    ]
    ours = [OURS.name, *(["with `worker: false`"] if here else [])]
    yield from table(["ms (quartiles)", *ours, *run.peers], rows)


def convs(run: Run) -> Iterator[str]:
    """Yields the rates of convolutions, and their shares of the limit."""
    name, rate = run.limit
    yield from wrapped(
        f"{threads_of(run).capitalize()}, {facts(run)} The limit is {rate:.0f} billion products a "
        f"second, of the loop `{name}`."
    )
    yield ""
    rows = [
        [label, *(_rate(run, subject, case) for case in run.cases)]
        for subject, label in {**_FORMS, **{peer: peer for peer in run.peers}}.items()
    ]
    titles = ["billions of products a second (share of the limit)", *run.cases.values()]
    yield from table(titles, rows)


def _rate(run: Run, subject: str, case: str) -> str:
    if not run.has(subject, case):
        return NOTHING
    return f"{run.share(subject, case) * run.limit[1]:.1f} ({share(run, subject, case)})"


def start(run: Run) -> Iterator[str]:
    """Yields times from a click to the first answer, and the bytes of engines."""
    yield from wrapped(f"{threads_of(run).capitalize()}, {facts(run)}")
    yield ""
    rows = [
        [
            title,
            quartiles(run, OURS.name, case, 0),
            *(_against(run, peer, case) for peer in run.peers),
        ]
        for case, title in run.cases.items()
    ]
    yield from table(["ms to the first answer (quartiles)", OURS.name, *run.peers], rows)
    yield ""
    sizes: dict[str, dict[str, int]] = run.summary["bytes"]
    rows = [
        [name, *(f"{each[size] / 1e3:,.0f}" for size in _SIZES)] for name, each in sizes.items()
    ]
    yield from table(["of the engine a page loads", *_SIZES.values()], rows)


def _against(run: Run, peer: str, case: str) -> str:
    if not run.has(peer, case):
        return NOTHING
    return f"{run.ms(peer, case):.0f} ({times(run.ratios(peer)[case])})"


BLOCKS: Mapping[str, Callable[[Run], Iterator[str]]] = {
    _MODELS: models,
    _CONVS: convs,
    _START: start,
}


def block(name: str, cores: Cores) -> Iterator[str]:
    """Yields what all cores have of a benchmark."""
    found = [
        (core, run)
        for core, runs in cores.items()
        for run in sorted(runs, key=lambda run: run.threads)
        if run.summary["benchmark"] == name
    ]
    if not found:
        yield "No quiet run is kept yet."
    for number, (core, run) in enumerate(found):
        if number:
            yield ""
        yield f"### {core}, {threads_of(run)}"
        yield ""
        yield from BLOCKS[name](run)


def render(page: str, cores: Cores) -> str:
    """Returns the page with all its blocks made anew."""
    for name in BLOCKS:
        begin, end = (f"<!-- Made by `make bench-docs`: {w} {name}. -->" for w in ("begin", "end"))
        page = replace_between(page, begin, end, "\n".join(block(name, cores)))
    return page


def main() -> None:
    argparse.ArgumentParser(
        prog="python -m benchmarks.web.docs", description=__doc__.splitlines()[0]
    ).parse_args()
    PAGE.write_text(render(PAGE.read_text(), read_cores(RESULTS)))
    print(f"written: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
