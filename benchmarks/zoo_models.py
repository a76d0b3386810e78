"""The 14 models of larq_zoo with made-up weights, such that their results can be compared exactly.

Without training, most binarized layers would answer the same whatever the image. So batch norm gets
the statistics of the test images, disturbed at random, some of its scales negative, and the classes
a spread that softmax does not squash: signs depend on the image, and so does the answer.

A binarized network is chaotic: one value that rounding pushes over zero flips a sign, and later
layers multiply the difference. So offsets are moved, a little, until no binarized value of the test
images is within MARGIN of where it would flip. Then all correct implementations see the same signs
on every machine, and can be compared up to float rounding.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # larq is for Keras 2; read when TensorFlow is imported

import larq_zoo
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from benchmarks.micro import networks

Array = npt.NDArray[Any]
Images = npt.NDArray[np.float32]

IMAGES = 4
SQUARES = 14  # whole squares from the top of an image to its bottom

# Margin in standard deviations of the channel. Rounding changes the outputs by 1e-5 of their range.
MARGIN = 1e-4

# Standard deviation of softmax's inputs: of 1000 classes the likeliest has some percent.
LOGITS_SPREAD = 2.0


def build(name: str) -> Any:
    """Builds a model as larq_zoo initializes it, or a network of benchmarks/micro."""
    tf.keras.utils.set_random_seed(1)
    if name in networks.NETWORKS:
        return networks.NETWORKS[name]()
    family = larq_zoo.sota if hasattr(larq_zoo.sota, name) else larq_zoo.literature
    return getattr(family, name)(weights=None)


def draw_images(model: Any) -> Images:
    """Draws images of squares: in noise of single pixels all images look alike.

    A model that scales its input reads bytes, others numbers from -1 to 1.
    """
    rng = np.random.default_rng(0)
    _, height, width, channels = model.input_shape
    side = height // SQUARES
    reads_bytes = any(isinstance(layer, tf.keras.layers.Rescaling) for layer in model.layers)
    low, high = (0, 255) if reads_bytes else (-1, 1)
    squares = rng.uniform(low, high, (IMAGES, -(-height // side), -(-width // side), channels))
    images = squares.repeat(side, axis=1).repeat(side, axis=2)[:, :height, :width]
    return images.astype(np.float32)


def prepare(model: Any, images: Images) -> None:
    """Sets the weights as the module's docstring says."""
    _Preparation(model, images).run()


