"""Chooses the operators of a model that become hardware: a run with one input and one output."""

import itertools
from dataclasses import dataclass

from larq_engine.converter import lce_ops
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.exporting.op_checks import unsupported
from larq_engine.fpga.layers import Network
from larq_engine.fpga.reading import Layers, Reader, binary_products, maker_of, stream_of

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
                f"layers: expected a range A:B within 0:{len(graph.ops)}, the operators of the "
                f"model, with A below B, got {first}:{end}; `larq-engine inspect` lists them"
            )
        ops = graph.ops[first:end]
        ends = _ends(graph, ops)
        if isinstance(ends, str):
            raise ValueError(f"layers {first}:{end}: {ends}; choose others")
        return _read(first, end, ops, *ends, {})
    why = (
        "it has no LceBconv2d; `larq-engine inspect` lists its operators, and converting with "
        "target='fpga' makes layers binary wherever they can be"
    )
    made: Layers = {}
    # From each first operator on, the operator that hardware refused.
    refused: dict[int, Op] = {}
    for first, end in _spans(graph):
        ops = graph.ops[first:end]
        if first in refused and refused[first] in ops:
            continue
        ends = _ends(graph, ops)
        if isinstance(ends, str):
            continue
        try:
            return _read(first, end, ops, *ends, made)
        except RefusedError as error:
            why = str(error)
            if error.op is not None:
                refused[first] = error.op
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
        for tensor in dict.fromkeys(tensor for op in ops for tensor in op.outputs)
        if tensor in graph.outputs
        or not tensor.consumers
        or any(user not in inside for user in tensor.consumers)
    ]
    if len(inputs) != 1 or len(outputs) != 1:
        names = [", ".join(f"'{t.name}'" for t in found[:8]) for found in (inputs, outputs)]
        return f"expected one input and one output, got inputs {names[0]} and outputs {names[1]}"
    return inputs[0], outputs[0]


def ends_in(graph: Graph, run: Run) -> tuple[Tensor, Tensor]:
    """Returns the input and output of a run in a graph that was read of the same file again."""
    tensors = [tensor for op in graph.ops for tensor in [*op.inputs, *op.outputs]]
    numbers = {tensor.origin: tensor for tensor in tensors if tensor is not None}
    return numbers[run.source.origin], numbers[run.target.origin]


class RefusedError(ValueError):
    """An error for operators that cannot be hardware; `op` is the one whose layer is refused."""

    def __init__(self, error: ValueError, op: Op | None) -> None:
        super().__init__(str(error))
        self.op = op


def _read(first: int, end: int, ops: list[Op], source: Tensor, target: Tensor, made: Layers) -> Run:
    try:
        reader = Reader(source, stream_of(source, ops), made)
    except ValueError as error:
        raise RefusedError(error, ops[0]) from error
    nodes: list[int | None] = []
    for op in ops:
        before = len(reader.network.nodes)
        try:
            reader.add(op)
        except ValueError as error:
            raise RefusedError(error, op) from error
        nodes.append(before if len(reader.network.nodes) > before else None)
    _check_end(reader, ops[-1], target)
    return Run(first, end, ops, source, target, reader.network, nodes)


def _check_end(reader: Reader, last: Op, target: Tensor) -> None:
    if not reader.network.nodes:
        raise RefusedError(unsupported(last, "expected an operator that computes"), None)
    made = reader.network.target
    [words] = lce_ops.packed_shape((made.channels,), made.bits)
    has_pixels = target.shape[-1] == words and target.elements == made.pixels * words
    if made.kind != "int" and not has_pixels:
        reason = "expected an output with the pixels of the layer before it"
        raise RefusedError(unsupported(last, reason), None)
    if reader.behind_floats(target):
        reason = "the output would be floats; end at the layer or at a sign"
        raise RefusedError(unsupported(last, reason), None)
