"""Runs the whole model once for its values, which candidates read and are compared with."""

from collections.abc import Mapping

import numpy as np

from larq_engine.converter.graph import Tensor
from larq_engine.profiling.network import Network
from larq_engine.python.arguments import has_batch
from larq_engine.python.samplewise import is_samplewise
from larq_engine.python.session import Session
from larq_engine.python.tensors import Array, random_data

_SEED = 0


class Reference:
    """All values of the batch that the file declares; larger batches repeat them.

    The engine's operators are computed by their definition, the others by the host without the
    engine.

    Raises:
        ValueError: The model cannot run.
    """

    def __init__(self, network: Network, host: str | None) -> None:
        cut = network.whole(keep_all=True)
        session = Session(
            cut.content,
            num_threads=1,
            host=host,
            kernel="reference",
            fuse="off",
            device="cpu",
        )
        generator = np.random.default_rng(_SEED)
        inputs = [random_data(info, generator) for info in session.declared_inputs]
        outputs = session.run(inputs)
        self.values: Mapping[Tensor, Array] = {
            **dict(zip(cut.given, inputs, strict=True)),
            **dict(zip(cut.wanted, outputs, strict=True)),
        }
        infos = session.declared_inputs
        self.declared = infos[0].shape[0] if has_batch(infos) else 1
        # This is asked of the model without inner outputs: not every inner value has samples along
        # its first axis, and as an output it would fix the batch.
        self._keeps_samples_apart = is_samplewise(session)
        session.close()

    def times(self, batch: int) -> int:
        """Returns how many times the declared batch is in this one.

        Raises:
            ValueError: The model cannot take this batch.
        """
        if batch == self.declared:
            return 1
        if not self._keeps_samples_apart:
            raise ValueError(
                f"batch {batch}: expected the batch that the model fixes, {self.declared}, as its "
                "operators may mix samples; convert a model with an open batch"
            )
        if batch % self.declared:
            raise ValueError(
                f"batch {batch}: expected a multiple of the batch that the model declares, "
                f"{self.declared}; convert a model with a batch of 1"
            )
        return batch // self.declared