class _Preparation:
    """Computes a model layer by layer and sets the weights of each on the way."""

    def __init__(self, model: Any, images: Images) -> None:
        self._rng = np.random.default_rng(0)
        by_depth = model._nodes_by_depth
        self._nodes = [node for depth in sorted(by_depth, reverse=True) for node in by_depth[depth]]
        self._producers = {
            id(tensor): position
            for position, node in enumerate(self._nodes)
            for tensor in tf.nest.flatten(node.outputs)
        }
        self._values = {id(model.inputs[0]): tf.constant(images)}

    def run(self) -> None:
        for position, node in enumerate(self._nodes):
            if node.is_input:
                continue
            x = self._input(node)
            if isinstance(node.layer, tf.keras.layers.BatchNormalization):
                self._draw_batch_norm(node.layer, x)
            if _boundaries(node.layer).size:
                self._keep_off_boundaries(position)
            self._compute(node)
        self._spread_logits()

    def _input(self, node: Any) -> Array:
        value: Array = self._values[id(node.keras_inputs[0])].numpy()
        return value

    def _compute(self, node: Any) -> None:
        arguments, options = tf.nest.map_structure(
            lambda argument: self._values.get(id(argument), argument),
            (node.call_args, node.call_kwargs),
        )
        results = tf.nest.flatten(node.layer(*arguments, **options))
        for tensor, value in zip(tf.nest.flatten(node.outputs), results, strict=True):
            self._values[id(tensor)] = value

    def _draw_batch_norm(self, layer: Any, x: Array) -> None:
        x = _by_channel(x, x.shape[-1])
        mean, variance = x.mean(axis=0), x.var(axis=0)
        size = mean.shape
        drawn = {
            "gamma": self._rng.uniform(0.5, 1.5, size) * self._rng.choice([1, 1, 1, -1], size),
            "beta": self._rng.normal(0, 0.3, size),
            "moving_mean": mean + self._rng.normal(0, 0.3, size) * np.sqrt(variance),
            # The addend keeps the variance of a constant channel from being almost 0.
            "moving_variance": variance * self._rng.uniform(0.5, 1.5, size)
            + 0.01 * variance.mean(),
        }
        for weight in layer.weights:
            weight.assign(drawn[weight.name.rpartition("/")[2].partition(":")[0]])

    def _keep_off_boundaries(self, position: int) -> None:
        node = self._nodes[position]
        start = max(self._offsets_before(node.keras_inputs[0]))
        layer = self._nodes[start].layer
        channels = self._nodes[start].outputs.shape[-1]
        boundaries = _boundaries(node.layer)

        shift = find_shift(_by_channel(self._input(node), channels), boundaries)
        if not shift.any():
            return
        _add_offset(layer, shift)
        for between in range(start, position):
            self._compute(self._nodes[between])
        for after in (n for n in self._nodes[start : position + 1] if _boundaries(n.layer).size):
            # Only half of MARGIN is required, as the moved values were rounded anew.
            closest = _distance(_by_channel(self._input(after), channels), _boundaries(after.layer))
            if closest.min() < MARGIN / 2:
                raise RuntimeError(
                    f"{after.layer.name}: expected no binarized value within {MARGIN / 2} of a "
                    f"boundary after moving the offsets of {layer.name}, got {closest.min()}"
                )

    def _offsets_before(self, tensor: Any) -> Iterator[int]:
        """Yields the positions of layers that can move all values of a channel of `tensor`."""
        position = self._producers[id(tensor)]
        node = self._nodes[position]
        if hasattr(node.layer, "moving_mean") or getattr(node.layer, "bias", None) is not None:
            yield position
        elif not hasattr(node.layer, "kernel"):
            for earlier in node.keras_inputs:
                yield from self._offsets_before(earlier)

    def _spread_logits(self) -> None:
        (logits,) = self._nodes[-1].keras_inputs
        layer = self._nodes[self._producers[id(logits)]].layer
        if isinstance(layer, tf.keras.layers.Dense):
            layer.kernel.assign(layer.kernel * (LOGITS_SPREAD / np.std(self._values[id(logits)])))


def _by_channel(x: Array, channels: int) -> npt.NDArray[np.float64]:
    """Returns one column for each channel, also of a flattened image: channels are innermost."""
    return x.reshape(-1, channels).astype(np.float64)


def _boundaries(layer: Any) -> npt.NDArray[np.float64]:
    """Returns the values at which the layer's quantizer of its input jumps."""
    quantizer = getattr(layer, "input_quantizer", None)
    if quantizer is None:
        return np.array([])
    levels = 2**quantizer.precision - 1  # evenly from 0 to 1 if there is more than one bit
    return (np.arange(levels) + 0.5) / levels if levels > 1 else np.array([0.0])


def _distance(
    values: npt.NDArray[np.float64], boundaries: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Returns how close each channel comes to a boundary, in its standard deviations."""
    gaps = np.min([np.abs(values - boundary).min(axis=0) for boundary in boundaries], axis=0)
    distances: npt.NDArray[np.float64] = gaps / np.maximum(
        values.std(axis=0), np.finfo(np.float32).tiny
    )
    return distances


def find_shift(
    values: npt.NDArray[np.float64], boundaries: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Finds each channel's smallest shift, in steps of MARGIN, that takes it off the boundaries."""
    shift = np.zeros(values.shape[1])
    near = np.flatnonzero(_distance(values, boundaries) < MARGIN)
    step = MARGIN * values.std(axis=0)
    tries = 0
    while near.size:
        tries = -tries if tries > 0 else 1 - tries  # 1, -1, 2, -2, ...
        shift[near] = tries * step[near]
        still = _distance(values[:, near] + shift[near], boundaries) < MARGIN
        near = near[still]
    return shift


def _add_offset(layer: Any, shift: npt.NDArray[np.float64]) -> None:
    if not hasattr(layer, "moving_mean"):
        layer.bias.assign_add(shift)
        return
    gamma = layer.gamma.numpy() if layer.scale else 1.0
    deviation = np.sqrt(layer.moving_variance.numpy() + layer.epsilon)
    layer.moving_mean.assign_sub(shift * deviation / gamma)
