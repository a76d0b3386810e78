"""Decides how many samples go through a model at once.

A batch in one invoke is faster, but a model file often fixes its batch (LCE's converter writes 1),
and some graphs mix the samples of a larger batch or cannot take it. So a batch is only enlarged if
the file leaves it open, or if every operator is known to keep samples apart (samplewise.py).
Otherwise the samples run in batches of the size that the file fixes.
"""

from collections.abc import Iterable, Iterator, Sequence

from larq_engine.python.arguments import Data, has_batch
from larq_engine.python.pipeline import Batch, LockedSession
from larq_engine.python.samplewise import is_samplewise
from larq_engine.python.session import InputError
from larq_engine.python.tensors import Array, TensorInfo

# Most bytes of activations in one invoke of an enlarged batch, so that a large data set does not
# fill the memory, and the progress bar moves. A guess: beyond the caches, more gains nothing.
_MAX_ACTIVATION_BYTES = 64 << 20

# A GPU has no such caches. On an H100, QuickNet's kernels took 0.37 ms for one image, 35 us for
# each of 64 images and 29 us for each of 256: more samples would gain little. All activations of
# QuickNet for 256 images are 4.4 GB; at any time a GPU holds an eighth to a quarter of them.
_MAX_GPU_SAMPLES = 256
_MAX_GPU_ACTIVATION_BYTES = 5 << 30


class BatchRunner:
    """Cuts stacks of any number of samples into batches."""

    def __init__(self, locked: LockedSession, inputs: Sequence[TensorInfo]) -> None:
        self._locked = locked
        self._inputs = inputs
        # True if the batch may differ from the declared one; None until it is needed.
        self._flexible: bool | None = None
        self._tried: set[int] = set()  # batches that the model was seen to take

    def batches(self, stacks: Iterable[Sequence[Data]]) -> Iterator[Batch]:
        """Yields the batches; batches of a size that the model may refuse have already run."""
        for stack in stacks:
            yield from self._cut(stack)

    def _cut(self, stack: Sequence[Data]) -> Iterator[Batch]:
        if not has_batch(self._inputs):
            yield Batch(1, stack)
            return
        batch, samples = self._inputs[0].shape[0], stack[0].shape[0]
        start = 0
        if samples != batch and self._may_resize():
            step = self._samples_at_once(stack)
            while start < samples:
                piece = [array[start : start + step] for array in stack]
                count = len(piece[0])
                outputs = None
                if count != batch and count not in self._tried:
                    outputs = self._try_resized(piece)
                    if outputs is None:
                        break
                yield Batch(count, piece, outputs)
                start += count
        if (samples - start) % batch:
            raise ValueError(
                f"inputs: expected a multiple of {batch} samples, the batch that the model fixes, "
                f"got {samples}; fill up the last batch, or use a model with an open batch"
            )
        for position in range(start, samples, batch):
            yield Batch(batch, [array[position : position + batch] for array in stack])

    def _may_resize(self) -> bool:
        if self._flexible is None:
            open_in_file = all(info.signature[0] == -1 for info in self._inputs)
            with self._locked.turns.take():
                self._flexible = open_in_file or is_samplewise(self._locked.session)
        return self._flexible

    def _samples_at_once(self, stack: Sequence[Data]) -> int:
        """Estimates a sample's activations: the declared ones, scaled by the inputs' size."""
        session = self._locked.session
        declared = sum(info.nbytes for info in session.declared_inputs)
        sample = sum(array.nbytes // len(array) for array in stack)
        with self._locked.turns.take():
            scaled = session.activation_bytes() * sample // max(declared, 1)
        per_sample = max(scaled, sample)
        if session.has_gpu:
            return max(1, min(_MAX_GPU_SAMPLES, _MAX_GPU_ACTIVATION_BYTES // per_sample))
        return max(1, _MAX_ACTIVATION_BYTES // per_sample)

    def _try_resized(self, piece: Sequence[Data]) -> list[Array] | None:
        """Returns the outputs, or None if the model turns out to need its declared batch.

        A file may leave the batch open although a constant in its graph fixes it.
        """
        samples = len(piece[0])
        try:
            outputs = self._locked.run(piece)
        except InputError:
            raise
        except ValueError:
            self._flexible = False
            return None
        if all(output.shape[:1] == (samples,) for output in outputs):
            self._tried.add(samples)
            return outputs
        self._flexible = False
        return None
