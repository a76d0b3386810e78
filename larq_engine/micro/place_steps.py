"""Steps of operators that bring elements to other places: a table of loops says where each is.

NumPy does with the numbers of all elements what the operator does with elements. Whatever loops of
constant steps go through the numbers that come out are those of the kernel.
"""

from collections.abc import Callable

import numpy as np

from larq_engine.converter.graph import Op, Tensor
from larq_engine.exporting.op_checks import (
    check_made,
    check_same_values,
    constant,
    data,
    unsupported,
)
from larq_engine.micro.plan import Array, Reference, Step, Struct, bytes_of
from larq_engine.micro.step_maker import StepMaker

# The kernel has so many loops around a run of neighbours.
_LOOPS = 6

# No chip has memory for more elements, whose numbers take eight times theirs here.
_MOST_ELEMENTS = 2**24


def _numbers(op: Op) -> Array:
    x = data(op, 0)
    if x.elements > _MOST_ELEMENTS:
        raise unsupported(op, f"expected at most {_MOST_ELEMENTS} elements, got {x.elements}")
    return np.arange(x.elements, dtype=np.int64).reshape(x.shape)


def _places(function: Callable[[Op, Array], Array]) -> Callable[[StepMaker, Op], Step]:
    """Returns what makes the step of an operator that does this with its input."""

    def step(maker: StepMaker, op: Op) -> Step:
        if op.output.elements > _MOST_ELEMENTS:
            raise unsupported(
                op, f"expected at most {_MOST_ELEMENTS} elements, got {op.output.elements}"
            )
        try:
            places = function(op, _numbers(op))
        except (IndexError, ValueError) as error:
            raise unsupported(op, f"expected an input that fits its numbers ({error})") from error
        return move(maker, op, op.output, places)

    return step


def move(maker: StepMaker, op: Op, y: Tensor, places: Array) -> Step:
    """Makes the step that takes the elements of these numbers of the first input."""
    x = data(op, 0)
    check_same_values(op, x, y)
    check_made(op, y, places.shape)
    loops = _find_loops(op, places.reshape(-1))
    size = bytes_of(x) // x.elements
    run, step = loops[-1] if loops else (1, 1)
    if step == 1:
        loops = loops[:-1]
    else:
        run = 1
    if len(loops) > _LOOPS:
        raise unsupported(op, f"expected at most {_LOOPS} loops over its elements, got more")
    loops = [(1, 0)] * (_LOOPS - len(loops)) + loops
    source, target = maker.memory(x), maker.memory(y)
    fields = {
        "counts": [count for count, _ in loops],
        "steps": [step * size for _, step in loops],
        "first": int(places.reshape(-1)[0]) * size,
        "runs": y.elements // run,
        "bytes": run * size,
    }
    return Step(
        headers=("le_places.h",),
        function="le_places_run",
        arguments=[Reference("places"), source, target],
        reads=[source],
        writes=[target],
        structs=[Struct("places", "le_places", fields)],
    )


def _find_loops(op: Op, numbers: Array) -> list[tuple[int, int]]:
    """Returns the count and the step of each loop, the inner one last."""
    loops: list[tuple[int, int]] = []
    while numbers.size > 1:
        step = int(numbers[1] - numbers[0])
        breaks = np.flatnonzero(np.diff(numbers) != step)
        longest = int(breaks[0]) + 1 if breaks.size else numbers.size
        count = next(n for n in range(longest, 0, -1) if _repeats(numbers, n))
        if count == 1:
            raise unsupported(op, "expected elements at equal distances, got others")
        loops.insert(0, (count, step))
        numbers = numbers[::count]
    return loops


def _repeats(numbers: Array, count: int) -> bool:
    """Tells whether all runs of so many numbers have the differences of the first one."""
    if numbers.size % count:
        return False
    runs = numbers.reshape(-1, count)
    return bool((runs - runs[:, :1] == runs[0] - runs[0, 0]).all())


# ---- Operators -----------------------------------------------------------------------------------


def _whole(op: Op, position: int) -> list[int]:
    values = constant(op, position)
    if values.dtype not in (np.int32, np.int64):
        raise unsupported(op, f"expected whole numbers as input {position}, got {values.dtype}")
    return [int(value) for value in values.reshape(-1)]


def _transposed(op: Op, numbers: Array) -> Array:
    return numbers.transpose(_whole(op, 1))


