"""Makers of layers with weights and of batch norms."""

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import Array, Tensor
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.layout import Value, broadcast, channels_last, flattened
from larq_engine.converter.onnx_reader.moving import turned
from larq_engine.converter.onnx_reader.windows import as_image, from_image, padded, read_windows
from larq_engine.converter.padding import SAME, VALID


def conv(call: Call) -> Value:
    net, x, filters = call.net, call.value(), call.floats(1)
    rank, groups = len(x.shape), call.integer("group", 1)
    call.rank(x, 3, 4)
    outputs, per_group, *taps = filters.shape
    channels = x.shape[1]
    if len(taps) != rank - 2 or groups < 1 or channels != per_group * groups or outputs % groups:
        raise call.error(
            f"weights for {channels} channels in {groups} groups",
            f"the shape {list(filters.shape)}",
            "it is damaged: export it again",
        )
    if (call.integers("kernel_shape") or taps) != taps:
        raise call.error(
            f"its kernel_shape to be {taps}", call.integers("kernel_shape"), "export it again"
        )
    windows = read_windows(call, x.shape[2:], taps)
    image = as_image(net, x)
    batch = x.shape[0]
    fields: dict[str, int] = {"padding": VALID, **windows.stride}
    if windows.is_same:
        fields["padding"] = SAME
    elif windows.is_padded:
        shape = (batch, *(axis.size for axis in windows.axes), channels)
        image = padded(net, image, shape, windows, 0.0)
    fields["dilationHFactor"], fields["dilationWFactor"] = (a.dilation for a in windows.axes)
    depthwise = groups == channels > 1 and isinstance(filters, np.ndarray)
    inputs = [image, _filters(call, filters, depthwise), _bias(call, outputs)]
    kind, name = "CONV_2D", "Conv2DOptions"
    if depthwise:
        kind, name = "DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions"
        fields["depthMultiplier"] = outputs // groups
    options = schema.make_options(name, **fields)
    made = net.op(kind, inputs, windows.shape(batch, outputs), options=options)
    sizes = windows.result[4 - rank :]
    return from_image(net, made, (batch, outputs, *sizes))


def _filters(call: Call, filters: Array | Value, depthwise: bool) -> Tensor:
    """Returns [outputs, height, width, inputs], or [1, height, width, outputs] if depthwise."""
    if isinstance(filters, Value):
        if call.integer("group", 1) > 1 or len(filters.shape) != 4:
            raise call.error("constant weights", "computed ones", "export it with constants folded")
        return call.net.ordered(filters, (0, 2, 3, 1)).tensor
    filters = _with_one_size(call, filters, 0)
    whole = filters if filters.ndim == 4 else filters[:, :, None]
    order = (1, 2, 3, 0) if depthwise else (0, 2, 3, 1)
    return call.net.constant(whole.transpose(order))


# Largest difference of weights' sizes from their mean, relative to it, that counts as rounding. An
# exporter that computes (s - x) + x rounds twice, each time by at most 2**-24 of the result: first
# the difference, then the sum. If no weight x is larger than k times the size that is meant, the
# result is off by up to (k + 2) * 2**-24 of that size. The mean may be off by as much, so the
# difference is up to twice that. The limit holds for k up to 510, and trained weights are smaller.
# Sizes that differ on purpose, in weights of up to 12 bits, are further apart.
_ROUNDING = 2.0**-14


def _with_one_size(call: Call, weights: Array, channels: int) -> Array:
    """Returns the weights, with one size in each output channel if sizes differ only by rounding.

    PyTorch's exporter itself computes (s - x) + x for small weights. The rounding of this sum is
    not part of the model.
    """
    sizes, others = np.abs(weights), tuple(a for a in range(weights.ndim) if a != channels)
    if not weights.size:
        return weights
    mean = sizes.mean(axis=others, dtype=np.float64, keepdims=True)
    off = np.abs(sizes - mean)
    if not (off <= _ROUNDING * mean).all():
        return weights
    size = mean.astype(np.float32)
    if (sizes != size).any():
        share = float((off / np.where(mean == 0, 1, mean)).max())
        call.net.rounded[call.net.layer] = max(share, call.net.rounded.get(call.net.layer, 0.0))
    return np.copysign(size, weights)


def _bias(call: Call, outputs: int) -> Tensor:
    if call.input(2) is None:
        return call.net.constant(np.zeros(outputs, np.float32))
    bias = call.value(2)
    if bias.shape != (outputs,):
        raise call.error(f"{outputs} biases", f"the shape {list(bias.shape)}", "export it again")
    return bias.tensor


