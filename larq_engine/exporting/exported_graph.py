"""Reads and checks a model that is to be exported as C or as hardware."""

from collections.abc import Callable
from typing import TypeVar

from larq_engine.converter import schema
from larq_engine.converter.graph import Graph
from larq_engine.python.interpreter import Interpreter

_T = TypeVar("_T")


def single_graph(content: bytes) -> Graph:
    """Returns the graph of a model.

    Raises:
        ValueError: It has several signatures.
    """
    read = schema.read(content)
    if len(schema.runnable_graphs(read)) > 1:
        names = ", ".join(f"'{name}'" for name, _ in schema.signature_graphs(read))
        raise ValueError(
            f"model: expected one signature, got {names}; convert one of them alone, with "
            "`signature_keys`"
        )
    return read.graphs[0]


def check_with_engine(content: bytes) -> None:
    """Raises an error for what the engine would not compute: it checks all fields of a file."""
    try:
        with Interpreter(content, host="none"):
            pass
    except ValueError as error:
        raise ValueError(
            "expected a model that the engine runs without a host, whose results the export has; "
            f"{error}"
        ) from error


def made_of_operators(make: Callable[[], _T]) -> _T:
    """Returns what `make` makes of operators; faults of theirs are a ValueError."""
    try:
        return make()
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError) as error:
        raise ValueError(
            f"model: expected operators whose inputs and options fit them, got others "
            f"({type(error).__name__}: {error}); the file is corrupted"
        ) from error
