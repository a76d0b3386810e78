"""Turns a sign after an LceBconv2d into the layer's thresholds, so that the layer writes bits.

All operators between the convolution and the sign work on each channel by itself and are monotone.
So the sign changes at most once as the dot product grows. The place is found by evaluating these
operators on dot products, in float32 and one after the other, as the runtime would. No algebra is
used, which would round in its own way. Max pooling commutes with signs.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.activations import fused_activation, limit, range_of
from larq_engine.converter.float_order import Function
from larq_engine.converter.graph import Array, Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.padding import is_zero_padded
from larq_engine.converter.rules_fuse import per_channel, values
from larq_engine.converter.rules_parts import joins_channels

# A convolution, the functions from its result to a sign, the pooling among them, and the functions
# after the pooling.
_Chain = tuple[Op, list[Function], Op | None, list[Function]]


def write_bits(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites LceQuantize of a convolution's result as a convolution with thresholds.

    If a max pooling lies in between, an LceBMaxPool2d follows. Then no operator between the pooling
    and the sign may reverse the order of values.
    """
    chain = _follow(op, graph) if lce_ops.takes_sign(op) else None
    found = None if chain is None else _chain_thresholds(chain, options)
    if chain is None or found is None:
        return None
    convolution, _, pool, _ = chain
    threshold, turned = found

    bits = (
        op.output
        if pool is None
        else Tensor(
            f"{op.name}/before_pool", lce_ops.packed_shape(convolution.output.shape), "INT32"
        )
    )
    fields = convolution.options | {
        "fused_activation_function": schema.ACTIVATION["NONE"],
    }
    filters = convolution.inputs[1]
    assert filters is not None
    if turned.any():
        filters = lce_ops.constant(turn(convolution, turned))
    inputs = [
        convolution.inputs[0],
        filters,
        None,
        None,
        lce_ops.constant(threshold),
    ]
    fused = replace(convolution, inputs=inputs, outputs=[bits], options=fields)
    return [fused] if pool is None else [fused, lce_ops.bmaxpool(bits, pool, op.output)]


def _chain_thresholds(chain: _Chain, options: Options) -> tuple[Array, Array] | None:
    """Returns the thresholds of a convolution before a sign, and the channels to be negated.

    It returns None if the convolution cannot write the sign's bits.
    """
    convolution, functions, pool, after_pool = chain
    if is_zero_padded(convolution.options) and not _works_zero_padded(convolution, options):
        return None
    if pool is not None and options.for_xcore:
        return None
    clamp = range_of(convolution.options["fused_activation_function"])
    assert clamp is not None
    depth = int(np.prod(_filter_shape(convolution)[1:3])) * _group_channels(convolution)
    depth *= math.prod(map(lce_ops.largest, lce_ops.layer_bits(convolution)))

    def value(dots: Array) -> Array:
        x = limit(dots, clamp)
        x = x * values(convolution, 2) + values(convolution, 3)
        for function in functions:
            x = function(x)
        return x

    channels = len(values(convolution, 2))
    # The runtime computes with infinities as with any other values.
    with np.errstate(all="ignore"):
        if pool is not None and _decreases(after_pool, channels):
            return None
        return _thresholds(value, depth, channels)


