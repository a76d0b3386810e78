"""Lets threads take turns, without a hang where waiting would never end.

A signal handler runs in the middle of the code that it interrupts, and would wait for itself. A
forked process has none of the threads that held a lock.
"""

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")

# All Turns of the process, which must know of forks.
_all: "weakref.WeakSet[Turns]" = weakref.WeakSet()


class Turns:
    """A lock for one thread at a time, which refuses the thread that already holds it.

    Args:
        what: What the lock protects, for the error.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._renew()
        _all.add(self)

    def _renew(self) -> None:
        # The thread that holds an RLock gets it again at once, and then sees that it is busy. A
        # plain lock with a note of its owner would not do: a signal could come between taking the
        # lock and writing the note.
        self._lock = threading.RLock()
        self._is_busy = False

    @contextlib.contextmanager
    def take(self) -> Iterator[None]:
        """Waits for the turn, and keeps it during this block.

        Raises:
            RuntimeError: This thread has the turn: the caller is a signal handler, or a nested
                call.
        """
        with self._lock:
            if self._is_busy:
                raise RuntimeError(
                    f"{self._what}: expected a call while no other of this thread is under way, "
                    "got one from inside of another, as of a signal handler; let the handler set "
                    "a flag, and make the call later"
                )
            try:
                self._is_busy = True
                yield
            finally:
                self._is_busy = False


def _after_fork() -> None:
    for turns in list(_all):
        turns._renew()


os.register_at_fork(after_in_child=_after_fork)


class computed_once(Generic[_T]):  # noqa: N801, as functools.cached_property
    """A property that is computed at its first use.

    `functools.cached_property` before Python 3.12 holds one lock for all instances meanwhile, and a
    forked process would wait for it for ever. Here two threads may compute the value; the first one
    counts.
    """

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> _T:
        # Once the value is in the instance's dictionary, Python finds it there first.
        value: _T = vars(instance).setdefault(self._name, self._compute(instance))
        return value
