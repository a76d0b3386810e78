"""Writes networks without binary layers: `python -m benchmarks.plain_networks FOLDER`.

They are MobileNetV2 and ResNet-18 for images of 224 x 224 pixels, in float32 and int8, with random
weights, as TensorFlow's converter makes them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

_SHAPE = (224, 224, 3)
_CLASSES = 1000


def _normalized_conv(x: Any, filters: int, size: int, stride: int) -> Any:
    layers = tf.keras.layers
    x = layers.Conv2D(filters, size, stride, padding="same", use_bias=False)(x)
    return layers.BatchNormalization()(x)


def _resnet18() -> Any:
    layers = tf.keras.layers
    image = layers.Input(_SHAPE)
    x = layers.ReLU()(_normalized_conv(image, 64, 7, 2))
    x = layers.MaxPooling2D(3, 2, padding="same")(x)
    for filters in (64, 128, 256, 512):
        for block in range(2):
            stride = 2 if filters > 64 and block == 0 else 1
            y = layers.ReLU()(_normalized_conv(x, filters, 3, stride))
            y = _normalized_conv(y, filters, 3, 1)
            shortcut = _normalized_conv(x, filters, 1, stride) if stride > 1 else x
            x = layers.ReLU()(layers.Add()([y, shortcut]))
    x = layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(image, layers.Dense(_CLASSES, activation="softmax")(x))


def _samples() -> Iterator[list[Any]]:
    random = np.random.default_rng(0)
    for _ in range(4):
        yield [random.standard_normal((1, *_SHAPE)).astype(np.float32)]


def _write(network: Any, folder: Path, name: str) -> None:
    converter = tf.lite.TFLiteConverter.from_keras_model(network)
    (folder / f"{name}_float32.tflite").write_bytes(converter.convert())
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = _samples
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    (folder / f"{name}_int8.tflite").write_bytes(converter.convert())


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.plain_networks", description=__doc__
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the files go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    _write(tf.keras.applications.MobileNetV2(weights=None), folder, "mobilenetv2")
    _write(_resnet18(), folder, "resnet18")


if __name__ == "__main__":
    main()
