"""The names that larq_benchmark_model prints are those of the schema, as in Python."""

import re
from pathlib import Path

from ai_edge_litert import schema_py_generated as schema

_FOLDER = Path(__file__).parents[2] / "larq_engine" / "benchmark_model"
_NUMBERS = {name: n for name, n in vars(schema.BuiltinOperator).items() if name.isupper()}


def _lines(file: str, pattern: str) -> list[str]:
    return re.findall(pattern, (_FOLDER / file).read_text(), re.MULTILINE)


def test_numbers_have_the_schemas_names() -> None:
    names = _lines("builtin_names.cc", r'^    "(\w+)",$')
    assert len(names) > 150
    assert [_NUMBERS[name] for name in names] == list(range(len(names)))


def test_steps_of_xnnpack_belong_to_operators_of_the_schema() -> None:
    ops = _lines("xnnpack_names.cc", r'^    \{"[\w ]+", "(\w+)"\},')
    assert len(ops) > 60
    assert {*ops} <= _NUMBERS.keys()
