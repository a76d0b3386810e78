"""Signs of what an LceBconv2d makes become its thresholds, so that it writes bits.

Everything between the convolution and the sign works on each channel by itself and is monotone, so
the sign as a function of the dot product changes once at most. Where it changes is found by
evaluating the operators in between on dot products, in float32 and one after the other as the
runtime would: no algebra, and so no rounding of its own. Max pooling commutes with signs.
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


def write_bits(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """LceQuantize of a convolution's result -> the convolution with thresholds.

    With a max pooling in between, an LceBMaxPool2d follows; what is between pooling and sign must
    not turn the order of values round then.
    """
    chain = _follow(op, graph) if lce_ops.takes_sign(op) else None
    if chain is None:
        return None
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
    # Infinities are values like any other to the runtime.
    with np.errstate(all="ignore"):
        if pool is not None and _decreases(after_pool, channels):
            return None
        found = _thresholds(value, depth, channels)
    if found is None:
        return None
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


def pool_bits(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """LceQuantize(MAX_POOL_2D(x)) -> LceBMaxPool2d(LceQuantize(x)), if only the sign is needed."""
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
        return None  # What is 0 before the pooling would be another number than after it.
    quantize = lce_ops.quantize(before, f"{op.name}/before_pool")
    return [quantize, lce_ops.bmaxpool(quantize.output, pool, op.output)]


def is_made_of_bits(tensor: Tensor, graph: Graph) -> bool:
    """Whether a tensor's signs become bits that a convolution writes, or pooled bits."""
    pooled = tensor.producer is not None and tensor.producer.kind == "MAX_POOL_2D"
    return pooled or _find_convolution(tensor, graph) is not None


def becomes_bits(tensor: Tensor, graph: Graph) -> bool:
    """Whether nothing but a sign reads a tensor, so that a convolution can write its bits."""
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
    """Channels of a group; groups are whole words, and a single group may end within one."""
    words = _filter_shape(convolution)[3] // lce_ops.layer_bits(convolution)[1]
    return int(min(convolution.options["channels_in"], words * lce_ops.WORD))


def _works_zero_padded(convolution: Op, options: Options) -> bool:
    """A padded tap takes a group's channels out of the depth; with an even number of them the dot
    product stays as even or odd as the depth, which thresholds rely on."""
    return not options.for_lce and _group_channels(convolution) % 2 == 0


_Chain = tuple[Op, list[Function], Op | None, list[Function]]


def _follow(quantize: Op, graph: Graph) -> _Chain | None:
    """Goes up from a sign to the convolution that feeds nothing else.

    Returns the convolution, the functions from its result to the sign, the pooling among them and
    the functions after that.
    """
    tensor = quantize.inputs[0]
    if tensor is None or tensor.dtype != "INT8":
        return _find_convolution(tensor, graph)
    rounding = _rounding(tensor, graph)
    if rounding is None:
        return None
    function, tensor = rounding
    return _find_convolution(tensor, graph, function)


def _find_convolution(tensor: Tensor | None, graph: Graph, *last: Function) -> _Chain | None:
    """Likewise from a float tensor, of which these functions are still to come."""
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
            return None  # A constant made more channels of one.
        functions.append(function)
        tensor = before
    return None


def _rounding(tensor: Tensor, graph: Graph) -> tuple[Function, Tensor | None] | None:
    """What a QUANTIZE before the sign does: what rounds to the zero point is not negative."""
    op, quantization = tensor.producer, tensor.quantization
    if op is None or op.kind != "QUANTIZE" or quantization is None or not graph.only_use(tensor):
        return None
    if len(quantization.scale) != 1:
        return None
    scale = np.float32(quantization.scale[0])
    lowest = np.float32(np.iinfo(np.int8).min - quantization.zero_point[0])

    def rounded(x: Array) -> Array:
        steps = np.sign(x) * np.floor(np.abs(x / scale) + np.float32(0.5))
        # What rounds to less than int8 holds becomes its lowest value, which may be the zero point.
        return np.asarray(np.maximum(steps, lowest))

    return rounded, op.inputs[0]


def step_of(op: Op, channels: int) -> tuple[Function, Tensor | None] | None:
    """What an operator does to each channel's values, and the tensor that it does it to."""
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
    """Whether what follows the pooling turns the order of some channel's values round."""
    largest = np.finfo(np.float32).max / 4
    low, high = (np.full(channels, end, np.float32) for end in (-largest, largest))
    # Beyond the largest number is infinity, which keeps the order; 0 times that belongs to a
    # channel of one value, and NaN compares as false.
    with np.errstate(over="ignore", invalid="ignore"):
        for function in after:
            low, high = function(low), function(high)
    return bool((low > high).any())


def _thresholds(value: Function, depth: int, channels: int) -> tuple[Array, Array] | None:
    """The thresholds, and the channels whose filters must be turned for them.

    Dot products are depth, the largest, depth - 2, ... -depth; number i of them, depth - 2 i, is
    one with i bits that differ. A bit is 1 from a number on that bisection finds, or up to it: then
    the filter is turned, and it is 1 from there on.
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
    # Channels whose bit never changes.
    threshold = np.where(~first & ~last, np.iinfo(np.int32).max, threshold)
    threshold = np.where(first & last, np.iinfo(np.int32).min, threshold)
    if not np.isfinite(value(np.full(channels, depth, np.float32))).all():
        return None
    return threshold.astype(np.int32), turned


def turn(convolution: Op, turned: Array) -> Array:
    """The filters with the signs of some output channels changed; unused bits stay 0."""
    filters = values(convolution, 1)
    channels = _group_channels(convolution)
    used = lce_ops.pack_bits(np.ones(channels, np.bool_))
    used = np.tile(used, lce_ops.layer_bits(convolution)[1])
    return np.where(turned[:, None, None, None], filters ^ used, filters).astype(np.int32)
