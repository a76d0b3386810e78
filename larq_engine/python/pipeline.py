"""The batches of a data set in two sessions at once, where a GPU computes.

A host takes the inputs and gives the outputs in one call, so with one session the GPU waits while
data are copied to it and back. A second session, in a thread of its own, uploads the next batch
meanwhile. Both have their own stream and share the GPU's context and kernels; weights are there
twice. On the CPU there is no second session and no thread.
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

# After as many batches a second session is opened, which takes about as long. A guess.
_BATCHES_BEFORE_SECOND = 8


@dataclass(frozen=True)
class Batch:
    """Samples for one run, and the outputs of those that were run already."""

    samples: int
    arrays: Sequence[Data]
    outputs: list[Array] | None = None


class Lane:
    """A session that threads use one after the other."""

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
        """In a forked process, of whose threads this is the only one."""
        self.session.abandon()


class Pipeline:
    """Runs batches in order."""

    def __init__(self, lane: Lane) -> None:
        self._first = lane
        self._second: Lane | None = None
        self._turns = Turns("Interpreter")  # at opening and closing the second
        self._may_open = True
        self._done = 0

    @property
    def lanes(self) -> list[Lane]:
        """Those that are open."""
        second = self._second  # which another thread may close
        return [self._first] if second is None else [self._first, second]

    def run(self, batches: Iterator[Batch]) -> Iterator[tuple[int, list[Array]]]:
        """Yields the number of samples and the outputs of each; takes at most two ahead."""
        start = 0
        for batch in batches:
            if batch.outputs is None and self._opens_second(batch):
                yield from self._overlap(itertools.chain([batch], batches), start)
                return
            outputs = batch.outputs
            yield batch.samples, self._first.run(batch.arrays) if outputs is None else outputs
            start += batch.samples
            self._done += 1

    def _opens_second(self, batch: Batch) -> bool:
        """Whether there is a second session, with all memory for such a batch."""
        if self._done < _BATCHES_BEFORE_SECOND or not self._first.session.has_gpu:
            return False
        with self._turns.take():
            if self._second is None and self._may_open:
                content, options = self._first.session.recipe()
                try:
                    session = Session(content, **options)
                    session.resize([array.shape for array in batch.arrays])
                except ValueError:  # one session has room, two have not
                    self._may_open = False
                else:
                    self._second = Lane(session)
            return self._second is not None

    def _overlap(self, batches: Iterator[Batch], start: int) -> Iterator[tuple[int, list[Array]]]:
        lanes = self.lanes
        under_way: collections.deque[tuple[int, Batch, Future[list[Array]]]] = collections.deque()
        # Its end, by an error or Ctrl-C too, waits for what is under way.
        with ThreadPoolExecutor(len(lanes), "larq_engine") as pool:
            for number, batch in enumerate(batches):
                if len(under_way) == len(lanes):
                    yield _result(*under_way.popleft())
                future: Future[list[Array]] = Future()
                if batch.outputs is not None:
                    future.set_result(batch.outputs)
                else:
                    future = pool.submit(lanes[number % len(lanes)].run, batch.arrays)
                under_way.append((start, batch, future))
                start += batch.samples
            while under_way:
                yield _result(*under_way.popleft())

    def close(self) -> None:
        """Closes the second session; a run opens none after that."""
        with self._turns.take():
            self._may_open = False
            if self._second is not None:
                self._second.close()
                self._second = None

    def abandon(self) -> None:
        """In a forked process."""
        if self._second is not None:
            self._second.abandon()


def _result(start: int, batch: Batch, future: "Future[list[Array]]") -> tuple[int, list[Array]]:
    try:
        return batch.samples, future.result()
    except ValueError as error:
        raise ValueError(f"samples {start} to {start + batch.samples - 1}: {error}") from error
