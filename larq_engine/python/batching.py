"""How many samples go through a model at once.

A batch in one invoke is faster, but a model file often fixes its batch (LCE's converter writes 1),
and some graphs mix the samples of a larger one or cannot take it. So a batch is only enlarged
where the file leaves it open, or where a trial shows that samples do not influence each other;
everything else runs in pieces of the batch that the file fixes. The results are the same.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from larq_engine.python.arguments import has_batch
from larq_engine.python.session import Session
from larq_engine.python.tensors import Array, TensorInfo, random_data

# Input bytes per invoke, so that the activations of a large data set do not fill the memory: about
# 27 images of 224x224x3 floats. A guess: larger pieces gain nothing, as each fills the cores.
_MAX_INPUT_BYTES = 16 << 20


class BatchRunner:
    """Runs stacks of any number of samples through a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._inputs: Sequence[TensorInfo] = session.inputs()
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
            self._flexible = open_in_file or self._samples_are_independent()
        return self._flexible

    def _samples_at_once(self, stack: Sequence[Array]) -> int:
        bytes_per_sample: int = sum(array[0].nbytes for array in stack)
        return max(1, _MAX_INPUT_BYTES // bytes_per_sample)

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

    def _samples_are_independent(self) -> bool:
        """Whether two batches run as one give, bit for bit, what they give one by one.

        Random data, because special values such as zeros hide how samples mix. It resets the
        memory of a recurrent model, as any resize does.
        """
        generator = np.random.default_rng(0)
        first = [random_data(info, generator) for info in self._inputs]
        second = [random_data(info, generator) for info in self._inputs]
        both = [np.concatenate(pair) for pair in zip(first, second, strict=True)]
        try:
            outputs = zip(self._session.run(first), self._session.run(second), strict=True)
            apart = [np.concatenate(pair) for pair in outputs]
            together = self._session.run(both)
        except ValueError:
            return False
        finally:
            self._session.reset_state()
        return all(
            np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
            for a, b in zip(apart, together, strict=True)
        )
