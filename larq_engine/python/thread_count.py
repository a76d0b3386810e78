"""Tells how many of the threads that a user asks for run, and warns if these are fewer."""

import warnings

from larq_engine.python import library
from larq_engine.python.text_table import counted


def running_threads(asked: int) -> int:
    """Returns the number of threads that run: no more than this process may use CPUs."""
    return min(asked, library.usable_cpus())


def warn_of_fewer_threads(name: str, asked: int, stacklevel: int) -> None:
    """Warns if fewer threads run than the argument `name` asks for.

    Args:
        name: The name of the argument.
        asked: Its value.
        stacklevel: The number of calls from the user's code to this function.
    """
    run = running_threads(asked)
    if run < asked:
        warnings.warn(
            f"{name}: expected no more threads than CPUs that this process may use, got {asked}; "
            f"{counted(run, 'thread')} will run",
            stacklevel=stacklevel + 1,
        )
