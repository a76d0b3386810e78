"""A progress bar for long work, out of the way of short work."""

import contextlib
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
