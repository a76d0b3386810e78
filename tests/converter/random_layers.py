"""Builds the Keras model that a `random_models.Model` describes, so that results can be compared.

If rounding pushes a value over zero, a sign flips, and two correct implementations then differ.
This module rules that out: inputs, weights and biases are small multiples of powers of two, every
float sum is exact in any order, and zeros are exactly zero. Batch norm is the exception, as
rounding of 1 / sqrt(variance) differs everywhere: its results are kept off zero, and where
something after it can lead back to zero, the next sign gets another batch norm before it.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import larq
import numpy as np
import tensorflow as tf

from tests.converter import random_models as drawn

SAMPLES = 8

_INPUT_BOUND = 4

# Limit of bound / step. A step is then 2**-16 of the largest value, and float32 rounds to 2**-24 of
# it.
_MAX_RANGE = 2.0**16

# ste_tern compares with 0.05, and no multiple of this step or of a larger one is near that.
_TERNARY_STEP = 2.0**-8

# Largest share of signs that may be equal: beyond it a layer would see nothing of the image.
_MOST_EQUAL_SIGNS = 0.95

# Weights of fewer elements are not worth being stored as bits.
_PACKED_FROM = 256

_INPUT_QUANTIZERS: dict[str, Callable[[Any], Any]] = {
    "where_ge": lambda x: tf.where(x >= 0, 1.0, -1.0),
    "where_gt": lambda x: tf.where(x > 0, 1.0, -1.0),
    "where_lt": lambda x: tf.where(x < 0, -tf.ones_like(x), tf.ones_like(x)),
    "where_le": lambda x: tf.where(x <= 0, 1.0, -1.0),
    "cast": lambda x: 2.0 * tf.cast(x > 0, tf.float32) - 1.0,
}
# The two values that each quantizer makes.
_BINARY_QUANTIZERS = dict.fromkeys(
    (*_INPUT_QUANTIZERS, "ste_sign", "approx_sign", "swish_sign"), (-1, 1)
) | {"ste_heaviside": (0, 1)}

_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "relu": tf.nn.relu,
    "relu6": tf.nn.relu6,
    "hard_tanh": larq.activations.hard_tanh,
}


@dataclass(frozen=True)
class Value:
    """A tensor of the model: its values are multiples of `step` and at most `bound` in size."""

    tensor: Any
    # Values of the tensor for the samples.
    data: np.ndarray
    bound: float
    step: float
    # True if the values are computed without any rounding.
    exact: bool = True
    # True if values that should be zero are exactly zero.
    clear: bool = True
    # The two values of the tensor, if the model shows that it has only two.
    levels: tuple[int, int] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape[1:])

    @property
    def range(self) -> float:
        return self.bound / self.step

    def through(self, layer: Any, **known: Any) -> "Value":
        """Returns what a layer makes of the tensor, with what is `known` of the result."""
        tensor, data = layer(self.tensor), layer(self.data).numpy()
        return replace(self, tensor=tensor, data=data, **known)


@dataclass
class BuiltModel:
    """A Keras model, data to run it on, and what its layers must become."""

    keras: Any
    inputs: np.ndarray
    # True if results must be equal to the bit.
    exact: bool
    # (name of the layer, what it becomes) -> number of such layers
    expected: Counter[tuple[str, str]]


def build_model(model: drawn.Model) -> BuiltModel:
    """Builds the model that a description stands for, the same every time."""
    return _Builder(model).build()


class _Builder:
    def __init__(self, model: drawn.Model) -> None:
        self._model = model
        self._rng = np.random.default_rng(model.seed)
        self._expected: Counter[tuple[str, str]] = Counter()
        self._count = 0

    def build(self) -> BuiltModel:
        tf.keras.backend.clear_session()
        start = tf.keras.Input(self._model.image)
        shape = (SAMPLES, *self._model.image)
        inputs = self._rng.integers(-_INPUT_BOUND, _INPUT_BOUND + 1, shape).astype(np.float32)
        value = Value(start, inputs, _INPUT_BOUND, 1)
        for block in self._model.blocks:
            value = self._block(block, value)
            _check(value)
        keras = tf.keras.Model(start, value.tensor)
        return BuiltModel(keras, inputs, value.exact, self._expected)

    def _block(self, block: drawn.Block, value: Value) -> Value:
        if isinstance(block, drawn.Weighted):
            return self._weighted(block, value)
        if isinstance(block, drawn.BatchNorm):
            return self._batch_norm(value, block.scale, block.center)
        if isinstance(block, drawn.Activation):
            return self._activation(block.kind, value)
        if isinstance(block, drawn.Pool):
            return _pool(block, value)
        if isinstance(block, drawn.Shape):
            return _reshape(block.kind, value)
        return self._shortcut(block, value)

    def _shortcut(self, block: drawn.Shortcut, value: Value) -> Value:
        result = value
        for inner in block.body:
            result = self._block(inner, result)
        exact = value.exact and result.exact
        bounds, step = (value.bound, result.bound), min(value.step, result.step)
        if block.concatenate and value.shape[:-1] == result.shape[:-1]:
            clear = value.clear and result.clear
            levels = value.levels if value.levels == result.levels else None
            joined = _joined(tf.keras.layers.Concatenate(), value, result)
            return Value(*joined, max(bounds), step, exact, clear, levels)
        if value.shape == result.shape and sum(bounds) / step <= _MAX_RANGE:
            joined = _joined(tf.keras.layers.Add(), value, result)
            return Value(*joined, sum(bounds), step, exact, clear=exact)
        return result

    # ---- layers with weights ------------------------------------------------------------------

    def _weighted(self, block: drawn.Weighted, value: Value) -> Value:
        block, value = _fit(block, value)
        value, quantizer = self._quantizable(value, block)
        levels = _BINARY_QUANTIZERS.get(quantizer or "", value.levels if not quantizer else None)
        seen = value if quantizer is None else replace(value, bound=1, step=1, exact=True)
        name = f"{block.kind}{self._count:02}"
        self._count += 1
        layer = _make_layer(block, name, _INPUT_QUANTIZERS.get(quantizer, quantizer))
        layer.build((None, *value.shape))

        padded = _is_padded(block, value)
        bound = max(seen.bound, abs(block.pad_value)) if padded else seen.bound
        step = min(seen.step, 1) if padded else seen.step
        latent = []
        for variable in layer.weights[: 2 if block.kind == "separable" else 1]:
            latent.append(self._latent_weights(variable.shape, block.kernel_quantizer))
            weights = larq.quantizers.get_kernel_quantizer(block.kernel_quantizer)
            used = weights(latent[-1]).numpy() if weights else latent[-1]
            assert not (2 * used % 1).any()
            depthwise = block.kind in ("depthwise", "separable") and len(latent) == 1
            used = used.reshape((*used.shape[:2], -1) if depthwise else (-1, used.shape[-1]))
            used = used.reshape(-1, used.shape[-1])
            bound, step = bound * float(np.abs(used).sum(axis=0).max()), step / 2
            # A depthwise convolution of one channel is an ordinary one.
            several = depthwise and value.shape[-1] > 1
            binary = None if several or len(latent) == 2 else levels
            self._expect(name, block, used, binary, padded)
        if block.bias:
            bias = step * self._rng.integers(-4, 5, layer.weights[-1].shape)
            latent.append(bias.astype(np.float32))
            bound += 4 * step
        layer.set_weights(latent)
        result = seen.through(
            layer, bound=max(bound, step), step=step, clear=seen.exact, levels=None
        )
        return _clamped(result, block.activation)

    def _quantizable(self, value: Value, block: drawn.Weighted) -> tuple[Value, str | None]:
        """Returns the value, moved off zero if needed, and the quantizer if it suits the value."""
        quantizer = block.input_quantizer
        depth = int(np.prod(block.kernel)) * value.shape[-1]
        # TensorFlow multiplies batch norms on both sides of a dense layer into its weights, and
        # whether these are binary then depends on what follows.
        plain = block.kind != "dense" or value.exact
        if quantizer is None and plain and 4 * depth * value.range <= _MAX_RANGE:
            return value, None
        if quantizer is None or (quantizer == "ste_tern" and value.step < _TERNARY_STEP):
            quantizer = "ste_sign"
        return self._varied(value, quantizer), quantizer

    def _varied(self, value: Value, quantizer: str) -> Value:
        """Returns the value, moved if necessary off zero and to where its signs differ."""
        function = _INPUT_QUANTIZERS.get(quantizer) or larq.quantizers.get(quantizer)
        _, counts = np.unique(function(value.data).numpy(), return_counts=True)
        if value.clear and (value.levels or counts.max() < _MOST_EQUAL_SIGNS * value.data.size):
            return value
        return self._normalized(value, scale=False, center=False)

    def _latent_weights(self, shape: Any, quantizer: str | None) -> np.ndarray:
        rng = self._rng
        if quantizer is None:
            return rng.choice([-1, -0.5, 0, 0.5, 1], shape).astype(np.float32)
        if quantizer == "magnitude_aware_sign":
            # The size is the mean over a channel, which is exact if all its weights have that size.
            sizes = rng.choice([0.5, 1, 2], shape[-1])
            return (rng.choice([-1, 1], shape) * sizes).astype(np.float32)
        return rng.choice([-0.2, -0.01, -0.0, 0.0, 0.01, 0.2], shape).astype(np.float32)

    def _expect(
        self,
        name: str,
        block: drawn.Weighted,
        weights: np.ndarray,
        levels: tuple[int, int] | None,
        padded: bool,
    ) -> None:
        """Notes what a layer becomes; `weights` [..., output channels] are those that it uses."""
        became = "float"
        of_one_size = bool((np.abs(weights) == np.abs(weights[:1])).all())
        grouped = block.groups > 1 and weights.shape[0] // np.prod(block.kernel) % 32
        pad = block.pad_value if padded else 0
        # The weights -1, -0.5, 0, 0.5 and 1 are five numbers at equal distances, of three bits.
        can_be = block.groups == 1 or (of_one_size and not grouped)
        if can_be and levels is not None and pad in (*levels, 0):
            became = "binary"
        elif of_one_size and weights.size >= _PACKED_FROM:
            became = "weights only"
        self._expected[name, became] += 1

    # ---- layers without -----------------------------------------------------------------------

    def _batch_norm(self, value: Value, scale: bool, center: bool) -> Value:
        # Means between the steps double the range, and scales from 0.5 to 2 make it four times
        # larger.
        return self._normalized(value, scale, center) if value.range * 8 <= _MAX_RANGE else value

    def _normalized(self, value: Value, scale: bool, center: bool) -> Value:
        """Adds a batch norm whose results are never zero, except where its scale is zero."""
        channels = value.shape[-1]
        layer = tf.keras.layers.BatchNormalization(scale=scale, center=center)
        layer.build((None, *value.shape))
        gamma = np.ones(channels)
        if scale:
            gamma = self._rng.choice([0.5, 1, 2, -0.5, -1, -2], channels)
        if scale and channels > 1:
            gamma[self._rng.integers(1, channels)] *= self._rng.choice([0, 1])
        # The mean is half a step away from every value, and next to a value that occurs.
        mean = self._rng.choice(value.data.reshape(-1, channels)) + value.step / 2
        # The factor brings values to the size of the clamps' bounds, but variances cannot be
        # negative.
        largest = max(float(np.abs(value.data).max()), value.step)
        factor = min(2.0 ** np.floor(np.log2(16 / largest)), 16.0)
        steps = np.maximum(np.abs(gamma), 0.5) * factor * value.step
        beta = steps * self._rng.integers(-4, 5, channels)
        variance = np.full(channels, factor**-2 - layer.epsilon)
        given = [*([gamma] if scale else []), *([beta] if center else []), mean, variance]
        layer.set_weights([weights.astype(np.float32) for weights in given])
        bound = np.abs(gamma * factor).max() * (2 * value.bound + value.step)
        bound += np.abs(beta).max() if center else 0
        known = {"exact": False, "clear": True, "levels": None}
        return value.through(layer, bound=float(bound), step=float(steps.min() / 2), **known)

    def _activation(self, kind: str | None, value: Value) -> Value:
        if kind is None:
            return value
        if kind == "ste_sign":
            known = {"bound": 1, "step": 1, "exact": True, "levels": (-1, 1)}
            return self._varied(value, kind).through(larq.quantizers.SteSign(), **known)
        if kind == "leaky_relu":
            layer = tf.keras.layers.LeakyReLU(0.25)
            return value.through(layer, step=value.step / 4, levels=None)
        if kind == "prelu":
            layer = tf.keras.layers.PReLU(shared_axes=list(range(1, len(value.shape))))
            layer.build((None, *value.shape))
            slopes = self._rng.choice([-0.5, 0, 0.25, 1], layer.alpha.shape)
            layer.set_weights([slopes.astype(np.float32)])
            return value.through(layer, step=value.step / 4, levels=None)
        return _clamped(value.through(tf.keras.layers.Activation(_ACTIVATIONS[kind])), kind)


def _check(value: Value) -> None:
    """Raises if Keras' values contradict the bound and the step that this module computed."""
    largest = np.abs(value.data).max()
    assert largest <= value.bound * (1 + 1e-5), f"expected at most {value.bound}, got {largest}"
    if value.exact:
        assert not (value.data % value.step).any(), f"expected multiples of {value.step}"