def gemm(call: Call) -> Value:
    """Makes alpha * a * b + beta * c, with a and b transposed if attributes say so."""
    a, b, c = call.value(), call.floats(1), call.input(2)
    alpha, beta = call.number("alpha", 1.0), call.number("beta", 1.0)
    call.rank(a, 2)
    call.rank(call.net.value(b), 2)
    if call.integer("transA"):
        a = turned(call.net, a, (1, 0))
    if call.integer("transB"):
        b = b.T if isinstance(b, np.ndarray) else turned(call.net, b, (1, 0))
    if isinstance(b, np.ndarray) and alpha != 1:
        b, alpha = np.float32(alpha) * b, 1.0
    row = None
    if c is not None:
        c = call.floats(2)
        if isinstance(c, np.ndarray):
            c, beta = np.float32(beta) * c, 1.0
            row = _row(c, b.shape[-1])
    result = product(call, a, b, row)
    if alpha != 1:
        result = call.each("MUL", result, np.array(alpha, np.float32))
    if c is None or row is not None:
        return result
    if beta != 1:
        c = call.each("MUL", c, np.array(beta, np.float32))
    return call.each("ADD", result, c)


def _row(c: Array, units: int) -> Array | None:
    """Returns a constant that is the same for all rows, like biases; None if it is not."""
    if c.ndim > 2 or c.shape[:-1] not in ((), (1,)) or c.shape[-1:] not in ((), (1,), (units,)):
        return None
    return np.broadcast_to(c.reshape(c.shape[-1:]), (units,))


def matmul(call: Call) -> Value:
    a, b = call.value(), call.floats(1)
    if min(len(a.shape), len(b.shape)) < 2:
        raise call.error("matrices", [list(a.shape), list(b.shape)], "reshape vectors to matrices")
    return product(call, a, b, None)


def product(call: Call, a: Value, b: Array | Value, bias: Array | None) -> Value:
    """Makes a * b, plus biases if b is constant."""
    net, units = call.net, b.shape[-1]
    if a.shape[-1] != b.shape[-2]:
        raise call.error(
            f"{a.shape[-1]} rows of its second matrix", b.shape[-2], "it is damaged: export it"
        )
    if isinstance(b, np.ndarray) and b.ndim == 2:
        b = _with_one_size(call, b, 1)
        if a.image:
            b = b[flattened(a.image)]  # in the order of the image's values
        else:
            a = net.plain(a)
        shape = (*a.shape[:-1], units)
        options = schema.make_options("FullyConnectedOptions", keepNumDims=len(shape) > 2)
        inputs = [a.tensor, net.constant(b.T), None if bias is None else net.constant(bias)]
        made = net.op("FULLY_CONNECTED", inputs, shape, options=options)
        return Value(shape, made, tuple(range(len(shape))))
    a, b = net.plain(a), net.plain(net.value(b))
    shape = (*broadcast(a.shape[:-2], b.shape[:-2]), a.shape[-2], units)
    options = schema.make_options("BatchMatMulOptions")
    made = net.op("BATCH_MATMUL", [a.tensor, b.tensor], shape, options=options)
    return Value(shape, made, tuple(range(len(shape))))


def batch_norm(call: Call) -> Value:
    """Makes a batch norm with trained statistics: a factor and an offset for each channel."""
    x = call.value()
    rank = len(x.shape)
    if rank < 2 or call.integer("training_mode"):
        raise call.error(
            "an input with channels, and fixed means",
            f"the shape {list(x.shape)}, training_mode={call.integer('training_mode')}",
            "export the model for inference (model.eval())",
        )
    names = ("its scale", "its offset", "its mean", "its variance")
    numbers = [call.weights(n, name).astype(np.float64) for n, name in enumerate(names, 1)]
    if any(number.shape != (x.shape[1],) for number in numbers):
        shapes = [number.shape for number in numbers]
        raise call.error(
            f"{x.shape[1]} numbers of each kind", shapes, "it is damaged: export it again"
        )
    scale, offset, mean, variance = numbers
    variance = variance + call.number("epsilon", 1e-5)
    if not (variance > 0).all():
        raise call.error("variances above 0", variance.min(), "train the model again")
    factor = scale / np.sqrt(variance)
    offset = offset - mean * factor
    if rank > 2:
        x = call.net.ordered(x, channels_last(rank))
    whole = (-1, *[1] * (rank - 2))
    scaled = call.each("MUL", x, factor.astype(np.float32).reshape(whole))
    return call.each("ADD", scaled, offset.astype(np.float32).reshape(whole))
