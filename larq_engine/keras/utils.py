"""Provides small helpers for users' own quantizers and layers."""

from collections.abc import Callable
from typing import Any, TypeVar

from keras import saving

__all__ = [
    "memory_as_readable_str",
    "register_alias",
    "register_keras_custom_object",
    "set_precision",
]

_T = TypeVar("_T")


def memory_as_readable_str(num_bits: float) -> str:
    """Formats a number of bits in bytes, KiB, MiB or GiB."""
    size = num_bits / 8
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:,.2f} {unit}"
        size /= 1024
    return f"{size:,.2f} GiB"


def register_keras_custom_object(cls: _T) -> _T:
    """Makes Keras and the layers here find a class or a function by its own name."""
    return register_alias(cls.__name__)(cls)  # type: ignore[attr-defined]


def register_alias(name: str) -> Callable[[_T], _T]:
    """Returns a decorator: Keras and the layers here find a class or function by this name."""

    def register(cls: _T) -> _T:
        saving.get_custom_objects()[name] = cls
        return cls

    return register


def set_precision(precision: int = 32) -> Callable[[_T], _T]:
    """Returns a decorator that notes the bits of the values of a quantizing function."""

    def mark(function: Any) -> Any:
        function.precision = precision
        return function

    return mark
