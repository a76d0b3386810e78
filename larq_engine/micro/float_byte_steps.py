"""Steps between float32 values and bytes or bits: QUANTIZE, DEQUANTIZE, CAST and LceBmatmul."""

import math

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.graph import Op
from larq_engine.exporting.op_checks import constant, data, scale_of, unsupported
from larq_engine.micro.float_limits import limits
from larq_engine.micro.plan import Constant, Memory, Reference, Step, Struct
from larq_engine.micro.step_maker import StepMaker

_HEADERS = ("le_float_bytes.h",)

# The lowest byte of a type; the highest is 255 more.
_LOWEST = {"INT8": -128, "UINT8": 0}


def _quantize(maker: StepMaker, op: Op) -> Step:
    x, y = data(op, 0), op.output
    if x.dtype != "FLOAT32" or y.dtype not in _LOWEST:
        raise unsupported(op, f"expected float32 to int8 or uint8, got {x.dtype} to {y.dtype}")
    scale, zero = scale_of(op, y)
    lowest = _LOWEST[y.dtype] - zero
    source, target = maker.memory(x), maker.memory(y)
    return Step(
        headers=_HEADERS,
        function="le_bytes_of_floats",
        arguments=[Reference("steps"), Reference("limits"), zero, x.elements, source, target],
        reads=[source],
        writes=[target],
        constants=[
            Constant("steps", "float", np.array([np.float32(1) / scale], np.float32)),
            limits(lowest, lowest + 255),
        ],
        # A byte is written after the float that it is made of was read.
        in_place=source,
    )


def _to_floats(maker: StepMaker, op: Op) -> Step:
    x, y = data(op, 0), op.output
    source, target = maker.memory(x), maker.memory(y)
    step = Step(
        headers=_HEADERS,
        function="",
        arguments=[x.elements, source, target],
        reads=[source],
        writes=[target],
    )
    is_cast = op.kind == "CAST"
    if y.dtype == "FLOAT32" and x.dtype in _LOWEST:
        scale, zero = (np.float32(1), 0) if is_cast else scale_of(op, x)
        step.function = f"le_floats_of_{x.dtype.lower()}"
        step.constants = [Constant("scale", "float", np.array([scale], np.float32))]
        step.arguments = [Reference("scale"), zero, *step.arguments]
    elif y.dtype == "FLOAT32" and x.dtype == "BOOL" and is_cast:
        step.function = "le_floats_of_bools"
    else:
        raise unsupported(op, f"expected bytes to float32, got {x.dtype} to {y.dtype}")
    return step


def _bmatmul(maker: StepMaker, op: Op) -> Step:
    left, right, y = data(op, 0), data(op, 1), op.output
    depth = op.options["depth"]
    words = lce_ops.words(depth)
    matrices = left.shape[:-2]
    if (
        (left.dtype, right.dtype, y.dtype) != ("INT32", "INT32", "FLOAT32")
        or len(left.shape) < 2
        or left.shape[-1] != words
        or right.shape != (*matrices, right.shape[-2], words)
        or y.shape != (*matrices, left.shape[-2], right.shape[-2])
    ):
        raise unsupported(
            op,
            f"expected matrices of {words} words a row, got shapes {list(left.shape)} and "
            f"{list(right.shape)} that make {list(y.shape)}",
        )
    (plus, minus), (right_plus, right_minus) = constant(op, 2).astype(np.float64)
    a, b = (plus - minus) / 2, (plus + minus) / 2
    c, d = (right_plus - right_minus) / 2, (right_plus + right_minus) / 2
    factors = np.array([a * c, a * d, b * c, depth * b * d], np.float32)
    fields = {
        "matrices": math.prod(matrices),
        "rows": left.shape[-2],
        "columns": right.shape[-2],
        "words": words,
        "depth": depth,
        "factors": Reference("factors"),
    }
    scratch = Memory(4 * right.shape[-2])
    sources, target = [maker.memory(left), maker.memory(right)], maker.memory(y)
    return Step(
        headers=("le_bmatmul.h",),
        function="le_bmatmul_run",
        arguments=[Reference("product"), *sources, scratch, target],
        reads=sources,
        writes=[target],
        constants=[Constant("factors", "float", factors)],
        structs=[Struct("product", "le_bmatmul", fields)],
        scratch=scratch,
    )


KERNELS = {
    "QUANTIZE": _quantize,
    "DEQUANTIZE": _to_floats,
    "CAST": _to_floats,
    "LceBmatmul": _bmatmul,
}
