"""Writes the results of docs/networks.json into docs/networks.md, as tables and pictures.

    .venv/bin/python examples/networks.py --results docs/networks.json
    .venv/bin/python -m benchmarks.networks_page

The text between the marks of the page is made from the file, and so are docs/images/networks_* and
resnet18_*.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks import machine
from benchmarks.markdown import replace_between
from larq_engine.reporting import svg
from larq_engine.reporting.charts import Bar, Bars, draw_bars
from larq_engine.reporting.drawing import Drawing

Results = Mapping[str, Mapping[str, Any]]

DOCS = machine.ROOT / "docs"
# Names of the files' kinds in the results, and on the page.
FILES = {"float": "float", "int8": "int8", "ours": "ours", "our int8": "ours, int8"}
_COLOURS = {"int8": "device-1", "ours": "device-0", "our int8": "device-2"}
_RIGHT = {"keras": "Keras", "theirs_int8": "int8", "ours": "ours", "ours_int8": "ours, int8"}
_PARTLY = "resnet18"  # and resnet18-float1 and so on


def main() -> None:
    results = json.loads((DOCS / "networks.json").read_text())
    page = DOCS / "networks.md"
    page.write_text(with_tables(page.read_text(), results))
    for name, picture in pictures(results).items():
        (DOCS / "images" / name).write_bytes(picture)
        print(f"drawn: docs/images/{name}")


def with_tables(page: str, results: Results) -> str:
    """Returns the page with tables of these results between its marks."""
    for part, chosen in _parts(results).items():
        begin, end = (f"<!-- {part}, of networks.json: {mark}. -->" for mark in ("begin", "end"))
        lines = [*_accuracies(chosen), "", *_costs(chosen), "", _source(chosen)]
        page = replace_between(page, begin, end, "\n".join(lines))
    return page


def _parts(results: Results) -> dict[str, Results]:
    """Returns each table's networks: all, and the one that may be partly in float."""
    partly = {name: result for name, result in results.items() if name.startswith(_PARTLY)}
    plain = {name: result for name, result in results.items() if "-float" not in name}
    return {"networks": plain, "stages": {_stages(name): result for name, result in partly.items()}}


def _stages(name: str) -> str:
    return ", ".join(name.partition("-float")[2]) or "none"


def _accuracies(results: Results) -> Iterator[str]:
    yield f"| | % right: {' | '.join(_RIGHT.values())} | % as Keras: ours |"
    yield "| --- |" + (len(_RIGHT) + 1) * " ---: |"
    for name, result in results.items():
        if "accuracy" in result:
            shares = [result["accuracy"][key] for key in (*_RIGHT, "like_keras")]
            yield f"| {name} | {' | '.join(f'{100 * share:.1f}' for share in shares)} |"


def _costs(results: Results) -> Iterator[str]:
    titles = " | ".join(FILES.values())
    yield f"| | MB: {titles} | ms: {titles} |"
    yield "| --- |" + 2 * len(FILES) * " ---: |"
    for name, result in results.items():
        cells = [result["bytes"][key] / 1e6 for key in FILES] + [result["ms"][key] for key in FILES]
        yield f"| {name} | {' | '.join(f'{cell:.3g}' for cell in cells)} |"


def _source(results: Results) -> str:
    """Returns the machine and the commit of the results."""
    machines = {f"{one['cpu']}, {one['threads']} thread(s)" for one in results.values()}
    commits = {one["commit"] for one in results.values()}
    return f"{'; '.join(sorted(machines))}; commit {', '.join(sorted(commits))}."


def pictures(results: Results) -> dict[str, bytes]:
    """Returns pictures by the names of their files."""
    parts = _parts(results)
    drawings = {
        f"{name}_{kind}": _draw_costs(parts[part], kind, title)
        for name, part in (("networks", "networks"), (_PARTLY, "stages"))
        for kind, title in (("size", "Size of the file"), ("time", "Time of one image"))
    }
    drawings[f"{_PARTLY}_right"] = _draw_accuracies(parts["stages"])
    return {f"{name}.svg": svg.as_file(drawing) for name, drawing in drawings.items()}


def _draw_costs(results: Results, kind: str, title: str) -> Drawing:
    groups = []
    for name, result in results.items():
        costs = result["ms"] if kind == "time" else _megabytes(result["bytes"])
        unit = "ms" if kind == "time" else "MB"
        bars = [
            Bar(costs[key] / costs["float"], role, f"{FILES[key]}: {costs[key]:.3g} {unit}")
            for key, role in _COLOURS.items()
        ]
        groups.append(Bars(f"{_label(name)} (float: {costs['float']:.3g} {unit})", bars))
    return _draw(groups, f"{title}, in percent of float's", _source(results))


def _draw_accuracies(results: Results) -> Drawing:
    keys = dict(zip(("theirs_int8", "ours", "ours_int8"), _COLOURS.values(), strict=True))
    groups = [
        Bars(
            f"{_label(name)} (Keras: {100 * result['accuracy']['keras']:.1f} %)",
            [
                Bar(share := result["accuracy"][key], role, f"{_RIGHT[key]}: {100 * share:.1f} %")
                for key, role in keys.items()
            ],
        )
        for name, result in results.items()
    ]
    return _draw(groups, "Held-out digits that are right", _source(results))


def _draw(groups: Sequence[Bars], title: str, source: str) -> Drawing:
    described = "; ".join(
        f"{group.label}; {', '.join(bar.text for bar in group.bars)}" for group in groups
    )
    return draw_bars(groups, f"{title}: {source}", described, lambda share: f"{100 * share:.0f} %")


def _megabytes(sizes: Mapping[str, int]) -> dict[str, float]:
    return {key: size / 1e6 for key, size in sizes.items()}


def _label(name: str) -> str:
    return f"stages in float: {name}" if name[0].isdigit() or name == "none" else name


if __name__ == "__main__":
    main()
