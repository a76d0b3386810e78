"""The golden of file_values_test.cc is what LiteRT's schema module reads, and is complete."""

import re
from pathlib import Path

from ai_edge_litert import schema_py_generated as schema

from tests.model_file.file_values import FILE, GOLDEN, NAMES, READ, describe

_SOURCES = Path(__file__).parents[2] / "larq_engine/model_file"


def test_golden_is_what_the_schema_reads() -> None:
    assert GOLDEN.read_text().splitlines() == list(describe(FILE.read_bytes()))


def test_every_row_is_in_the_file() -> None:
    rows = re.findall(r"\{builtin::k(\w+), \d+, \w+\}", (_SOURCES / "read_options.cc").read_text())
    assert len(rows) > 40
    assert sorted(row.lower() for row in rows) == sorted(op.replace("_", "").lower() for op in READ)


def test_every_field_is_in_the_file() -> None:
    header = (_SOURCES / "file_options.h").read_text()
    fields = re.findall(r"^  [\w:<>]+ (\w+) = ", header, re.MULTILINE)
    assert len(fields) > 30
    read = {*re.findall(r" (\w+)=\S", "".join(GOLDEN.read_text().splitlines(keepends=True)[1:]))}
    assert {*fields} == read == {*NAMES.values()} - {None} | {"state"}


def test_operators_of_the_file_are_of_the_schema() -> None:
    assert {*READ} <= vars(schema.BuiltinOperator).keys()
