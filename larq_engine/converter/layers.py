"""Describes the layers that can be binary in one form: a convolution of an image with filters."""

from dataclasses import dataclass, replace

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.activations import fused_activation
from larq_engine.converter.graph import Array, Op, Tensor
from larq_engine.converter.padding import NO_PADS, SAME, Pads
from larq_engine.converter.signs import NotBinary, pad_value
from larq_engine.converter.weights import find_odd_weights

Image = tuple[int, int, int, int]


@dataclass(frozen=True)
class ConvolutionForm:
    """activation(convolution(data as image, weights) + bias).

    `image` and `result` are NHWC shapes. The data and the output may have other shapes with the
    same order of values.
    """

    op: Op
    data: Tensor
    image: Image
    result: Image
    weights: Array  # [output channels, height, width, input channels of a group]
    bias: Array | None
    stored_bytes: int  # Bytes of the weights in the unconverted file.
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    pads: Pads | None = NO_PADS  # None means SAME.
    pad_value: float = 0.0
    activation: int = 0

    @property
    def groups(self) -> int:
        return self.image[3] // self.weights.shape[3]

    @property
    def exceeds_image(self) -> bool:
        """Tells whether the filter is larger than the image."""
        return any(
            (taps - 1) * dilation + 1 > size
            for taps, dilation, size in zip(
                self.weights.shape[1:3], self.dilation, self.image[1:3], strict=True
            )
        )


def find_convolution(op: Op) -> list[ConvolutionForm] | NotBinary:
    """Returns the forms that a layer can be seen as, best first, or the reason why it has none.

    Forms with fewer words come first; if two have equally many, the form with an image does. Each
    pixel begins a new word, in each plane and filter. A flattened image of 1x256 pixels of one
    channel would take 256 words for each unit, and the same values as one row take 8.
    """
    forms = _FINDERS[op.kind](op)
    if isinstance(forms, NotBinary):
        return forms
    return sorted(forms, key=lambda form: np.prod(lce_ops.packed_shape(form.weights.shape)))


def _weights(op: Op, tensor: Tensor | None) -> Array | NotBinary:
    if tensor is None or tensor.data is None:
        made_by = tensor.producer if tensor is not None else None
        if made_by is not None and made_by.kind == "DEQUANTIZE":
            return NotBinary(
                "its weights are stored in another type than float32",
                "convert the model without quantization of its weights",
            )
        return NotBinary(
            "its weights are computed when the model runs", "make the weights constants"
        )
    if tensor.dtype != "FLOAT32":
        return NotBinary(
            f"its weights are {tensor.dtype.lower()}, and the converter looks for signs in float32",
            "nothing, if it is meant to be an int8 layer; else convert it without quantization",
        )
    return tensor.data


def _stored_bytes(op: Op) -> int:
    weights = op.input(1)
    return weights.stored_bytes if weights is not None else 0


def _bias(op: Op) -> Array | NotBinary | None:
    tensor = op.input(2)
    if tensor is None:
        return None
    if tensor.data is None or tensor.dtype != "FLOAT32":
        return NotBinary("its bias is no float32 constant", "make the bias a constant")
    return tensor.data.reshape(-1)


def _four(shape: tuple[int, ...]) -> Image:
    n, h, w, c = shape
    return n, h, w, c


def _conv_2d(op: Op) -> list[ConvolutionForm] | NotBinary:
    data = op.inputs[0]
    weights, bias = _weights(op, op.input(1)), _bias(op)
    if isinstance(weights, NotBinary):
        return weights
    if isinstance(bias, NotBinary):
        return bias
    if data is None or len(data.shape) != 4 or len(op.output.shape) != 4:
        return NotBinary("its input is not an image", "give it an input of four dimensions")
    options = op.options
    plain = ConvolutionForm(
        op,
        data,
        _four(data.shape),
        _four(op.output.shape),
        weights,
        bias,
        _stored_bytes(op),
        stride=(options.strideH, options.strideW),
        dilation=(options.dilationHFactor, options.dilationWFactor),
        pads=None if options.padding == SAME else NO_PADS,
        activation=fused_activation(op),
    )
    return _with_padding(plain)


