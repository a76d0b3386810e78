"""Shows progress of long work, and nothing for short work."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

# Waits shorter than this need no bar. A guess.
_QUIET_SECONDS = 3.0


class ProgressBar:
    """Counts samples, and shows a bar while its `with` block runs.

    The bar appears at once if `verbose`, else after a while. Where stderr is no terminal, a bar
    would be a line of a thousand carriage returns: then `verbose` prints one line at the end.
    """

    def __init__(self, samples: int | None, verbose: int) -> None:
        self._samples = samples
        self._verbose = verbose
        self._start = time.monotonic()
        self._done = 0
        self._bar: Any = None

    def __enter__(self) -> "ProgressBar":
        if self._verbose and _is_terminal():
            self._show()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._verbose and not _is_terminal():
            seconds = time.monotonic() - self._start
            print(f"predict: {self._done} samples in {seconds:.1f} s", file=sys.stderr)

    def update(self, samples: int) -> None:
        """Adds samples that are done."""
        self._done += samples
        if self._bar is not None:
            self._bar.update(samples)
        elif _is_terminal() and time.monotonic() - self._start >= _QUIET_SECONDS:
            self._show()

    def _show(self) -> None:
        from tqdm import tqdm  # Importing it takes 30 ms, which short work saves.

        self._bar = tqdm(total=self._samples, initial=self._done, unit="sample")


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


@contextlib.contextmanager
def progress_steps(verbose: int) -> Iterator[Callable[[str], None]]:
    """Gives a function to call with the name of each step as it begins.

    A terminal shows the steps at once if `verbose`, else after a while. Elsewhere `verbose` prints
    a line for each.
    """
    if not _is_terminal():
        yield (lambda name: print(f"converting: {name}", file=sys.stderr)) if verbose else _ignore
        return
    from tqdm import tqdm

    bar = tqdm(
        bar_format="{desc} [{elapsed}]", delay=0.0 if verbose else _QUIET_SECONDS, leave=False
    )
    with bar:
        yield lambda name: bar.set_description_str(f"converting: {name}")


@contextlib.contextmanager
def count_measurements(name: str, count: int, verbose: int) -> Iterator[Callable[[int], None]]:
    """Gives a function to call with the number of measurements that are done.

    A terminal shows how many there are, and the time left. Elsewhere `verbose` prints a line at the
    beginning and one at the end.
    """
    if not _is_terminal():
        start = time.monotonic()
        if verbose:
            print(f"{name}: {count} measurements", file=sys.stderr)
        yield lambda done: None
        if verbose:
            seconds = time.monotonic() - start
            print(f"{name}: done in {seconds:.1f} s", file=sys.stderr)
        return
    from tqdm import tqdm

    with tqdm(total=count, desc=name, unit="measurement", leave=False) as bar:
        yield lambda done: _update(bar, done)


def _update(bar: Any, done: int) -> None:
    bar.update(done)


def _ignore(_: str) -> None:
    pass
