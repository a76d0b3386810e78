"""Describes what an exported model does, in order: calls of kernels, and the memory between."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from larq_engine.converter.graph import NUMPY_TYPES, Tensor

Array = npt.NDArray[Any]

# Kernels read words in place, so everything in the arena begins at a multiple of this.
ALIGNMENT = 4


@dataclass(eq=False)
class Memory:
    """Bytes that a step writes and others read: in the arena, or the caller's (`name`)."""

    bytes: int
    name: str = ""
    # Set by arena.py; the caller's memory has none.
    offset: int = -1
    # The first step that writes and the last one that reads.
    first: int = -1
    last: int = -1


@dataclass(frozen=True, eq=False)
class Constant:
    """An array in flash. Equal ones of one type are written once."""

    role: str
    c_type: str
    values: Array

    @property
    def bytes(self) -> int:
        return self.values.nbytes


@dataclass(frozen=True)
class Reference:
    """The name of a constant, within the fields of a struct."""

    role: str


@dataclass(frozen=True, eq=False)
class Struct:
    """A constant struct of a kernel; `fields` maps names to whole numbers, lists, dictionaries and
    references."""

    role: str
    c_type: str
    fields: dict[str, Any]


@dataclass(frozen=True)
class Instance:
    """A kernel compiled for constants, such as the number of words under a filter.

    `text` is the function's C, with {name} for its name.
    """

    name: str
    text: str
    # Functions that it calls.
    calls: tuple["Instance", ...] = ()


@dataclass(eq=False)
class Step:
    """One call.

    `arguments` are numbers and texts of C, constants' and structs' roles as References, memory, and
    pairs of memory and the bytes to skip in it.
    """

    headers: tuple[str, ...]
    function: str
    arguments: list[Any]
    reads: list[Memory]
    writes: list[Memory]
    constants: list[Constant] = field(default_factory=list)
    structs: list[Struct] = field(default_factory=list)
    instance: Instance | None = None
    scratch: Memory | None = None
    # The output may be in the memory of this input, if nobody reads it later.
    in_place: Memory | None = None
    # Set by lowering.py, of the operator: its kind, its layer, and whether it computes floats.
    kind: str = ""
    layer: str = ""
    has_floats: bool = False

    @property
    def flash(self) -> int:
        return sum(constant.bytes for constant in self.constants)


@dataclass(frozen=True)
class Port:
    """An input or output of the model."""

    name: str
    tensor: Tensor
    memory: Memory


@dataclass(eq=False)
class Plan:
    inputs: list[Port]
    outputs: list[Port]
    steps: list[Step]

    def memories(self) -> list[Memory]:
        """Returns the memory in the arena, in the order of its first use."""
        found: dict[int, Memory] = {}
        for step in self.steps:
            scratch = [step.scratch] if step.scratch is not None else []
            for memory in [*step.reads, *step.writes, *scratch]:
                if not memory.name:
                    found.setdefault(id(memory), memory)
        return list(found.values())


def bytes_of(tensor: Tensor) -> int:
    return tensor.elements * np.dtype(NUMPY_TYPES[tensor.dtype]).itemsize


# The types of values that kernels compute with, as C knows them.
C_TYPES = {
    "FLOAT32": "float",
    "INT8": "int8_t",
    "UINT8": "uint8_t",
    "BOOL": "uint8_t",
    "INT32": "int32_t",
    "INT64": "int64_t",
}
