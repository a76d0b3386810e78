"""Errors of a conversion."""

import contextlib
from collections.abc import Iterator

from larq_engine.converter.graph import Op


class ConversionError(ValueError):
    """A model that was understood cannot be converted; the text says why and what to change."""


@contextlib.contextmanager
def naming(op: Op, what: str) -> Iterator[None]:
    """Raises any error in the block as a ConversionError that names the operator.

    Rules expect operators as the official converter writes them, and check no more than they need.
    """
    try:
        yield
    except ConversionError:
        raise
    except Exception as error:
        raise ConversionError(
            f"{op.kind} '{op.name}': {what} failed ({type(error).__name__}: {error}); the file is "
            "damaged, or the converter is at fault: if other tools run it, please report it"
        ) from error
