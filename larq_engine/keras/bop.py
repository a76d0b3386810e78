"""Bop, which flips binary weights."""

from typing import Any

import keras
from keras import ops, saving

from larq_engine.keras import math

_Schedule = keras.optimizers.schedules.LearningRateSchedule


@saving.register_keras_serializable("larq_engine")
class Bop(keras.optimizers.Optimizer):
    """Flips a weight of -1 or 1 where the moving average of its gradients says so.

    It has no learning rate. Give it the weights marked by `NoOp(precision=1)`, with
    `CaseOptimizer`, as larq does.

    Args:
        threshold: How large the average must be to flip a weight: a number, or a schedule.
        gamma: How fast the average forgets: a number, or a schedule.
        name: The optimizer's name.
    """

    def __init__(
        self, threshold: Any = 1e-8, gamma: Any = 1e-4, name: str = "Bop", **kwargs: Any
    ) -> None:
        super().__init__(learning_rate=1.0, name=name, **kwargs)
        self.threshold = threshold
        self.gamma = gamma

    def build(self, variables: Any) -> None:
        if self.built:
            return
        super().build(variables)
        self._averages = self.add_optimizer_variables(variables, "m")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        average = self._averages[self._get_variable_index(variable)]
        gamma = ops.cast(self._now(self.gamma), variable.dtype)
        threshold = ops.cast(self._now(self.threshold), variable.dtype)
        gradient = ops.cast(gradient, variable.dtype)
        self.assign_add(average, gamma * (gradient - average))
        flipped = -ops.sign(variable * average - threshold)
        self.assign(variable, math.sign(flipped * variable))

    def _now(self, number: Any) -> Any:
        return number(self.iterations) if isinstance(number, _Schedule) else number

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["learning_rate"]
        for name in ("threshold", "gamma"):
            number = getattr(self, name)
            scheduled = isinstance(number, _Schedule)
            config[name] = saving.serialize_keras_object(number) if scheduled else number
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> "Bop":
        numbers = {
            name: saving.deserialize_keras_object(value, custom_objects)
            for name, value in config.items()
            if isinstance(value, dict)
        }
        return cls(**{**config, **numbers})

    @staticmethod
    def is_binary_variable(var: Any) -> bool:
        """Whether a variable is marked as one of 1 bit."""
        return getattr(var, "precision", 32) == 1
