"""Turns a model's operators into layers of hardware."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.activations import range_of
from larq_engine.converter.graph import Array, Op, Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.macs import count_macs, group_words
from larq_engine.converter.padding import NO_PADS, Pads, read_pads
from larq_engine.exporting.int8_results import int8_sums, limits_of, of_channels, sum_fields
from larq_engine.exporting.op_checks import (
    check_made,
    constant,
    data,
    option,
    pads_of,
    scale_of,
    unsupported,
)
from larq_engine.exporting.rescale import fit_shift
from larq_engine.exporting.shapes import check_positions, check_shape
from larq_engine.exporting.views import is_view
from larq_engine.fpga import float_values
from larq_engine.fpga.layers import (
    Axis,
    Bytes,
    Dots,
    Join,
    Layer,
    Network,
    Node,
    Pool,
    Product,
    Signs,
    Sum,
    ToSigns,
    Window,
)
from larq_engine.fpga.streams import Stream

_INT8 = (-128, 127)

# Simulators and synthesis take vectors of so many bits.
_MOST_PIXEL_BITS = 1 << 16
_MOST_WINDOW_BITS = 1 << 17


@dataclass(frozen=True)
class _Floats:
    """Floats of a layer as a function of its integers, from `lowest` to `highest`.

    The values [channel, integer] behind other operators are made when one reads the floats.
    """

    layer: Op
    lowest: int
    highest: int
    behind: Array | None = None

    @property
    def values(self) -> Array:
        if self.behind is not None:
            return self.behind
        return float_values.of_layer(self.layer, self.lowest, self.highest)


@dataclass(frozen=True)
class _Value:
    number: int
    floats: _Floats | None = None


# Layers of operators that were read before, with the same streams.
Layers = dict[tuple[Op, tuple[Stream, ...]], "Layer | None"]


class Reader:
    """Makes layers of operators, one after the other."""

    def __init__(self, tensor: Tensor, stream: Stream, made: Layers) -> None:
        self.network = Network(stream)
        self._values: dict[Tensor, _Value] = {tensor: _Value(0)}
        self._made = made

    def add(self, op: Op) -> None:
        """Adds the layer of an operator whose inputs are there.

        Raises:
            ValueError: Hardware does not have it.
        """
        make = maker_of(op)
        if make is None:
            raise unsupported(op, "hardware does not have it")
        if not op.custom:
            check_shape(op)
        reads = self._reads(op)
        [first, *_] = reads
        if first.floats is not None:
            self._add_behind_floats(op, first, first.floats)
            return
        streams = tuple(self.network.stream(value.number) for value in reads)
        if (op, streams) not in self._made:
            self._made[op, streams] = make(op, list(streams))
        layer = self._made[op, streams]
        if layer is None:
            self._values[op.output] = first
            return
        floats = None
        if isinstance(layer, Product) and isinstance(layer.end, Dots):
            floats = _Floats(op, layer.end.lowest, layer.end.highest)
        self._append(op, layer, reads, floats)

    def behind_floats(self, tensor: Tensor) -> bool:
        """Tells whether a tensor has other floats than a layer itself."""
        floats = self._values[tensor].floats
        return floats is not None and tensor.producer is not None and not tensor.producer.custom

    def _append(
        self, op: Op, layer: Layer, reads: list[_Value], floats: _Floats | None = None
    ) -> None:
        if layer.target.pixel_bits > _MOST_PIXEL_BITS:
            raise unsupported(op, f"expected pixels of at most {_MOST_PIXEL_BITS} bits")
        self.network.nodes.append(Node(layer, tuple(value.number for value in reads)))
        self._values[op.output] = _Value(len(self.network.nodes), floats)

    def _add_behind_floats(self, op: Op, read: _Value, floats: _Floats) -> None:
        """Adds an operator on floats that a layer made."""
        stream = self.network.stream(read.number)
        if is_view(op):
            self._values[op.output] = read
        elif float_values.takes(op):
            values = float_values.behind(op, floats.values)
            self._values[op.output] = replace(read, floats=replace(floats, behind=values))
        elif op.kind == "MAX_POOL_2D":
            values = floats.values
            falls = float_values.falling(op, values)
            layer = _pool_of_integers(op, stream, None, tuple(bool(fall) for fall in falls))
            values = float_values.activated(op, values)
            self._append(op, layer, [read], replace(floats, behind=values))
        elif lce_ops.takes_sign(op):
            check_made(op, op.output, lce_ops.packed_shape(data(op, 0).shape))
            limits, falls = float_values.signs(op, floats.values, floats.lowest)
            self._append(op, _to_signs(op, stream, limits, falls), [read])
        else:
            raise unsupported(op, "hardware does not have it for floats")

    def _reads(self, op: Op) -> list[_Value]:
        """Returns the values that an operator reads, without constants."""
        found = []
        count = len(op.inputs) if op.kind == "CONCATENATION" else 1
        for position in range(2 if op.kind in ("ADD", "SUB", "MUL", "DIV") else count):
            tensor = op.input(position)
            if tensor is not None and tensor.is_constant and len(op.inputs) > 1:
                continue
            tensor = data(op, position)
            if tensor not in self._values:
                raise unsupported(op, f"'{tensor.name}' is not computed by the layers before it")
            found.append(self._values[tensor])
        if not found or any(value.floats for value in found[1:]):
            raise unsupported(op, "hardware adds and joins images of int8 or signs alone")
        return found


def maker_of(op: Op) -> "Callable[[Op, list[Stream]], Layer | None] | None":
    """Returns the function that makes the layer of an operator, or None."""
    if is_view(op):
        return _view
    if float_values.takes(op):
        return _floats_alone
    return _LAYERS.get(op.kind) if op.custom == (op.kind in _CUSTOM) else None


def _floats_alone(op: Op, streams: list[Stream]) -> Layer:
    del streams
    raise unsupported(op, "its floats are not those of a layer of bits")


def stream_of(tensor: Tensor, consumers: Sequence[Op]) -> Stream:
    """Returns the stream of a tensor that comes from outside.

    Raises:
        ValueError: It is not one image of bytes or bits.
    """
    shape = tensor.shape
    if not 2 <= len(shape) <= 4 or shape[0] != 1 or min(shape) < 1:
        raise ValueError(
            f"tensor '{tensor.name}': expected one image [1, height, width, channels], got shape "
            f"{list(shape)}; convert the model for a batch of 1"
        )
    height, width, last = (*(1, 1)[: 4 - len(shape)], *shape[1:])
    if tensor.dtype == "INT8":
        return Stream(height, width, last, 8, "int")
    if tensor.dtype == "UINT8":
        return Stream(height, width, last, 8, "count")
    if tensor.dtype != "INT32":
        raise ValueError(
            f"tensor '{tensor.name}': expected bits, int8 or uint8, got {tensor.dtype.lower()}; "
            "begin behind the LceQuantize that makes signs of it, or convert the model with int8 "
            "inputs and a representative_dataset"
        )
    layer = _first_product(tensor, consumers)
    bits = lce_ops.layer_bits(layer)[0] if layer is not None else 1
    words = last // bits
    channels = option(layer, "channels_in") if layer is not None else 0
    if lce_ops.words(channels) != words:
        channels = words * lce_ops.WORD
    return Stream(height, width, channels, bits, "sign" if bits == 1 else "count")


def _first_product(tensor: Tensor, ops: Sequence[Op]) -> Op | None:
    """Returns the layer that reads bits, also through pools and views."""
    reached = {tensor}
    for op in ops:
        if op.inputs and op.inputs[0] in reached:
            if op.kind == "LceBconv2d":
                return op
            if op.kind == "LceBMaxPool2d" or is_view(op):
                reached.add(op.output)
    return None


# ---- operators -----------------------------------------------------------------------------------


def _view(op: Op, streams: list[Stream]) -> None:
    """Passes a value on: its pixels and channels come in the same order."""
    x, [stream] = data(op, 0), streams
    if x.elements != op.output.elements or (
        stream.pixels > 1 and stream.kind != "int" and stream.channels % lce_ops.WORD
    ):
        raise unsupported(op, "expected values in the same order, got words with unused bits")


def _quantize(op: Op, streams: list[Stream]) -> Layer | None:
    x, [stream] = data(op, 0), streams
    bits = lce_ops.bits_made(op)
    check_made(op, op.output, lce_ops.packed_shape(x.shape, bits))
    if x.dtype == "UINT8" and bits == lce_ops.MOST_BITS:
        return None
    if x.dtype != "INT8" or bits != 1:
        raise unsupported(op, f"expected int8 to one bit, or uint8 to 8 bits, got {x.dtype}")
    limits = np.full(stream.channels, scale_of(op, x)[1])
    return _to_signs(op, stream, limits, np.zeros(stream.channels, bool))


def _to_signs(op: Op, stream: Stream, limits: Array, falls: Array) -> Layer:
    target = Stream(stream.height, stream.width, stream.channels)
    return ToSigns(name_layer(op), op.kind, stream, target, limits, falls)


def _window(
    op: Op,
    stream: Stream,
    taps: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Pads | None,
) -> Window:
    x, y = data(op, 0), op.output
    sizes = (stream.height, stream.width)
    if len(x.shape) != 4 or tuple(x.shape[1:3]) != sizes:
        raise unsupported(op, f"expected an image of {sizes[0]}x{sizes[1]}, got {list(x.shape)}")
    found = pads_of(pads, sizes, taps, strides, dilations)
    check_positions(op, sizes, y.shape[1:3], taps, strides, dilations, found)
    rows, columns = (Axis(sizes[d], taps[d], strides[d], dilations[d], *found[d]) for d in (0, 1))
    if taps[0] * taps[1] * stream.pixel_bits > _MOST_WINDOW_BITS:
        raise unsupported(op, f"expected at most {_MOST_WINDOW_BITS} bits under its window")
    return Window(rows, columns)


def _bit_pool(op: Op, streams: list[Stream]) -> Layer:
    [stream] = streams
    taps = (option(op, "filter_height"), option(op, "filter_width"))
    strides = (option(op, "stride_height"), option(op, "stride_width"))
    same = option(op, "padding") == schema.PADDING["SAME"]
    window = _window(op, stream, taps, strides, (1, 1), None if same else NO_PADS)
    if stream.kind != "sign":
        raise unsupported(op, "expected signs")
    target = Stream(window.rows.positions, window.columns.positions, stream.channels)
    check_made(op, op.output, (1, target.height, target.width, lce_ops.words(target.channels)))
    return Pool(name_layer(op), op.kind, stream, target, window)


def _byte_pool(op: Op, streams: list[Stream]) -> Layer:
    [stream] = streams
    x, y = data(op, 0), op.output
    if x.dtype != "INT8" or y.dtype != "INT8" or scale_of(op, x) != scale_of(op, y):
        raise unsupported(op, "expected int8 of one scale")
    low, high = limits_of(op, y)
    if low != _INT8[0]:
        raise unsupported(op, "expected no fused activation with a lower limit")
    return _pool_of_integers(op, stream, high if high < _INT8[1] else None, ())


def _pool_of_integers(
    op: Op, stream: Stream, highest: int | None, falls: tuple[bool, ...]
) -> Layer:
    taps = (op.options.filterHeight, op.options.filterWidth)
    strides = (op.options.strideH, op.options.strideW)
    same = op.options.padding == schema.PADDING["SAME"]
    window = _window(op, stream, taps, strides, (1, 1), None if same else NO_PADS)
    rows, columns = window.rows.positions, window.columns.positions
    target = replace(stream, height=rows, width=columns)
    return Pool(name_layer(op), op.kind, stream, target, window, highest, falls)


def _add(op: Op, streams: list[Stream]) -> Layer:
    if len(streams) != 2:
        raise unsupported(op, "expected two images that are computed, got a constant")
    a, b = streams
    first, second = data(op, 0), data(op, 1)
    if not a == b or first.shape != second.shape or a.kind != "int":
        raise unsupported(op, f"expected two images of int8 of one size, got {a} and {b}")
    low, high = limits_of(op, op.output)
    fields = sum_fields(op, (first, second))
    return Sum(name_layer(op), op.kind, a, a, **fields, lowest=low, highest=high)


def _concatenation(op: Op, streams: list[Stream]) -> Layer:
    """Joins images of signs, or of int8 of one scale, along their channels."""
    [first, *_] = streams
    tensors = [data(op, position) for position in range(len(op.inputs))]
    channels = sum(stream.channels for stream in streams)
    target = replace(first, channels=channels)
    axis = op.options.axis % len(op.output.shape)
    if len(streams) != len(tensors) or axis != len(op.output.shape) - 1:
        raise unsupported(op, "expected computed images, joined along their channels")
    if any(replace(stream, channels=channels) != target for stream in streams):
        kinds = " and ".join(map(str, streams))
        raise unsupported(op, f"expected images of one size and kind, got {kinds}")
    if first.kind == "int":
        scales = {scale_of(op, tensor) for tensor in [*tensors, op.output]}
        if first.bits != 8 or len(scales) > 1 or limits_of(op, op.output) != _INT8:
            raise unsupported(op, "expected int8 of one scale, without a fused activation")
    elif first.kind != "sign" or any(s.channels % lce_ops.WORD for s in streams[:-1]):
        raise unsupported(op, f"expected signs of whole words of {lce_ops.WORD} channels")
    words = channels if first.kind == "int" else lce_ops.words(channels)
    check_made(op, op.output, (*tensors[0].shape[:-1], words))
    return Join(name_layer(op), op.kind, first, target)


def _bconv2d(op: Op, streams: list[Stream]) -> Layer:
    count_macs(op)  # Raises an error if shapes do not fit.
    [stream] = streams
    bits_in, bits_weights = lce_ops.layer_bits(op)
    filters, x, y = constant(op, 1), data(op, 0), op.output
    outputs, *taps, _ = filters.shape
    pixel_words, words = group_words(op) or (0, 1)
    groups = max(1, pixel_words // words)
    channels_in = option(op, "channels_in")
    channels = channels_in // groups
    made = lce_ops.words(outputs) if y.dtype == "INT32" else outputs
    check_made(op, y, (*y.shape[:3], made))
    if (
        x.dtype != "INT32"
        or stream.bits != bits_in
        or stream.kind == "int"
        or channels * groups != channels_in
        or words != lce_ops.words(channels)
        or (groups > 1 and channels % lce_ops.WORD)
        or outputs % groups
    ):
        raise unsupported(op, f"expected bits of {channels_in} channels, got {stream}")
    planes = np.split(filters, bits_weights, axis=3)
    minus = np.stack([lce_ops.unpack_odd(plane, channels) < 0 for plane in planes], axis=-1)
    if tuple(x.shape[1:3]) == (1, 1) and stream.pixels > 1:
        return _dense(op, stream, minus)
    strides = (option(op, "stride_height"), option(op, "stride_width"))
    dilations = (option(op, "dilation_height_factor"), option(op, "dilation_width_factor"))
    given = read_pads({key: option(op, key) for key in op.options if key.startswith("pad")})
    if channels_in != stream.channels:
        raise unsupported(op, f"expected {channels_in} channels, got {stream}")
    window = _window(op, stream, taps, strides, dilations, given)
    has_pads = any(axis.before or axis.after for axis in (window.rows, window.columns))
    pad_value = option(op, "pad_values") if has_pads else 1
    masks = [
        [axis.inside(n) if pad_value == 0 else () for n in range(axis.positions)]
        for axis in (window.rows, window.columns)
    ]
    kinds = [list(dict.fromkeys(found)) for found in masks]
    classes = [
        tuple(kind.index(mask) for mask in found) for kind, found in zip(kinds, masks, strict=True)
    ]
    weights = minus.reshape(outputs, 1, taps[0] * taps[1], channels, bits_weights)
    outside = np.zeros((1, taps[0] * taps[1]), bool)
    if pad_value == 0:
        rows, columns = (np.array(kind) for kind in kinds)
        outside = ~(rows[:, None, :, None] & columns[:, None]).reshape(len(rows) * len(columns), -1)
    # A pad of zeros is the greatest value, whose part is taken away from the sum again.
    pad = _pad(stream, is_most=pad_value >= 0)
    size = (window.rows.positions, window.columns.positions)
    target, end = _end(op, stream, size, weights, outside)
    return Product(
        name_layer(op),
        op.kind,
        stream,
        target,
        window,
        pad,
        weights,
        groups,
        end,
        *classes,
    )


def _pad(stream: Stream, *, is_most: bool) -> int:
    """Returns the bits of the greatest value or of the least."""
    if stream.kind == "sign":
        return 0 if is_most else 1
    return lce_ops.largest(stream.bits) if is_most else 0


def _dense(op: Op, stream: Stream, minus: Array) -> Layer:
    """Makes a dense layer that reads an image pixel by pixel."""
    outputs = minus.shape[0]
    planes = minus.shape[-1]
    if option(op, "channels_in") != stream.pixels * stream.channels or minus.shape[1:3] != (1, 1):
        raise unsupported(op, f"expected all values of {stream}, got {option(op, 'channels_in')}")
    weights = minus.reshape(outputs, stream.pixels, 1, stream.channels, planes)
    window = Window(Axis(stream.height), Axis(stream.width))
    none = np.zeros((1, 1), bool)
    target, end = _end(op, stream, (1, 1), weights, none)
    rows, columns = (0,) * stream.height, (0,) * stream.width
    layer = Product(
        name_layer(op), op.kind, stream, target, window, 0, weights, 1, end, rows, columns
    )
    return layer


def _end(
    op: Op, stream: Stream, size: tuple[int, int], weights: Array, outside: Array
) -> tuple[Stream, Signs | Dots | Bytes]:
    """Returns what a layer makes of its ones; `outside` are the taps in pads of zeros [class]."""
    outputs, beats, taps, channels, planes = weights.shape
    most_value = lce_ops.largest(stream.bits)
    worth = most_value * lce_ops.largest(planes)
    depth = beats * taps * channels * worth
    minus = (weights.sum(axis=3).astype(np.int64) << np.arange(planes)).sum(axis=-1)[:, 0]
    ones_outside = most_value * (outside[:, None] * minus[None]).sum(axis=2)
    depth_outside = outside.sum(axis=1)[:, None] * channels * worth
    y = op.output
    if y.dtype == "INT32":
        threshold = np.clip(of_channels(op, 4).astype(np.int64), -1, depth)
        least = threshold + ones_outside - (depth_outside + 1) // 2 + 1
        return Stream(*size, outputs), Signs(np.clip(least, 0, depth + 1))
    low, high = range_of(option(op, "fused_activation_function")) or _refused_activation(op)
    lowest = -depth if low is None else max(low, -depth)
    highest = depth if high is None else min(high, depth)
    dots = Dots(depth - depth_outside + 2 * ones_outside, lowest, highest)
    if y.dtype == "FLOAT32":
        bits = max(abs(lowest), abs(highest)).bit_length() + 1
        return Stream(*size, outputs, bits, "int"), dots
    if y.dtype != "INT8":
        raise unsupported(op, f"expected an output of bits, int8 or float32, got {y.dtype}")
    multiplier, bias = (of_channels(op, n).astype(np.float32) for n in (2, 3))
    sums = int8_sums(op, multiplier, bias, (lowest, highest))
    found = fit_shift(sums)
    if found is None:
        raise unsupported(op, "no multiplier and shift make its int8 results")
    by, add, shift = found
    target = Stream(*size, outputs, 8, "int")
    return target, Bytes(dots, by, add, shift)


def _refused_activation(op: Op) -> tuple[int | None, int | None]:
    raise unsupported(op, "hardware does not have its fused activation")


_CUSTOM = ("LceQuantize", "LceBconv2d", "LceBMaxPool2d")
_LAYERS: dict[str, Callable[[Op, list[Stream]], Layer | None]] = {
    "LceQuantize": _quantize,
    "LceBconv2d": _bconv2d,
    "LceBMaxPool2d": _bit_pool,
    "MAX_POOL_2D": _byte_pool,
    "ADD": _add,
    "CONCATENATION": _concatenation,
}


def binary_products(op: Op) -> int:
    """Returns the products of bits of an operator; others are not counted."""
    if op.kind != "LceBconv2d":
        return 0
    return count_macs(op) * math.prod(lce_ops.layer_bits(op))
