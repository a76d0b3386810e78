"""Steps of pools and means of float32 values, whose sums have the engine's order."""

import math

from larq_engine.converter.graph import Op
from larq_engine.micro.float_limits import fused_limits, limits
from larq_engine.micro.plan import Constant, Memory, Reference, Step, Struct
from larq_engine.micro.step_maker import (
    StepMaker,
    check_types,
    constant,
    data,
    one_image,
    unsupported,
)
from larq_engine.micro.windows import builtin_axes, covers

_POOLS = ("le_float_pools.h",)

# The engine adds up so many pixels of a whole image before it adds their sums.
_PART = 16


def _pool(maker: StepMaker, op: Op) -> Step:
    check_types(op, "FLOAT32")
    x, y = data(op, 0), op.output
    height, width, channels = one_image(op, x)
    taps = (op.options.filterHeight, op.options.filterWidth)
    rows, columns, _ = builtin_axes(op, (height, width), one_image(op, y)[:2], taps)
    found = fused_limits(op)
    source, target = maker.memory(x), maker.memory(y)
    is_max = op.kind == "MAX_POOL_2D"
    if not is_max and covers(rows) and covers(columns):
        return _mean_step(op, source, target, (1, height * width, channels), _PART, found)
    fields = {"y": rows, "x": columns, "channels": channels, "limits": Reference("limits")}
    return Step(
        headers=_POOLS,
        function="le_float_max_run" if is_max else "le_float_average_run",
        arguments=[Reference("pool"), source, target],
        reads=[source],
        writes=[target],
        constants=[found],
        structs=[Struct("pool", "le_float_pool", fields)],
    )


def _mean(maker: StepMaker, op: Op) -> Step:
    check_types(op, "FLOAT32")
    x, y = data(op, 0), op.output
    rank = len(x.shape)
    axes = sorted({int(a) % rank for a in constant(op, 1).reshape(-1)})
    if not axes or axes != list(range(axes[0], axes[-1] + 1)):
        raise unsupported(op, f"expected axes that are neighbours, got {axes}")
    outer = math.prod(x.shape[: axes[0]])
    source, target = maker.memory(x), maker.memory(y)
    if axes[-1] == rank - 1:
        return Step(
            headers=_POOLS,
            function="le_float_mean_lines",
            arguments=[outer, math.prod(x.shape[axes[0] : -1]), x.shape[-1], source, target],
            reads=[source],
            writes=[target],
        )
    count = math.prod(x.shape[axes[0] : axes[-1] + 1])
    inner = math.prod(x.shape[axes[-1] + 1 :])
    # The engine adds up in parts if what follows are the channels alone.
    part = _PART if inner == x.shape[-1] else count
    return _mean_step(op, source, target, (outer, count, inner), part, limits(None, None))


def _mean_step(
    op: Op, source: Memory, target: Memory, sizes: tuple[int, int, int], part: int, ends: Constant
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
