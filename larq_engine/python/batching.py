"""How many samples go through a model at once.

A batch in one invoke is faster, but a model file often fixes its batch (LCE's converter writes 1),
and some graphs mix the samples of a larger one or cannot take it. So a batch is only enlarged
where the file leaves it open, or where every operator is known to keep samples apart
(samplewise.py); everything else runs in pieces of the batch that the file fixes.
"""

from collections.abc import Iterator, Sequence

from larq_engine.python.arguments import has_batch
from larq_engine.python.samplewise import is_samplewise
from larq_engine.python.session import Session
from larq_engine.python.tensors import Array, TensorInfo

# Bytes of activations in one invoke of an enlarged batch, so that a large data set does not fill
# the memory and the progress bar moves. A guess: more gains nothing once it exceeds the caches.
_MAX_ACTIVATION_BYTES = 64 << 20


class BatchRunner:
    """Runs stacks of any number of samples through a session."""

    def __init__(self, session: Session, inputs: Sequence[TensorInfo]) -> None:
        self._session = session
        self._inputs = inputs
        # Whether the batch may differ from the declared one; None until it is needed.
        self._flexible: bool | None = None

    def run(self, stack: Sequence[Array]) -> Iterator[tuple[int, list[Array]]]:
        """Yields the number of samples and the outputs, piece by piece."""
        if not has_batch(self._inputs):
            yield 1, self._session.run(stack)
            return
        batch, samples = self._inputs[0].shape[0], stack[0].shape[0]
        start = 0
        if samples != batch and self._may_resize():
            step = self._samples_at_once(stack)
            while start < samples:
                piece = [array[start : start + step] for array in stack]
                outputs = self._run_resized(piece)
                if outputs is None:
                    break
                yield len(piece[0]), outputs
                start += len(piece[0])
        if (samples - start) % batch:
            raise ValueError(
                f"inputs: expected a multiple of {batch} samples, the batch that the model fixes, "
                f"got {samples}; fill up the last batch, or use a model with an open batch"
            )
        for position in range(start, samples, batch):
            yield batch, self._session.run([a[position : position + batch] for a in stack])

    def _may_resize(self) -> bool:
        if self._flexible is None:
            open_in_file = all(info.signature[0] == -1 for info in self._inputs)
            self._flexible = open_in_file or is_samplewise(self._session)
        return self._flexible

    def _samples_at_once(self, stack: Sequence[Array]) -> int:
        """Activations grow with the inputs: by that their declared size is scaled to the data."""
        declared = sum(info.nbytes for info in self._session.declared_inputs)
        sample: int = sum(array[0].nbytes for array in stack)
        scaled = self._session.activation_bytes() * sample // max(declared, 1)
        return max(1, _MAX_ACTIVATION_BYTES // max(scaled, sample))

    def _run_resized(self, piece: Sequence[Array]) -> list[Array] | None:
        """Returns the outputs, or None if the model turns out to need its declared batch.

        A file may leave the batch open although a constant in its graph fixes it.
        """
        batch, samples = self._inputs[0].shape[0], len(piece[0])
        if samples == batch:
            return self._session.run(piece)
        try:
            outputs = self._session.run(piece)
        except ValueError:
            self._flexible = False
            return None
        if all(output.shape[:1] == (samples,) for output in outputs):
            return outputs
        self._flexible = False
        return None