def pool_bits(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites LceQuantize(MAX_POOL_2D(x)) as LceBMaxPool2d(LceQuantize(x)).

    Only the sign may read the pooled values.
    """
    x = op.inputs[0]
    pool = x.producer if x is not None and graph.only_use(x) else None
    if not lce_ops.takes_sign(op):
        return None
    if pool is None or pool.kind != "MAX_POOL_2D" or pool.inputs[0] is None or options.for_xcore:
        return None
    before = pool.inputs[0]
    if x is None or x.dtype not in ("FLOAT32", "INT8") or pool.options.fusedActivationFunction:
        return None
    if before.quantization != x.quantization:
        return None  # Zero would be another number before the pooling than after it.
    quantize = lce_ops.quantize(before, f"{op.name}/before_pool")
    return [quantize, lce_ops.bmaxpool(quantize.output, pool, op.output)]


def join_bits(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites LceQuantize(f(CONCATENATION(parts))) as CONCATENATION(LceQuantize(f(parts))).

    f are operators on each channel by itself, such as those of a batch normalization. Only the sign
    may read the joined values, and layers must be able to write the bits of all parts, which are
    whole words.
    """
    found = _find_join(op.inputs[0], graph) if lce_ops.takes_sign(op) else None
    if found is None or options.for_xcore:
        return None
    joined, steps = found
    parts = [part for part in joined.inputs if part is not None]
    if any(part.shape[-1] % lce_ops.WORD for part in parts[:-1]):
        return None
    made: list[Op] = []
    signs: list[Tensor | None] = []
    first = 0
    for number, part in enumerate(parts):
        name, end = f"{op.name}/part_{number}", first + part.shape[-1]
        functions: list[Function] = []
        last = part
        for place, step in enumerate(steps):
            made.append(_of_channels(step, last, slice(first, end), f"{name}/{place}"))
            last = made[-1].output
            function = step_of(made[-1], last.shape[-1])
            assert function is not None
            functions.append(function[0])
        chain = _find_convolution(part, graph, *reversed(functions))
        if chain is None or _chain_thresholds(chain, options) is None:
            return None
        made.append(lce_ops.quantize(last, name))
        signs.append(made[-1].output)
        first = end
    return [*made, replace(joined, inputs=signs, outputs=[op.output])]


def _find_join(tensor: Tensor | None, graph: Graph) -> tuple[Op, list[Op]] | None:
    """Follows a tensor back to a concatenation of channels.

    Returns the concatenation and the operators in between, in the order in which they run.
    """
    steps: list[Op] = []
    while tensor is not None and tensor.dtype == "FLOAT32" and graph.only_use(tensor):
        op = tensor.producer
        if op is None:
            return None
        if joins_channels(op):
            return op, steps[::-1]
        step = step_of(op, tensor.shape[-1])
        if step is None or step[1] is None or step[1].shape != tensor.shape:
            return None
        steps.append(op)
        tensor = step[1]
    return None


def _of_channels(step: Op, part: Tensor, channels: slice, name: str) -> Op:
    """Returns an operator on each channel by itself for some of the channels, which `part` has."""
    total = step.output.shape[-1]
    inputs: list[Tensor | None] = []
    for tensor in step.inputs:
        numbers = per_channel(tensor, total)
        inputs.append(part if numbers is None else lce_ops.constant(numbers[channels].copy()))
    return replace(step, inputs=inputs, outputs=[part.like(name)])


def is_made_of_bits(tensor: Tensor, graph: Graph) -> bool:
    """Tells whether a tensor's signs become bits that a convolution or a pooling of bits writes."""
    pooled = tensor.producer is not None and tensor.producer.kind == "MAX_POOL_2D"
    return pooled or _find_convolution(tensor, graph) is not None


def becomes_bits(tensor: Tensor, graph: Graph) -> bool:
    """Tells whether only a sign reads a tensor, so that a convolution can write its bits."""
    while graph.only_use(tensor) and tensor.consumers:
        (reader,) = tensor.consumers
        if reader.kind == "SIGN" or lce_ops.takes_sign(reader):
            return True
        if reader.kind != "MAX_POOL_2D" and step_of(reader, tensor.shape[-1]) is None:
            return False
        tensor = reader.output
    return False


def _filter_shape(convolution: Op) -> tuple[int, ...]:
    return values(convolution, 1).shape


def _group_channels(convolution: Op) -> int:
    """Returns the channels of a group; groups are whole words, but a single one may not be."""
    words = _filter_shape(convolution)[3] // lce_ops.layer_bits(convolution)[1]
    return int(min(convolution.options["channels_in"], words * lce_ops.WORD))


def _works_zero_padded(convolution: Op, options: Options) -> bool:
    """Tells whether thresholds work with zero padding: groups must have an even number of channels.

    A padded tap takes a group's channels out of the depth. If their number is even, the dot product
    stays as even or odd as the depth, which thresholds rely on.
    """
    return not options.for_lce and _group_channels(convolution) % 2 == 0


def _follow(quantize: Op, graph: Graph) -> _Chain | None:
    """Follows a sign back to the convolution whose result only the sign reads."""
    tensor = quantize.inputs[0]
    if tensor is None or tensor.dtype != "INT8":
        return _find_convolution(tensor, graph)
    rounding = _rounding(tensor, graph)
    if rounding is None:
        return None
    function, tensor = rounding
    return _find_convolution(tensor, graph, function)


def _find_convolution(tensor: Tensor | None, graph: Graph, *last: Function) -> _Chain | None:
    """Follows a float tensor back to the convolution; `last` has the functions after the tensor."""
    functions = list(last)
    pool: Op | None = None
    after_pool: list[Function] = []
    while tensor is not None and tensor.dtype == "FLOAT32" and graph.only_use(tensor):
        op = tensor.producer
        if op is None:
            return None
        if op.kind == "LceBconv2d":
            functions.reverse()
            after_pool.reverse()
            return op, functions, pool, after_pool
        if op.kind == "MAX_POOL_2D" and pool is None:
            pool = op
            after_pool = functions.copy()
            clamp = range_of(fused_activation(op))
            if clamp is None:
                return None
            functions.append(functools.partial(limit, to=clamp))
            tensor = op.inputs[0]
            continue
        step = step_of(op, tensor.shape[-1])
        if step is None:
            return None
        function, before = step
        if before is None or before.shape != tensor.shape:
            return None  # A constant made several channels of one.
        functions.append(function)
        tensor = before
    return None


def _rounding(tensor: Tensor, graph: Graph) -> tuple[Function, Tensor | None] | None:
    """Returns what a QUANTIZE before the sign computes; its zero point counts as not negative."""
    op, quantization = tensor.producer, tensor.quantization
    if op is None or op.kind != "QUANTIZE" or quantization is None or not graph.only_use(tensor):
        return None
    if len(quantization.scale) != 1:
        return None
    scale = np.float32(quantization.scale[0])
    lowest = np.float32(np.iinfo(np.int8).min - quantization.zero_point[0])

    def rounded(x: Array) -> Array:
        steps = np.sign(x) * np.floor(np.abs(x / scale) + np.float32(0.5))
        # Values below the range of int8 become its lowest value, which may be the zero point.
        return np.asarray(np.maximum(steps, lowest))

    return rounded, op.inputs[0]


def step_of(op: Op, channels: int) -> tuple[Function, Tensor | None] | None:
    """Returns what an operator does to each channel's values, and the tensor that holds these."""
    if op.known.clamp is not None:
        return functools.partial(limit, to=op.known.clamp), op.inputs[0]
    if op.kind == "NEG":
        return np.negative, op.inputs[0]
    if op.kind == "LEAKY_RELU" and op.options.alpha >= 0:
        return _leaky(np.float32(op.options.alpha)), op.inputs[0]
    if op.kind == "PRELU":
        slope = per_channel(op.input(1), channels)
        if slope is not None and (slope >= 0).all():
            return _leaky(slope), op.inputs[0]
    if op.kind in _ARITHMETIC and len(op.inputs) == 2:
        return _arithmetic(op, channels)
    return None


def _leaky(slope: Array | np.float32) -> Function:
    return lambda x: np.where(x >= 0, x, x * slope)


_ARITHMETIC: dict[str, Callable[[Array, Array], Array]] = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "DIV": np.divide,
    "MINIMUM": np.minimum,
    "MAXIMUM": np.maximum,
}


