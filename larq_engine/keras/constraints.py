"""Provides constraints that keep latent weights where signs have gradients."""

from typing import Any

import keras
from keras import ops, saving


@saving.register_keras_serializable("larq_engine")
class WeightClip(keras.constraints.Constraint):
    """Clips weights to -clip_value..clip_value."""

    def __init__(self, clip_value: float = 1.0) -> None:
        self.clip_value = clip_value

    def __call__(self, w: Any) -> Any:
        return ops.clip(w, -self.clip_value, self.clip_value)

    def get_config(self) -> dict[str, Any]:
        return {"clip_value": self.clip_value}


weight_clip = WeightClip


def get(identifier: Any) -> Any:
    """Returns the constraint of a name: the one above or one of Keras' own."""
    if identifier in ("weight_clip", "WeightClip"):
        return WeightClip()
    return keras.constraints.get(identifier)
