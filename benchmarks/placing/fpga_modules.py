"""Binary networks of the modules that the FPGA-GPU paper maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np

import larq_engine
import larq_engine.keras as lq

_SIGNS: dict[str, Any] = {
    "input_quantizer": "ste_sign",
    "kernel_quantizer": "ste_sign",
    "kernel_constraint": "weight_clip",
    "use_bias": False,
    "padding": "same",
}
_SIZE = 28


def _layer(x: Any, channels: int, taps: int) -> Any:
    x = lq.layers.QuantConv2D(channels, taps, pad_values=1.0, **_SIGNS)(x)
    return keras.layers.BatchNormalization()(x)


def _depthwise(x: Any) -> Any:
    x = keras.layers.DepthwiseConv2D(3, padding="same", use_bias=False)(x)
    return keras.layers.BatchNormalization()(x)


def _fire(x: Any) -> Any:
    squeezed = _layer(x, 32, 1)
    return keras.layers.Concatenate()([_layer(squeezed, 64, 1), _layer(squeezed, 64, 3)])


def _bottleneck(x: Any) -> Any:
    return keras.layers.Add()([x, _layer(_depthwise(_layer(x, 192, 1)), 32, 1)])


def _unit(x: Any) -> Any:
    """Returns the unit before its channels are shuffled."""
    half = x.shape[-1] // 2
    changed = _layer(_depthwise(_layer(x[..., half:], half, 1)), half, 1)
    return keras.layers.Concatenate()([x[..., :half], changed])


# Each module with its channels.
MODULES: dict[str, tuple[Callable[[Any], Any], int]] = {
    "SqueezeNet's Fire": (_fire, 128),
    "MobileNetV2's bottleneck": (_bottleneck, 32),
    "ShuffleNetV2's unit": (_unit, 128),
}


def make_module(name: str) -> bytes:
    """Returns two modules after each other as a .tflite file of int8, all layers of bits binary."""
    build, channels = MODULES[name]
    keras.utils.set_random_seed(1)
    x = image = keras.Input((_SIZE, _SIZE, channels), batch_size=1)
    for _ in range(2):
        x = build(x)
    model = keras.Model(image, x)
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            _draw(layer)
    random = np.random.default_rng(1)
    samples = [random.normal(size=(1, _SIZE, _SIZE, channels)).astype(np.float32) for _ in range(8)]
    file: bytes = larq_engine.convert_keras_model(
        model,
        target="fpga",
        inference_input_type="int8",
        inference_output_type="int8",
        representative_dataset=samples,
    )
    return file


def _draw(layer: keras.layers.BatchNormalization) -> None:
    """Gives a batch norm the statistics of a trained network's size."""
    random = np.random.default_rng(2)
    channels = layer.moving_mean.shape[0]
    layer.moving_mean.assign(random.normal(0, 4, channels))
    layer.moving_variance.assign(random.uniform(20, 60, channels))
    layer.gamma.assign(random.uniform(0.5, 1.5, channels))
    layer.beta.assign(random.normal(0, 0.5, channels))
