"""Reads fields of JSON, and says in errors which field is wrong."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from larq_engine.python.whole_files import is_tflite


def load_object(content: bytes, name: str, mark: str, version: int, advice: str) -> "Fields":
    """Returns the file's object, which has its version under the key `mark`.

    Args:
        content: The bytes of the file.
        name: The beginning of errors.
        mark: The key that tells what kind of file it is.
        version: The latest version that is known.
        advice: How to get a right file.

    Raises:
        ValueError: It is no such file.
    """

    def refuse(expected: str, got: str) -> NoReturn:
        raise ValueError(f"{name}: expected {expected}, got {got}; {advice}")

    if not content.strip():
        refuse("JSON", "an empty file")
    if is_tflite(content):
        refuse("JSON", "a model")
    try:
        loaded = json.loads(content.decode(), parse_constant=_refuse_constant)
    except (UnicodeDecodeError, RecursionError) as error:
        refuse("JSON", f"something else ({error})")
    except json.JSONDecodeError as error:
        end = len(content.decode().rstrip())
        cut = " at its end: the file is cut off" if error.pos >= end else ""
        refuse("JSON", f"something else ({error}{cut})")
    except ValueError as error:
        raise ValueError(f"{name}: {error}; {advice}") from None
    if not isinstance(loaded, dict) or mark not in loaded:
        refuse(f"an object with the key {mark}", "another JSON file")
    found = loaded[mark]
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        refuse(f"a number from 1 on as {mark}", repr(found))
    if found > version:
        refuse(
            f"version {version} of {mark} or an earlier one",
            f"version {found}, of a later larq_engine: update this one",
        )
    return Fields(loaded, name)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"expected finite numbers, got {text}")


class Fields:
    """A JSON object whose fields are asked for by name and kind."""

    def __init__(self, fields: Mapping[str, Any], where: str, separator: str = ": ") -> None:
        self._fields = fields
        self._where = where
        self._separator = separator

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Raises the ValueError that names the field."""
        where = f"{self._where}{self._separator}{key}"
        got = repr(self._fields[key])[:80] if key in self._fields else "no such key"
        raise ValueError(f"{where}: expected {expected}, got {got}")

    def has(self, key: str) -> bool:
        """Tells whether the field is there and not null."""
        return self._fields.get(key) is not None

    def text(self, key: str) -> str:
        value = self._fields.get(key)
        if not isinstance(value, str):
            self.refuse(key, "a text")
        return value

    def optional_text(self, key: str) -> str | None:
        return self.text(key) if self.has(key) else None

    def texts(self, key: str) -> tuple[str, ...]:
        values = self._fields.get(key)
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            self.refuse(key, "a list of texts")
        return tuple(values)

    def choice(self, key: str, choices: Sequence[str]) -> str:
        value = self.text(key)
        if value not in choices:
            self.refuse(key, f"one of {', '.join(choices)}")
        return value

    def count(self, key: str, least: int = 0) -> int:
        value = self._fields.get(key)
        if not _is_count(value, least):
            self.refuse(key, f"a whole number from {least} on")
        return int(value)  # type: ignore[arg-type]

    def optional_count(self, key: str, least: int = 0) -> int | None:
        return self.count(key, least) if self.has(key) else None

    def counts(self, key: str) -> tuple[int, ...]:
        values = self._fields.get(key)
        if not isinstance(values, list) or not all(_is_count(value, 0) for value in values):
            self.refuse(key, "a list of whole numbers from 0 on")
        return tuple(values)

    def amount(self, key: str) -> float:
        """Returns a number that is not negative."""
        value = self._fields.get(key)
        if not _is_number(value) or not value >= 0:  # type: ignore[operator]
            self.refuse(key, f"0 or a number from {_SMALLEST:.0e} to {_LARGEST:.0e}")
        return float(value)  # type: ignore[arg-type]

    def number(self, key: str) -> float:
        """Returns a number of any sign."""
        value = self._fields.get(key)
        if not _is_number(value):
            self.refuse(key, f"0 or a number from {_SMALLEST:.0e} to {_LARGEST:.0e} of any sign")
        return float(value)  # type: ignore[arg-type]

    def optional_amount(self, key: str) -> float | None:
        return self.amount(key) if self.has(key) else None

    def positive(self, key: str) -> float:
        value = self.amount(key)
        if value == 0:
            self.refuse(key, "a number above 0")
        return value

    def by_batch(self, key: str, required: bool = True) -> dict[int, int]:
        """Returns sizes by batch, such as {"1": 1000, "8": 8000}."""
        if not required and not self.has(key):
            return {}
        values = self._fields.get(key)
        if not isinstance(values, dict) or not all(
            _BATCH.fullmatch(batch) and _is_count(size, 0) for batch, size in values.items()
        ):
            self.refuse(key, 'a whole number for each batch, such as {"1": 1000}')
        return {int(batch): size for batch, size in values.items()}

    def part(self, key: str) -> "Fields":
        value = self._fields.get(key)
        if not isinstance(value, dict):
            self.refuse(key, "an object")
        return Fields(value, f"{self._where}{self._separator}{key}", ".")

    def parts(self, key: str, required: bool = True) -> list["Fields"]:
        """Returns the objects of a list."""
        if not required and not self.has(key):
            return []
        values = self._fields.get(key)
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            self.refuse(key, "a list of objects")
        where = f"{self._where}{self._separator}{key}"
        return [Fields(value, f"{where}[{number}]", ".") for number, value in enumerate(values)]

    def optional_map(self, key: str) -> Mapping[str, Any]:
        value = self._fields.get(key) or {}
        if not isinstance(value, dict):
            self.refuse(key, "an object")
        return value


_BATCH = re.compile("[1-9][0-9]{0,15}")

# No size is larger than this, and other readers of JSON round larger numbers.
_MAX_INTEGER = 1 << 53

# Sums and products of numbers within these bounds, and their inverses, are finite.
_SMALLEST, _LARGEST = 1e-60, 1e60


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return value == 0 or _SMALLEST <= abs(value) <= _LARGEST
    return _is_count(value, -_MAX_INTEGER)


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MAX_INTEGER
