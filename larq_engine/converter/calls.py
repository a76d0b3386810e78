"""Graphs that operators of other graphs call: branches of conditions and bodies of loops."""

from collections import Counter

from larq_engine.converter import schema
from larq_engine.converter.errors import naming
from larq_engine.converter.graph import Graph, Model, Op


def called_graphs(op: Op, model: Model) -> list[Graph]:
    """Returns the graphs that the options of an operator name."""
    fields = {} if op.custom or op.options is None else vars(op.options)
    numbers = [value for name, value in fields.items() if name.lower().endswith("subgraphindex")]
    return [model.graphs[number] for number in numbers if 0 <= number < len(model.graphs)]


def pass_constants(model: Model) -> None:
    """Turns constants that conditions pass to their branches into constants of the branches.

    TensorFlow passes everything that the branches use, weights included. A graph's input cannot be
    recognised as binary, a constant can.
    """
    callers = [op for graph in model.graphs for op in graph.ops if called_graphs(op, model)]
    count = Counter(graph for op in callers for graph in called_graphs(op, model))
    count.update(model.graphs[number] for number in schema.runnable_graphs(model))
    for op in callers:
        branches = called_graphs(op, model)
        if op.kind == "IF" and all(count[branch] == 1 for branch in branches):
            with naming(op, "handing constants to its branches"):
                _pass_to(op, branches)


def _pass_to(op: Op, branches: list[Graph]) -> None:
    # Goes backwards so that earlier inputs keep their positions. The first input is the condition.
    for number in reversed(range(1, len(op.inputs))):
        value = op.inputs[number]
        given = [branch.inputs[number - 1] for branch in branches]
        given_out = [tensor for branch in branches for tensor in branch.outputs]
        if value is None or not value.is_constant or any(t in given_out for t in given):
            continue
        for branch, tensor in zip(branches, given, strict=True):
            branch.redirect(tensor, value.like(tensor.name, data=value.data, extra=value.extra))
            del branch.inputs[number - 1]
        del op.inputs[number]
        value.consumers.remove(op)