def _joined(layer: Any, *values: Value) -> tuple[Any, np.ndarray]:
    return (
        layer([value.tensor for value in values]),
        layer([value.data for value in values]).numpy(),
    )


def _clamped(value: Value, activation: str | None) -> Value:
    """Returns the value with what is known of it after an activation in its tensor."""
    if activation is None:
        return value
    limit = {"relu": np.inf, "relu6": 6, "hard_tanh": 1}[activation]
    return replace(value, bound=min(value.bound, limit), step=min(value.step, 1), levels=None)


def _fit(block: drawn.Weighted, value: Value) -> tuple[drawn.Weighted, Value]:
    """Returns the layer as Keras can have it for this input, and the input reshaped to fit it."""
    if block.kind == "dense":
        # Along a dimension of 1, TensorFlow turns a dense layer into a product, which is no layer
        # any more.
        value = _reshape("flatten", value) if value.shape[-1] == 1 else value
        return replace(block, kernel=(1, 1), padding="valid", groups=1), value
    value = _as_image(value, 2 if block.kind == "conv_1d" else 3)
    kernel, stride, dilation = block.kernel, block.stride, block.dilation
    sizes = (*value.shape[:-1], 1)[:2]
    # Taps further apart than the image is large would see nothing of it.
    dilation = tuple(min(d, size) for d, size in zip(dilation, sizes, strict=True))
    if block.kind == "conv_1d":
        kernel, stride, dilation = ((pair[0], 1) for pair in (kernel, stride, dilation))
    elif block.kind != "conv":
        # TensorFlow's depthwise convolutions have equal strides in both directions.
        stride, dilation = ((min(pair), min(pair)) for pair in (stride, dilation))
    if block.padding == "valid":
        kernel = tuple(min(taps, size) for taps, size in zip(kernel, sizes, strict=True))
        if any((k - 1) * d >= size for k, d, size in zip(kernel, dilation, sizes, strict=True)):
            dilation = (1, 1)
    splits = block.kind == "conv" and value.shape[-1] % 2 == 0 and block.channels % 2 == 0
    groups = block.groups if splits else 1
    return replace(block, kernel=kernel, stride=stride, dilation=dilation, groups=groups), value


