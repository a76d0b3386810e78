"""Describes the model that is profiled here: its values, operators and work."""

from collections.abc import Mapping, Sequence

from larq_engine.profiling.graph_facts import GraphFacts
from larq_engine.profiling.network import Network
from larq_engine.profiling.reference import Reference
from larq_engine.profiling.work import Work, count_work


class ModelFacts(GraphFacts):
    """Facts of a model whose values are known from a run of it."""

    def __init__(self, network: Network, reference: Reference, times: Mapping[int, int]) -> None:
        sizes = {tensor: value.nbytes for tensor, value in reference.values.items()}
        super().__init__(network, sizes, times)
        self._reference = reference
        self.batch_of = {multiple: batch for batch, multiple in times.items()}

    def work(self, positions: Sequence[int], times: int) -> Work:
        """Counts the work of operators that run together, on a multiple of the declared batch."""
        return count_work(self._network, positions, self._reference.values, times)
