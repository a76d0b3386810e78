"""The values of one run of the whole model, which every candidate is fed with and compared with."""

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
    """All values for the batch that the file declares; larger ones are the same several times.

    The engine's operators are computed by their definition, the others by the host alone.

    Raises:
        ValueError: The model cannot run.
    """

    def __init__(self, network: Network, runtime: str | None) -> None:
        cut = network.whole(keep_all=True)
        session = Session(
            cut.content,
            num_threads=1,
            runtime=runtime,
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
        # Of the model's own outputs alone: not every inner value counts samples along its first
        # axis, and such a model fixes its batch.
        self._keeps_samples_apart = is_samplewise(session)
        session.close()

    def times(self, batch: int) -> int:
        """How many times the declared batch makes this one.

        Raises:
            ValueError: The model cannot take it.
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
