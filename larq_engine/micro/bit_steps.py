"""Steps of the operators on bits: LceQuantize, LceDequantize, LceBconv2d and LceBMaxPool2d."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.activations import range_of
from larq_engine.converter.graph import Op
from larq_engine.converter.macs import count_macs, group_words
from larq_engine.converter.padding import NO_PADS, read_pads
from larq_engine.exporting.int8_results import int8_sums, of_channels
from larq_engine.exporting.op_checks import (
    check_made,
    constant,
    data,
    one_image,
    option,
    pads_of,
    scale_of,
    unsupported,
)
from larq_engine.exporting.shapes import check_positions
from larq_engine.micro.count_network import count_network
from larq_engine.micro.factors import Factors, fit
from larq_engine.micro.int8_ends import end_fields
from larq_engine.micro.plan import Array, Constant, Instance, Memory, Reference, Step, Struct
from larq_engine.micro.step_maker import StepMaker, axis, small

# Up to this number of words under a filter a kernel is compiled for the number itself, which takes
# some 20 instructions of flash a word.
_MOST_SPECIAL_WORDS = 36

_MOST_ONES = 2**16 - 1

_PACK = {"INT8": "le_pack_int8", "BOOL": "le_pack_bool", "FLOAT32": "le_pack_float"}
_UNPACK = {"INT8": "le_unpack_int8", "BOOL": "le_unpack_bool", "FLOAT32": "le_unpack_float"}


def _header(dtype: str) -> tuple[str, ...]:
    return ("le_bits_float.h",) if dtype == "FLOAT32" else ("le_bits.h",)


def _pixels(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape[:-1], dtype=np.int64))


def _quantize(maker: StepMaker, op: Op) -> Step:
    x = data(op, 0)
    if not x.shape:
        raise unsupported(op, "expected channels, got one number")
    bits = lce_ops.bits_made(op)
    if not 1 <= bits <= lce_ops.MOST_BITS:
        raise unsupported(op, f"expected 1 to {lce_ops.MOST_BITS} bits, got {bits}")
    check_made(op, op.output, lce_ops.packed_shape(x.shape, bits))
    if op.output.dtype != "INT32":
        raise unsupported(op, f"expected an output of int32, got {op.output.dtype}")
    if bits > 1:
        return _quantize_planes(maker, op)
    if x.dtype not in _PACK:
        raise unsupported(op, f"expected float32, int8 or bool, got {x.dtype}")
    zero = scale_of(op, x)[1] if x.dtype == "INT8" else 0
    source, target = maker.memory(x), maker.memory(op.output)
    return Step(
        headers=_header(x.dtype),
        function=_PACK[x.dtype],
        arguments=[source, _pixels(x.shape), x.shape[-1], zero, target],
        reads=[source],
        writes=[target],
        # A word is written after the values that it holds were read; it must not have more bytes.
        in_place=source if target.bytes <= source.bytes else None,
    )


def _quantize_planes(maker: StepMaker, op: Op) -> Step:
    x, bits = data(op, 0), lce_ops.bits_made(op)
    if x.dtype not in ("UINT8", "FLOAT32") or (x.dtype == "UINT8" and bits != lce_ops.MOST_BITS):
        raise unsupported(op, f"expected float32, or uint8 to 8 bits, got {x.dtype} to {bits}")
    source, target = maker.memory(x), maker.memory(op.output)
    step = Step(
        headers=_header(x.dtype),
        function=f"le_pack_planes_{'float' if x.dtype == 'FLOAT32' else 'uint8'}",
        arguments=[source, _pixels(x.shape), x.shape[-1], bits, "NULL", 1, target],
        reads=[source],
        writes=[target],
    )
    if x.dtype == "FLOAT32":
        limits = constant(op, 1).astype(np.float32)
        channels = limits.shape[1] if limits.ndim == 2 else 1
        if len(limits) != lce_ops.largest(bits) or channels not in (1, x.shape[-1]):
            raise unsupported(op, f"expected limits of {bits} bits, got shape {limits.shape}")
        step.constants.append(Constant("limits", "float", limits))
        step.arguments[4:6] = [Reference("limits"), channels]
    return step


def _dequantize(maker: StepMaker, op: Op) -> Step:
    bits, y = data(op, 0), op.output
    if y.dtype not in _UNPACK:
        raise unsupported(op, f"expected an output of float32, int8 or bool, got {y.dtype}")
    if not y.shape or bits.dtype != "INT32" or bits.shape != lce_ops.packed_shape(y.shape):
        raise unsupported(op, f"expected the words of {list(y.shape)}, got {list(bits.shape)}")
    plus, minus = (1, 0) if y.dtype == "BOOL" else (1, -1)
    if y.dtype == "INT8":
        scale, zero = scale_of(op, y)
        inverse = 1.0 / float(scale)
        one = np.floor(inverse + 0.5)
        plus, minus = (int(np.clip(zero + sign * one, -128, 127)) for sign in (1, -1))
    source, target = maker.memory(bits), maker.memory(y)
    return Step(
        headers=_header(y.dtype),
        function=_UNPACK[y.dtype],
        arguments=[source, _pixels(y.shape), y.shape[-1], plus, minus, target],
        reads=[source],
        writes=[target],
    )


def _max_pool(maker: StepMaker, op: Op) -> Step:
    bits = data(op, 0)
    height, width, words = one_image(op, bits)
    out = one_image(op, op.output)
    taps = (option(op, "filter_height"), option(op, "filter_width"))
    strides = (option(op, "stride_height"), option(op, "stride_width"))
    same = option(op, "padding") == schema.PADDING["SAME"]
    pads = pads_of(None if same else NO_PADS, (height, width), taps, strides, (1, 1))
    check_positions(op, (height, width), out, taps, strides, (1, 1), pads)
    check_made(op, op.output, (1, *out[:2], words))
    if bits.dtype != "INT32" or op.output.dtype != "INT32":
        raise unsupported(op, "expected bits")
    axes = [
        Struct(role, "le_axis", axis(op, sizes, taps[d], strides[d], 1, pads[d][0]))
        for d, (role, sizes) in enumerate((("y", (height, out[0])), ("x", (width, out[1]))))
    ]
    source, target = maker.memory(bits), maker.memory(op.output)
    return Step(
        headers=("le_bits.h",),
        function="le_max_bits",
        arguments=[Reference("y"), Reference("x"), words, source, target],
        reads=[source],
        writes=[target],
        structs=axes,
    )


def _bconv2d(maker: StepMaker, op: Op) -> Step:
    count_macs(op)  # Raises an error if shapes do not fit.
    bits_in, bits_weights = lce_ops.layer_bits(op)
    x, y = data(op, 0), op.output
    height, width, _ = one_image(op, x)
    out = one_image(op, y)
    filters = constant(op, 1)
    outputs, *taps, _ = filters.shape
    pixel_words, words = group_words(op) or (0, 0)
    groups = pixel_words // words
    # Each plane of the weights has all its taps together, as the kernel gathers them.
    planes = filters.reshape(outputs, taps[0] * taps[1], bits_weights, words).swapaxes(1, 2)
    all_channels = option(op, "channels_in")
    channels = all_channels // groups
    if (
        x.dtype != "INT32"
        or words != lce_ops.words(channels)
        or channels * groups != all_channels
        or (groups > 1 and channels % lce_ops.WORD)
        or outputs % groups
    ):
        raise unsupported(op, f"expected {all_channels} channels in {groups} groups to fit words")
    strides = (option(op, "stride_height"), option(op, "stride_width"))
    dilations = (option(op, "dilation_height_factor"), option(op, "dilation_width_factor"))
    given = read_pads({key: option(op, key) for key in op.options if key.startswith("pad")})
    pads = pads_of(given, (height, width), taps, strides, dilations)
    check_positions(op, (height, width), out, taps, strides, dilations, pads)
    made = lce_ops.words(outputs) if y.dtype == "INT32" else outputs
    check_made(op, y, (1, *out[:2], made))
    has_pads = pads != NO_PADS
    pad_value = option(op, "pad_values") if has_pads else 1
    product = lce_ops.largest(bits_in) * lce_ops.largest(bits_weights)
    depth = taps[0] * taps[1] * channels * product
    # The ones outside of the image are numbers of 16 bits; planes are counted inside of it alone.
    has_planes = bits_in * bits_weights > 1 or (pad_value == 0 and depth > _MOST_ONES)
    tail = channels % lce_ops.WORD
    minus = pad_value == -1
    taps_words = taps[0] * taps[1] * words
    # For pads of zeros the kernel keeps the ones of each channel's weights outside of the image:
    # above and below it, and on all sides.
    has_zeros = has_pads and pad_value == 0 and not has_planes
    pad_bytes = 4 * outputs if has_zeros else 0
    reads_pixels = taps_words == words and not has_pads and (groups == 1 or not has_planes)
    fields = {
        "y": axis(op, (height, out[0]), taps[0], strides[0], dilations[0], pads[0][0]),
        "x": axis(op, (width, out[1]), taps[1], strides[1], dilations[1], pads[1][0]),
        "groups": small(op, "groups", groups),
        "group_words": small(op, "words", words),
        "group_channels": small(op, "channels", channels),
        "group_outputs": small(op, "channels", outputs // groups),
        "bits_in": bits_in,
        "bits_weights": bits_weights,
        "pads_are_zeros": int(has_planes and has_pads and pad_value == 0),
        "reads_pixels": int(reads_pixels),
        "pad_word": 0xFFFFFFFF if minus else 0,
        "last_pad_word": ((1 << tail) - 1 if tail else 0xFFFFFFFF) if minus else 0,
        "product_depth": product,
        "weights": Reference("weights"),
    }
    step = Step(
        headers=("le_bconv2d.h",),
        function="",
        arguments=[],
        reads=[maker.memory(x)],
        writes=[maker.memory(y)],
        constants=[
            Constant("weights", "uint32_t", np.ascontiguousarray(planes, "<i4").view("<u4"))
        ],
        scratch=None if reads_pixels else Memory(4 * taps_words * bits_in + pad_bytes),
    )
    end, to = _end(op, step, depth, fields)
    step.structs = [
        Struct("layer", "le_bconv2d", fields),
        Struct("end", "le_bconv2d_end", end),
    ]
    step.instance = _instance(to, taps_words, has_planes=has_planes, has_zeros=has_zeros)
    scratch = step.scratch if step.scratch is not None else "NULL"
    step.arguments = [Reference("layer"), Reference("end"), step.reads[0], step.writes[0], scratch]
    return step


@dataclass(frozen=True)
class _To:
    """The output of a layer, as constants of its kernel."""

    kind: str  # LE_TO_BITS and the like
    has_limits: bool = False
    rescale: str = "NULL"

    @property
    def name(self) -> str:
        words = [self.kind.removeprefix("LE_TO_").lower()]
        words += ["limited"] if self.has_limits else []
        words += (
            [self.rescale.removeprefix("le_rescale").strip("_")] if self.rescale != "NULL" else []
        )
        return "_".join(words)


def _instance(to: _To, words: int, *, has_planes: bool, has_zeros: bool) -> Instance:
    """Returns the kernel for an output and a number of words under a filter."""
    is_special = words <= _MOST_SPECIAL_WORDS and not has_planes
    counting = count_network(words) if is_special else None
    any_words = "(uint32_t)layer->y.taps * layer->x.taps * layer->group_words"
    text = (
        "LE_KERNEL void {name}(const le_bconv2d* layer, const le_bconv2d_end* end, "
        "const uint32_t* in, void* out,\n    uint32_t* scratch) {{\n"
        f"  le_bconv2d_run(layer, end, in, out, scratch, {words if is_special else any_words},\n"
        f"                 {counting.name if counting else 'le_differences'}, {int(has_planes)}, "
        f"{int(has_zeros)}, {to.kind}, {int(to.has_limits)}, {to.rescale});\n"
        "}}\n"
    )
    size = "planes" if has_planes else words if is_special else "any"
    zeros = "_zeros" if has_zeros else ""
    return Instance(f"bconv2d_to_{to.name}_{size}{zeros}", text, (counting,) if counting else ())


def _end(op: Op, step: Step, depth: int, fields: dict[str, Any]) -> tuple[dict[str, Any], _To]:
    """Returns the fields of le_bconv2d_end, and the kind of output."""
    y = op.output
    if y.dtype == "INT32":
        threshold = np.clip(of_channels(op, 4).astype(np.int64), -1, depth)
        step.constants.append(Constant("thresholds", "int32_t", (2 * threshold).astype(np.int32)))
        return {"twice_threshold": Reference("thresholds")}, _To("LE_TO_BITS")
    multiplier, bias = (of_channels(op, n).astype(np.float32) for n in (2, 3))
    limits = range_of(option(op, "fused_activation_function"))
    if limits is None:
        raise unsupported(op, "its fused activation has no kernel in C")
    low = -depth if limits[0] is None else limits[0]
    high = depth if limits[1] is None else limits[1]
    has_limits = (low, high) != (-depth, depth)
    if has_limits:
        fields["lowest"], fields["highest"] = low, high
    if y.dtype == "FLOAT32":
        step.constants += [
            Constant("multipliers", "float", multiplier),
            Constant("biases", "float", bias),
        ]
        references = {"multiplier": Reference("multipliers"), "bias": Reference("biases")}
        return references, _To("LE_TO_FLOAT", has_limits)
    if y.dtype != "INT8":
        raise unsupported(op, f"expected an output of bits, int8 or float32, got {y.dtype}")
    factors, zero = _factors(op, multiplier, bias, (low, high))
    end = end_fields(step, factors, zero, (-128, 127))
    return {"int8": end}, _To("LE_TO_INT8", has_limits, factors.kernel)


def _factors(op: Op, multiplier: Array, bias: Array, dots: tuple[int, int]) -> tuple[Factors, int]:
    sums = int8_sums(op, multiplier, bias, dots)
    return fit(sums), sums.zero_point


KERNELS = {
    "LceQuantize": _quantize,
    "LceDequantize": _dequantize,
    "LceBMaxPool2d": _max_pool,
    "LceBconv2d": _bconv2d,
}