@dataclass(frozen=True)
class Unpadded:
    """A tensor before the PADs that come before a layer, as an image, with what these PADs add."""

    data: Tensor
    image: Image
    pads: Pads
    value: float


def find_pads(tensor: Tensor, image: Image) -> Unpadded | None:
    """Finds PADs of one value between another tensor and `tensor`, which is read as an image."""
    found: Unpadded | None = None
    axes: tuple[int, ...] | None = tuple(range(4)) if tensor.shape == image else None
    pads = NO_PADS
    while axes is not None and (op := tensor.producer) is not None and op.inputs:
        (source, *_), value = op.inputs, pad_value(op)
        if source is None:
            break
        if op.kind in ("RESHAPE", "EXPAND_DIMS", "SQUEEZE") and len(axes) == 4:
            tensor, axes = source, _image_axes(source, image)
            continue
        more = _pads_along(op, axes)
        if more is None or value is None or (found is not None and value != found.value):
            break
        pads = _sum(pads, more)
        sizes = dict(zip(axes, source.shape, strict=True))
        image = _four(tuple(sizes.get(axis, 1) for axis in range(4)))
        found, tensor = Unpadded(source, image, pads, value), source
    return found


def _image_axes(tensor: Tensor, image: Image) -> tuple[int, ...] | None:
    """Returns the image's dimension for each of the tensor's, which may lack one of size 1."""
    if tensor.signature is not None and -1 in tensor.signature[1:]:
        return None
    without = [tuple(axis for axis in range(4) if axis != left_out) for left_out in (1, 2)]
    fitting = [
        axes
        for axes in [tuple(range(4)), *without]
        if tensor.shape == tuple(image[axis] for axis in axes)
        and all(image[axis] == 1 for axis in range(4) if axis not in axes)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _pads_along(op: Op, axes: tuple[int, ...]) -> Pads | None:
    """Returns what a PAD adds to height and width; None if it is no PAD or adds anything else."""
    paddings = op.input(1)
    if op.kind not in ("PAD", "PADV2") or paddings is None or paddings.data is None:
        return None
    table = paddings.data
    if table.shape != (len(axes), 2) or (table < 0).any():
        return None
    rows = {
        axis: (int(before), int(after)) for axis, (before, after) in zip(axes, table, strict=True)
    }
    none = (0, 0)
    if rows.get(0, none) != none or rows.get(3, none) != none:
        return None
    return rows.get(1, none), rows.get(2, none)


def _sum(a: Pads, b: Pads) -> Pads:
    height, width = (
        (first[0] + second[0], first[1] + second[1]) for first, second in zip(a, b, strict=True)
    )
    return height, width


def with_pads(form: ConvolutionForm, found: Unpadded) -> ConvolutionForm | None:
    """Returns the convolution with its own padding enlarged by the PADs before it."""
    if form.pads is None or (form.pads != NO_PADS and form.pad_value != found.value):
        return None
    return replace(
        form,
        data=found.data,
        image=found.image,
        pads=_sum(form.pads, found.pads),
        pad_value=found.value,
    )


def _with_padding(form: ConvolutionForm) -> list[ConvolutionForm]:
    """Returns the plain convolution, and before it the one that takes in the PADs, if any."""
    found = find_pads(form.data, form.image)
    padded = with_pads(form, found) if found is not None else None
    return [padded, form] if padded is not None else [form]


def _dense(op: Op) -> list[ConvolutionForm] | NotBinary:
    """Returns a dense layer as convolutions: with filters as large as the image, and 1x1."""
    data, tensor = op.inputs[0], op.input(1)
    weights, bias = _weights(op, tensor), _bias(op)
    if isinstance(weights, NotBinary):
        return weights
    if isinstance(bias, NotBinary):
        return bias
    options = op.options
    if op.kind == "BATCH_MATMUL":
        if weights.ndim != 2 or options.adjX:
            return NotBinary("it multiplies more than one matrix", "use a dense layer")
        bias = None
        if not options.adjY:
            weights = weights.T
    elif options.weightsFormat:
        return NotBinary("its weights are shuffled", "convert without optimizations")
    units, depth = weights.shape
    if data is None or not data.elements or data.elements % depth:
        return _open_input(weights)
    if data.signature is not None and -1 in data.signature[1:]:
        return _open_input(weights)
    rows = data.elements // depth
    # Rows are in the batch if the data has them there; else they lie along the height.
    batch = data.shape[0] if rows % data.shape[0] == 0 else 1
    image = (batch, rows // batch, 1, depth)
    result = (batch, rows // batch, 1, units)
    filters = weights.reshape(units, 1, 1, depth)
    plain = ConvolutionForm(
        op, data, image, result, filters, bias, _stored_bytes(op), activation=fused_activation(op)
    )
    forms = [plain]
    flatten = data.producer
    if flatten is not None and flatten.kind == "RESHAPE" and flatten.inputs[0] is not None:
        before = flatten.inputs[0].shape
        flat = (rows, depth) == data.shape == (*before[:1], flatten.inputs[0].elements // rows)
        if len(before) == 4 and flat:
            # Values in an image and weights in a filter of the same size have the same order.
            filters = weights.reshape(units, *before[1:])
            result = (rows, 1, 1, units)
            whole = replace(
                plain, data=flatten.inputs[0], image=_four(before), result=result, weights=filters
            )
            forms.insert(0, whole)
    return forms


def _open_input(weights: Array) -> NotBinary:
    """Returns the reason of a layer with an open input: its weights, if they are not binary."""
    found = find_odd_weights(weights)
    if isinstance(found, NotBinary):
        return found
    return NotBinary("its input has an open shape", "give the model a fixed input shape")


def _dilated(op: Op) -> list[ConvolutionForm] | NotBinary:
    """Reads a convolution between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND as a dilated one.

    Its padding is what the first operator pads and the last does not crop.
    """
    no = NotBinary(f"'{op.name}' does not come from a dilated convolution", "use dilation_rate")
    between = op.inputs[0]
    inner = between.producer if between is not None else None
    if between is None or inner is None or inner.kind != "CONV_2D" or len(between.consumers) != 1:
        return no
    forms = _conv_2d(inner)
    outer = inner.inputs[0].producer if inner.inputs[0] is not None else None
    if isinstance(forms, NotBinary) or outer is None or outer.kind != "SPACE_TO_BATCH_ND":
        return forms if isinstance(forms, NotBinary) else no
    form = forms[-1]
    constants = [*outer.inputs[1:], *op.inputs[1:]]
    arrays = [t.data for t in constants if t is not None and t.data is not None]
    data = outer.inputs[0]
    if data is None or len(arrays) != 4:
        return no
    block, pads, block_after, crops = arrays
    simple = form.pads == NO_PADS and form.stride == (1, 1) and form.dilation == (1, 1)
    if not simple or len(block) != 2 or not np.array_equal(block, block_after):
        return no
    padding = pads - crops
    if (padding < 0).any():
        return no
    (top, bottom), (left, right) = padding.tolist()
    whole = replace(
        form,
        op=op,
        data=data,
        image=_four(data.shape),
        result=_four(op.output.shape),
        dilation=(int(block[0]), int(block[1])),
        pads=((top, bottom), (left, right)),
    )
    return _with_padding(whole)


_FINDERS = {
    "CONV_2D": _conv_2d,
    "BATCH_TO_SPACE_ND": _dilated,
    "FULLY_CONNECTED": _dense,
    "BATCH_MATMUL": _dense,
}

KINDS = tuple(_FINDERS)
