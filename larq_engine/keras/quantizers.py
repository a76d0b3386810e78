"""Provides larq's quantizers as layers of Keras 3, by class, by function and by name."""

import inspect
from collections.abc import Iterable
from typing import Any

import keras
from keras import ops, saving

from larq_engine.keras import context, pseudo_gradients
from larq_engine.keras.metrics import FlipRatio
from larq_engine.keras.pseudo_gradients import (
    approx_sign,
    ste_heaviside,
    ste_sign,
    ste_tern,
    swish_sign,
)

__all__ = [
    "ApproxSign",
    "DoReFa",
    "DoReFaQuantizer",
    "MagnitudeAwareSign",
    "NoOp",
    "NoOpQuantizer",
    "Quantizer",
    "SteHeaviside",
    "SteSign",
    "SteTern",
    "SwishSign",
    "approx_sign",
    "deserialize",
    "get",
    "get_kernel_quantizer",
    "serialize",
    "ste_heaviside",
    "ste_sign",
    "ste_tern",
    "swish_sign",
]


class Quantizer(keras.layers.Layer):
    """A layer that quantizes its input: activations or a weight.

    A user's own quantizer computes its values in `call` and returns `super().call(values)`, which
    passes them to the metrics.

    Args:
        metrics: Names of metrics; the only one is "flip_ratio". If None, a quantizer of weights has
            those of the scopes (`context.metrics_scope`) in which its layer is made.
        kwargs: The arguments of every Keras layer: name, dtype, trainable.

    Attributes:
        precision: The bits of the values.
    """

    precision: int | None = None

    def __init__(self, metrics: Iterable[str] | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._metric_names = list(metrics or ())
        context.check_metrics(type(self).__name__, self._metric_names)

    def build(self, input_shape: Any) -> None:
        if self._metric_names:
            if keras.backend.backend() == "jax":
                raise ValueError(
                    f"{type(self).__name__} '{self.name}': expected TensorFlow or PyTorch for "
                    f"{self._metric_names[0]}, got JAX, where Keras keeps no metrics that layers "
                    "update; leave it out, and call FlipRatio on the weights in a callback"
                )
            self.flip_ratio = FlipRatio(name=f"flip_ratio/{self.name}")
            self.flip_ratio.build(input_shape)
        super().build(input_shape)

    def call(self, inputs: Any) -> Any:
        if self._metric_names:
            self.flip_ratio.update_state(inputs)
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        return {**config, "metrics": self._metric_names} if self._metric_names else config


class _ClippedQuantizer(Quantizer):
    """A quantizer that passes gradients on where the input is not larger than clip_value."""

    precision = 1

    def __init__(self, clip_value: float | None = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.clip_value = clip_value

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "clip_value": self.clip_value}


@saving.register_keras_serializable("larq_engine")
class NoOp(Quantizer):
    """Changes nothing; marks a weight with a precision, for `Bop`."""

    def __init__(self, precision: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.precision = precision

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "precision": self.precision}


@saving.register_keras_serializable("larq_engine")
class SteSign(_ClippedQuantizer):
    """-1 below 0, else 1; passes gradients on where |x| <= clip_value (None: everywhere)."""

    def call(self, inputs: Any) -> Any:
        return super().call(ste_sign(inputs, self.clip_value))


@saving.register_keras_serializable("larq_engine")
class ApproxSign(Quantizer):
    """-1 below 0, else 1; its gradient is 2 - 2|x| where |x| <= 1, as in Bi-Real Net."""

    precision = 1

    def call(self, inputs: Any) -> Any:
        return super().call(approx_sign(inputs))


@saving.register_keras_serializable("larq_engine")
class SwishSign(Quantizer):
    """-1 below 0, else 1; with the gradient of BNN+, steeper for a larger beta."""

    precision = 1

    def __init__(self, beta: float = 5.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.beta = beta

    def call(self, inputs: Any) -> Any:
        return super().call(swish_sign(inputs, self.beta))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "beta": self.beta}


@saving.register_keras_serializable("larq_engine")
class SteHeaviside(_ClippedQuantizer):
    """1 above 0, else 0; passes gradients on where |x| <= clip_value (None: everywhere)."""

    def call(self, inputs: Any) -> Any:
        return super().call(ste_heaviside(inputs, self.clip_value))


@saving.register_keras_serializable("larq_engine")
class MagnitudeAwareSign(_ClippedQuantizer):
    """The sign times the mean size of each output channel; no gradient goes through the mean."""

    def call(self, inputs: Any) -> Any:
        others = tuple(range(len(inputs.shape) - 1))
        scale = ops.stop_gradient(ops.mean(ops.absolute(inputs), axis=others))
        return super().call(scale * ste_sign(inputs, self.clip_value))


@saving.register_keras_serializable("larq_engine")
class SteTern(_ClippedQuantizer):
    """1 from a threshold up, -1 from its negative down, else 0; gradients like those of SteSign.

    With ternary_weight_networks the threshold is 0.7 times the mean of |x|.
    """

    precision = 2

    def __init__(
        self,
        threshold_value: float = 0.05,
        ternary_weight_networks: bool = False,
        clip_value: float | None = 1.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(clip_value, **kwargs)
        self.threshold_value = threshold_value
        self.ternary_weight_networks = ternary_weight_networks

    def call(self, inputs: Any) -> Any:
        return super().call(
            ste_tern(inputs, self.threshold_value, self.ternary_weight_networks, self.clip_value)
        )

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "threshold_value": self.threshold_value,
            "ternary_weight_networks": self.ternary_weight_networks,
        }


@saving.register_keras_serializable("larq_engine")
class DoReFa(Quantizer):
    """Values in k_bit steps, as in DoReFa-Net: from 0 to 1, or for mode="weights" from -1 to 1.

    Activations are clipped first. Weights go through tanh and are divided by the largest result.
    """

    def __init__(self, k_bit: int = 2, mode: str = "activations", **kwargs: Any) -> None:
        if mode not in ("activations", "weights"):
            raise ValueError(f"DoReFa: expected the mode activations or weights, got {mode!r}")
        super().__init__(**kwargs)
        self.precision = k_bit
        self.mode = mode

    def call(self, inputs: Any) -> Any:
        assert self.precision is not None
        steps = 2**self.precision - 1
        if self.mode == "activations":
            unit = pseudo_gradients.clip_to_unit(inputs)
            return super().call(pseudo_gradients.round_to_steps(unit, steps))
        limited = ops.tanh(inputs)
        largest = ops.stop_gradient(ops.max(ops.absolute(limited)))
        # If all weights are 0, their shares of the largest are 0 too.
        unit = ops.divide_no_nan(limited, 2.0 * largest) + 0.5
        return super().call(2.0 * pseudo_gradients.round_to_steps(unit, steps) - 1.0)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "k_bit": self.precision, "mode": self.mode}


