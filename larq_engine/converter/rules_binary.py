"""Turns layers with inputs and weights of one bit or a few into LceBconv2d.

With x = alpha * s + beta (s are the bits) and w = scale * v (v are the weights' signs),
    x convolved with w = alpha * scale * (s convolved with v) + beta * scale * sum(v),
and padding x with p is padding s with (p - beta) / alpha. So steps of 0 and 1 are binary, too. With
more than one bit, s and v are odd whole numbers.
"""

from dataclasses import dataclass, replace

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.bits import make_bits, make_planes, note_meaning
from larq_engine.converter.graph import Array, FloatLayer, Graph, Op, Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.layers import (
    KINDS,
    ConvolutionForm,
    find_convolution,
    find_pads,
    with_pads,
)
from larq_engine.converter.lce_limits import why_not_lce
from larq_engine.converter.levels import Levels, find_data
from larq_engine.converter.options import Options
from larq_engine.converter.padding import (
    NO_PADS,
    Pads,
    is_size_free,
    padding_options,
    same_pads,
)
from larq_engine.converter.rules_bits import becomes_bits, is_made_of_bits
from larq_engine.converter.rules_products import find_product, is_product
from larq_engine.converter.signs import (
    Binary,
    Moved,
    NotBinary,
    Positive,
    find_binary,
)
from larq_engine.converter.weights import OddWeights, find_odd_weights
from larq_engine.python.text_table import counted

# Up to this many products for an output, a host's float layer and its sign were faster than the
# binary layer on AVX2, the slowest ISA that was measured (docs/lab_models.md). If a filter has
# lines to put together, the limit grows by further products that are divided by the output
# channels. This was measured from float to float. The layers around gain by bits too, so the limit
# does not apply if others make or read the bits.
_FEW_PRODUCTS = 16
_PRODUCTS_OF_A_LINE = 320
_FEWEST_OUTPUTS = 8  # A vector: a host computes that many outputs at once.

# The bits of a line's taps are collected tap by tap if they do not fill words. On AVX2 that took
# 2.5 ns for a tap, in which a host's float layer computes 66 products; on AVX-512 it is about 40.
_PRODUCTS_OF_A_TAP = 64


# Most products of planes for a layer: each plane of the inputs is multiplied with each plane of the
# weights. 17 such products took as long as a host's float layer on AVX-512, and about 10 on AVX2.
# Four took as long as its int8 layer, without AMX (docs/lab.md). A layer with one pixel
# takes as long as reading its weights, and a host's weights are at least eight times as large.
# Eight products, as for bytes, took a third of the time of int8 and a fifteenth of that of float.
_MOST_PLANE_PRODUCTS = 8
_MOST_PLANE_PRODUCTS_BESIDE_INT8 = 4
# The limits hold if taps fill words. With fewer channels, more products were not measured.
_FEWEST_CHANNELS = lce_ops.WORD


@dataclass(frozen=True)
class BinaryLayer:
    """A layer that can be binary, and the form that it then has."""

    form: ConvolutionForm
    data: Binary | Levels
    weights: OddWeights
    pad_sign: int
    # The tensor and the pads of the sign in the float model, if it pads its image before the sign.
    padded: "_PaddedSign | None" = None


@dataclass(frozen=True)
class _PaddedSign:
    tensor: Tensor
    pads: Pads


def find_binary_layer(op: Op, options: Options) -> BinaryLayer | NotBinary:
    """Returns the binary form of a layer, or the first reason why it stays in float."""
    forms = find_convolution(op)
    if isinstance(forms, NotBinary):
        return forms
    reason: NotBinary | None = None
    for form in forms:
        found = _match(form, options)
        if isinstance(found, BinaryLayer):
            return found
        reason = reason or found
    assert reason is not None
    return reason


def _match(form: ConvolutionForm, options: Options) -> BinaryLayer | NotBinary:
    data = find_data(form.data)
    if isinstance(data, NotBinary):
        return data
    weights = find_odd_weights(form.weights)
    if isinstance(weights, NotBinary):
        return weights
    pad = 0
    if form.pads != NO_PADS:
        found = data.pad_sign(form.pad_value)
        if found is None:
            return NotBinary(
                f"it pads with {form.pad_value:g} what is {data.describe()}",
                "pad with 1 or not at all (in Keras pad_values=1, padding='valid')",
            )
        pad = found
    layer = BinaryLayer(form, data, weights, pad)
    reason = has_too_many_products(layer, options)
    if reason is not None:
        return reason
    for way in (_padded_before_sign(layer), layer):
        if way is not None:
            way = replace(way, form=as_same(way.form, options))
            reason = limit(way, options)
            if reason is None:
                return way
    assert reason is not None
    return reason


