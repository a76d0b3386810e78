"""Makes binary layers of layers whose numbers lie at equal distances, but not around 0.

The inputs are x = alpha * s + beta. In each output channel, the weights are w = size * t + centre.
If s and t are signs, or odd whole numbers for more bits, a convolution of x with w is

    alpha * size * (s with t) + alpha * centre * (s with 1) + beta * (1 with w).

The first term is a binary layer, the second a binary layer with one output. The third is a constant
that goes into the bias, unless the layer pads x with zeros that are no value of s. Then s is padded
with zeros, and the constant is an image of numbers that differ at the border.
"""

from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.graph import Array, FloatLayer, Graph, Op, Tensor
from larq_engine.converter.layers import ConvolutionForm, find_convolution
from larq_engine.converter.levels import Levels, find_data
from larq_engine.converter.options import Options
from larq_engine.converter.padding import NO_PADS, same_pads
from larq_engine.converter.rules_binary import (
    BinaryLayer,
    as_same,
    has_too_many_products,
    is_faster_in_host,
    limit,
    make_convolution,
    make_data,
    make_ends,
)
from larq_engine.converter.signs import Binary, NotBinary
from larq_engine.converter.weights import OddWeights, find_centred_weights


def centre_layer(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites CONV_2D, FULLY_CONNECTED or BATCH_MATMUL of values around centres as LceBconv2d."""
    forms = find_convolution(op)
    for form in () if isinstance(forms, NotBinary) else forms:
        data = find_data(form.data)
        weights = None if isinstance(data, NotBinary) else find_centred_weights(form.weights)
        if isinstance(data, NotBinary) or weights is None or form.groups != 1:
            continue
        pad = 0 if form.pads == NO_PADS else data.pad_sign(form.pad_value)
        knows_border = pad is None
        if knows_border and (form.pad_value != 0 or _is_open(form)):
            continue
        if not knows_border and not weights.centre.any():
            continue  # An ordinary binary layer that stays in float for a reason.
        layer = BinaryLayer(as_same(form, options), data, weights.odd, pad or 0)
        is_slower = has_too_many_products(layer, options) is not None
        if is_slower or is_faster_in_host(op, layer, graph, options):
            return None
        if limit(layer, options) is None:
            if knows_border:
                graph.held_size = f"'{op.name}' knows the border of an image of one size"
            return _write(layer, weights.centre, options, knows_border)
    return None


def _is_open(form: ConvolutionForm) -> bool:
    signature = form.data.signature
    return signature is not None and -1 in signature[1:]


def _write(layer: BinaryLayer, centre: Array, options: Options, knows_border: bool) -> list[Op]:
    form, data, weights = layer.form, layer.data, layer.weights
    bits, ops = make_data(data, form.image, options)
    result, ends = make_ends(form)
    is_centred = bool(centre.any())
    # Results in the order in which they are computed; the last is the layer's result.
    steps = ["signs", *["centred"] * is_centred, *["bordered"] * knows_border]
    made = [*(result.like(f"{form.op.name}/{step}") for step in steps[:-1]), result]

    bias = np.zeros(len(form.weights)) if form.bias is None else form.bias.astype(np.float64)
    border = _inside(form, data) + bias if knows_border else None
    bias = np.zeros_like(bias) if knows_border else bias + data.beta * _sums(form).sum(axis=(1, 2))
    odd = weights.odd if data.alpha > 0 else -weights.odd
    multiplier = abs(data.alpha) * weights.scale
    ops.append(make_convolution(layer, bits, odd, multiplier, bias, made[0]))
    if is_centred:
        shape = (*result.shape[:-1], 1)
        signature = None if result.signature is None else (*result.signature[:-1], 1)
        whole = result.like(f"{form.op.name}/ones", shape=shape, signature=signature)
        ones = OddWeights(np.ones((1, *form.weights.shape[1:]), np.int8), np.ones(1), 1)
        sums = replace(layer, weights=ones)
        convolution = make_convolution(sums, bits, ones.odd, ones.scale, np.zeros(1), whole)
        ops.append(replace(convolution, float_layer=FloatLayer(form.op.kind, 0, is_part=True)))
        added = result.like(f"{form.op.name}/centre")
        ops.append(_each("MUL", whole, data.alpha * centre, added))
        ops.append(Op("ADD", [made[0], added], [made[1]], schema.make_options("AddOptions")))
    if border is not None:
        ops.append(_each("ADD", made[-2], border, result))
    return [*ops, *ends]


def _each(kind: str, x: Tensor, numbers: Array, output: Tensor) -> Op:
    options = schema.make_options(f"{kind.capitalize()}Options")
    return Op(kind, [x, lce_ops.constant(numbers.astype(np.float32))], [output], options)


def _inside(form: ConvolutionForm, data: Binary | Levels) -> Array:
    """Returns beta * (1 with w) for ones padded with zeros, as an image of the layer's results."""
    taps = [
        _taps_inside(form, axis, pads)
        for axis, pads in zip((1, 2), form.pads or (None, None), strict=True)
    ]
    image: Array = np.einsum("yi,xj,oij->yxo", *taps, data.beta * _sums(form), optimize=True)
    return image[None]


def _sums(form: ConvolutionForm) -> Array:
    """Returns the sums of each tap's weights over all input channels."""
    return np.asarray(form.weights.sum(axis=3, dtype=np.float64))


def _taps_inside(form: ConvolutionForm, axis: int, pads: tuple[int, int] | None) -> Array:
    """Returns for each place along an axis which of the filter's taps are inside the image."""
    size, taps = form.image[axis], form.weights.shape[axis]
    stride, dilation = form.stride[axis - 1], form.dilation[axis - 1]
    before, _ = pads or same_pads(size, taps, stride, dilation)
    first = np.arange(form.result[axis]) * stride - before
    places = first[:, None] + np.arange(taps) * dilation
    return ((places >= 0) & (places < size)).astype(np.float64)
