"""Finds operators that only give an input's bytes another shape."""

from larq_engine.converter.graph import Op

# Operators whose output has the bytes of their first input.
VIEWS = ("RESHAPE", "EXPAND_DIMS", "SQUEEZE")


def is_view(op: Op) -> bool:
    """Tells whether the output of an operator has the bytes of its first input."""
    if op.custom:
        return False
    return op.kind in VIEWS or (op.kind == "TRANSPOSE" and keeps_order(op))


def keeps_order(op: Op) -> bool:
    """Tells whether a TRANSPOSE only moves dimensions of one index."""
    x, order = op.inputs[0], op.input(1)
    if x is None or order is None or order.data is None or order.data.size != len(x.shape):
        return False
    moved = [int(axis) for axis in order.data.reshape(-1)]
    if sorted(moved) != list(range(len(moved))):
        return False
    large = [axis for axis in moved if x.shape[axis] != 1]
    return large == sorted(large)
