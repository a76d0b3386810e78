"""Checks a column of rows for an input of a model: which rows fit, and why others do not.

Pipelines hand over arrays with a row at each index of axis 0. If rows may differ, they hand over
arrays and lists of objects: arrays, nested lists, numbers, None.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np

from larq_engine.python.tensors import Array, Shape, TensorInfo

# Kinds of NumPy's types that are cast to floats and integers; other types must be the input's.
_TAKEN = {"f": "biuf", "i": "biu", "u": "biu"}


@dataclass(frozen=True)
class Rows:
    """Rows of a column, in the input's type, and errors by the numbers of the wrong rows."""

    values: Array | Sequence[Array]
    errors: dict[int, str]

    def take(self, numbers: Sequence[int]) -> Array:
        """Returns these rows, which have one shape, as an array."""
        if isinstance(self.values, np.ndarray):
            # All rows are returned as a view.
            whole = len(numbers) == len(self.values)
            return self.values if whole else self.values[numbers]
        return np.stack([self.values[number] for number in numbers])


class _BadRowError(ValueError):
    pass


def check_rows(title: str, values: Any, info: TensorInfo) -> Rows:
    """Checks each row of a column; errors name the column by its title.

    Raises:
        ValueError: The column is a single number, and has no rows.
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
            pass  # The loop below finds the bad rows.
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
    except Exception as error:  # An object may raise anything when it is asked for an array.
        raise _BadRowError(f"{type(row).__name__}, no array ({error})") from None
    if array.dtype == object:
        raise _BadRowError(_name_first_object(array))
    converted = _convert(array, array.shape, info)
    if len(_find_nan(converted[np.newaxis])):
        raise _BadRowError("NaN")
    return converted


def _unwrap(row: Any) -> Any:
    """Turns arrays of objects into lists: lists of lists may come as arrays of arrays."""
    if isinstance(row, np.ndarray) and row.dtype == object:
        return [_unwrap(part) for part in row] if row.ndim else row.item()
    return row


def _name_first_object(values: Array) -> str:
    """Says why values are no numbers: returns None's or a type's name."""
    for value in values.flat:
        if value is None:
            return "None"
        if not isinstance(value, (Number, np.generic)):
            return type(value).__name__
    return "whole numbers of more than 64 bits"


def _convert(values: Array, shape: Shape, info: TensorInfo) -> Array:
    """Converts rows of one shape to the input's type.

    Only numbers are taken, and only those that the type holds except for rounding."""
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
    """Returns the shape of a sample; "?" is a size that the file leaves open."""
    sizes = zip(info.shape[1:], info.signature[1:], strict=True)
    return tuple("?" if open_ == -1 else size for size, open_ in sizes)


def _find_nan(rows: Array) -> Array:
    """Returns the numbers of rows with NaN: its sign is a number, so no result would show it."""
    if rows.dtype.kind != "f":
        return np.empty(0, np.intp)
    return np.flatnonzero(np.isnan(rows).any(axis=tuple(range(1, rows.ndim))))
