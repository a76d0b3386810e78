"""Turns products of two matrices that are both computed when the model runs into LceBmatmul.

Binary transformers have such products: of queries and keys, which are signs, and of attention,
whose values are 0 and 1, and signs.
"""

from dataclasses import dataclass, replace

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.activations import fused_activation
from larq_engine.converter.bits import make_bits
from larq_engine.converter.graph import Array, FloatLayer, Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.signs import Binary, Moved, NotBinary, find_binary


@dataclass(frozen=True)
class _Product:
    """Two sides of a product, whose rows are multiplied with each other."""

    left: Binary
    right: Binary

    @property
    def values(self) -> Array:
        """Returns the numbers that bits 0 and 1 stand for, on the left and on the right."""
        sides = (self.left, self.right)
        return np.array([[x.beta + x.alpha, x.beta - x.alpha] for x in sides], np.float32)


PRODUCTS = ("BATCH_MATMUL", "FULLY_CONNECTED")

_USE_TWO_VALUES = (
    "make it a sign of two values, 1 where x >= 0 and else -1, or 0 and 1 as in attention > limit; "
    "masks come before that"
)


def is_product(op: Op) -> bool:
    """Tells whether an operator multiplies two matrices that are both computed.

    PyTorch's exports write the product of two single matrices as a dense layer.
    """
    if op.kind not in PRODUCTS or not all(map(_is_computed, op.inputs[:2])):
        return False
    if op.kind == "BATCH_MATMUL":
        return True
    ranks = [len(x.shape) for x in (*op.inputs[:2], op.output) if x is not None]
    return ranks == [2, 2, 2] and op.input(2) is None and not fused_activation(op)


def _is_computed(tensor: Tensor | None) -> bool:
    """Tells whether a tensor is no constant, whatever the type in which the file stores it."""
    if tensor is None or tensor.is_constant:
        return False
    op = tensor.producer
    return op is None or not all(x is None or x.is_constant for x in op.inputs)


def _turned_sides(op: Op) -> tuple[bool, bool]:
    """Tells which sides of a product have the values of a sum along their columns."""
    if op.kind == "FULLY_CONNECTED":
        return False, False
    return op.options.adjX, not op.options.adjY


def find_product(op: Op, options: Options) -> _Product | NotBinary:
    """Returns the sides of a product, or the reason why it stays in float."""
    left, right = op.inputs[:2]
    assert left is not None and right is not None
    if options.for_lce or options.for_xcore:
        return NotBinary(
            "LCE and XMOS's tools have no product of two computed matrices",
            "convert with compatibility='larq_engine'",
        )
    shapes = [side.signature or side.shape for side in (left, right)]
    if len(left.shape) < 2 or shapes[0][:-2] != shapes[1][:-2]:
        return NotBinary(
            f"it multiplies matrices of the shapes {shapes[0]} and {shapes[1]}",
            "give both sides equally many matrices",
        )
    sides = []
    for side, is_turned in zip((left, right), _turned_sides(op), strict=True):
        found = find_binary(side)
        if isinstance(found, NotBinary):
            return replace(found, remedy=_USE_TWO_VALUES)
        sides.append(_turn(found) if is_turned else found)
    product = _Product(*sides)
    depths = [(side.tensor.signature or side.tensor.shape)[-1] for side in sides]
    if -1 in depths:
        return NotBinary(
            "how many products it sums up is known only when the model runs",
            "give the model a fixed input shape",
        )
    with np.errstate(over="ignore"):
        largest = np.prod(np.abs(product.values).max(axis=1)) * np.float32(depths[0])
    if not np.isfinite(largest):
        return NotBinary("float32 does not hold the sums of its products", "use smaller values")
    return product


def _turn(binary: Binary) -> Binary:
    """Returns the value with rows in the place of columns."""
    x = binary.tensor
    order = lce_ops.turned_order(len(x.shape))
    signature = None if x.signature is None else tuple(x.signature[axis] for axis in order)
    turned = Tensor(
        f"{x.name}/turned", tuple(x.shape[axis] for axis in order), "FLOAT32", signature=signature
    )
    source = Moved(lce_ops.transpose(x, order, turned), (binary.source,), turned)
    return replace(binary, source=source, tensor=turned)


def multiply_bits(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Makes an LceBmatmul of a product of two matrices of two values each."""
    found = find_product(op, options) if is_product(op) else None
    if found is None or isinstance(found, NotBinary):
        return None
    left, ops = make_bits(found.left, found.left.tensor.shape, options)
    right, more = make_bits(found.right, found.right.tensor.shape, options)
    product = Op(
        "LceBmatmul",
        [left, right, lce_ops.constant(found.values)],
        [op.output],
        {"depth": found.left.tensor.shape[-1]},
        custom=True,
        layer=op.layer,
        float_layer=FloatLayer(op.kind, 0),
    )
    return [*ops, *more, product]
