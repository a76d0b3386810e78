"""Finds values that cannot be negative for any input of the model: their sign is 0 or 1.

The operators that make a value, and its constants, decide this. NaN does not count as negative.
"""

from collections.abc import Sequence

import numpy as np

from larq_engine.converter.activations import excludes_negative, fused_activation, range_of
from larq_engine.converter.graph import Op, Tensor

# Operators whose results are never negative.
_NEVER_NEGATIVE = {
    "ABS",
    "EXP",
    "LOGISTIC",
    "RSQRT",
    "SOFTMAX",
    "SQRT",
    "SQUARE",
    "SQUARED_DIFFERENCE",
}

# Operators whose results are not negative if none of their inputs is.
_KEEP_NOT_NEGATIVE = {
    *("ADD", "DIV", "MINIMUM", "MUL", "POW"),
    *("CEIL", "ELU", "FLOOR", "GELU", "HARD_SWISH", "LEAKY_RELU", "PRELU", "RELU_N1_TO_1"),
    *("ROUND", "SIGN", "TANH"),
    *("AVERAGE_POOL_2D", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"),
    *("BATCH_MATMUL", "CONV_2D", "CONV_3D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"),
    "RESIZE_BILINEAR",
}

# For these operators only the first input counts; the others are sizes, axes and the like.
_ONLY_FIRST_INPUT = {
    *("MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"),
    *("PRELU", "RESIZE_BILINEAR"),
}


def is_not_negative(x: Tensor) -> bool:
    """Tells whether no value of a float tensor can be below 0.

    It does not recurse, because chains of operators have any length.
    """
    known: dict[Tensor, bool] = {}
    waiting = [x]
    while waiting:
        groups = _groups(waiting[-1])
        unknown = [t for group in groups for t in group if t not in known]
        if unknown:
            waiting += unknown
            continue
        known[waiting.pop()] = any(all(known[t] for t in group) for group in groups)
    return known[x]


def _groups(tensor: Tensor) -> Sequence[Sequence[Tensor]]:
    """Returns groups of tensors; the tensor is not negative if all tensors of one group are not.

    So an empty group means that it never is, and no group means that nothing is known.
    """
    if tensor.data is not None:
        return [[]] if bool((tensor.data >= 0).all()) else []
    op = tensor.producer
    if op is None or op.custom or tensor.dtype != "FLOAT32":
        return []
    is_always = op.kind in _NEVER_NEGATIVE or excludes_negative(op.known.clamp)
    if is_always or excludes_negative(range_of(fused_activation(op))):
        return [[]]
    given = [value for value in op.inputs if value is not None]
    if op.kind == "MAXIMUM":
        return [[value] for value in given]
    if op.kind in ("SELECT", "SELECT_V2"):
        return [given[1:]]
    if op.kind == "CAST":
        return [[]] if given[0].dtype in ("BOOL", "UINT8") else []
    if op.kind == "POW" and _is_even(given[1]):
        return [[]]
    if op.kind == "MUL" and given[0] is given[1]:
        return [[]]
    if op.kind in ("PAD", "PADV2"):
        fill = given[2:] if op.kind == "PADV2" else []
        return [[given[0], *fill]]
    if op.kind == "MAX_POOL_2D":
        return [[without_pads(op, given[0])]]
    if op.known.moved is not None:
        return [[value for value in op.inputs[op.known.moved] if value is not None]]
    if op.kind in _KEEP_NOT_NEGATIVE:
        return [given[:1] if op.kind in _ONLY_FIRST_INPUT else given]
    return []


def _is_even(power: Tensor) -> bool:
    return power.data is not None and bool((np.mod(power.data, 2) == 0).all())


def without_pads(pool: Op, x: Tensor) -> Tensor:
    """Returns the input of the pad before a max pooling, if every window has values beside pads.

    Otherwise it returns `x`. PyTorch's max pooling pads with -infinity.
    """
    pad = x.producer
    if pad is None or pad.kind not in ("PAD", "PADV2") or pad.inputs[0] is None:
        return x
    sizes = pad.inputs[1]
    if sizes is None or sizes.data is None or sizes.data.shape != (4, 2):
        return x
    window = (1, pool.options.filterHeight, pool.options.filterWidth, 1)
    fits = (sizes.data.max(axis=1) < np.array(window)).all()
    return pad.inputs[0] if bool(fits) else x
