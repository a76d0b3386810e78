"""A progress bar for long work, out of the way of short work."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

# Shorter waits need no bar; the number is a guess.
_QUIET_SECONDS = 3.0


def progress_bar(samples: int | None, verbose: int) -> contextlib.AbstractContextManager[Any]:
    """Returns a bar with `update(samples)`.

    Shown at once if `verbose`, else after a while, and then only if a person watches the terminal.
    """
    from tqdm import tqdm  # An import of 30 ms that only `predict` needs.

    bar: contextlib.AbstractContextManager[Any] = tqdm(
        total=samples,
        unit="sample",
        disable=False if verbose else None,
        delay=0.0 if verbose else _QUIET_SECONDS,
    )
    return bar


@contextlib.contextmanager
def progress_steps(verbose: int) -> Iterator[Callable[[str], None]]:
    """Gives a function to call with the name of each step as it begins.

    Shown at once if `verbose`, else after a while, and then only if a person watches the terminal.
    """
    from tqdm import tqdm

    bar = tqdm(
        bar_format="{desc} [{elapsed}]",
        disable=False if verbose else None,
        delay=0.0 if verbose else _QUIET_SECONDS,
        leave=False,
    )
    with bar:
        yield lambda name: bar.set_description_str(f"converting: {name}")
