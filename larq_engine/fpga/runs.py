"""Chooses the operators of a model that become hardware: a run with one input and one output."""

import itertools
from dataclasses import dataclass

from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.fpga.layers import Network
from larq_engine.fpga.reading import Reader, binary_products, maker_of, stream_of
from larq_engine.micro.step_maker import unsupported

_Span = tuple[int, int]


@dataclass(frozen=True)
class Run:
    """Operators first to end - 1 of a graph, as hardware.

    `nodes` has the number of each operator's layer, or None if it needs none.
    """

    first: int
    end: int
    ops: list[Op]
    source: Tensor
    target: Tensor
    network: Network
    nodes: list[int | None]


def choose_run(graph: Graph, layers: _Span | None = None) -> Run:
    """Returns the given operators, or else the run with the most products of bits.

    Raises:
        ValueError: Hardware does not have an operator, or they have several inputs or outputs.
    """
    if layers is not None:
        first, end = layers
        if not 0 <= first < end <= len(graph.ops):
            raise ValueError(
                f"layers: expected a range within 0:{len(graph.ops)}, the operators of the model, "
                f"got {first}:{end}; `larq-engine inspect` lists them"
            )
        ops = graph.ops[first:end]
        ends = _ends(graph, ops)
        if isinstance(ends, str):
            raise ValueError(f"layers {first}:{end}: {ends}; choose others")
        return _read(first, end, ops, *ends)
    why = "it has no layer of bits that hardware has"
    for first, end in _spans(graph):
        ops = graph.ops[first:end]
        ends = _ends(graph, ops)
        if isinstance(ends, str):
            continue
        try:
            return _read(first, end, ops, *ends)
        except ValueError as error:
            why = str(error)
    raise ValueError(f"model: expected binary layers that become hardware, got none: {why}")


def _spans(graph: Graph) -> list[_Span]:
    """Returns ranges of operators that hardware may have, those with the most products first.

    Of ranges with as many products the longest is the first.
    """
    products = [0, *itertools.accumulate(map(binary_products, graph.ops))]
    spans, first = [], None
    for number, op in enumerate([*graph.ops, None]):
        is_known = op is not None and maker_of(op) is not None
        if is_known and first is None:
            first = number
        elif not is_known and first is not None:
            spans += [(a, b) for a in range(first, number) for b in range(a + 1, number + 1)]
            first = None
    spans = [(a, b) for a, b in spans if products[b] > products[a]]
    return sorted(
        spans, key=lambda span: (products[span[0]] - products[span[1]], span[0] - span[1])
    )


def _ends(graph: Graph, ops: list[Op]) -> tuple[Tensor, Tensor] | str:
    """Returns the input and the output of operators, or why they do not have one of each."""
    made = {tensor for op in ops for tensor in op.outputs}
    inputs = list(
        dict.fromkeys(
            tensor
            for op in ops
            for tensor in op.inputs
            if tensor is not None and not tensor.is_constant and tensor not in made
        )
    )
    inside = set(ops)
    outputs = [
        tensor
        for tensor in made
        if tensor in graph.outputs or any(user not in inside for user in tensor.consumers)
    ]
    if len(inputs) != 1 or len(outputs) != 1:
        names = [", ".join(f"'{t.name}'" for t in found[:8]) for found in (inputs, outputs)]
        return f"expected one input and one output, got inputs {names[0]} and outputs {names[1]}"
    return inputs[0], outputs[0]


def _read(first: int, end: int, ops: list[Op], source: Tensor, target: Tensor) -> Run:
    reader = Reader(source, stream_of(source, ops))
    nodes: list[int | None] = []
    for op in ops:
        before = len(reader.network.nodes)
        reader.add(op)
        nodes.append(before if len(reader.network.nodes) > before else None)
    if not reader.network.nodes:
        raise unsupported(ops[0], "expected an operator that computes")
    if reader.behind_floats(target):
        raise unsupported(ops[-1], "the output would be floats; end at the layer or at a sign")
    return Run(first, end, ops, source, target, reader.network, nodes)
