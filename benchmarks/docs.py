"""Writes kept results into docs/performance.md: `make bench-docs`.

Each pair of marks of the page encloses a block that is made from the files in benchmarks/results,
one file for each kind of core. All figures of the page are in these blocks.
"""

from __future__ import annotations

import argparse
import textwrap
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
from benchmarks.kept import RESULTS, Summary, read_kept
from benchmarks.machine import ROOT
from benchmarks.markdown import replace_between, table
from benchmarks.report import compare

PAGE = ROOT / "docs" / "performance.md"
COLUMNS = 100  # letters of a line of text

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
_NOTHING = "-"  # stands for a figure that no file has


class Run:
    """A run of a benchmark, with the results of it that are kept."""

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        self.threads: int = summary["settings"]["threads"]
        self._results = {(each["subject"], each["case"]): each for each in summary["results"]}
        self.cases = {each["case"]: str(each["title"]) for each in summary["results"]}
        self._ratios = compare(summary["results"], OURS.name, list(PEERS))
        self.peers = list(self._ratios)

    def has(self, subject: str, case: str) -> bool:
        return (subject, case) in self._results

    def ms(self, subject: str, case: str) -> float:
        return float(self._results[subject, case]["median_ns"] / 1e6)

    def quartiles(self, subject: str, case: str) -> tuple[float, float]:
        low, high = self._results[subject, case]["quartiles_ns"]
        return low / 1e6, high / 1e6

    def ratios(self, peer: str) -> dict[str, float]:
        """Returns by case how many times as fast larq_engine is as the peer."""
        return self._ratios[peer]["cases"]

    def mean(self, peer: str) -> float:
        return self._ratios[peer]["means"][_GEOMETRIC]

    @property
    def limit(self) -> tuple[str, float]:
        """Returns the core's newest instructions that count bits, and their GMAC/s in this run."""
        limits: dict[str, float] = self.summary["limits_gmac_per_s"]
        return list(limits.items())[-1]

    def share(self, subject: str, case: str) -> float:
        """Returns the rate of a contender as a part of the limit."""
        result = self._results[subject, case]
        return float(result["macs"] / result["median_ns"] / self.limit[1])

    @property
    def profiles(self) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = self.summary.get("profiles", {})
        return found


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
        models = [Run(summary) for summary in kept.values() if summary["benchmark"] == "models"]
        models.sort(key=lambda run: run.threads)
        convs = Run(kept["convs"]) if "convs" in kept else None
        cores.append(Core(CORES.get(file.stem, file.stem), convs, models))
    return cores


# ---- In short ------------------------------------------------------------------------------------


def speeds(cores: Sequence[Core]) -> Iterator[str]:
    """Yields the table of ratios between larq_engine's speed and the peers' on each core."""
    rows = []
    for core in cores:
        if core.convs:
            means = {peer: _times(core.convs.mean(peer)) for peer in core.convs.peers}
            rows.append((f"{core.name}: convolutions A to D", means))
        for run in core.models:
            ranges = {peer: _range(list(run.ratios(peer).values())) for peer in run.peers}
            rows.append((f"{core.name}: whole models, {_threads(run)}", ranges))
    peers = [peer for peer in PEERS if any(peer in cells for _, cells in rows)]
    titles = ["times as fast as", *(PEERS[peer] for peer in peers)]
    yield from table(
        titles, ([row, *(cells.get(p, _NOTHING) for p in peers)] for row, cells in rows)
    )


def _times(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _range(ratios: Sequence[float]) -> str:
    return f"{_times(min(ratios))} to {_times(max(ratios))}"


def _threads(run: Run) -> str:
    number = {1: "one", 2: "two"}.get(run.threads, str(run.threads))
    return f"{number} thread" + ("s" if run.threads > 1 else "")


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
            shares = [_share(core.convs, subject, case) for case in core.convs.cases]
            rows.append([core.name, label, *shares, f"{rate:.0f} GMAC/s, `{name}`"])
    yield from table(["core", "layers of", *cases.values(), "limit of a core"], rows)
    for core in cores:
        for run in core.models:
            profiles = run.profiles.values()
            parts = [groups[_BINARY_GROUP] / sum(groups.values()) for groups in profiles]
            if parts:
                yield ""
                yield from _text(
                    f"On a {core.name} with {_threads(run)}, binary convolutions take "
                    f"{_percent(min(parts))} to {_percent(max(parts))} of a model's time."
                )


def _share(run: Run, subject: str, case: str) -> str:
    return _percent(run.share(subject, case)) if run.has(subject, case) else _NOTHING


def _text(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, COLUMNS, break_long_words=False, break_on_hyphens=False)


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
        yield from _text(
            f"{machine['cpu']} ({machine['cpu_ids']}) with {', '.join(machine['features'])}."
        )
        if core.convs:
            yield from ["", f"### {core.name}: convolutions A to D", ""]
            yield from _convs(core.convs)
        for run in core.models:
            yield from ["", f"### {core.name}: whole models, {_threads(run)}", ""]
            yield from _models(run, core.models[0])


def _facts(run: Run) -> str:
    rounds = run.summary["settings"]["rounds"]
    return f"{rounds} rounds, commit {run.summary['commit']}, {run.summary['compiler']}."


def _convs(run: Run) -> Iterator[str]:
    yield from _text(f"{_threads(run).capitalize()}, {_facts(run)}")
    yield ""
    rows = [
        [label, *(_quartiles(run, subject, case, 3) for case in run.cases)]
        for subject, label in {**FORMS, **{peer: PEERS[peer] for peer in run.peers}}.items()
    ]
    yield from table(["ms a layer (quartiles)", *run.cases.values()], rows)
    yield ""
    rows = [
        [
            PEERS[peer],
            *(_times(run.ratios(peer)[c]) if run.has(peer, c) else _NOTHING for c in run.cases),
            _times(run.mean(peer)),
        ]
        for peer in run.peers
    ]
    yield from table(["float to float, times as fast as", *run.cases, _GEOMETRIC], rows)


def _quartiles(run: Run, subject: str, case: str, places: int) -> str:
    if not run.has(subject, case):
        return _NOTHING
    low, high = run.quartiles(subject, case)
    return f"{run.ms(subject, case):.{places}f} ({low:.{places}f}-{high:.{places}f})"


def _models(run: Run, of_one_thread: Run) -> Iterator[str]:
    yield from _text(
        f"One image, {_facts(run)} Brackets behind other engines have how many times as fast "
        "larq_engine is."
    )
    yield ""
    gains = _gains(run, of_one_thread)
    gain_title = ["against one thread"] if gains else []
    rows = [
        [
            title,
            _quartiles(run, OURS.name, case, 2),
            *([_times(gains[case])] if gains else []),
            *(_peer(run, peer, case) for peer in run.peers),
        ]
        for case, title in run.cases.items()
    ]
    means = [
        *([_times(geometric_mean(gains.values()))] if gains else []),
        *(f"({_times(run.mean(peer))})" for peer in run.peers),
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


def _peer(run: Run, peer: str, case: str) -> str:
    if not run.has(peer, case):
        return _NOTHING
    return f"{run.ms(peer, case):.2f} ({_times(run.ratios(peer)[case])})"


def _profiles(profiles: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    names = list(dict.fromkeys(name for groups in profiles.values() for name in groups))
    rows = [
        [model, *(f"{groups[n]:.2f} ({_percent(groups[n] / sum(groups.values()))})" for n in names)]
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
