"""Steps of operators that move elements of any type, and do not compute."""

import numpy as np

from larq_engine.converter.graph import Op, Tensor
from larq_engine.exporting.op_checks import (
    check_made,
    check_same_values,
    constant,
    data,
    scale_of,
    unsupported,
)
from larq_engine.exporting.views import VIEWS, keeps_order
from larq_engine.micro import place_steps
from larq_engine.micro.plan import Memory, Reference, Step, Struct, bytes_of
from larq_engine.micro.step_maker import StepMaker

_HEADERS = ("le_move.h",)


# Kernels of padding have elements of up to so many bytes, and four dimensions.
_MOST_OF_ELEMENT = 4
_RANK = 4


def _transpose(maker: StepMaker, op: Op) -> Step | None:
    return _view(maker, op) if keeps_order(op) else place_steps.transpose(maker, op)


def _view(maker: StepMaker, op: Op) -> Step | None:
    x = data(op, 0)
    if bytes_of(x) != bytes_of(op.output):
        raise unsupported(op, f"expected {x.elements} elements, got {op.output.elements}")
    maker.share(op.output, x)
    return None


def copy(maker: StepMaker, tensor: Tensor, target: Memory) -> Step:
    """Makes the step that copies a tensor to the caller's memory."""
    step = _rows(maker.memory(tensor), target, (1, target.bytes, 0, 0), 0, 0)
    step.kind, step.layer = "copy", target.name
    return step


def _rows(
    source: Memory, target: Memory, rows: tuple[int, int, int, int], read: int, write: int
) -> Step:
    """Copies `rows`: their number, bytes, and bytes from one to the next on both sides."""
    return Step(
        headers=_HEADERS,
        function="le_copy_rows",
        arguments=[*rows, (source, read), (target, write)],
        reads=[source],
        writes=[target],
    )


def _along(op: Op, tensor: Tensor, axis: int) -> tuple[int, int]:
    """Returns how often an axis begins, and the bytes of one of its indices."""
    rank = len(tensor.shape)
    if not -rank <= axis < rank:
        raise unsupported(op, f"expected an axis of {rank} dimensions, got {axis}")
    axis %= rank
    outer = int(np.prod(tensor.shape[:axis], dtype=np.int64))
    inner = int(np.prod(tensor.shape[axis + 1 :], dtype=np.int64))
    return outer, inner * bytes_of(tensor) // max(1, tensor.elements)


def _concatenation(maker: StepMaker, op: Op) -> list[Step]:
    y = op.output
    if op.options.fusedActivationFunction:
        raise unsupported(op, "a fused activation has no kernel in C")
    outer, unit = _along(op, y, op.options.axis)
    axis = op.options.axis % len(y.shape)
    target = maker.memory(y)
    steps = []
    parts = [data(op, position).shape for position in range(len(op.inputs))]
    if any(len(part) != len(y.shape) for part in parts):
        raise unsupported(op, "expected tensors of as many dimensions as the output")
    joined = sum(part[axis] for part in parts)
    for part in parts:
        check_made(op, y, (*part[:axis], joined, *part[axis + 1 :]))
    at = 0
    for position in range(len(op.inputs)):
        x = data(op, position)
        check_same_values(op, x, y)
        run = x.shape[axis] * unit
        rows = (outer, run, run, y.shape[axis] * unit)
        steps.append(_rows(maker.memory(x), target, rows, 0, at))
        at += run
    return steps


def _pack(maker: StepMaker, op: Op) -> list[Step]:
    y = op.output
    outer, run = _along(op, y, op.options.axis)
    axis = op.options.axis % len(y.shape)
    target = maker.memory(y)
    steps = []
    for position in range(len(op.inputs)):
        x = data(op, position)
        check_same_values(op, x, y)
        check_made(op, y, (*x.shape[:axis], len(op.inputs), *x.shape[axis:]))
        rows = (outer, run, run, len(op.inputs) * run)
        steps.append(_rows(maker.memory(x), target, rows, 0, position * run))
    return steps


def _split(maker: StepMaker, op: Op) -> list[Step]:
    by_sizes = op.kind == "SPLIT_V"
    x = data(op, 0 if by_sizes else 1)
    axis = int(constant(op, 2 if by_sizes else 0).reshape(-1)[0])
    outer, unit = _along(op, x, axis)
    axis %= len(x.shape)
    source = maker.memory(x)
    steps = []
    at = 0
    sizes = [y.shape[axis] if len(y.shape) == len(x.shape) else -1 for y in op.outputs]
    if sum(sizes) != x.shape[axis] or min(sizes) < 0:
        raise unsupported(op, f"expected parts of {x.shape[axis]} together, got {sizes}")
    for y, size in zip(op.outputs, sizes, strict=True):
        check_same_values(op, x, y)
        check_made(op, y, (*x.shape[:axis], size, *x.shape[axis + 1 :]))
        run = y.shape[axis] * unit
        steps.append(_rows(source, maker.memory(y), (outer, run, x.shape[axis] * unit, run), at, 0))
        at += run
    return steps


def _pad(maker: StepMaker, op: Op) -> Step:
    x, y = data(op, 0), op.output
    pads = constant(op, 1).astype(np.int64)
    rank = len(x.shape)
    if rank > _RANK or pads.shape != (rank, 2) or pads.min() < 0:
        raise unsupported(op, f"expected pads of at most {_RANK} dimensions")
    check_same_values(op, x, y)
    whole = np.array(x.shape, np.int64) + pads.sum(axis=1)
    check_made(op, y, [int(size) for size in whole])
    size = bytes_of(x) // max(1, x.elements)
    if size > _MOST_OF_ELEMENT:
        raise unsupported(op, f"no kernel in C pads {x.dtype}")
    if op.kind == "PADV2":
        value = constant(op, 2).reshape(-1)[:1].tobytes()
        if len(value) != size:
            raise unsupported(op, "expected a value of the type of its input")
    elif x.dtype in ("INT8", "UINT8"):
        value = np.int16(scale_of(op, x)[1]).tobytes()[:1]
    else:
        value = bytes(size)
    padded = [(0, 0)] * (_RANK - rank) + [(int(a), int(b)) for a, b in pads]
    fields = {
        "sizes": [1] * (_RANK - rank) + list(x.shape),
        "before": [before for before, _ in padded],
        "after": [after for _, after in padded],
        "bytes": size,
        "value": list(value.ljust(4, b"\0")),
    }
    source, target = maker.memory(x), maker.memory(y)
    return Step(
        headers=_HEADERS,
        function="le_pad_run",
        arguments=[Reference("pad"), source, target],
        reads=[source],
        writes=[target],
        structs=[Struct("pad", "le_pad", fields)],
    )


KERNELS = {
    **dict.fromkeys(VIEWS, _view),
    "TRANSPOSE": _transpose,
    "CONCATENATION": _concatenation,
    "PACK": _pack,
    "SPLIT": _split,
    "SPLIT_V": _split,
    "PAD": _pad,
    "PADV2": _pad,
}
