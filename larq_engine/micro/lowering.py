"""Turns a model's operators into a plan: a row of `_KERNELS` says which function makes the step."""

from collections.abc import Callable, Mapping

from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.micro import (
    bit_steps,
    float_steps,
    int8_layer_steps,
    int8_value_steps,
    move_steps,
    signed_steps,
    table_steps,
)
from larq_engine.micro.plan import Memory, Plan, Port, Step
from larq_engine.micro.step_maker import StepMaker, unsupported

_Made = Step | list[Step] | None
_Kernels = Mapping[str, Callable[[StepMaker, Op], _Made]]

# Operators whose kernel does not depend on the type of their values.
_KERNELS: _Kernels = {**bit_steps.KERNELS, **move_steps.KERNELS}
_OF_BYTES: _Kernels = {
    **int8_layer_steps.KERNELS,
    **int8_value_steps.KERNELS,
    **table_steps.KERNELS,
    **signed_steps.KERNELS,
}
_OF_FLOATS: _Kernels = float_steps.KERNELS


def make_plan(graph: Graph) -> Plan:
    """Returns the steps of a graph, with the caller's memory for inputs and outputs.

    Raises:
        ValueError: An operator has no kernel in C, or a form that none has.
    """
    maker = StepMaker()
    inputs = [
        Port(tensor.name, tensor, maker.give(tensor, name))
        for tensor, name in zip(graph.inputs, _names("input", len(graph.inputs)), strict=True)
    ]
    outputs = []
    for tensor, name in zip(graph.outputs, _names("output", len(graph.outputs)), strict=True):
        outputs.append((tensor, name))
    _give_outputs(maker, graph, outputs)
    steps = []
    for op in graph.ops:
        if all(tensor is None or tensor.is_constant for tensor in op.inputs):
            continue  # LceUnpackWeights: the layer that reads it takes the bits
        steps += _steps(maker, op)
    ports = []
    for tensor, name in outputs:
        memory = maker.memory(tensor)
        if memory.name != name:
            memory = Memory(memory.bytes, name)
            steps.append(move_steps.copy(maker, tensor, memory))
        ports.append(Port(tensor.name, tensor, memory))
    return Plan(inputs, ports, steps)


def _names(role: str, count: int) -> list[str]:
    return [role] if count == 1 else [f"{role}_{number}" for number in range(count)]


def _give_outputs(maker: StepMaker, graph: Graph, outputs: list[tuple[Tensor, str]]) -> None:
    """Lets the operators that make outputs write them to the caller's memory."""
    given = set()
    for tensor, name in outputs:
        source = tensor
        # A reshape has the memory of what it reads.
        while source.producer is not None and source.producer.kind in move_steps.VIEWS:
            first = source.producer.inputs[0]
            assert first is not None
            source = first
        if source.producer is None or source.is_constant or id(source) in given:
            continue  # an input that is an output, or one that is there twice, is copied at the end
        given.add(id(source))
        maker.give(source, name)


def _steps(maker: StepMaker, op: Op) -> list[Step]:
    kind = op.known.name if op.custom else op.kind
    tensors = [tensor for tensor in [*op.inputs, *op.outputs] if tensor is not None]
    has_floats = any(tensor.dtype == "FLOAT32" for tensor in tensors)
    kernel = _KERNELS.get(kind) or (_OF_FLOATS if has_floats else _OF_BYTES).get(kind)
    if kernel is None:
        types = ", ".join(dict.fromkeys(tensor.dtype.lower() for tensor in tensors))
        raise unsupported(op, f"no kernel in C computes it (of {types})")
    made = kernel(maker, op)
    steps = made if isinstance(made, list) else [] if made is None else [made]
    for step in steps:
        step.kind, step.layer = op.kind, name_layer(op)
    return steps