def _is_padded(block: drawn.Weighted, value: Value) -> bool:
    """Tells whether "same" pads this input at all."""
    axes = zip(block.kernel, block.stride, block.dilation, (*value.shape[:-1], 1), strict=False)
    return block.padding == "same" and any(
        (k - 1) * d + 1 > (size - 1) % s + 1 for k, s, d, size in axes
    )


def _make_layer(block: drawn.Weighted, name: str, input_quantizer: Any) -> Any:
    layers = larq.layers
    common = {
        "name": name,
        "use_bias": block.bias,
        "input_quantizer": input_quantizer,
        "activation": _ACTIVATIONS[block.activation] if block.activation else None,
    }
    quantizer = block.kernel_quantizer
    if block.kind == "dense":
        return layers.QuantDense(block.channels, kernel_quantizer=quantizer, **common)
    common |= {"padding": block.padding, "pad_values": float(block.pad_value)}
    if block.kind == "conv_1d":
        (taps, _), (stride, _), (dilation, _) = block.kernel, block.stride, block.dilation
        common |= {"strides": stride, "dilation_rate": dilation}
        return layers.QuantConv1D(block.channels, taps, kernel_quantizer=quantizer, **common)
    common |= {"strides": block.stride, "dilation_rate": block.dilation}
    if block.kind == "depthwise":
        return layers.QuantDepthwiseConv2D(block.kernel, depthwise_quantizer=quantizer, **common)
    if block.kind == "separable":
        common |= {"depthwise_quantizer": quantizer, "pointwise_quantizer": quantizer}
        return layers.QuantSeparableConv2D(block.channels, block.kernel, **common)
    common |= {"kernel_quantizer": quantizer, "groups": block.groups}
    return layers.QuantConv2D(block.channels, block.kernel, **common)


