"""The names that larq_benchmark_model prints are those of the schema, as in Python."""

import re
from pathlib import Path

from ai_edge_litert import schema_py_generated as schema

_ENGINE = Path(__file__).parents[2] / "larq_engine"
_NUMBERS = {name: n for name, n in vars(schema.BuiltinOperator).items() if name.isupper()}


def _text(file: str) -> str:
    return (_ENGINE / file).read_text()


def _lines(file: str, pattern: str) -> list[str]:
    return re.findall(pattern, _text(file), re.MULTILINE)


def test_numbers_have_the_schemas_names() -> None:
    names = _lines("model_file/builtin.cc", r'^    "(\w+)",$')
    assert len(names) > 150
    assert [_NUMBERS[name] for name in names] == list(range(len(names)))


def test_constants_are_the_schemas_numbers() -> None:
    constants = re.findall(r"^  k(\w+) = (\d+),$", _text("model_file/builtin.h"), re.MULTILINE)
    assert len(constants) > 50
    by_name = {name.replace("_", "").lower(): number for name, number in _NUMBERS.items()}
    assert {name: by_name[name.lower()] for name, _ in constants} == {
        name: int(number) for name, number in constants
    }


def test_steps_of_xnnpack_belong_to_operators_of_the_schema() -> None:
    ops = _lines("benchmark_model/xnnpack_names.cc", r'^    \{"[\w ]+", "(\w+)"\},')
    assert len(ops) > 60
    assert {*ops} <= _NUMBERS.keys()
