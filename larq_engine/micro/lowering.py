"""Turns a model's operators into a plan: a row of `_KERNELS` says which function makes the step."""

from collections.abc import Callable, Mapping

from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.macs import count_macs
from larq_engine.exporting.op_checks import unsupported
from larq_engine.exporting.shapes import check_shape
from larq_engine.exporting.views import is_view
from larq_engine.micro import (
    arg_steps,
    bit_steps,
    float_steps,
    int8_layer_steps,
    int8_transposed_steps,
    int8_value_steps,
    move_steps,
    place_steps,
    signed_steps,
    table_steps,
)
from larq_engine.micro.lines import lines_of
from larq_engine.micro.plan import Memory, Plan, Port, Step
from larq_engine.micro.step_maker import StepMaker

_Made = Step | list[Step] | None
_Kernels = Mapping[str, Callable[[StepMaker, Op], _Made]]

# Operators whose kernel does not depend on the type of their values.
_KERNELS: _Kernels = {
    **arg_steps.KERNELS,
    **bit_steps.KERNELS,
    **move_steps.KERNELS,
    **place_steps.KERNELS,
}
_OF_BYTES: _Kernels = {
    **int8_layer_steps.KERNELS,
    **int8_transposed_steps.KERNELS,
    **int8_value_steps.KERNELS,
    **table_steps.KERNELS,
    **signed_steps.KERNELS,
}
_OF_FLOATS: _Kernels = float_steps.KERNELS


# An error names so many operators.
_MOST_NAMED = 8


def make_plan(graph: Graph) -> Plan:
    """Returns the steps of a graph, with the caller's memory for inputs and outputs.

    Raises:
        ValueError: An operator has no kernel in C, or a form that none has.
    """
    if not graph.inputs or not graph.outputs:
        raise ValueError("model: expected an input and an output, got none of one")
    maker = StepMaker()
    inputs = [
        Port(tensor.name, tensor, maker.give(tensor, name))
        for tensor, name in zip(graph.inputs, _names("input", len(graph.inputs)), strict=True)
    ]
    outputs = list(zip(graph.outputs, _names("output", len(graph.outputs)), strict=True))
    _give_outputs(maker, graph, outputs)
    steps = [step for op in _ops(graph) for step in _steps(maker, op)]
    ports = []
    for tensor, name in outputs:
        memory = maker.memory(tensor)
        if memory.name != name:
            memory = Memory(memory.bytes, name)
            steps.append(move_steps.copy(maker, tensor, memory))
        ports.append(Port(tensor.name, tensor, memory))
    for number, step in enumerate(steps):
        step.number = number
    plan = Plan(inputs, ports, steps)
    _check_written(plan)
    return plan


def _check_written(plan: Plan) -> None:
    """Raises an error if a step reads what nothing has written: a constant or a variable."""
    written = {id(port.memory) for port in plan.inputs}
    for step in plan.steps:
        if any(id(memory) not in written for memory in step.reads):
            raise ValueError(
                f"{step.kind} of the layer '{step.layer}': expected values that an operator "
                "computes, got a constant or a variable, which no kernel in C reads there"
            )
        written |= {id(memory) for memory in step.writes}
    for port in plan.outputs:
        if id(port.memory) not in written:
            raise ValueError(
                f"output '{port.name}': expected a value that an operator computes, got a constant"
            )


def _names(role: str, count: int) -> list[str]:
    return [role] if count == 1 else [f"{role}_{number}" for number in range(count)]


def _give_outputs(maker: StepMaker, graph: Graph, outputs: list[tuple[Tensor, str]]) -> None:
    """Lets the operators that make outputs write them to the caller's memory."""
    given = set()
    for tensor, name in outputs:
        source = tensor
        # A reshape has the memory of what it reads.
        while source.producer is not None and is_view(source.producer):
            first = source.producer.inputs[0]
            assert first is not None
            source = first
        if source.producer is None or source.is_constant or id(source) in given:
            continue  # an input that is an output, or one that is there twice, is copied at the end
        given.add(id(source))
        maker.give(source, name)


def _tensors(op: Op) -> list[Tensor]:
    return [tensor for tensor in [*op.inputs, *op.outputs] if tensor is not None]


def _has_floats(op: Op) -> bool:
    """Tells whether it reads or makes floats; constants became whole numbers where results are."""
    return any(tensor.dtype == "FLOAT32" and not tensor.is_constant for tensor in _tensors(op))


def _kernel(op: Op) -> Callable[[StepMaker, Op], _Made] | None:
    if op.custom:
        return bit_steps.KERNELS.get(op.known.name) or _OF_FLOATS.get(op.known.name)
    return _KERNELS.get(op.kind) or (_OF_FLOATS if _has_floats(op) else _OF_BYTES).get(op.kind)


def _ops(graph: Graph) -> list[Op]:
    """Returns the operators that become steps; layers take bits of LceUnpackWeights themselves."""
    return [op for op in graph.ops if op.known.name != "LceUnpackWeights" or not op.custom]


def check_kernels(graph: Graph) -> None:
    """Raises an error that lists all operators without a kernel, not the first one alone."""
    lacking = [op for op in _ops(graph) if _kernel(op) is None]
    if not lacking:
        return
    types = ", ".join(dict.fromkeys(tensor.dtype.lower() for tensor in _tensors(lacking[0])))
    others = [f"{op.kind} of '{name_layer(op)}'" for op in lacking[1:_MOST_NAMED]]
    more = len(lacking) - 1 - len(others)
    reason = f"no kernel in C computes it (of {types})"
    if others:
        reason += f", nor {', '.join(others)}" + (f" and {more} more" if more > 0 else "")
    raise unsupported(lacking[0], reason)


def _steps(maker: StepMaker, op: Op) -> list[Step]:
    kernel = _kernel(op)
    assert kernel is not None, "check_kernels has seen all operators"
    if not op.custom:
        check_shape(op)
    made = kernel(maker, op)
    steps = made if isinstance(made, list) else [] if made is None else [made]
    for step in steps:
        step.kind, step.layer, step.has_floats = op.kind, name_layer(op), _has_floats(op)
        step.lines = lines_of(op, step) if len(steps) == 1 else None
        step.work = count_macs(op) or op.output.elements
    return steps
