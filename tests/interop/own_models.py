"""Makes `own/`: models of several bits a value, which later versions must still be able to read.

    python -m tests.interop.own_models

Outputs are NumPy's. Numbers are chosen so that no sum or product rounds, except to int8: outputs
are equal to the bit wherever they are computed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests import oracle
from tests.model_builder import ModelBuilder, bconv_model
from tests.oracle import Conv

FOLDER = Path(__file__).parent / "own"

Array = np.ndarray


@dataclass(frozen=True)
class OwnModel:
    """A file's content, an input, and the outputs for it."""

    content: bytes
    x: Array
    outputs: tuple[Array, ...]


def _numbers(start: int, stop: int, *shape: int) -> Array:
    """Returns whole numbers without a pattern, from `start` to below `stop`.

    They are the same with every version of NumPy.
    """
    index = np.arange(1, np.prod(shape) + 1, dtype=np.uint64).reshape(shape)
    mixed = index * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    return (start + ((mixed >> np.uint64(33)) % np.uint64(stop - start)).astype(np.int64)).astype(
        np.float32
    )


def _away(values: Array) -> Array:
    """Rounds to int8 as our layers do: halves away from zero."""
    rounded = np.sign(values) * np.floor(np.abs(values) + 0.5)
    return np.clip(rounded, -128, 127).astype(np.int8)


def _conv(conv: Conv, *, of_bytes: bool = False, limits_of_channels: bool = False) -> OwnModel:
    """Builds a convolution of every output; channels may have limits of their own."""
    count = conv.channels_out
    filters = 2 * _numbers(0, 2**conv.bits_weights, *conv.filter_shape)
    filters -= np.float32(2**conv.bits_weights - 1)
    multiplier = np.array([1, -0.5, 0.25, -1, 0.5], np.float32)[np.arange(count) % 5]
    bias = _numbers(-40, 40, count)
    most = 2**conv.bits_in - 1
    limits = None
    if of_bytes:
        x = _numbers(0, 256, *conv.input_shape).astype(np.uint8)
        values = 2 * x.astype(np.float32) - 255
    elif conv.bits_in == 1:
        x = _numbers(-9, 10, *conv.input_shape)
        values = oracle.signs(x)
    else:
        # Some values equal a limit.
        x = _numbers(-most, 2 * most, *conv.input_shape)
        channels = conv.channels_in if limits_of_channels else 1
        limits = np.arange(1, most + 1, dtype=np.float32)[:, None] + np.arange(channels) % 3
        limits = limits.astype(np.float32)
        values = oracle.count_limits(x, limits)
    dots = oracle.dot_products(conv, values, filters)
    thresholds = conv.largest_dot // 2 + _numbers(-20, 20, count).astype(np.int32)
    floats = oracle.float_output(dots, conv.activation, multiplier, bias)
    scale = 2.0 ** np.ceil(np.log2(np.abs(floats).max() / 200))
    content = bconv_model(
        conv, filters, multiplier, bias, outputs=("float", "int8", "bits"),
        scale=scale, thresholds=thresholds, limits=limits,
        input_type=np.uint8 if of_bytes else np.float32,
    )  # fmt: skip
    bits = oracle.pack_bits(oracle.threshold_bits(dots, conv.largest_dot, thresholds))
    return OwnModel(content, x, (floats.astype(np.float32), _away(floats / scale), bits))


def _dense(dtype: Any, scales: int) -> OwnModel:
    """Builds a dense layer that reads the bits of LceUnpackWeights."""
    units, depth, rows = 70, 130, 3
    signs = 2 * _numbers(0, 2, units, depth) - 1
    is_int8 = np.dtype(dtype) == np.int8
    # Scales are multiples of 32, so that no value is near a half in either rounding of hosts that
    # round twice.
    scale = 32 * _numbers(1, 4, scales)
    bias = 32 * _numbers(-300, 300, units)
    x = _numbers(-128, 128, rows, depth).astype(dtype)
    builder = ModelBuilder()

    def one(size: float) -> dict[str, Any]:
        return {"scale": size} if is_int8 else {}

    source = builder.tensor((1, depth), dtype, name="x", **one(1.0))
    weights = builder.tensor((units, depth), dtype, name="weights", **one(1.0))
    constants = [builder.constant(oracle.pack_bits(signs.ravel())), builder.constant(scale)]
    builder.custom("LceUnpackWeights", constants, [weights], {"axis": 0})
    shift = builder.constant(bias.astype(np.int32 if is_int8 else np.float32), **one(1.0))
    y = builder.tensor((1, units), dtype, name="y", **one(32.0 * 31))
    builder.builtin("FULLY_CONNECTED", [source, weights, shift], [y])
    whole = x.astype(np.float64) @ (signs * scale[:, None]).T.astype(np.float64) + bias
    # No value is half-way: twice a whole number is no odd number of 31s.
    result = np.clip(np.rint(whole / 32 / 31), -128, 127) if is_int8 else whole
    return OwnModel(builder.finish([source], [y]), x, (result.astype(dtype),))


MODELS: dict[str, Callable[[], OwnModel]] = {
    "planes_2x1": lambda: _conv(Conv((2, 6, 5, 40), (3, 3), 33, bits_in=2)),
    "planes_1x3": lambda: _conv(
        Conv((2, 6, 5, 64), (3, 3), 34, groups=2, stride=(2, 1), pad_value=-1, bits_weights=3)
    ),
    "planes_3x2_limits_of_channels": lambda: _conv(
        Conv((2, 5, 6, 33), (3, 2), 20, dilation=(1, 2), pad_value=0, bits_in=3, bits_weights=2),
        limits_of_channels=True,
    ),
    "bytes_8x8": lambda: _conv(Conv((2, 4, 4, 7), (1, 1), 18, bits_in=8, bits_weights=8)),
    "bytes_5x4": lambda: _conv(
        Conv((2, 6, 6, 20), (3, 3), 17, padding=((1, 0), (2, 1)), bits_in=5, bits_weights=4)
    ),
    "uint8_8x1": lambda: _conv(Conv((2, 6, 6, 3), (3, 3), 40, bits_in=8), of_bytes=True),
    "uint8_one_pixel": lambda: _conv(
        Conv((3, 1, 1, 200), (1, 1), 30, padding="VALID", bits_in=8), of_bytes=True
    ),
    "unpacked_float": lambda: _dense(np.float32, 70),
    "unpacked_float_one_scale": lambda: _dense(np.float32, 1),
    "unpacked_int8": lambda: _dense(np.int8, 70),
}


def save(name: str, model: OwnModel) -> None:
    """Writes a file and, beside it, its inputs and outputs."""
    (FOLDER / f"{name}.tflite").write_bytes(model.content)
    outputs = {f"y{number}": y for number, y in enumerate(model.outputs)}
    np.savez_compressed(FOLDER / f"{name}.npz", x=model.x, **outputs)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, make in MODELS.items():
        save(name, make())
