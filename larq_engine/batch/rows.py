"""A column of rows, for an input of a model: which rows it takes, and why not the others.

Pipelines hand over arrays with a row at each index of axis 0, or, where rows may differ, arrays and
lists of objects: arrays, nested lists, numbers, None.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np

from larq_engine.python.tensors import Array, Shape, TensorInfo

# The kinds of NumPy's types that floats and integers are made of; others must be the input's.
_TAKEN = {"f": "biuf", "i": "biu", "u": "biu"}


@dataclass(frozen=True)
class Rows:
    """The rows of a column, in the input's type, and by number what is wrong with some of them."""

    values: Array | Sequence[Array]
    errors: dict[int, str]

    def take(self, numbers: Sequence[int]) -> Array:
        """Rows of one shape."""
        if isinstance(self.values, np.ndarray):
            # A view, where these are all.
            whole = len(numbers) == len(self.values)
            return self.values if whole else self.values[numbers]
        return np.stack([self.values[number] for number in numbers])


class _BadRowError(ValueError):
    pass


def check_rows(title: str, values: Any, info: TensorInfo) -> Rows:
    """Looks at each row of a column, of which errors speak by its title.

    Raises:
        ValueError: It has no rows, as it is a single number.
    """
    try:
        iter(values)
    except TypeError:
        raise ValueError(f"{title}: expected a row at each index, got one value") from None
    is_masked = isinstance(values, np.ma.MaskedArray)
    if isinstance(values, np.ndarray) and values.dtype != object and not is_masked:
        try:
            rows = _convert(values, values.shape[1:], info)
        except _BadRowError:
            pass  # Of which row is it true?
        else:
            return Rows(rows, {int(n): _describe(title, info, "NaN") for n in _find_nan(rows)})
    checked: list[Array] = []
    errors: dict[int, str] = {}
    for number, row in enumerate(values):
        try:
            checked.append(_check_row(row, info))
        except _BadRowError as error:
            errors[number] = _describe(title, info, str(error))
            checked.append(np.empty(0, info.dtype))
    return Rows(checked, errors)


def _describe(title: str, info: TensorInfo, got: str) -> str:
    shape = ", ".join(map(str, row_shape(info)))
    return f"{title}: expected {info.dtype} of the shape ({shape}), got {got}"


def _check_row(row: Any, info: TensorInfo) -> Array:
    if isinstance(row, np.ma.MaskedArray) and np.any(row.mask):
        raise _BadRowError("masked values")
    try:
        array = np.asarray(_unwrap(row))
    except ValueError:
        raise _BadRowError("lists that differ in length") from None
    except Exception as error:  # Whatever an object says of itself when it is asked for an array.
        raise _BadRowError(f"{type(row).__name__}, no array ({error})") from None
    if array.dtype == object:
        raise _BadRowError(_name_first_object(array))
    converted = _convert(array, array.shape, info)
    if len(_find_nan(converted[np.newaxis])):
        raise _BadRowError("NaN")
    return converted


def _unwrap(row: Any) -> Any:
    """Arrays of objects as lists: those of lists of lists are arrays of arrays."""
    if isinstance(row, np.ndarray) and row.dtype == object:
        return [_unwrap(part) for part in row] if row.ndim else row.item()
    return row


def _name_first_object(values: Array) -> str:
    """What keeps values from being numbers: None, or the name of a type."""
    for value in values.flat:
        if value is None:
            return "None"
        if not isinstance(value, (Number, np.generic)):
            return type(value).__name__
    return "whole numbers of more than 64 bits"


def _convert(values: Array, shape: Shape, info: TensorInfo) -> Array:
    """The values, of rows of one shape, in the input's type: numbers only, and only such that it
    holds but for rounding."""
    dtype = info.dtype
    if values.dtype != dtype and values.dtype.kind not in _TAKEN.get(dtype.kind, ""):
        raise _BadRowError(str(values.dtype))
    wanted = row_shape(info)
    if len(shape) != len(wanted) or any(
        want not in ("?", got) or not got for want, got in zip(wanted, shape, strict=True)
    ):
        raise _BadRowError(f"the shape {shape}")
    if dtype.kind in "iu" and values.size:
        limits, lowest, highest = np.iinfo(dtype), values.min(), values.max()
        if lowest < limits.min or highest > limits.max:
            raise _BadRowError(f"values from {lowest} to {highest}")
    try:
        with np.errstate(over="raise"):
            return values.astype(dtype, copy=False)
    except FloatingPointError:
        raise _BadRowError(f"values beyond the largest {dtype}") from None


def row_shape(info: TensorInfo) -> tuple[int | str, ...]:
    """The shape of a sample; "?" for what the file leaves open."""
    sizes = zip(info.shape[1:], info.signature[1:], strict=True)
    return tuple("?" if open_ == -1 else size for size, open_ in sizes)


def _find_nan(rows: Array) -> Array:
    """The numbers of rows with NaN, whose sign would be a number, and the result like any other."""
    if rows.dtype.kind != "f":
        return np.empty(0, np.intp)
    return np.flatnonzero(np.isnan(rows).any(axis=tuple(range(1, rows.ndim))))
