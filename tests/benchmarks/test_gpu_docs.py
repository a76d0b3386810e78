"""docs/gpu_results.md is made from what `make gpu-check` wrote: tables, failures, steps not run."""

import json
from pathlib import Path

import pytest

from benchmarks.gpu import docs
from benchmarks.gpu.steps import STEPS
from benchmarks.result_files import as_lines

_LAYER = {"layer": "A", "batch": 8, "output": "bits", "products": 4e9, "bytes": 1e6}
_RESULTS = {
    "environment": [{"gpu": "NVIDIA H200, 580.65.06, 1980 MHz", "delegate": "found"}],
    "peaks": [{"mma_b1_products_per_s": 1e15, "copy_bytes_per_s": 4e12, "graph_node_s": 1.5e-6}],
    "contract": [
        {"instruction": "mma", "wrong": 0},
        {"instruction": "ldmatrix", "wrong": 3},
    ],
    "layers": [
        _LAYER | {"row": "fast", "median_s": 8e-6, "quartiles_s": [7e-6, 9e-6]},
        _LAYER | {"row": "broken", "wrong": True},
    ],
    "products": [
        {"product": 8192, "output": "bits", "row": "large", "median_s": 1e-3, "products": 5e11}
        | {"quartiles_s": [9e-4, 1.1e-3], "bytes": 2.5e7},
        {"product": 8192, "output": "bits", "row": "broken", "wrong": True},
    ],
    "peers": [
        {"product": "8192x8192x8192", "type": "int8", "median_s": 2.5e-4},
        {"layer": "A", "batch": 1, "type": "float16", "median_s": 1e-5},
    ],
    "sanitizer": [{"tool": "memcheck", "found": "clean"}, {"tool": "racecheck", "found": "clean"}],
    "layers_of_all_rows": [
        *(
            _LAYER | {"row": name, "median_s": us * 1e-6, "quartiles_s": [7e-6, 9e-6]}
            for name, us in (("third", 9), ("fourth", 10), ("first", 7), ("second", 8))
        ),
        _LAYER | {"row": "broken", "wrong": True},
    ],
}


@pytest.fixture
def folder(tmp_path):
    for step, result in _RESULTS.items():
        record = {"step": step, "date": "2026-11-22", "result": result, "seconds": 1.0}
        (tmp_path / f"{step}.json").write_text(json.dumps(record))
    failed = {"step": "models", "date": "2026-11-22", "error": "exit status 1", "output": "..."}
    (tmp_path / "models.json").write_text(json.dumps(failed))
    return tmp_path


def _blocks(text: str) -> dict[str, list[str]]:
    """Returns the lines below each title."""
    blocks = (block.splitlines() for block in text.split("### ")[1:])
    return {lines[0]: [line for line in lines[1:] if line] for lines in blocks}


def test_every_step_has_a_block(folder):
    titles = [step.name.replace("_", " ").capitalize() for step in STEPS]
    assert list(_blocks(docs.render(folder))) == titles


def test_tables(folder):
    blocks = _blocks(docs.render(folder))
    assert blocks["Layers"][1:] == [
        "NVIDIA H200, driver 580.65.06, 2026-11-22:",
        "| layer | batch | output | row | median | quartiles | of the floor |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| A | 8 | bits | fast | 8 us | 7 us to 9 us | 50 % |",
        "| A | 8 | bits | broken | **wrong** | - | - |",
    ]
    assert blocks["Products"][2:] == [
        "| product | output | row | median | quartiles | of the floor |",
        "| --- | --- | --- | --- | --- | --- |",
        "| 8192 | bits | large | 1000 us | 900 us to 1100 us | 50 % |",
        "| 8192 | bits | broken | **wrong** | - | - |",
    ]
    assert blocks["Peaks"][2:] == [
        "| what | found |",
        "| --- | --- |",
        "| mma b1 products | 1 P/s |",
        "| copy bytes | 4 T/s |",
        "| graph node | 1.5 us |",
    ]
    assert blocks["Contract"][-2:] == ["| mma | 0 |", "| ldmatrix | 3 |"]
    assert blocks["Peers"][2:] == [
        "| product | type | median | layer | batch |",
        "| --- | --- | --- | --- | --- |",
        "| 8192x8192x8192 | int8 | 250 us | - | - |",
        "| - | float16 | 10 us | A | 1 |",
    ]


def test_of_all_rows_the_fastest_and_the_wrong_are_shown(folder):
    lines = _blocks(docs.render(folder))["Layers of all rows"][4:]
    assert [line.split(" | ")[3] for line in lines] == ["first", "second", "third", "broken"]


def test_what_failed_and_what_was_not_run(folder):
    blocks = _blocks(docs.render(folder))
    assert blocks["Models"][-1] == "**Failed**: exit status 1."
    assert blocks["Operators"][-1] == "Not run."
    (folder / "peaks.json").unlink()
    assert _blocks(docs.render(folder))["Layers"][-2].endswith("| 7 us to 9 us | - |")


def test_what_was_found_before_a_step_failed_and_what_was_left_out(folder):
    path = folder / "sanitizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"error": "no end after 9 s"}))
    left_out = {"step": "peers", "date": "2026-11-22", "left_out": "3 s were left, it needs 9 s"}
    (folder / "peers.json").write_text(json.dumps(left_out))
    blocks = _blocks(docs.render(folder))
    assert blocks["Sanitizer"][2:] == [
        "**Failed**: no end after 9 s. What it found before:",
        "| tool | found |",
        "| --- | --- |",
        "| memcheck | clean |",
        "| racecheck | clean |",
    ]
    assert blocks["Peers"][-1] == "Left out: 3 s were left, it needs 9 s."


def test_the_page_is_what_the_results_give():
    page = docs.PAGE.read_text()
    assert docs.replace(page, docs.render(docs.RESULTS)) == page, "run make gpu-docs"


def test_nothing_measured(tmp_path):
    text = docs.render(tmp_path)
    assert text.startswith("No device has been measured yet.")
    assert "make gpu-check RESULTS=docs/gpu_results && make gpu-docs" in text


def test_a_page_without_marks():
    with pytest.raises(ValueError, match=r"expected the line .* once, got 0"):
        docs.replace("# GPUs", "x")


@pytest.mark.parametrize("file", sorted(docs.RESULTS.iterdir()), ids=lambda file: file.stem)
def test_results_have_a_line_each(file: Path) -> None:
    assert file.read_text() == as_lines(json.loads(file.read_text()))
