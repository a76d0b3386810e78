"""Writes what `make gpu-check` found into docs/gpu_results.md: `make gpu-docs` runs it.

    python -m benchmarks.gpu.docs [--results FOLDER] [--page FILE]

The text between the two marks of the page is made from the files of the folder: a table for each
step, with the machine that ran it. A row with a wrong result has no time.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchmarks.gpu.bench import ROOT, Record
from benchmarks.gpu.steps import STEPS, Step
from benchmarks.markdown import replace_between, table

Cell = Callable[[Record], str]

RESULTS = ROOT / "docs" / "gpu_results"
PAGE = ROOT / "docs" / "gpu_results.md"
BEGIN = "<!-- Made by `make gpu-docs`: begin. -->"
END = "<!-- Made by `make gpu-docs`: end. -->"

_NOT_MEASURED = """No device has been measured yet. To measure one: `make gpu-bundle`, then this:

```
make gpu-check RESULTS=docs/gpu_results && make gpu-docs
```"""

_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""))

# Steps whose records are times of kernels. In the tables of other steps, each field is a column.
_KERNEL_STEPS = ("layers", "layers_of_all_rows", "products")
_PROBLEM = ("product", "layer", "batch", "output")


# ---- Cells ---------------------------------------------------------------------------------------


def _text(name: str, value: object) -> str:
    """Formats a field by the end of its name: `_s` means seconds, `_per_s` a rate."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " to ".join(_text(name, item) for item in value)
    if isinstance(value, (int, float)) and name.endswith("_per_s"):
        size, prefix = next(((s, p) for s, p in _PREFIXES if abs(value) >= s), (1, ""))
        return f"{value / size:.4g} {prefix}/s".replace(" /s", "/s")
    if isinstance(value, (int, float)) and name.endswith("_s"):
        return f"{value * 1e6:.4g} us"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value).replace("|", "\\|")


def _title(name: str) -> str:
    return name.removesuffix("_per_s").removesuffix("_s").replace("_", " ")


def _field(name: str) -> tuple[str, Cell]:
    return _title(name), lambda row: _text(name, row.get(name))


def _is_wrong(row: Record) -> bool:
    return bool(row.get("wrong"))


def _time(row: Record) -> str:
    if _is_wrong(row):
        return "**wrong**"
    return _text("median_s", row.get("median_s"))


def _floor_of(peaks: Record) -> Cell:
    """Returns a cell: the least time at the GPU's peak rates, as a share of the kernel's time."""
    rates = [rate for name, rate in peaks.items() if name.endswith("_products_per_s")]
    copies = peaks.get("copy_bytes_per_s")

    def cell(row: Record) -> str:
        if _is_wrong(row) or not rates or not copies or "products" not in row:
            return "-"
        floor = max(row["products"] / max(rates), row["bytes"] / copies)
        return f"{100 * floor / row['median_s']:.0f} %"

    return cell


def _columns(step: str, rows: Sequence[Record], peaks: Record) -> list[tuple[str, Cell]]:
    """Returns the columns for a step's records: a title and a cell each."""
    if step in _KERNEL_STEPS:
        named = (*_PROBLEM, "row", "launches")
        return [
            *(_field(name) for name in named if any(name in row for row in rows)),
            ("median", _time),
            ("quartiles", lambda row: _text("quartiles_s", row.get("quartiles_s"))),
            ("of the floor", _floor_of(peaks)),
        ]
    names = dict.fromkeys(name for row in rows for name in row)
    is_timed = "median_s" in names
    hidden = {"wrong"} if is_timed else set()
    return [
        ("median", _time) if name == "median_s" else _field(name)
        for name in names
        if name not in hidden
    ]


_FASTEST = 3  # kernels that are shown for each problem


def _fastest(rows: Iterable[Record]) -> list[Record]:
    """Returns the records of the fastest kernels, and of wrong ones, for each problem."""
    problems: dict[tuple[object, ...], list[Record]] = {}
    for row in rows:
        problems.setdefault(tuple(row.get(name) for name in _PROBLEM), []).append(row)
    found = []
    for of_problem in problems.values():
        right = [row for row in of_problem if not _is_wrong(row)]
        found += sorted(right, key=lambda row: float(row["median_s"]))[:_FASTEST]
        found += filter(_is_wrong, of_problem)
    return found


# ---- Blocks --------------------------------------------------------------------------------------


def _show(step: str, result: Sequence[Record], peaks: Record) -> list[str]:
    """Returns a table of a step's records, or of the fields if there is only one record."""
    if not result:
        return ["Nothing was found."]
    if len(result) == 1:
        return table(("what", "found"), [[_title(n), _text(n, v)] for n, v in result[0].items()])
    columns = _columns(step, result, peaks)
    if step == "layers_of_all_rows":
        result = _fastest(result)
    rows = ([cell(row) for _, cell in columns] for row in result)
    return table([title for title, _ in columns], rows)


def _machine(records: dict[str, Record]) -> str:
    """Returns the name and driver of the GPU, as nvidia-smi told the first step."""
    fields = str(_first(records, "environment").get("gpu", "")).split(", ")
    return f"{fields[0]}, driver {fields[1]}" if len(fields) > 1 else "of an unknown machine"


def _first(records: dict[str, Record], step: str) -> Record:
    """Returns a step's first record, or an empty one if it has none."""
    found: list[Record] = records.get(step, {}).get("result", [])
    return found[0] if found else {}


def _block(step: Step, records: dict[str, Record]) -> list[str]:
    lines = [f"### {step.name.replace('_', ' ').capitalize()}", "", step.purpose, ""]
    record = records.get(step.name)
    if record is None:
        return [*lines, "Not run.", ""]
    lines += [f"{_machine(records)}, {record.get('date', 'no date')}:", ""]
    if "left_out" in record:
        return [*lines, f"Left out: {record['left_out']}.", ""]
    if "error" in record:
        kept = " What it found before:" if "result" in record else ""
        lines += [f"**Failed**: {record['error']}.{kept}", ""]
        if not kept:
            return lines
    return [*lines, *_show(step.name, record["result"], _first(records, "peaks")), ""]


def render(results: Path) -> str:
    """Returns the text between the marks, made from the files of the folder that are there."""
    records = {}
    for step in STEPS:
        path = results / f"{step.name}.json"
        if path.exists():
            records[step.name] = json.loads(path.read_text())
    if not records:
        return _NOT_MEASURED
    blocks = (_block(step, records) for step in STEPS)
    return "\n".join(line for block in blocks for line in block).rstrip()


def replace(page: str, made: str) -> str:
    """Returns the page with another text between its marks."""
    return replace_between(page, BEGIN, END, made)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu.docs", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=RESULTS,
        metavar="FOLDER",
        help="what `make gpu-check` wrote (default: docs/gpu_results)",
    )
    parser.add_argument(
        "--page",
        type=Path,
        default=PAGE,
        metavar="FILE",
        help="the page to change (default: docs/gpu_results.md)",
    )
    arguments = parser.parse_args()
    page = replace(arguments.page.read_text(), render(arguments.results))
    arguments.page.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