def has_too_many_products(layer: BinaryLayer, options: Options) -> NotBinary | None:
    """Returns the reason why a layer of several bits is slower than a host's, or None."""
    bits, bits_weights = layer.data.bits, layer.weights.bits
    products = bits * bits_weights
    is_pixel = layer.form.result[:3] == (1, 1, 1)
    is_narrow = layer.form.weights.shape[3] < _FEWEST_CHANNELS
    has_fewer = (options.has_samples or is_narrow) and not is_pixel
    most = _MOST_PLANE_PRODUCTS_BESIDE_INT8 if has_fewer else _MOST_PLANE_PRODUCTS
    if products <= most or options.for_hardware:
        return None
    return NotBinary(
        f"faster in {'int8' if options.has_samples else 'float'}: {products} products of planes "
        f"for {bits} x {bits_weights} bits",
        f"nothing; with up to {most} products of planes it would be binary",
    )


def _padded_before_sign(layer: BinaryLayer) -> BinaryLayer | None:
    """Returns a layer that pads after the sign, if its image is padded before the sign.

    The pads become those of the convolution, and no operator is left between the image and its
    sign. A pad of 0 becomes +1, as sign(0) is +1.
    """
    form = layer.form
    if isinstance(layer.data, Levels):
        return None
    source = layer.data.source
    if not isinstance(source, Positive) or source.bound is not None or source.strict:
        return None
    found = find_pads(source.tensor, form.image)
    if found is None or not np.isfinite(found.value):
        return None
    sign = 1 if (-found.value if source.negated else found.value) >= 0 else -1
    if form.pads != NO_PADS and layer.pad_sign != sign:
        return None
    whole = with_pads(replace(form, pad_value=found.value), found)
    if whole is None:
        return None
    signature = found.data.signature
    tensor = layer.data.tensor.like(
        layer.data.tensor.name, shape=found.data.shape, signature=signature
    )
    data = replace(layer.data, source=replace(source, tensor=found.data), tensor=tensor)
    padded = _PaddedSign(layer.data.tensor, found.pads)
    return replace(layer, form=whole, data=data, pad_sign=sign, padded=padded)


def make_data(
    data: Binary | Levels, image: tuple[int, ...], options: Options
) -> tuple[Tensor, list[Op]]:
    """Returns the bits of values in the shape of an image, and operators to make them."""
    if isinstance(data, Levels):
        return make_planes(data, image)
    return make_bits(data, image, options)


def as_same(form: ConvolutionForm, options: Options) -> ConvolutionForm:
    """Replaces pads by SAME if they are those of SAME for images of every size.

    Other pads stay, as the file may be run on images of another size. For LCE, which has only SAME,
    they are replaced if they are those of SAME at the model's size.
    """
    if form.pads is None or form.pads == NO_PADS:
        return form
    signature = form.data.signature or ()
    for axis, pads in zip((1, 2), form.pads, strict=True):
        taps, stride, dilation = (
            form.weights.shape[axis],
            form.stride[axis - 1],
            form.dilation[axis - 1],
        )
        is_open = -1 in signature[1:]
        fits_size = is_size_free(taps, stride) or (options.for_lce and not is_open)
        if not fits_size or pads != same_pads(form.image[axis], taps, stride, dilation):
            return form
    return replace(form, pads=None)


def limit(layer: BinaryLayer, options: Options) -> NotBinary | None:
    """Returns the reason why the requested runtime cannot run the layer, or None."""
    form, pad = layer.form, layer.pad_sign
    per_group = form.weights.shape[3]
    if form.image[3] % per_group or form.weights.shape[0] % form.groups:
        return NotBinary("its channels do not divide into its groups", "change the groups")
    if form.groups > 1 and per_group % lce_ops.WORD:
        return NotBinary(
            f"it has groups of {per_group} channels", "use groups of a multiple of 32 channels"
        )
    if options.for_lce:
        bits = (layer.data.bits, layer.weights.bits)
        reason = why_not_lce(bits, form.groups, form.pads, pad, form.exceeds_image)
        if reason is not None:
            return NotBinary(reason, "convert with compatibility='larq_engine'")
    if options.for_xcore and form.pads != NO_PADS and pad == 0:
        return NotBinary("target 'xcore' has no zero padding", "pad with 1 (in Keras pad_values=1)")
    return None


