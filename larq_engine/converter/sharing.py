"""Makes layers with the same weights share them in the file, also if thresholds negate some.

A layer that writes bits has the filters of some channels negated (`rules_bits.py`). Another layer
with the same weights, in another signature or in the same graph, may write numbers. Its filters can
be negated as well: the multipliers of these channels change their sign, which is exact.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.graph import Array, Graph, Op, Tensor
from larq_engine.converter.rules_bits import turn
from larq_engine.converter.rules_fuse import values

_NO_ACTIVATION = schema.ACTIVATION["NONE"]


def share_filters(graphs: Iterable[Graph]) -> None:
    """Makes layers share filters that differ only by channels that are negated."""
    alike: dict[tuple[object, ...], list[Op]] = {}
    for graph in graphs:
        for op in graph.ops:
            if op.kind == "LceBconv2d":
                shape = values(op, 1).shape
                alike.setdefault((shape, *lce_ops.layer_bits(op)), []).append(op)
    for layers in alike.values():
        if len(layers) > 1:
            _share(layers)


def _share(layers: Sequence[Op]) -> None:
    # Layers with thresholds come first, because their bits cannot be changed.
    known: dict[bytes, Array] = {}
    for op in sorted(layers, key=_can_turn):
        filters = values(op, 1)
        first = filters[:, 0, 0, 0] & 1 == 1
        whole = turn(op, first)
        shared = known.setdefault(whole.tobytes(), filters)
        if not _can_turn(op) or np.array_equal(shared, filters):
            continue
        turned = first != (shared[:, 0, 0, 0] & 1 == 1)
        multiplier = np.where(turned, -values(op, 2), values(op, 2))
        for index, data in ((1, shared), (2, multiplier)):
            op.inputs[index] = _replaced(op, index, data)


def _replaced(op: Op, index: int, data: Array) -> Tensor:
    old, new = op.inputs[index], lce_ops.constant(data)
    assert old is not None
    old.consumers.remove(op)
    new.consumers.append(op)
    return new


def _can_turn(op: Op) -> bool:
    """Tells whether a layer's outputs are products times multipliers, without an activation."""
    return op.inputs[2] is not None and op.options["fused_activation_function"] == _NO_ACTIVATION
