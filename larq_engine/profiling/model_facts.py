"""Describes the model itself in a profile: its values and operators."""

from collections.abc import Iterator, Mapping, Sequence

from larq_engine.converter.graph import Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.macs import count_macs
from larq_engine.placing import profile_file as file
from larq_engine.profiling.network import Network
from larq_engine.profiling.reference import Reference
from larq_engine.profiling.work import Work, count_work


class ModelFacts:
    """Values and operators of a model, for batches that are multiples of the declared one."""

    def __init__(self, network: Network, reference: Reference, times: Mapping[int, int]) -> None:
        self._network = network
        self._reference = reference
        self._times = times
        self.batch_of = {multiple: batch for batch, multiple in times.items()}

    def values(self) -> Iterator[file.Value]:
        """Yields values in the order in which they are made."""
        network = self._network
        for number, tensor in enumerate(network.values()):
            kind = "inner"
            if tensor in network.outputs:
                kind = "output"
            if tensor in network.inputs:
                kind = "input"
            yield file.Value(number, tensor.name, self._sizes(tensor), kind)

    def _sizes(self, tensor: Tensor) -> Mapping[int, int]:
        size = self._reference.values[tensor].nbytes
        return {batch: size * times for batch, times in self._times.items()}

    def ops(self) -> Iterator[file.Op]:
        """Yields operators in the order of execution."""
        network = self._network
        number = {tensor: n for n, tensor in enumerate(network.values())}
        for position, (node, op) in enumerate(zip(network.nodes, network.ops, strict=True)):
            macs = count_macs(op)
            yield file.Op(
                id=position,
                node=node,
                op=op.kind,
                layer=name_layer(op),
                name=op.name,
                macs={batch: macs * times for batch, times in self._times.items()} if macs else {},
                inputs=tuple(number[tensor] for tensor in network.reads(op)),
                outputs=tuple(number[tensor] for tensor in op.outputs),
            )

    def work(self, positions: Sequence[int], times: int) -> Work:
        """Counts the work of operators that run together, on a multiple of the declared batch."""
        return count_work(self._network, positions, self._reference.values, times)
