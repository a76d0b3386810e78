"""Describes what an exported model does, in order: calls of kernels, and the memory between."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
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


# Lines of an image, from the first one to the one after the last.
Range = tuple[int, int]


@dataclass(frozen=True)
class Lines:
    """Says how a step reads and makes the lines of images."""

    # The fields of le_axis, of all lines.
    window: dict[str, int]
    # Returns the fields that a step with the window of a part has instead of its own.
    change: Callable[["Step", dict[str, int]], dict[str, Any]]
    # Other memory is read beside the image, such as a number for each channel.
    beside: tuple[Memory, ...] = ()

    @property
    def rows(self) -> int:
        return self.window["out_size"]

    def read(self, made: Range) -> Range:
        """Returns the lines that are read for some of the output."""
        first, last = made
        begin = first * self.window["stride"] - self.window["pad"]
        extent = (self.window["taps"] - 1) * self.window["dilation"] + 1
        end = (last - 1) * self.window["stride"] - self.window["pad"] + extent
        return max(0, begin), min(self.window["in_size"], end)

    def window_of(self, made: Range) -> dict[str, int]:
        """Returns the window over the lines that `read` names alone."""
        first, last = self.read(made)
        begin = made[0] * self.window["stride"] - self.window["pad"]
        sizes = {"in_size": last - first, "out_size": made[1] - made[0], "pad": first - begin}
        return {**self.window, **sizes}


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
    # Set by lowering.py, of the operator: its kind, its layer, whether it computes floats, and how
    # it makes some lines of an image alone (lines.py).
    kind: str = ""
    layer: str = ""
    has_floats: bool = False
    lines: Lines | None = None
    # The products that it computes, or the values where there are none.
    work: int = 0
    # Its place in the plan, which its parts in strips keep, and the lines that those make.
    number: int = -1
    strip: Range | None = None

    def with_memory(self, other: Callable[[Memory], Memory]) -> "Step":
        """Returns the same call with other memory."""

        def chosen(argument: Any) -> Any:
            if isinstance(argument, tuple):
                return other(argument[0]), argument[1]
            return other(argument) if isinstance(argument, Memory) else argument

        return replace(
            self,
            arguments=[chosen(argument) for argument in self.arguments],
            reads=[other(memory) for memory in self.reads],
            writes=[other(memory) for memory in self.writes],
            scratch=None if self.scratch is None else other(self.scratch),
            in_place=None if self.in_place is None else other(self.in_place),
        )

    @property
    def operator(self) -> str:
        """Returns the operator's kind, and its lines where they are not all."""
        return (
            self.kind
            if self.strip is None
            else f"{self.kind}, lines {self.strip[0]} to {self.strip[1] - 1}"
        )


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

    def flash(self) -> list[int]:
        """Returns the bytes of constants that each step adds to those before it."""
        seen = set()
        added = []
        for step in self.steps:
            new = {(c.c_type, c.values.tobytes()): c.bytes for c in step.constants}
            added.append(sum(size for key, size in new.items() if key not in seen))
            seen |= set(new)
        return added


def copied(plan: Plan) -> Plan:
    """Returns a plan whose memory can be placed without changing that of another."""
    made: dict[int, Memory] = {}

    def copy(memory: Memory) -> Memory:
        # Steps share the caller's memory with the ports, and nobody places it.
        return memory if memory.name else made.setdefault(id(memory), replace(memory))

    steps = [step.with_memory(copy) for step in plan.steps]
    return Plan(plan.inputs, plan.outputs, steps)


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
