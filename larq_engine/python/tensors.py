"""Describes a model's inputs and outputs, and makes random data that fits an input."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Shape = tuple[int, ...]
Array = npt.NDArray[Any]


_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of a model; -1 in `signature` is a dimension that the file leaves open."""

    name: str
    position: int
    index: int
    shape: Shape
    signature: Shape
    dtype: np.dtype[Any]
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]

    @property
    def scale(self) -> float | list[float] | None:
        """The scale; a list if there is one for each channel, None if it is not quantized."""
        return _single_or_list(self.scales)

    @property
    def zero_point(self) -> int | list[int] | None:
        """The zero point; a list if channels differ, None if it is not quantized."""
        distinct = set(self.zero_points)
        return _single_or_list(tuple(distinct) if len(distinct) == 1 else self.zero_points)

    @property
    def nbytes(self) -> int:
        """The size of the data."""
        return math.prod(self.shape) * self.dtype.itemsize

    def __str__(self) -> str:
        return f"'{self.name}' (#{self.position})"


def _single_or_list(values: Sequence[_Number]) -> _Number | list[_Number] | None:
    if not values:
        return None
    return values[0] if len(values) == 1 else list(values)


def describe(
    details: Iterable[Mapping[str, Any]], signature_names: Mapping[str, int] | None
) -> tuple[TensorInfo, ...]:
    """Returns the host's tensor details as records.

    A tensor's name is the one in the model's signature if that names each of these tensors, else
    the tensor's own if these are all different, else "tensor_0", "tensor_1"...
    """
    rows = list(details)
    names = [row["name"] for row in rows]
    in_signature = {index: name for name, index in (signature_names or {}).items()}
    if all(row["index"] in in_signature for row in rows):
        names = [in_signature[row["index"]] for row in rows]
    if len(set(names)) < len(names) or not all(names):
        names = [f"tensor_{position}" for position in range(len(rows))]
    return tuple(
        TensorInfo(
            name=name,
            position=position,
            index=int(row["index"]),
            shape=tuple(int(d) for d in row["shape"]),
            signature=tuple(int(d) for d in row["shape_signature"]),
            dtype=np.dtype(row["dtype"]),
            scales=tuple(float(s) for s in row["quantization_parameters"]["scales"]),
            zero_points=tuple(int(z) for z in row["quantization_parameters"]["zero_points"]),
        )
        for position, (name, row) in enumerate(zip(names, rows, strict=True))
    )


def join(parts: Sequence[Array], name: str) -> Array:
    """Joins pieces along axis 0.

    Raises:
        ValueError: They are scalars, or their other axes differ.
    """
    first = parts[0]
    for part in parts:
        if not part.ndim or part.shape[1:] != first.shape[1:]:
            raise ValueError(
                f"{name}: expected pieces that can be joined along axis 0, got the shapes "
                f"{first.shape} and {part.shape}; call predict for each sample"
            )
    return np.concatenate(parts)


def random_data(info: TensorInfo, generator: np.random.Generator) -> Array:
    """Returns data of the tensor's shape: normal floats, any 8- or 16-bit integers, bools.

    Wider integers are 0 or 1, because they are often indices.
    """
    if info.dtype.kind == "f":
        return generator.standard_normal(info.shape).astype(info.dtype)
    if info.dtype.kind in "iu" and info.dtype.itemsize <= 2:
        limits = np.iinfo(info.dtype)
        return generator.integers(
            limits.min, limits.max, info.shape, dtype=info.dtype, endpoint=True
        )
    return generator.integers(0, 2, info.shape).astype(info.dtype)
