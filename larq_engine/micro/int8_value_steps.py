"""Steps of operators on int8 values without weights. Each computes the engine's bytes, whose
arithmetic is in larq_engine/runtime/ops/."""

import math

import numpy as np

from larq_engine.converter.graph import Op, Tensor
from larq_engine.exporting.int8_results import limits_of, sum_fields
from larq_engine.exporting.op_checks import data, scale_of, unsupported
from larq_engine.exporting.rescale import Sums
from larq_engine.micro.factors import fit
from larq_engine.micro.int8_ends import end_fields, instance, rounded
from larq_engine.micro.plan import Array, Constant, Instance, Reference, Step, Struct
from larq_engine.micro.step_maker import StepMaker, check_types
from larq_engine.micro.windows import mean_sizes, pair_fields, pool_fields

_HEADERS = ("le_int8_values.h",)

# The sum of so many bytes fits in 32 bits, with any zero point.
_MOST_SUMMED = 2**31 // 256 - 1


def _pool(maker: StepMaker, op: Op) -> Step:
    check_types(op, "INT8")
    x, y = data(op, 0), op.output
    if scale_of(op, x) != scale_of(op, y):
        raise unsupported(op, "expected one scale for its input and output, got two")
    fields = pool_fields(op)
    if math.prod(x.shape[1:3]) > _MOST_SUMMED:
        raise unsupported(op, f"expected images of at most {_MOST_SUMMED} pixels")
    low, high = limits_of(op, y)
    fields |= {"lowest": low, "highest": high}
    is_max = op.kind == "MAX_POOL_2D"
    source, target = maker.memory(x), maker.memory(y)
    return Step(
        headers=_HEADERS,
        function="le_int8_max_run" if is_max else "le_int8_average_run",
        arguments=[Reference("pool"), source, target],
        reads=[source],
        writes=[target],
        structs=[Struct("pool", "le_int8_pool", fields)],
    )


def _mean(maker: StepMaker, op: Op) -> Step:
    check_types(op, "INT8")
    x, y = data(op, 0), op.output
    outer, count, inner = mean_sizes(op)
    if not 0 < count <= _MOST_SUMMED:
        raise unsupported(op, f"expected means of 1 to {_MOST_SUMMED} values, got {count}")
    (scale, zero), (y_scale, y_zero) = scale_of(op, x), scale_of(op, y)
    multiplier = np.array([scale / y_scale * (np.float32(1) / np.float32(count))], np.float32)

    def function(sums: Array) -> Array:
        mean = sums.astype(np.float32) * multiplier[:, None] + np.float32(y_zero)
        return np.asarray(np.rint(np.clip(mean, -128, 127)).astype(np.int64))

    ends = np.array([count * (-128 - zero)]), np.array([count * (127 - zero)])
    added = np.array([y_zero], np.float32)
    factors = fit(Sums(function, *ends, (-128, 127), multiplier, added, to_even=True))
    source, target = maker.memory(x), maker.memory(y)
    step = Step(
        headers=_HEADERS,
        function="",
        arguments=[Reference("mean"), source, target],
        reads=[source],
        writes=[target],
    )
    fields = {
        "outer": outer,
        "count": count,
        "inner": inner,
        "start": -count * zero,
        "end": end_fields(step, factors, 0, (-128, 127)),
    }
    step.structs = [Struct("mean", "le_int8_mean", fields)]
    step.instance = instance("int8_mean", "le_int8_mean", factors.kernel)
    return step


