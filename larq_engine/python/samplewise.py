"""Tells whether a graph keeps the samples of a batch apart, so that a batch may have any size.

The definitions of the operators decide this. A trial run could be misled by its data, and would
change the state of a model that has one. A batch is a tensor whose axis 0 counts samples. Each
operator that reads a batch must be known (operators.py) and pass the rule for its kind; an unknown
operator counts as mixing samples.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

from larq_engine.python.arguments import has_batch
from larq_engine.python.operators import Samples, known_op
from larq_engine.python.session import Operator, Session
from larq_engine.python.tensors import Array, Shape


@dataclass(frozen=True)
class _Node:
    """An operator that reads batches: its inputs' shapes, with None for an absent input."""

    shapes: list[Shape | None]
    is_batch: list[bool]
    # Reads input 1, such as axes; returns None if there is none or it is no constant.
    second: Callable[[], Array | None]

    @property
    def rank(self) -> int:
        return len(self.shapes[0] or ())


def _first(node: _Node) -> bool:
    """Passes a batch with constants, such as filters. On a single axis samples are channels."""
    return node.is_batch[0] and not any(node.is_batch[1:]) and node.rank > 1


def _elementwise(node: _Node) -> bool:
    """Passes batches of equal rank: broadcasting aligns the last axes, and so the batches."""
    shapes = [
        (shape or (), is_batch) for shape, is_batch in zip(node.shapes, node.is_batch, strict=True)
    ]
    ranks = {len(shape) for shape, is_batch in shapes if is_batch}
    rank = max(ranks)
    return len(ranks) == 1 and all(
        is_batch or len(shape) < rank or (len(shape) == rank and shape[0] == 1)
        for shape, is_batch in shapes
    )


def _join(node: _Node) -> bool:
    """Passes batches only. A join along axis 0 fails the check of every output's length."""
    return all(node.is_batch)


def _split(node: _Node) -> bool:
    """Passes a constant axis, input 0. A split along axis 0 fails the check of outputs' lengths."""
    return not node.is_batch[0]


def _matrix_product(node: _Node) -> bool:
    """Passes batches of matrices, and lines of a matrix as samples.

    A square matrix might be transposed, so its lines are refused.
    """
    left, right = node.shapes[0] or (), node.shapes[1] or ()
    if all(node.is_batch[:2]):
        return len(left) == len(right) > 2
    is_matrix = len(left) == 2 and left[0] != left[1]
    return _first(node) and len(right) == 2 and (is_matrix or len(left) > 2)


def _pad(node: _Node) -> bool:
    amounts = node.second() if _first(node) else None
    return amounts is not None and not amounts[0].any()


def _reduce(node: _Node) -> bool:
    axes = node.second() if _first(node) else None
    return axes is not None and bool((axes % node.rank).all())


def _transpose(node: _Node) -> bool:
    order = node.second() if _first(node) else None
    return order is not None and order[:1].tolist() == [0]


def _reshape(node: _Node) -> bool:
    """Passes a -1 at axis 0, which keeps samples: other shapes fix their number, or mix them."""
    shape = node.second() if _first(node) else None
    return shape is not None and shape.ndim == 1 and shape[:1].tolist() == [-1]


def _never(node: _Node) -> bool:
    """Serves operators that only read constants, for which no rule is called."""
    return False


_RULES: dict[Samples, Callable[[_Node], bool]] = {
    Samples.APART: _first,
    Samples.CONSTANT: _never,
    Samples.EACH: _elementwise,
    Samples.JOINED: _join,
    Samples.PADDED: _pad,
    Samples.PRODUCT: _matrix_product,
    Samples.REDUCED: _reduce,
    Samples.RESHAPED: _reshape,
    Samples.SPLIT: _split,
    Samples.TRANSPOSED: _transpose,
}


def is_samplewise(session: Session) -> bool:
    """Tells whether all outputs are batches made by operators that keep samples apart."""
    inputs, tensors = session.declared_inputs, session.declared_tensors
    if not has_batch(inputs):
        return False
    batch = inputs[0].shape[:1]
    batches = {info.index for info in inputs}
    computed = set(batches)
    for operator in session.operators:
        rule = _RULES.get(known_op(operator.name).samples)
        if rule is None:
            return False
        computed.update(operator.outputs)
        if batches.isdisjoint(operator.inputs):
            continue  # It only reads constants, such as weights stored as float16.
        used = {number for number in (*operator.inputs, *operator.outputs) if number >= 0}
        if not used <= tensors.keys():
            return False
        node = _Node(
            [tensors[number].shape if number >= 0 else None for number in operator.inputs],
            [number in batches for number in operator.inputs],
            functools.partial(_read_second, session, operator, computed),
        )
        # Scales of channels might turn out to be scales of samples.
        if not rule(node) or any(
            tensors[number].shape[:1] != batch or len(tensors[number].scales) > 1
            for number in used.intersection(batches.union(operator.outputs))
        ):
            return False
        batches.update(operator.outputs)
    return all(info.index in batches for info in session.declared_outputs)


def _read_second(session: Session, operator: Operator, computed: set[int]) -> Array | None:
    number = operator.inputs[1] if len(operator.inputs) > 1 else -1
    return None if number < 0 or number in computed else session.constant(number)
