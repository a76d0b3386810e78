"""Networks for microcontrollers, of integers alone: with binary layers, and with int8 ones instead.

They are not trained. What weights hold decides no more than how int8 layers round their sums, and
with it some instructions for each value, but none for a product.

`python -m benchmarks.micro.networks FOLDER` writes the files for other engines.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks import machine

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # larq is for Keras 2; read when TensorFlow is imported
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
sys.path.append(str(machine.ROOT / "examples"))  # the examples are programs, not a package

import larq as lq
import numpy as np
import tensorflow as tf
from published import comparing, keywords
from published.layers import binary_conv, binary_dense, conv, norm

import larq_engine

_RANGE = (-3.0, 3.0)  # of the inputs that layers are calibrated with
_SAMPLES = 4


def _digits() -> Any:
    """Returns the network of examples/digits.py."""
    layers = tf.keras.layers
    start = layers.Input((8, 8, 1))
    x = layers.Conv2D(32, 3, padding="same")(start)
    for _ in range(2):
        x = binary_conv(norm(x), 64, 3)
    x = layers.GlobalAveragePooling2D()(norm(x))
    return tf.keras.Model(start, layers.Dense(10)(x))


def _cbin_nn() -> Any:
    """Returns the CIFAR-10 network of "CBin-NN: An Inference Engine for Binarized Neural Networks".

    Its layers are in the example of the paper's repository: an int8 and two binary convolutions of
    5x5, a pool after each, and a binary dense layer. Taps outside of the image count nothing.
    """
    layers = tf.keras.layers
    x = start = layers.Input((32, 32, 3))
    for filters, make in ((32, conv), (32, binary_conv), (64, binary_conv)):
        slope = tf.keras.initializers.Constant(0.25)
        x = layers.PReLU(slope, shared_axes=[1, 2])(make(x, filters, 5))
        x = layers.MaxPool2D()(norm(x))
    return tf.keras.Model(start, norm(binary_dense(layers.Flatten()(x), 10)))


def _quicknet() -> Any:
    """Returns a network in the shape of QuickNet: residual blocks of one binary convolution."""
    layers = tf.keras.layers
    start = layers.Input((32, 32, 3))
    x = layers.ReLU()(norm(conv(start, 16, 3, strides=2)))
    x = norm(conv(x, 64, 1))
    for filters in (64, 128, 256):
        if filters > 64:
            x = layers.MaxPool2D(2, strides=1)(layers.ReLU()(x))
            x = layers.DepthwiseConv2D(3, strides=2, padding="same", use_bias=False)(x)
            x = norm(conv(x, filters, 1))
        for _ in range(2):
            y = binary_conv(x, filters, 3, pad_values=1.0, activation="relu")
            x = layers.Add()([norm(y), x])
    x = layers.GlobalAveragePooling2D()(layers.ReLU()(x))
    return tf.keras.Model(start, layers.Dense(10)(x))


NETWORKS: Mapping[str, Callable[[], Any]] = {
    "keywords": keywords.network,
    "digits": _digits,
    "cbin-nn": _cbin_nn,
    "quicknet": _quicknet,
}


def binary(name: str) -> bytes:
    """Returns a network as our converter makes it for microcontrollers."""
    model = _built(name)
    converted = larq_engine.convert_keras_model(
        model,
        target="microcontroller",
        inference_input_type="int8",
        inference_output_type="int8",
        representative_dataset=list(_samples(model)),
        check=False,
    )
    return bytes(converted)


def int8(name: str) -> bytes:
    """Returns the network with int8 layers in place of the binary ones, by TensorFlow."""
    model = tf.keras.models.clone_model(_built(name), clone_function=_without_signs)
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: _samples(model)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    return bytes(converter.convert())


def _samples(model: Any) -> Iterator[list[Any]]:
    random = np.random.default_rng(0)
    for _ in range(_SAMPLES):
        yield [random.uniform(*_RANGE, (1, *model.input_shape[1:])).astype(np.float32)]


def _built(name: str) -> Any:
    tf.keras.utils.set_random_seed(1)
    model = NETWORKS[name]()
    comparing.make_up_norms(model)
    return model


def _without_signs(layer: Any) -> Any:
    """Returns the layer that an int8 network has in a layer's place.

    An activation between a layer and its batch norm keeps TensorFlow from joining the two. It costs
    a binary layer nothing, so the int8 network goes without.
    """
    config = layer.get_config()
    if isinstance(layer, tf.keras.layers.PReLU):
        return tf.keras.layers.Activation("linear", name=layer.name)
    kinds = {lq.layers.QuantConv2D: "Conv2D", lq.layers.QuantDense: "Dense"}
    kind = kinds.get(type(layer))
    if kind is None:
        return layer.__class__.from_config(config)
    sizes = ("name", "filters", "units", "kernel_size", "strides", "padding", "use_bias")
    kept = {key: config[key] for key in sizes if key in config}
    return getattr(tf.keras.layers, kind)(**kept)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.micro.networks", description=__doc__
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the files go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name in NETWORKS:
        (folder / f"{name}_binary.tflite").write_bytes(binary(name))
        (folder / f"{name}_int8.tflite").write_bytes(int8(name))


if __name__ == "__main__":
    main()