def is_faster_in_host(op: Op, layer: BinaryLayer, graph: Graph, options: Options) -> bool:
    """Tells whether a layer has few products, and no other operator gains from the bits.

    LCE makes such layers binary, too. For a host, a sign that is not a SIGN takes more time.
    """
    if options.for_lce or options.for_hardware or not _has_few_products(layer):
        return False
    if isinstance(layer.data, Levels):
        return True
    source, sign = layer.data.source, layer.data.tensor
    while isinstance(source, Moved) and source.op.kind in _RESHAPES and graph.only_use(sign):
        (flat,), (source,) = source.op.inputs[:1], source.parts
        assert flat is not None
        sign = flat
    if not isinstance(source, Positive):
        return False
    if sign.producer is None or sign.producer.kind != "SIGN" or not graph.only_use(sign):
        return False
    readers = [reader.kind for reader in source.tensor.consumers]
    if readers.count("SIGN") + readers.count("LceQuantize") > 1:
        return False
    return not is_made_of_bits(source.tensor, graph) and not becomes_bits(
        layer.form.op.output, graph
    )


_RESHAPES = ("RESHAPE", "SQUEEZE", "EXPAND_DIMS")  # For example between sequences and images.


def _has_few_products(layer: BinaryLayer) -> bool:
    form = layer.form
    if _has_narrow_taps(layer):
        return True
    outputs, lines = max(form.weights.shape[0], _FEWEST_OUTPUTS), form.weights.shape[1]
    # Lines are put together again for each line of results.
    lines = min(lines, form.result[1])
    is_padded_by_host = form.pads != NO_PADS and layer.pad_sign != 0
    # A host computes all signs and pads all of them with 1, and a stride then uses only some.
    skips_signs = is_padded_by_host or form.weights.shape[1:3] == (1, 1)
    share = max(form.stride) if skips_signs else 1
    return _products(layer) * share <= _FEW_PRODUCTS + _PRODUCTS_OF_A_LINE * (lines - 1) / outputs


def _has_narrow_taps(layer: BinaryLayer) -> bool:
    """Tells whether collecting the bits of a filter's taps takes longer than a host's products.

    That holds for filters of one line whose taps have few channels, whatever the number of taps.
    """
    outputs, height, width, channels = layer.form.weights.shape
    products = channels * max(outputs, _FEWEST_OUTPUTS)
    return height == 1 < width and products < _PRODUCTS_OF_A_TAP


def _products(layer: BinaryLayer) -> int:
    """Returns the number of products that are summed for an output."""
    return int(layer.form.weights[0].size)


