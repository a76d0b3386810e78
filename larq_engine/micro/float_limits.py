"""The ranges that activations limit floats to, as constants of kernels."""

import numpy as np

from larq_engine.converter.activations import fused_activation, range_of
from larq_engine.converter.graph import Op
from larq_engine.exporting.op_checks import unsupported
from larq_engine.micro.plan import Constant


def limits(lowest: float | None, highest: float | None) -> Constant:
    """Returns two floats; None is no limit."""
    ends = (
        -np.inf if lowest is None else lowest,
        np.inf if highest is None else highest,
    )
    return Constant("limits", "float", np.array(ends, np.float32))


def fused_limits(op: Op) -> Constant:
    """Returns the limits of an operator's fused activation."""
    found = range_of(fused_activation(op))
    if found is None:
        raise unsupported(op, "its fused activation has no kernel in C")
    return limits(*found)
