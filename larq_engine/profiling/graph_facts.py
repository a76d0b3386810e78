"""Describes the graph of a model in a profile, from what the model's file says."""

from collections.abc import Iterator, Mapping

from larq_engine.converter.graph import Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.macs import count_macs
from larq_engine.placing.profile import Op, Value
from larq_engine.profiling.network import Network


class GraphFacts:
    """Values and operators of a model, for batches that are multiples of the declared one.

    Args:
        network: The model's operators and tensors.
        sizes: The bytes of each value, for the declared batch.
        times: How many times the declared batch is in each batch.
    """

    def __init__(
        self, network: Network, sizes: Mapping[Tensor, int], times: Mapping[int, int]
    ) -> None:
        self._network = network
        self._sizes = sizes
        self._times = times

    def values(self) -> Iterator[Value]:
        """Yields values in the order in which they are made."""
        network = self._network
        for number, tensor in enumerate(network.values()):
            kind = "inner"
            if tensor in network.outputs:
                kind = "output"
            if tensor in network.inputs:
                kind = "input"
            size = self._sizes[tensor]
            by_batch = {batch: size * times for batch, times in self._times.items()}
            yield Value(number, tensor.name, by_batch, kind)

    def ops(self) -> Iterator[Op]:
        """Yields operators in the order of execution."""
        network = self._network
        number = {tensor: n for n, tensor in enumerate(network.values())}
        for position, (node, op) in enumerate(zip(network.nodes, network.ops, strict=True)):
            macs = count_macs(op)
            yield Op(
                id=position,
                node=node,
                op=op.kind,
                layer=name_layer(op),
                name=op.name,
                macs={batch: macs * times for batch, times in self._times.items()} if macs else {},
                inputs=tuple(number[tensor] for tensor in network.reads(op)),
                outputs=tuple(number[tensor] for tensor in op.outputs),
            )
