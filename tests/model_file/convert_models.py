"""Writes the valid files of tests/model_file/data: `python -m tests.model_file.convert_models`.

They are what TensorFlow's own converter makes of layers that are quantized in unlikely ways, of
open shapes and of many dimensions. Hosts run them, so nothing may refuse them.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

FOLDER = Path(__file__).with_name("data")

_INT16 = tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
_IMAGE = (1, 4, 4, 4)


def _convert(
    function: Callable[[tf.Tensor], tf.Tensor], shape: tuple[int | None, ...], **options: Any
) -> bytes:
    concrete = tf.function(function).get_concrete_function(tf.TensorSpec(shape, tf.float32))
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete])
    for name, value in options.items():
        setattr(converter, name, value)
    return bytes(converter.convert())


def _quantize(
    function: Callable[[tf.Tensor], tf.Tensor],
    shape: tuple[int, ...],
    highest: float = 1,
    int16: bool = False,
    **options: Any,
) -> bytes:
    def examples() -> Iterator[list[np.ndarray]]:
        random = np.random.default_rng(0)
        for _ in range(3):
            yield [(random.random(shape) * highest).astype(np.float32)]

    if int16:
        options["target_spec"] = tf.lite.TargetSpec(supported_ops=[_INT16])
    return _convert(
        function,
        shape,
        optimizations=[tf.lite.Optimize.DEFAULT],
        representative_dataset=examples,
        **options,
    )


def _conv(channel: float) -> Callable[[tf.Tensor], tf.Tensor]:
    """Returns a convolution one of whose channels has this weight throughout."""
    weights = np.random.default_rng(0).standard_normal((3, 3, 4, 8)).astype(np.float32)
    weights[..., 3] = channel
    return lambda x: tf.nn.conv2d(x, weights, 1, "SAME")


def _models() -> dict[str, bytes]:
    old = {"experimental_new_quantizer": False}
    open_rows = _convert(
        lambda x: tf.reverse_sequence(x, [2, 3], seq_axis=1, batch_axis=0), (2, None, 3)
    )
    relu = _convert(lambda x: tf.nn.relu(x) + 1.0, (2, 3))
    assert relu.count(b"Identity") == 1
    return {
        "dead_channel": _quantize(_conv(0), _IMAGE, **old),
        "dead_channel_new": _quantize(_conv(0), _IMAGE),
        "dead_channel_int16": _quantize(_conv(0), _IMAGE, int16=True),
        "tiny_channel": _quantize(_conv(1e-38), _IMAGE, **old),
        "zero_branch": _quantize(lambda x: tf.nn.relu(x * 0.0) + x, (1, 4), **old),
        "zero_int16": _quantize(lambda x: tf.nn.relu(x) + x, (1, 4), 0, int16=True),
        "comparison": _quantize(
            lambda x: tf.cast(tf.greater(x * 2.0, tf.nn.relu(x - 1.0) + x), tf.float32), (3,), 300
        ),
        "open_sequences": open_rows,
        "nine_dimensions": _convert(
            lambda x: tf.reshape(tf.reshape(x, [1, 1, 1, 2, 1, 1, 1, 2, 2]) * 2.0, [8]), (8,)
        ),
        "latin1_name": relu.replace(b"Identity", "Identit\xe9".encode("latin-1")),
    }


def main() -> None:
    for name, content in _models().items():
        # The path of the source must not be in the file, as it is in some names.
        assert not re.search(rb"\.py", content), name
        (FOLDER / f"{name}.tflite").write_bytes(content)


if __name__ == "__main__":
    main()
