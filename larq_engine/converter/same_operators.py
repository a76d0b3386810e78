"""Compares the graphs that a reader makes of a model at two sizes of its inputs.

Sizes that became numbers in a file differ between the two graphs. Results need not show this: the
largest value of an image is often that of an image of another size, too.
"""

from larq_engine.converter.bits import has_same_data, has_same_options
from larq_engine.converter.graph import Graph, Op, Tensor


def has_same_operators(ours: Graph, theirs: Graph) -> bool:
    """Tells whether two graphs have the same operators, constants and connections."""
    if len(ours.ops) != len(theirs.ops):
        return False
    known: dict[Tensor, Tensor] = dict(zip(ours.inputs, theirs.inputs, strict=True))

    def is_same(a: Tensor | None, b: Tensor | None) -> bool:
        if a is None or b is None:
            return a is b
        if a.data is None or b.data is None:
            return a.data is b.data and known.get(a) is b
        return a.data is b.data or has_same_data(a.data, b.data)

    for a, b in zip(ours.ops, theirs.ops, strict=True):
        if _moves_nothing(a, b) or _takes_the_same(a, b):
            inputs = [(a.inputs[0], b.inputs[0])]
        elif a.kind == b.kind and has_same_options(a, b) and len(a.inputs) == len(b.inputs):
            inputs = [*zip(a.inputs, b.inputs, strict=True)]
        else:
            return False
        if not all(is_same(*pair) for pair in inputs):
            return False
        known.update(zip(a.outputs, b.outputs, strict=True))
    return all(map(is_same, ours.outputs, theirs.outputs))


def _moves_nothing(a: Op, b: Op) -> bool:
    """Tells whether `a` is a TRANSPOSE that at the other size is a RESHAPE, as for one pixel."""
    if (a.kind, b.kind) != ("TRANSPOSE", "RESHAPE"):
        return False
    x, order = b.inputs[0], a.inputs[1]
    if x is None or order is None or order.data is None:
        return False
    axes = order.data.tolist()
    moved = [axis for axis in axes if x.shape[axis] > 1]
    return moved == sorted(moved) and b.output.shape == tuple(x.shape[axis] for axis in axes)


def _takes_the_same(a: Op, b: Op) -> bool:
    """Tells whether slice `a` takes the same of the other size as slice `b`, made for that size."""
    if not a.kind == b.kind == "STRIDED_SLICE":
        return False
    if b.inputs[0] is None or a.options.shrinkAxisMask != b.options.shrinkAxisMask:
        return False
    ours, theirs = (_ranges(op, b.inputs[0].shape) for op in (a, b))
    return ours is not None and ours == theirs


def _ranges(op: Op, shape: tuple[int, ...]) -> list[range] | None:
    numbers = [t.data for t in op.inputs[1:4] if t is not None and t.data is not None]
    if len(numbers) != len(op.inputs[1:4]):
        return None
    begins, ends, steps = (values.ravel().tolist() for values in numbers)
    return [
        range(size)[
            slice(
                None if op.options.beginMask >> axis & 1 else begins[axis],
                None if op.options.endMask >> axis & 1 else ends[axis],
                steps[axis],
            )
        ]
        for axis, size in enumerate(shape)
    ]