def _arithmetic(op: Op, channels: int) -> tuple[Function, Tensor | None] | None:
    a, b = op.inputs
    first, second = per_channel(a, channels), per_channel(b, channels)
    clamp = range_of(fused_activation(op))
    if (first is None) == (second is None) or clamp is None:
        return None
    function = _ARITHMETIC[op.kind]
    if second is not None:
        if op.kind == "DIV" and not second.all():
            return None
        return lambda x: limit(function(x, second), clamp), a
    if first is None or op.kind == "DIV":
        return None  # A constant divided by x is not monotone around 0.
    return lambda x: limit(function(first, x), clamp), b


def _decreases(after: list[Function], channels: int) -> bool:
    """Tells whether what follows the pooling reverses the order of values in some channel."""
    largest = np.finfo(np.float32).max / 4
    low, high = (np.full(channels, end, np.float32) for end in (-largest, largest))
    # Overflow gives infinity, which keeps the order. Infinity times 0 is NaN, which compares as
    # false, and belongs to a channel with a single value.
    with np.errstate(over="ignore", invalid="ignore"):
        for function in after:
            low, high = function(low), function(high)
    return bool((low > high).any())


def _thresholds(value: Function, depth: int, channels: int) -> tuple[Array, Array] | None:
    """Returns the thresholds, and the channels whose filters must be negated for them.

    Dot products are depth, the largest, depth - 2, ... -depth. Dot product number i, depth - 2 i,
    has i bits that differ. Bisection finds the number from which on an output bit is 1, or up to
    which it is 1. In the second case the filter is negated, and the bit is 1 from some number on.
    """

    def bit(differing: Array) -> Array:
        return np.asarray(value((depth - 2 * differing).astype(np.float32)) < 0)

    none, all_ = np.zeros(channels, np.int64), np.full(channels, depth, np.int64)
    first, last = bit(none), bit(all_)
    # Bisection keeps bit(low) == first and bit(high) == last.
    low, high = none, all_
    while (high - low > 1).any():
        middle = (low + high) // 2
        same = bit(middle) == first
        low = np.where(same, middle, low)
        high = np.where(same, high, middle)
    turned = first & ~last
    threshold = np.where(turned, depth - low - 1, low)
    # In these channels the bit never changes.
    threshold = np.where(~first & ~last, np.iinfo(np.int32).max, threshold)
    threshold = np.where(first & last, np.iinfo(np.int32).min, threshold)
    if not np.isfinite(value(np.full(channels, depth, np.float32))).all():
        return None
    return threshold.astype(np.int32), turned


def turn(convolution: Op, turned: Array) -> Array:
    """Returns the filters with some output channels negated; unused bits stay 0."""
    filters = values(convolution, 1)
    channels = _group_channels(convolution)
    used = lce_ops.pack_bits(np.ones(channels, np.bool_))
    used = np.tile(used, lce_ops.layer_bits(convolution)[1])
    return np.where(turned[:, None, None, None], filters ^ used, filters).astype(np.int32)
