"""Finds operators that this engine runs and LCE 0.16.0 or XMOS's tools cannot run."""

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.errors import ConversionError, naming
from larq_engine.converter.graph import Graph, Op
from larq_engine.converter.options import Options
from larq_engine.converter.padding import NO_PADS, Pads, is_zero_padded, read_pads

NONE = schema.ACTIVATION["NONE"]


SEVERAL_BITS = "LCE has one bit a value"


def why_not_lce(
    bits: tuple[int, int], groups: int, pads: Pads | None, pad_sign: int, exceeds_image: bool
) -> str | None:
    """Returns the reason why LCE cannot run a binary convolution, or None."""
    if bits != (1, 1):
        return SEVERAL_BITS
    if groups > 1:
        return "LCE's default kernel refuses groups"
    if pad_sign == -1:
        return "LCE cannot pad with -1"
    if pads == NO_PADS:
        return None
    if pads is not None:
        (top, bottom), (left, right) = pads
        return (
            f"LCE pads as 'same' or not at all, not {top} + {bottom} rows and {left} + {right} "
            "columns"
        )
    if pad_sign == 0 and exceeds_image:
        return "LCE computes zero padding wrongly where the filter exceeds the image"
    return None


def check_operators(graph: Graph, options: Options) -> None:
    """Raises ConversionError if a converted file contains what LCE cannot run."""
    if not options.for_lce:
        return
    for op in graph.ops:
        with naming(op, "looking whether LCE can run it"):
            reason = _reason(op, options)
        if reason is not None:
            raise ConversionError(
                f"{op.kind} '{op.name}': {reason}; it is in the file already: convert the float "
                f"model with compatibility='{options.compatibility}' and target='{options.target}'"
            )


def _reason(op: Op, options: Options) -> str | None:
    if not op.known.in_lce:
        return "LCE has no such operator"
    if options.for_xcore and not op.known.in_xcore:
        return "target 'xcore' has no such operator"
    if op.kind == "LceQuantize" and lce_ops.bits_made(op) > 1:
        return SEVERAL_BITS
    return _convolution(op, options) if op.kind == "LceBconv2d" else None


def _convolution(op: Op, options: Options) -> str | None:
    bits, filters = op.inputs[0], op.inputs[1]
    assert bits is not None and filters is not None
    extents = [
        (taps - 1) * op.options[f"dilation_{direction}_factor"] + 1
        for taps, direction in zip(filters.shape[1:3], ("height", "width"), strict=True)
    ]
    exceeds = any(e > size for e, size in zip(extents, bits.shape[1:3], strict=True))
    groups = lce_ops.words(op.options["channels_in"]) // filters.shape[3]
    pads, pad_sign = read_pads(op.options), op.options["pad_values"]
    reason = why_not_lce(lce_ops.layer_bits(op), groups, pads, pad_sign, exceeds)
    if reason is not None or not is_zero_padded(op.options):
        return reason
    if options.for_xcore:
        return "target 'xcore' has no zero padding"
    if op.output.dtype != "FLOAT32" or op.options["fused_activation_function"] != NONE:
        return "LCE pads with zeros for float output without activation only"
    return None
