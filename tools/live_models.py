"""Makes the networks that the live page measures a browser with: their weights are random."""

import numpy as np

from larq_engine.converter.api import convert_tflite
from larq_engine.converter.graph import Tensor
from larq_engine.converter.random_network import RandomNetwork

# The binary layers that all benchmarks of this project have: channels, and lines of the image.
LAYERS = {"A": (64, 56), "B": (128, 28), "C": (256, 14), "D": (512, 7)}

# QuickNet's sections of residual binary layers, and the rest of its sizes.
_LAYERS_OF_A_SECTION = 4
_IMAGE, _STEM, _CLASSES = 224, 16, 1000


def layer(name: str) -> bytes:
    """Returns one binary convolution of 3x3 with the signs before it, as a .tflite file."""
    channels, size = LAYERS[name]
    net = RandomNetwork(np.random.default_rng(1))
    image = Tensor("image", (1, size, size, channels), "FLOAT32")
    return _converted(net.file(image, _binary(net, name, image)))


def quicknet_shaped() -> bytes:
    """Returns a network with the layers of QuickNet, as a .tflite file."""
    net = RandomNetwork(np.random.default_rng(1))
    x = image = Tensor("image", (1, _IMAGE, _IMAGE, 3), "FLOAT32")
    x = _relu(net, net.conv("stem", x, _weights(net, _STEM, 3, 3, 3), 2, "SAME"))
    x = net.depthwise("stem_filter", x, _weights(net, 1, 3, 3, _STEM), 2)
    for section, (channels, _) in enumerate(LAYERS.values(), start=1):
        if section > 1:
            x = net.depthwise(f"blur_{section}", _pooled(net, _relu(net, x)), _blur(x.shape[3]), 2)
        x = net.conv(f"widen_{section}", x, _weights(net, channels, 1, 1, x.shape[3]))
        for number in range(_LAYERS_OF_A_SECTION):
            name = f"binary_{section}_{number}"
            y = _binary(net, name, x)
            x = net.op("ADD", "AddOptions", f"{name}/sum", x.shape, x, y)
    axes = np.array([1, 2], np.int32)
    x = net.op("MEAN", "ReducerOptions", "mean", (1, x.shape[3]), _relu(net, x), axes)
    weights = _weights(net, _CLASSES, x.shape[1])
    x = net.op("FULLY_CONNECTED", "FullyConnectedOptions", "scores", (1, _CLASSES), x, weights)
    return _converted(net.file(image, x))


def _converted(content: bytes) -> bytes:
    # The self-check would take half a minute, and nobody looks at what these networks answer.
    return bytes(convert_tflite(content, check=False))


def _binary(net: RandomNetwork, name: str, x: Tensor) -> Tensor:
    """Adds a binary convolution whose padding is 1, as QuickNet's is, and its normalization."""
    _, height, width, channels = x.shape
    pads = np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)
    shape = (1, height + 2, width + 2, channels)
    y = net.op("PADV2", "PadV2Options", f"{name}/pad", shape, net.sign(x), pads, 1.0)
    y = net.conv(name, y, net.signs(channels, 3, 3, channels))
    scale = net.random.uniform(0.02, 0.1, channels)
    return net.op("MUL", "MulOptions", f"{name}/scale", y.shape, y, scale)


def _relu(net: RandomNetwork, x: Tensor) -> Tensor:
    return net.op("RELU", None, f"{x.name}/relu", x.shape, x)


def _pooled(net: RandomNetwork, x: Tensor) -> Tensor:
    how = {"filterHeight": 3, "filterWidth": 3, "strideH": 1, "strideW": 1}  # padding 0 is SAME
    return net.op("MAX_POOL_2D", "Pool2DOptions", f"{x.name}/pool", x.shape, x, **how)


def _weights(net: RandomNetwork, *shape: int) -> np.ndarray:
    """Returns weights that keep the size of what they are multiplied with."""
    return net.random.normal(0, np.prod(shape[1:]) ** -0.5, shape)


def _blur(channels: int) -> np.ndarray:
    row = np.array([1, 2, 1]) / 4
    return np.tile((row[:, None] * row)[None, :, :, None], (1, 1, 1, channels))
