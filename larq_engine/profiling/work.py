"""Counts the work that operators must do: products, and bytes read and written once each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from larq_engine.converter.graph import NUMPY_TYPES, Op, Tensor
from larq_engine.converter.lce_ops import layer_bits
from larq_engine.converter.macs import count_macs
from larq_engine.profiling.network import Network
from larq_engine.python.operators import Samples
from larq_engine.python.tensors import Array

BITS = "bits"

# These operators' outputs can be their inputs, in the same memory.
_VIEWS = ("EXPAND_DIMS", "RESHAPE", "SQUEEZE")


@dataclass(frozen=True)
class Work:
    """The least work of some operators.

    Attributes:
        products: Numbers of products by the type of weights: `BITS`, or a type of the schema.
        read: Bytes that come from other operators, or are constant.
        written: Bytes that other operators read.

    Inputs are left out of which an operator may need only a part, and so are all values of an
    operator that nothing is known about.
    """

    products: Mapping[str, int]
    read: int
    written: int


def count_work(
    network: Network, positions: Sequence[int], values: Mapping[Tensor, Array], times: int
) -> Work:
    """Counts the work of operators that run together.

    Args:
        network: Has the operators.
        network: The network that has the operators.
        positions: The operators' positions, in order.
        values: A value of each tensor that is no constant, for the declared batch.
    """
    ops = [network.ops[position] for position in positions]
    inside = {tensor for op in ops for tensor in op.outputs}
    products: dict[str, int] = {}
    read: dict[Tensor, float] = {}
    written = 0
    for op in ops:
        macs = count_macs(op)
        if macs:
            kind = _weights_type(op)
            products[kind] = products.get(kind, 0) + macs * _planes(op) * times
        share = _share_read(op, values)
        for tensor in op.inputs:
            if tensor is not None and tensor not in inside and share:
                given = tensor in values
                size = share * times * values[tensor].nbytes if given else _constant_bytes(tensor)
                read[tensor] = max(read.get(tensor, 0), size)
        if op.kind not in _VIEWS and (share or op.known.moved is not None):
            wanted = (tensor for tensor in op.outputs if network.is_read(tensor, ops))
            written += times * sum(values[tensor].nbytes for tensor in wanted)
    return Work(products, round(sum(read.values())), written)


def _weights_type(op: Op) -> str:
    weights = op.input(1)
    assert weights is not None  # Else there would be no products.
    return BITS if op.known.is_ours else weights.dtype


def _planes(op: Op) -> int:
    """Returns the number of products of bits that make one product."""
    return math.prod(layer_bits(op)) if op.known.is_ours else 1


def _share_read(op: Op, values: Mapping[Tensor, Array]) -> float:
    """Returns the part of its inputs that an operator has to read; 0 if that is not known."""
    known = op.known
    if known.weights is None and (known.samples is Samples.MIXED or known.moved is not None):
        return 0.0
    window = _window(op)
    if window is None:
        return 1.0
    image = op.inputs[0]
    assert image is not None
    if image not in values or not values[image].size:
        return 1.0
    # A stride that is longer than the window skips pixels.
    sizes = zip(values[image].shape[1:3], values[op.output].shape[1:3], window, strict=True)
    return float(np.prod([min(1.0, lines * taps / size) for size, lines, taps in sizes]))


def _window(op: Op) -> tuple[int, int] | None:
    """Returns height and width of the window that slides over an image."""
    weights = op.known.weights
    if weights is not None:
        filters = op.input(1)
        assert filters is not None
        slides = weights.rank == 4 and not weights.of_inputs
        return (filters.shape[1], filters.shape[2]) if slides else None
    options: Any = op.options
    if isinstance(options, dict) and "filter_height" in options:
        return options["filter_height"], options["filter_width"]
    if hasattr(options, "filterHeight"):
        return options.filterHeight, options.filterWidth
    return None


def _constant_bytes(tensor: Tensor) -> int:
    kind = NUMPY_TYPES.get(tensor.dtype)
    return 0 if kind is None else tensor.elements * np.dtype(kind).itemsize
