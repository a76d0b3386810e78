"""A small network with random weights, for trying out hosts, programs and devices."""

import numpy as np

from larq_engine.converter.api import convert_tflite
from larq_engine.converter.converted_model import ConvertedModel
from larq_engine.converter.graph import Tensor
from larq_engine.converter.random_network import RandomNetwork

_SIZE = 96
_CLASSES = 10
_CHANNELS = (32, 64, 128)  # Output channels of the float layer, then of the binary layers.


def example_model() -> ConvertedModel:
    """Returns a classifier of 96x96x3 float32 images, with two binary layers between float ones."""
    return convert_tflite(_float_model())


def _float_model() -> bytes:
    net = RandomNetwork(np.random.default_rng(1))
    x = image = Tensor("image", (1, _SIZE, _SIZE, 3), "FLOAT32")
    weights = net.random.normal(0, 0.2, (_CHANNELS[0], 3, 3, 3))
    x = net.conv("stem", x, weights, stride=2)
    for number, channels in enumerate(_CHANNELS[1:], start=1):
        weights = net.signs(channels, 3, 3, x.shape[3])
        x = net.conv(f"binary_{number}", net.sign(x), weights, stride=2)
        scale = net.random.uniform(0.02, 0.1, channels)
        x = net.op("MUL", "MulOptions", f"scale_{number}", x.shape, x, scale)
    axes = np.array([1, 2], np.int32)
    x = net.op("MEAN", "ReducerOptions", "pool", (1, x.shape[3]), x, axes)
    weights = net.random.normal(0, 0.5, (_CLASSES, x.shape[1]))
    x = net.op("FULLY_CONNECTED", "FullyConnectedOptions", "scores", (1, _CLASSES), x, weights)
    return net.file(image, x)
