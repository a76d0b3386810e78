"""Reads the inputs and options of operators, and checks what exporters rely on."""

from collections.abc import Sequence

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.graph import NUMPY_TYPES, Array, Op, Quantization, Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.padding import Pads, same_pads


def unsupported(op: Op, reason: str) -> ValueError:
    """Returns the error for an operator that an exporter does not have."""
    return ValueError(
        f"{op.kind} '{op.name}' of the layer '{name_layer(op)}': {reason}; change the layer, or "
        "leave it to the program if it is the first or the last one"
    )


def data(op: Op, position: int) -> Tensor:
    """Returns an input that is computed when the model runs."""
    tensor = op.input(position)
    if tensor is None or tensor.is_constant:
        raise unsupported(op, f"expected input {position} to be computed, got a constant or none")
    return tensor


def constant(op: Op, position: int) -> Array:
    tensor = op.input(position)
    if tensor is None or tensor.data is None:
        raise unsupported(op, f"expected input {position} to be a constant, got none")
    return tensor.data


def weights_of(op: Op, position: int) -> Array:
    """Returns constant weights, also those that the file has as bits."""
    tensor = op.input(position)
    unpack = lce_ops.unpacking(tensor)
    if unpack is None:
        return constant(op, position)
    shape = unpack.output.shape
    signs = lce_ops.unpack_odd(constant(unpack, 0), int(np.prod(shape))).reshape(shape)
    scales, along = constant(unpack, 1), unpack.options["axis"]
    if scales.size > 1:
        scales = scales.reshape([-1 if n == along else 1 for n in range(len(shape))])
    return np.asarray((signs * scales).astype(NUMPY_TYPES[unpack.output.dtype]))


def check_made(op: Op, output: Tensor, shape: Sequence[int]) -> None:
    """Raises an error unless an output has the shape that follows: kernels trust it."""
    if list(output.shape) != list(shape):
        raise unsupported(
            op, f"expected an output of shape {list(shape)}, got {list(output.shape)}"
        )


def check_same_values(op: Op, a: Tensor, b: Tensor) -> None:
    """Raises an error unless the elements of both mean the same."""
    if a.dtype != b.dtype:
        raise unsupported(op, f"expected one type, got {a.dtype} and {b.dtype}")
    if a.dtype in ("INT8", "UINT8") and scale_of(op, a) != scale_of(op, b):
        raise unsupported(op, "expected one scale for all its tensors, got several")


def option(op: Op, key: str) -> int:
    """Returns an option of an operator of ours."""
    value = op.options.get(key) if isinstance(op.options, dict) else None
    if not isinstance(value, int):
        raise unsupported(op, f"expected a whole number as the option {key}, got {value}")
    return value


def one_image(op: Op, tensor: Tensor) -> tuple[int, int, int]:
    """Returns height, width and channels of a tensor of one image."""
    if len(tensor.shape) != 4 or tensor.shape[0] != 1:
        raise unsupported(
            op,
            f"expected one image [1, height, width, channels], got shape {list(tensor.shape)} "
            "(convert the model for a batch of 1)",
        )
    return tensor.shape[1], tensor.shape[2], tensor.shape[3]


def pads_of(
    pads: Pads | None,
    sizes: Sequence[int],
    taps: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> Pads:
    """Returns the pads in pixels; None is SAME."""
    if pads is not None:
        return pads
    top, left = (same_pads(*values) for values in zip(sizes, taps, strides, dilations, strict=True))
    return top, left


def scale_of(op: Op, tensor: Tensor) -> tuple[np.float32, int]:
    """Returns the scale and the zero point of a tensor of bytes, which has one of each."""
    quantization = tensor.quantization
    if (
        quantization is None
        or len(quantization.scale) != 1
        or not np.isfinite(quantization.scale[0])
        or quantization.scale[0] <= 0
    ):
        raise unsupported(op, f"expected one scale of '{tensor.name}', got {_scales(quantization)}")
    zero_points = quantization.zero_point or (0,)
    low = 0 if tensor.dtype == "UINT8" else -128
    if not low <= zero_points[0] <= low + 255:
        raise unsupported(op, f"expected a zero point within its type, got {zero_points[0]}")
    return np.float32(quantization.scale[0]), zero_points[0]


def _scales(quantization: Quantization | None) -> str:
    return "none" if quantization is None else str(list(quantization.scale[:8]))
