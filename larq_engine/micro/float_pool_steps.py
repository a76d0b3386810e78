"""Steps of pools and means of float32 values, whose sums have the engine's order."""

import math

from larq_engine.converter.graph import Op
from larq_engine.exporting.op_checks import data
from larq_engine.micro.float_limits import fused_limits, limits
from larq_engine.micro.plan import Constant, Memory, Reference, Step, Struct
from larq_engine.micro.step_maker import StepMaker, check_types
from larq_engine.micro.windows import axes_of, covers, mean_sizes, pool_fields

_POOLS = ("le_float_pools.h",)

# The engine adds up so many pixels of a whole image before it adds their sums.
_PART = 16


def _pool(maker: StepMaker, op: Op) -> Step:
    check_types(op, "FLOAT32")
    x, y = data(op, 0), op.output
    fields = pool_fields(op)
    found = fused_limits(op)
    source, target = maker.memory(x), maker.memory(y)
    is_max = op.kind == "MAX_POOL_2D"
    if not is_max and covers(fields["y"]) and covers(fields["x"]):
        sizes = (1, math.prod(x.shape[1:3]), x.shape[3])
        return _mean_step(source, target, sizes, _PART, found)
    return Step(
        headers=_POOLS,
        function="le_float_max_run" if is_max else "le_float_average_run",
        arguments=[Reference("pool"), source, target],
        reads=[source],
        writes=[target],
        constants=[found],
        structs=[Struct("pool", "le_float_pool", {**fields, "limits": Reference("limits")})],
    )


def _mean(maker: StepMaker, op: Op) -> Step:
    check_types(op, "FLOAT32")
    x, y = data(op, 0), op.output
    outer, count, inner = mean_sizes(op)
    source, target = maker.memory(x), maker.memory(y)
    if len(x.shape) - 1 in axes_of(op):
        return Step(
            headers=_POOLS,
            function="le_float_mean_lines",
            arguments=[outer, count // x.shape[-1], x.shape[-1], source, target],
            reads=[source],
            writes=[target],
        )
    # The engine adds up in parts if what follows are the channels alone.
    part = _PART if inner == x.shape[-1] else count
    return _mean_step(source, target, (outer, count, inner), part, limits(None, None))


def _mean_step(
    source: Memory, target: Memory, sizes: tuple[int, int, int], part: int, ends: Constant
) -> Step:
    outer, count, inner = sizes
    fields = {
        "outer": outer,
        "count": count,
        "inner": inner,
        "part": part,
        "limits": Reference("limits"),
    }
    return Step(
        headers=_POOLS,
        function="le_float_mean_run",
        arguments=[Reference("mean"), source, target],
        reads=[source],
        writes=[target],
        constants=[ends],
        structs=[Struct("mean", "le_float_mean", fields)],
    )


KERNELS = {"MAX_POOL_2D": _pool, "AVERAGE_POOL_2D": _pool, "MEAN": _mean}
