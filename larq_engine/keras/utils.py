"""Small helpers, for quantizers and layers of one's own."""

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
    """A number of bits in bytes, KiB, MiB or GiB."""
    size = num_bits / 8
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:,.2f} {unit}"
        size /= 1024
    return f"{size:,.2f} GiB"


def register_keras_custom_object(cls: _T) -> _T:
    """Lets Keras and the layers here find a class or a function by its own name."""
    return register_alias(cls.__name__)(cls)  # type: ignore[attr-defined]


def register_alias(name: str) -> Callable[[_T], _T]:
    """A decorator that lets Keras and the layers here find a class or a function by a name."""

    def register(cls: _T) -> _T:
        saving.get_custom_objects()[name] = cls
        return cls

    return register


def set_precision(precision: int = 32) -> Callable[[_T], _T]:
    """A decorator that tells how many bits the values of a function that quantizes have."""

    def mark(function: Any) -> Any:
        function.precision = precision
        return function

    return mark
