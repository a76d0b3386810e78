"""Steps of operators on float32 values without weights or windows."""

import math

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.activations import range_of
from larq_engine.converter.graph import Op, Tensor
from larq_engine.converter.schema import ACTIVATION
from larq_engine.exporting.op_checks import data, unsupported, weights_of
from larq_engine.micro.float_limits import fused_limits, limits
from larq_engine.micro.plan import Constant, Reference, Step, Struct
from larq_engine.micro.step_maker import StepMaker, check_types
from larq_engine.micro.windows import pair_fields

_VALUES, _EXP = ("le_float_values.h",), ("le_float_exp.h",)

_PAIRS = {
    "ADD": "le_float_add_run",
    "SUB": "le_float_subtract_run",
    "MUL": "le_float_multiply_run",
    "PRELU": "le_float_prelu_run",
}


def _is_constant(tensor: Tensor) -> bool:
    return tensor.is_constant or lce_ops.unpacking(tensor) is not None


def _pair(maker: StepMaker, op: Op) -> Step:
    check_types(op, "FLOAT32")
    a, b, y = op.inputs[0], op.inputs[1], op.output
    assert a is not None and b is not None
    if b.dtype != "FLOAT32":
        raise unsupported(op, f"expected two tensors of float32, got {b.dtype} as well")
    step = Step(
        headers=_VALUES,
        function=_PAIRS[op.kind],
        arguments=[Reference("pairs"), Reference("limits")],
        reads=[],
        writes=[maker.memory(y)],
        constants=[_pair_limits(op, a, b)],
        structs=[Struct("pairs", "le_float_pairs", {**pair_fields(op, a.shape, b.shape, y.shape)})],
    )
    for position, tensor in enumerate((a, b)):
        if _is_constant(tensor):
            role = f"operand{position}"
            step.constants.append(Constant(role, "float", weights_of(op, position)))
            step.arguments.append(Reference(role))
        else:
            memory = maker.memory(tensor)
            step.reads.append(memory)
            step.arguments.append(memory)
            if tensor.shape == y.shape:
                step.in_place = memory
    step.arguments.append(step.writes[0])
    return step


def _pair_limits(op: Op, a: Tensor, b: Tensor) -> Constant:
    """Returns the limits of a fused activation.

    The engine has two loops for these operators. One of them limits the results of a RELU to the
    greatest float, so that they are never infinite.
    """
    if op.kind == "PRELU":
        return limits(None, None)
    is_relu = op.options.fusedActivationFunction == ACTIVATION["RELU"]
    if is_relu and not _is_in_first_loop(op, a, b):
        return limits(0, float(np.finfo(np.float32).max))
    return fused_limits(op)


def _is_in_first_loop(op: Op, a: Tensor, b: Tensor) -> bool:
    """Tells whether operands are two tensors, or one and a value or a value a channel."""
    if _is_constant(b):
        return _is_of_channels(b, a)
    if op.kind == "SUB":
        return False
    return _is_of_channels(a, b) if _is_constant(a) else bool(a.shape and b.shape)


def _is_of_channels(values: Tensor, x: Tensor) -> bool:
    channels = values.shape[-1] if values.shape else 1
    is_vector = values.elements == channels and len(values.shape) <= len(x.shape)
    return is_vector and bool(x.shape) and channels in (1, x.shape[-1])


def _clamp(maker: StepMaker, op: Op) -> Step:
    ends = range_of(ACTIVATION[op.kind])
    assert ends is not None
    return _of_each(maker, op, "le_float_clamp_run", _VALUES, [limits(*ends)])


def _logistic(maker: StepMaker, op: Op) -> Step:
    return _of_each(maker, op, "le_float_logistic_run", _EXP, [])


def _of_each(
    maker: StepMaker, op: Op, function: str, headers: tuple[str, ...], constants: list[Constant]
) -> Step:
    """Makes the step of a function of each value by itself."""
    check_types(op, "FLOAT32")
    source, target = maker.memory(data(op, 0)), maker.memory(op.output)
    references = [Reference(made.role) for made in constants]
    return Step(
        headers=headers,
        function=function,
        arguments=[*references, op.output.elements, source, target],
        reads=[source],
        writes=[target],
        constants=constants,
        in_place=source,
    )


def _softmax(maker: StepMaker, op: Op) -> Step:
    check_types(op, "FLOAT32")
    x = data(op, 0)
    source, target = maker.memory(x), maker.memory(op.output)
    return Step(
        headers=_EXP,
        function="le_float_softmax_run",
        arguments=[Reference("beta"), math.prod(x.shape[:-1]), x.shape[-1], source, target],
        reads=[source],
        writes=[target],
        constants=[Constant("beta", "float", np.array([op.options.beta], np.float32))],
        in_place=source,
    )


KERNELS = {
    **dict.fromkeys(_PAIRS, _pair),
    **dict.fromkeys(("RELU", "RELU6", "RELU_N1_TO_1"), _clamp),
    "LOGISTIC": _logistic,
    "SOFTMAX": _softmax,
}
