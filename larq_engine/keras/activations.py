"""Provides activations that keep values near the range in which signs have gradients."""

from typing import Any

from keras import activations, ops, saving

from larq_engine.keras import quantizers


@saving.register_keras_serializable("larq_engine")
def hard_tanh(x: Any) -> Any:
    """Returns x between -1 and 1, and these bounds beyond."""
    return ops.clip(x, -1, 1)


@saving.register_keras_serializable("larq_engine")
def leaky_tanh(x: Any, alpha: float = 0.2) -> Any:
    """Returns x between -1 and 1; beyond, the result grows alpha times as fast as x."""
    return ops.clip(x, -1, 1) + (ops.maximum(x, 1) - 1) * alpha + (ops.minimum(x, -1) + 1) * alpha


_BY_NAME = {"hard_tanh": hard_tanh, "leaky_tanh": leaky_tanh}


def get(identifier: Any) -> Any:
    """Returns the activation of a name: one of these, a quantizer or one of Keras' own."""
    if isinstance(identifier, str):
        if identifier in _BY_NAME:
            return _BY_NAME[identifier]
        if quantizers.is_name(identifier):
            return quantizers.get(identifier)
    return activations.get(identifier)