def _slice(op: Op, numbers: Array) -> Array:
    begins, sizes = _whole(op, 1), _whole(op, 2)
    ends = [None if size < 0 else at + size for at, size in zip(begins, sizes, strict=True)]
    return numbers[tuple(slice(at, end) for at, end in zip(begins, ends, strict=True))]


def _strided_slice(op: Op, numbers: Array) -> Array:
    options = op.options
    if options.offset:
        raise unsupported(op, "no kernel in C takes ends that are lengths")
    parts: list[slice | int | None] = []
    rows = zip(_whole(op, 1), _whole(op, 2), _whole(op, 3), strict=True)
    for bit, (begin, end, step) in enumerate(rows):
        is_open, is_last = options.beginMask >> bit & 1, options.endMask >> bit & 1
        if options.ellipsisMask >> bit & 1:
            given = len(_whole(op, 1)) - (options.newAxisMask & ((1 << 32) - 1)).bit_count() - 1
            parts += [slice(None)] * (numbers.ndim - given)
        elif options.newAxisMask >> bit & 1:
            parts.append(None)
        elif options.shrinkAxisMask >> bit & 1:
            parts.append(0 if is_open else begin)
        else:
            parts.append(slice(None if is_open else begin, None if is_last else end, step))
    return np.asarray(numbers[tuple(parts)])


def _reversed(op: Op, numbers: Array) -> Array:
    return np.flip(numbers, _whole(op, 1))


def _depth_to_space(op: Op, numbers: Array) -> Array:
    block = op.options.blockSize
    n, height, width, channels = numbers.shape
    apart = numbers.reshape(n, height, width, block, block, channels // block**2)
    return apart.transpose(0, 1, 3, 2, 4, 5).reshape(n, height * block, width * block, -1)


def _space_to_depth(op: Op, numbers: Array) -> Array:
    block = op.options.blockSize
    n, height, width, channels = numbers.shape
    apart = numbers.reshape(n, height // block, block, width // block, block, channels)
    return apart.transpose(0, 1, 3, 2, 4, 5).reshape(n, height // block, width // block, -1)


def _resized(op: Op, numbers: Array) -> Array:
    check_made(op, op.output, (numbers.shape[0], *_whole(op, 1), numbers.shape[3]))
    for axis, size in zip((1, 2), _whole(op, 1), strict=True):
        numbers = numbers.take(_nearest(op, numbers.shape[axis], size), axis)
    return numbers


def _nearest(op: Op, size: int, made: int) -> Array:
    """Returns the nearest pixels, in floats as TensorFlow Lite computes them."""
    aligns = bool(op.options.alignCorners)
    ends = (size - 1, made - 1) if aligns and made > 1 else (size, made)
    scale = np.float32(ends[0]) / np.float32(ends[1])
    offset = np.float32(0.5 if op.options.halfPixelCenters else 0)
    places = (np.arange(made, dtype=np.float32) + offset) * scale
    rounded = np.floor(places.astype(np.float64) + 0.5) if aligns else np.floor(places)
    return np.asarray(np.clip(rounded.astype(np.int64), 0, size - 1))


def _tiled(op: Op, numbers: Array) -> Array:
    repeats = _whole(op, 1)
    sizes = zip(numbers.shape, repeats, strict=True)
    check_made(op, op.output, [size * repeat for size, repeat in sizes])
    return np.tile(numbers, repeats)


def _broadcast(op: Op, numbers: Array) -> Array:
    return np.broadcast_to(numbers, _whole(op, 1))


def _unpack(maker: StepMaker, op: Op) -> list[Step]:
    numbers = _numbers(op)
    axis = op.options.axis
    if not -numbers.ndim <= axis < numbers.ndim or numbers.shape[axis] != len(op.outputs):
        raise unsupported(op, f"expected {len(op.outputs)} parts along axis {axis}")
    return [move(maker, op, y, numbers.take(n, axis)) for n, y in enumerate(op.outputs)]


transpose = _places(_transposed)

KERNELS: dict[str, Callable[[StepMaker, Op], Step | list[Step]]] = {
    "SLICE": _places(_slice),
    "STRIDED_SLICE": _places(_strided_slice),
    "REVERSE_V2": _places(_reversed),
    "DEPTH_TO_SPACE": _places(_depth_to_space),
    "SPACE_TO_DEPTH": _places(_space_to_depth),
    "RESIZE_NEAREST_NEIGHBOR": _places(_resized),
    "TILE": _places(_tiled),
    "BROADCAST_TO": _places(_broadcast),
    "UNPACK": _unpack,
}