# larq's older names.
NoOpQuantizer = NoOp
DoReFaQuantizer = DoReFa

_BY_NAME: dict[str, type[Quantizer]] = {
    "approx_sign": ApproxSign,
    "dorefa_quantizer": DoReFa,
    "magnitude_aware_sign": MagnitudeAwareSign,
    "ste_heaviside": SteHeaviside,
    "ste_sign": SteSign,
    "ste_tern": SteTern,
    "swish_sign": SwishSign,
}
_BY_NAME |= {kind.__name__: kind for kind in _BY_NAME.values()}


def is_name(text: str) -> bool:
    """Tells whether a quantizer has this name."""
    return text in _BY_NAME


def get(identifier: Any) -> Any:
    """Returns the quantizer of a name, a class, a configuration or a function; None for None.

    Names are those above, and the names of custom objects in `keras.saving`.

    Raises:
        ValueError: It is none of these.
    """
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        made = deserialize(identifier)
        if callable(made):
            return made
    if isinstance(identifier, str):
        identifier = (
            _BY_NAME.get(identifier) or saving.get_registered_object(identifier) or identifier
        )
    if inspect.isclass(identifier) and issubclass(identifier, keras.layers.Layer):
        return identifier()
    if callable(identifier):
        return identifier
    names = ", ".join(name for name in _BY_NAME if name.islower())
    raise ValueError(
        f"quantizer: expected one of {names}, a quantizer or a function, got {identifier!r}"
    )


def get_kernel_quantizer(identifier: Any) -> Any:
    """Returns a quantizer of weights like `get`, with the metrics of the current scopes.

    Raises:
        ValueError: There is no such quantizer.
    """
    quantizer = get(identifier)
    if isinstance(quantizer, Quantizer) and not quantizer._metric_names:
        quantizer._metric_names = sorted(context.get_training_metrics())
    return quantizer


def serialize(quantizer: Any) -> Any:
    """Returns a configuration that `get` takes."""
    return saving.serialize_keras_object(quantizer)


def deserialize(config: dict[str, Any]) -> Any:
    """Returns the quantizer of a configuration."""
    return saving.deserialize_keras_object(config)
