"""Makes dense layers of flattened images read the image as it was before a TRANSPOSE.

The weights are reordered instead, as their order decides which value each one multiplies.
"""

from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.rules_transpose import find_transpose


def turn_weights(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites FULLY_CONNECTED(RESHAPE(TRANSPOSE(x))) as FULLY_CONNECTED(RESHAPE(x))."""
    rows, weights = op.inputs[:2]
    flatten = rows.producer if rows is not None else None
    if rows is None or flatten is None or flatten.kind != "RESHAPE":
        return None
    found = find_transpose(flatten.inputs[0])
    if found is None or weights is None or weights.data is None or op.options.weightsFormat:
        return None
    x, order = found
    image = tuple(x.shape[axis] for axis in order)
    # Weights that are stored with fewer bytes, or have scales along their rows, stay as they are.
    fits = weights.dtype == "FLOAT32" and weights.recipe is None and order[0] == 0
    if not fits or rows.shape != image[:1] + weights.shape[1:]:
        return None
    units = weights.shape[:1]
    turned = weights.data.reshape(units + image[1:]).transpose(np.argsort(order))
    data = np.ascontiguousarray(turned).reshape(weights.shape)
    inner = rows.like(f"{rows.name}/before_transpose")
    inputs = [inner, Tensor(weights.name, data.shape, weights.dtype, data=data), *op.inputs[2:]]
    reshaped = replace(lce_ops.reshape(x, inner), layer=flatten.layer)
    return [reshaped, replace(op, inputs=inputs)]
