"""Notices Ctrl-C while interpreters are opened and deleted.

Python drops an exception that is raised while an object is deleted, and the host takes its time to
delete an interpreter. An interrupt during that time would be lost, and the work would go on for
minutes.
"""

import signal
import threading
from types import FrameType, TracebackType


class Interrupts:
    """Remembers an interrupt within its `with` block; does nothing outside the main thread."""

    def __init__(self) -> None:
        self._came = False
        self._is_ours = False

    def __enter__(self) -> "Interrupts":
        is_main = threading.current_thread() is threading.main_thread()
        # A program that has its own handler keeps it.
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._is_ours = True
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = True
        signal.default_int_handler(number, frame)

    def check(self) -> None:
        """Raises KeyboardInterrupt if an interrupt came: Python may have dropped the first one."""
        if self._came:
            raise KeyboardInterrupt

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
