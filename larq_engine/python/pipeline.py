"""Runs the batches of a data set in two sessions at once, if a GPU computes.

A host takes the inputs and gives the outputs in one call, so with one session the GPU waits while
data are copied to it and back. A second session, in its own thread, uploads the next batch
meanwhile. Each session has its own stream and weights; they share the GPU's context and kernels. On
the CPU there is no second session and no thread.
"""

import collections
import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from larq_engine.python.arguments import Data
from larq_engine.python.session import Session
from larq_engine.python.tensors import Array
from larq_engine.python.turns import Turns

# Number of batches after which a second session is opened: opening takes about as long. A guess.
_BATCHES_BEFORE_SECOND = 8


@dataclass(frozen=True)
class Batch:
    """The samples of one run.

    Attributes:
        samples: The number of samples.
        arrays: The samples, an array for each input.
        outputs: The outputs, if the batch had to run to show whether the model takes its size.
    """

    samples: int
    arrays: Sequence[Data]
    outputs: list[Array] | None = None


class LockedSession:
    """A session that threads use in turns."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.turns = Turns("Interpreter")

    def run(self, arrays: Sequence[Data]) -> list[Array]:
        with self.turns.take():
            return self.session.run(arrays)

    def close(self) -> None:
        with self.turns.take():
            self.session.close()

    def abandon(self) -> None:
        """Lets go of the parent's session after a fork, without freeing it.

        Freeing it would wait for threads that the forked process lacks. The process has one thread,
        so this takes no lock.
        """
        self.session.abandon()


class Pipeline:
    """Runs batches in order."""

    def __init__(self, locked: LockedSession) -> None:
        self._first = locked
        self._second: LockedSession | None = None
        self._turns = Turns("Interpreter")  # for opening and closing the second session
        self._may_open = True
        self._done = 0

    @property
    def sessions(self) -> list[LockedSession]:
        """The open sessions."""
        second = self._second  # another thread may close it meanwhile
        return [self._first] if second is None else [self._first, second]

    def run(self, batches: Iterator[Batch]) -> Iterator[tuple[int, list[Array]]]:
        """Yields the sample count and outputs of each batch; takes at most two batches ahead."""
        start = 0
        for batch in batches:
            if batch.outputs is None and self._ensure_second_session(batch):
                yield from self._overlap(itertools.chain([batch], batches), start)
                return
            outputs = batch.outputs
            yield batch.samples, self._first.run(batch.arrays) if outputs is None else outputs
            start += batch.samples
            self._done += 1

    def _ensure_second_session(self, batch: Batch) -> bool:
        """Opens the second session if it is due, with memory for this batch.

        Returns:
            Whether there is a second session.
        """
        if self._done < _BATCHES_BEFORE_SECOND or not self._first.session.has_gpu:
            return False
        with self._turns.take():
            if self._second is None and self._may_open:
                content, options = self._first.session.recipe()
                try:
                    session = Session(content, **options)
                    session.resize([array.shape for array in batch.arrays])
                except ValueError:  # There is memory for one session, but not for two.
                    self._may_open = False
                else:
                    self._second = LockedSession(session)
            return self._second is not None

    def _overlap(self, batches: Iterator[Batch], start: int) -> Iterator[tuple[int, list[Array]]]:
        sessions = self.sessions
        under_way: collections.deque[tuple[int, Batch, Future[list[Array]]]] = collections.deque()
        # The block's end waits for running batches, also after an error or Ctrl-C.
        with ThreadPoolExecutor(len(sessions), "larq_engine") as pool:
            for number, batch in enumerate(batches):
                if len(under_way) == len(sessions):
                    yield _result(*under_way.popleft())
                future: Future[list[Array]] = Future()
                if batch.outputs is not None:
                    future.set_result(batch.outputs)
                else:
                    future = pool.submit(sessions[number % len(sessions)].run, batch.arrays)
                under_way.append((start, batch, future))
                start += batch.samples
            while under_way:
                yield _result(*under_way.popleft())

    def close(self) -> None:
        """Closes the second session; no later run opens one."""
        with self._turns.take():
            self._may_open = False
            if self._second is not None:
                self._second.close()
                self._second = None

    def abandon(self) -> None:
        """Lets go of the parent's second session after a fork."""
        if self._second is not None:
            self._second.abandon()


def _result(start: int, batch: Batch, future: "Future[list[Array]]") -> tuple[int, list[Array]]:
    try:
        return batch.samples, future.result()
    except ValueError as error:
        raise ValueError(f"samples {start} to {start + batch.samples - 1}: {error}") from error
