"""Steps of ARG_MAX and ARG_MIN, of int8 and of float32 values."""

import math
from collections.abc import Callable

from larq_engine.converter.graph import Op
from larq_engine.exporting.op_checks import constant, data, unsupported
from larq_engine.micro.plan import Step
from larq_engine.micro.step_maker import StepMaker

_HEADERS = {"INT8": "le_argmax.h", "FLOAT32": "le_argmax_float.h"}
_SUFFIXES = {"INT8": "int8", "FLOAT32": "float"}


def _arg(better: str) -> Callable[[StepMaker, Op], Step]:
    def step(maker: StepMaker, op: Op) -> Step:
        x, y = data(op, 0), op.output
        if x.dtype not in _HEADERS or y.dtype not in ("INT32", "INT64"):
            raise unsupported(
                op, f"expected int8 or float32 to int32 or int64, got {x.dtype} to {y.dtype}"
            )
        # lowering.py has checked that it is an axis, and how many indices there are.
        axis = int(constant(op, 1).reshape(-1)[0]) % len(x.shape)
        source, target = maker.memory(x), maker.memory(y)
        return Step(
            headers=(_HEADERS[x.dtype],),
            function=f"le_arg{better}_{_SUFFIXES[x.dtype]}",
            arguments=[
                math.prod(x.shape[:axis]),
                x.shape[axis],
                math.prod(x.shape[axis + 1 :]),
                int(y.dtype == "INT64"),
                source,
                target,
            ],
            reads=[source],
            writes=[target],
        )

    return step


KERNELS = {"ARG_MAX": _arg("max"), "ARG_MIN": _arg("min")}