def _pool(block: drawn.Pool, value: Value) -> Value:
    value = _as_image(value, 3)
    size = value.shape[:2]
    kind, window = block.kind, block.window
    if kind == "global_max":
        return value.through(tf.keras.layers.GlobalMaxPooling2D(), levels=None)
    if kind == "global_average":
        return _averaged(value.through(tf.keras.layers.GlobalAveragePooling2D()), size[0] * size[1])
    if kind == "average":
        # At the border, windows average fewer pixels, a third of one for instance; at most 2 taps
        # keep one step for all.
        window = tuple(min(taps, 2) for taps in window)
    if block.padding == "valid":
        window = tuple(min(taps, pixels) for taps, pixels in zip(window, size, strict=True))
    if kind == "max":
        return value.through(tf.keras.layers.MaxPooling2D(window, block.stride, block.padding))
    pool = tf.keras.layers.AveragePooling2D(window, block.stride, block.padding)
    return _averaged(value.through(pool), window[0] * window[1])


def _averaged(value: Value, count: int) -> Value:
    exact = value.exact and count & (count - 1) == 0
    return replace(value, step=value.step / count, exact=exact, clear=exact, levels=None)


def _as_image(value: Value, rank: int) -> Value:
    """Reshapes the value to rows and columns (rank 3), or to one row of positions (rank 2)."""
    if len(value.shape) == rank:
        return value
    positions, channels = int(np.prod(value.shape[:-1])), value.shape[-1]
    shape = (positions, channels) if rank == 2 else (positions, 1, channels)
    return value.through(tf.keras.layers.Reshape(shape))


def _reshape(kind: str, value: Value) -> Value:
    if kind == "swap" and len(value.shape) > 1:
        order = (2, 1, *range(3, len(value.shape) + 1))
        return value.through(tf.keras.layers.Permute(order))
    if kind == "flatten":
        return value.through(tf.keras.layers.Flatten())
    return _as_image(value, 2)
