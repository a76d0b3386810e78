"""The tables of the zoo's models."""

from benchmarks import zoo

SEEN = {
    "name": "Net",
    "float_bytes": 5_000_000,
    "bytes": 250_400,
    "binary": 3,
    "weights_only": 1,
    "in_float": 2,
    "reasons": [
        ["its input 'a/Round' is the result of ROUND", "use sign", 1],
        ["its input 'b/Round' is the result of ROUND", "use sign", 2],
        ["it is wide", "make it narrow", 1],
    ],
    "differences": [1e-6, 3.24e-6],
    "official_seconds": 2.04,
    "rewriting_seconds": 0.307,
    "float_difference": 5e-7,
}


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_model_is_a_row() -> None:
    lines = zoo.format_table([SEEN], {"Net": {"bytes": 300_000, "seconds": 4.0}}).splitlines()
    head, rule, row = (cells(line) for line in lines)
    assert len(head) == len(rule) == len(row)
    assert row == [
        *("Net", "5.000", "0.250", "0.300", "3 / 1 / 2"),
        *("2.0", "0.31", "4.0", "3.2e-06", "5.0e-07"),
    ]


def test_where_lce_fails_the_row_says_so() -> None:
    row = zoo.format_table([SEEN], {"Net": {"failure": "it crashed"}}).splitlines()[2]
    assert cells(row)[3:8] == ["fails", "3 / 1 / 2", "2.0", "0.31", ""]


def test_reasons_that_differ_in_a_tensor_are_one() -> None:
    rows = zoo.format_reasons([SEEN, {**SEEN, "name": "Other"}]).splitlines()[2:]
    assert [cells(row) for row in rows] == [
        ["its input is the result of ROUND", "use sign", "Net 3, Other 3"],
        ["it is wide", "make it narrow", "Net 1, Other 1"],
    ]