def _pair(maker: StepMaker, op: Op) -> Step:
    check_types(op, "INT8")
    a, b, y = op.inputs[0], op.inputs[1], op.output
    assert a is not None and b is not None
    if a.dtype != b.dtype:
        raise unsupported(op, f"expected two tensors of int8, got {a.dtype} and {b.dtype}")
    limits = limits_of(op, y)
    target = maker.memory(y)
    step = Step(
        headers=_HEADERS,
        function="",
        arguments=[Reference("pairs"), Reference("with")],
        reads=[],
        writes=[target],
    )
    for position, tensor in enumerate((a, b)):
        if tensor.data is not None:
            step.constants.append(Constant(f"operand{position}", "int8_t", tensor.data))
            step.arguments.append(Reference(f"operand{position}"))
        else:
            step.reads.append(maker.memory(tensor))
            step.arguments.append(maker.memory(tensor))
            if tensor.shape == y.shape:
                step.in_place = maker.memory(tensor)
    step.arguments.append(target)
    fields = pair_fields(op, a.shape, b.shape, y.shape)
    maker_of = _product_fields if op.kind == "MUL" else _sum_fields
    struct, step.function = maker_of(op, step, (a, b), limits)
    step.structs = [Struct("pairs", "le_pairs", fields), struct]
    return step


def _sum_fields(
    op: Op, step: Step, operands: tuple[Tensor, Tensor], limits: tuple[int, int]
) -> tuple[Struct, str]:
    fields = sum_fields(op, operands) | {"lowest": limits[0], "highest": limits[1]}
    return Struct("with", "le_int8_sum", fields), "le_int8_add_run"


def _product_fields(
    op: Op, step: Step, operands: tuple[Tensor, Tensor], limits: tuple[int, int]
) -> tuple[Struct, str]:
    (a_scale, a_zero), (b_scale, b_zero) = (scale_of(op, tensor) for tensor in operands)
    y_scale, y_zero = scale_of(op, op.output)
    multiplier = np.array([a_scale * b_scale / y_scale], np.float32)
    corners = np.outer([-128 - a_zero, 127 - a_zero], [-128 - b_zero, 127 - b_zero])

    def function(sums: Array) -> Array:
        return rounded(sums, multiplier[:, None], *limits, y_zero)

    ends = corners.min(keepdims=True)[0], corners.max(keepdims=True)[0]
    none = np.zeros_like(multiplier)
    # High products take as few instructions, and so there is one form for most models.
    sums = Sums(function, *ends, limits, multiplier, none, to_even=True, zero_point=y_zero)
    factors = fit(sums, narrow=False)
    fields = {
        "zero_a": a_zero,
        "zero_b": b_zero,
        "end": end_fields(step, factors, y_zero, limits),
    }
    name = "int8_multiply" + factors.kernel.removeprefix("le_rescale")
    step.instance = Instance(
        name,
        f"LE_PRODUCT(le_{name}, {factors.kernel})\nLE_PAIRS_ROW(le_{name}_row, le_{name})\n"
        f"LE_PAIRS({{name}}, le_{name}_row)\n",
    )
    return Struct("with", "le_int8_product", fields), ""


def _softmax(maker: StepMaker, op: Op) -> Step:
    check_types(op, "INT8")
    x, y = data(op, 0), op.output
    if scale_of(op, y) != (np.float32(2**-8), -128):
        raise unsupported(op, "expected an output of the scale 1/256 and the zero point -128")
    if not x.shape or x.shape[-1] < 1:
        raise unsupported(op, f"expected channels, got shape {list(x.shape)}")
    step = -scale_of(op, x)[0] * np.float32(op.options.beta)
    steps = (step * np.arange(256, dtype=np.float32)).astype(np.float32)
    exponentials = np.exp(steps.astype(np.float64)).astype(np.float32)
    if not np.isfinite(exponentials).all() or op.options.beta <= 0:
        raise unsupported(op, f"expected a beta above 0, got {op.options.beta}")
    source, target = maker.memory(x), maker.memory(y)
    return Step(
        headers=("le_int8_softmax.h",),
        function="le_int8_softmax_run",
        arguments=[
            Reference("exponentials"),
            math.prod(x.shape[:-1]),
            x.shape[-1],
            source,
            target,
        ],
        reads=[source],
        writes=[target],
        constants=[Constant("exponentials", "uint32_t", exponentials.view("<u4"))],
    )


KERNELS = {
    "MAX_POOL_2D": _pool,
    "AVERAGE_POOL_2D": _pool,
    "MEAN": _mean,
    "ADD": _pair,
    "SUB": _pair,
    "MUL": _pair,
    "SOFTMAX": _softmax,
}
