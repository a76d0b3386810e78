"""Builds a Keras model in the shape of QuickNet, half as deep, with made-up weights.

With initial weights, most signs would be the same for all images. So layers are computed on sample
images while the model is built, and batch norms get the statistics of these.
"""

from dataclasses import dataclass
from typing import Any

import larq as lq
import numpy as np
import numpy.typing as npt
import tensorflow as tf

Array = npt.NDArray[Any]

# Channels of each section, and number of residual blocks in each.
_CHANNELS = (64, 128, 256, 512)
_BLOCKS = 2
_CLASSES = 1000

# Standard deviation of the input of softmax: the likeliest of 1000 classes has some percent.
_SPREAD = 2.0

# Largest move of an offset, in standard deviations; see _Network.normalize.
_REACH = 0.1


def draw_images(count: int, size: int) -> Array:
    """Draws images of 16x16 squares: in noise of single pixels all images look alike."""
    squares = np.random.default_rng(1).uniform(-1, 1, (count, size // 16, size // 16, 3))
    return squares.repeat(16, axis=1).repeat(16, axis=2).astype(np.float32)


def build_quicknet(images: Array) -> Any:
    """Returns the model for images of this size; its signs depend on what the images show."""
    tf.keras.utils.set_random_seed(1)
    network = _Network(images)
    x = _add_stem(network, network.image)
    for channels in _CHANNELS:
        if channels != _CHANNELS[0]:
            x = _add_transition(network, x, channels)
        for _ in range(_BLOCKS):
            x = _add_residual_block(network, x)
    return network.finish(_add_classifier(network, x))


@dataclass(frozen=True)
class _Traced:
    """A tensor of the model, and its value for the sample images."""

    symbol: Any
    value: Any


class _Network:
    """Adds layers, and computes each one as it is added."""

    def __init__(self, images: Array) -> None:
        self._rng = np.random.default_rng(0)
        self.image = _Traced(tf.keras.Input(images.shape[1:], name="image"), tf.constant(images))

    def add(self, layer: Any, *inputs: _Traced) -> _Traced:
        symbols, values = [x.symbol for x in inputs], [x.value for x in inputs]
        if len(inputs) == 1:
            return _Traced(layer(symbols[0]), layer(values[0]))
        return _Traced(layer(symbols), layer(values))

    def normalize(self, x: _Traced, shortcut: _Traced | None = None) -> _Traced:
        """Adds a batch norm, and then the shortcut.

        A binarized network is chaotic: if two ways to round put a value on two sides of 0, a sign
        differs, and later layers multiply the difference. A trained network is robust against that
        on average. This one is not trained, so the offsets are moved to where no value of the
        sample images is next to 0. Then all correct implementations see the same signs.
        """
        layer = tf.keras.layers.BatchNormalization(epsilon=1e-5)
        symbol = layer(x.symbol)
        mean, variance = (moment.numpy() for moment in tf.nn.moments(x.value, [0, 1, 2]))
        gamma = self._rng.uniform(0.5, 1.5, mean.shape) * self._rng.choice([1, -1], mean.shape)
        beta = self._rng.normal(0, 0.3, mean.shape)
        # This keeps a constant channel from being divided by almost 0.
        variance += 0.01 * variance.mean()
        layer.set_weights([gamma, beta, mean, variance])
        y = _Traced(symbol, layer(x.value))
        total = y if shortcut is None else self.add(tf.keras.layers.Add(), y, shortcut)
        moved = _to_widest_gap(total.value.numpy())
        layer.set_weights([gamma, beta + moved, mean, variance])
        return _Traced(total.symbol, total.value + moved.astype(np.float32))

    def finish(self, output: _Traced) -> Any:
        return tf.keras.Model(self.image.symbol, output.symbol, name="quicknet")


def _to_widest_gap(values: Array) -> Array:
    """Returns for each channel the shift that puts 0 into the middle of its values' widest gap."""
    shifts = []
    for channel in values.reshape(-1, values.shape[-1]).T.astype(np.float64):
        reach = _REACH * channel.std()
        near = np.sort(channel[np.abs(channel) <= reach])
        ends = np.concatenate([[-reach], near, [reach]])
        widest = int(np.argmax(np.diff(ends)))
        shifts.append(-(ends[widest] + ends[widest + 1]) / 2)
    return np.array(shifts)


def _add_stem(network: _Network, x: _Traced) -> _Traced:
    """Adds float layers, from the image to a quarter of its size."""
    options: dict[str, Any] = {"padding": "same", "use_bias": False}
    x = network.add(tf.keras.layers.Conv2D(_CHANNELS[0] // 4, 3, strides=2, **options), x)
    x = network.add(tf.keras.layers.ReLU(), network.normalize(x))
    x = network.add(tf.keras.layers.DepthwiseConv2D(3, strides=2, **options), x)
    x = network.add(tf.keras.layers.Conv2D(_CHANNELS[0], 1, **options), network.normalize(x))
    return network.normalize(x)


def _add_residual_block(network: _Network, x: _Traced) -> _Traced:
    layer = lq.layers.QuantConv2D(
        x.value.shape[-1],
        3,
        padding="same",
        pad_values=1.0,
        input_quantizer="ste_sign",
        kernel_quantizer="ste_sign",
        kernel_constraint="weight_clip",
        activation="relu",
        use_bias=False,
    )
    return network.normalize(network.add(layer, x), shortcut=x)


def _add_transition(network: _Network, x: _Traced, channels: int) -> _Traced:
    """Adds float layers, to half the size and more channels."""
    x = network.add(tf.keras.layers.ReLU(), x)
    x = network.add(tf.keras.layers.MaxPool2D(2, strides=1), x)
    blur = tf.keras.layers.DepthwiseConv2D(
        3, strides=2, padding="same", use_bias=False, depthwise_initializer=_blur
    )
    x = network.add(blur, x)
    x = network.add(tf.keras.layers.Conv2D(channels, 1, use_bias=False), x)
    return network.normalize(x)


def _blur(shape: tuple[int, ...], dtype: Any = None, **_: Any) -> Any:
    """Returns the same filter for each channel, [1 2 1] in both directions."""
    row = np.array([1, 2, 1]) / 4
    return tf.constant(np.broadcast_to(np.outer(row, row)[..., None, None], shape), dtype)


def _add_classifier(network: _Network, x: _Traced) -> _Traced:
    x = network.add(tf.keras.layers.ReLU(), x)
    x = network.add(tf.keras.layers.GlobalAveragePooling2D(), x)
    layer = tf.keras.layers.Dense(_CLASSES)
    x = network.add(layer, x)
    # Otherwise the part that all images have in common would decide about the class.
    common = np.mean(x.value, axis=0)
    scale = _SPREAD / np.std(x.value - common)
    layer.set_weights([layer.kernel * scale, -common * scale])
    return network.add(tf.keras.layers.Softmax(), x)