def binarize_layer(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Makes an LceBconv2d of a CONV_2D, FULLY_CONNECTED or BATCH_MATMUL that can be binary."""
    found = find_binary_layer(op, options)
    if isinstance(found, NotBinary) or is_faster_in_host(op, found, graph, options):
        return None
    form, data, weights = found.form, found.data, found.weights
    bits, ops = make_data(data, form.image, options)
    if found.padded is not None:
        assert isinstance(data, Binary)
        tensor, pads = found.padded.tensor, found.padded.pads
        note_meaning(bits, data, tensor, form.image[3], pads, found.pad_sign)

    multiplier = abs(data.alpha) * weights.scale.astype(np.float64)
    bias = np.zeros(len(multiplier))
    if data.beta:
        sums = weights.odd.reshape(len(bias), -1).sum(axis=1, dtype=np.int64)
        bias += data.beta * weights.scale * sums
    if form.bias is not None:
        bias += form.bias
    odd = weights.odd if data.alpha > 0 else -weights.odd
    result, ends = make_ends(form)
    return [*ops, make_convolution(found, bits, odd, multiplier, bias, result), *ends]


def make_convolution(
    layer: BinaryLayer,
    bits: Tensor,
    odd: Array,
    multiplier: Array,
    bias: Array,
    output: Tensor,
) -> Op:
    """Returns the LceBconv2d of a layer, with these weights."""
    form, weight_bits = layer.form, layer.weights.bits
    return Op(
        "LceBconv2d",
        [
            bits,
            lce_ops.constant(lce_ops.pack_odd(odd, weight_bits)),
            lce_ops.constant(multiplier.astype(np.float32)),
            lce_ops.constant(bias.astype(np.float32)),
            None,
        ],
        [output],
        {
            "channels_in": form.image[3],
            "dilation_height_factor": form.dilation[0],
            "dilation_width_factor": form.dilation[1],
            "fused_activation_function": schema.ACTIVATION["NONE"],
            "pad_values": layer.pad_sign,
            "stride_height": form.stride[0],
            "stride_width": form.stride[1],
            **padding_options(form.pads),
            **lce_ops.bits_options(layer.data.bits, weight_bits),
        },
        custom=True,
        layer=form.op.layer,
        float_layer=FloatLayer(form.op.kind, form.stored_bytes),
    )


def make_ends(form: ConvolutionForm) -> tuple[Tensor, list[Op]]:
    """Returns the image that a layer makes, and the activation and reshape that follow it."""
    output = form.op.output
    signature = None if output.signature is None else (-1, *form.result[1:])
    result, ends = output, list[Op]()
    if output.shape != form.result:
        result = Tensor(f"{form.op.name}/image", form.result, "FLOAT32", signature=signature)
        ends.append(lce_ops.reshape(result, output))
    if form.activation:
        before = result.like(f"{form.op.name}/before_activation")
        ends.insert(0, lce_ops.activation(form.activation, before, result))
        result = before
    return result, ends


def binarize_output(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Replaces a sign that is an output of the model by its bits and an LceDequantize.

    The bits can then be an output instead. The same is done with a sign that the model quantizes,
    as LceDequantize can do that itself.
    """
    tensor = op.output
    given_out = any(tensor is output for output in graph.outputs)
    quantized = [reader.kind for reader in tensor.consumers] == ["QUANTIZE"]
    # Bits lie along the last dimension, which must not be the batch.
    if not (given_out or quantized) or len(tensor.shape) < 2:
        return None
    data = find_binary(tensor)
    if isinstance(data, NotBinary) or (data.alpha, data.beta) != (1.0, 0.0):
        return None
    bits, ops = make_bits(data, tensor.shape, options)
    return [*ops, Op("LceDequantize", [bits], [tensor], custom=True)]


_SPLIT_SEPARABLE = (
    "build it of two layers, as a separable one has no place for a sign between its halves: a "
    "depthwise convolution, which stays float, and one of 1x1 that takes the sign of its input (in "
    "Keras QuantDepthwiseConv2D, and QuantConv2D with input_quantizer='ste_sign')"
)


def why_not_binary(op: Op, options: Options) -> NotBinary:
    """Returns why a layer of a converted graph stayed in float, and what to change."""
    if op.kind not in KINDS:
        return NotBinary(
            f"there is no binary {op.kind}",
            "use a convolution of images or sequences or a dense layer, or leave it as it is",
        )
    if is_product(op):
        product = find_product(op, options)
        assert isinstance(product, NotBinary), "the rule makes LceBmatmul of all others"
        return product
    consumers = op.output.consumers
    dilated = [reader for reader in consumers if reader.kind == "BATCH_TO_SPACE_ND"]
    found = find_binary_layer(dilated[0] if dilated else op, options)
    if isinstance(found, BinaryLayer):
        if not _has_few_products(found):
            return NotBinary(
                "its input was seen to be a sign only after other operators had been joined",
                "write relus and clamps as operators of their own, such as tf.nn.relu",
            )
        products, outputs = _products(found), len(found.form.weights)
        channels = found.form.weights.shape[3]
        narrow = f", {counted(channels, 'channel')} a tap" if _has_narrow_taps(found) else ""
        return NotBinary(
            f"faster in float: {counted(products, 'product')} for each of "
            f"{counted(outputs, 'output')}{narrow}",
            "nothing; with more input channels or outputs it would be binary",
        )
    weights = op.inputs[1]
    if weights is None or weights.data is None or weights.dtype != "FLOAT32":
        return found
    data = op.inputs[0]
    forms = find_convolution(op)
    if data is None or isinstance(forms, NotBinary):
        return found
    weights_found = find_odd_weights(forms[0].weights)
    if not isinstance(weights_found, NotBinary):
        return replace(found, remedy=_SPLIT_SEPARABLE) if _is_half_of_separable(op) else found
    if data.producer is not None and data.producer.kind == "LceDequantize":
        return weights_found  # The model gives out the sign and reads it, too.
    if isinstance(find_data(data), NotBinary):
        # Neither half is binary: this is an ordinary float layer, and one sentence is enough.
        return NotBinary(
            "neither its input nor its weights are binary",
            "nothing, if it is meant to be a float layer, as first and last layers are; else make "
            "signs of both (in Keras with input_quantizer and kernel_quantizer)",
        )
    return found


def _is_half_of_separable(op: Op) -> bool:
    """Tells whether a layer's input comes from a depthwise convolution of the same layer."""
    before = None if op.inputs[0] is None else op.inputs[0].producer
    if before is None or before.kind != "DEPTHWISE_CONV_2D":
        return False
    return name_layer(before) == name_layer(op)
