"""Provides Bop, an optimizer that flips binary weights."""

from typing import Any

import keras
from keras import ops, saving

from larq_engine.keras import math

_Schedule = keras.optimizers.schedules.LearningRateSchedule

# Arguments of Keras' optimizers that would make weights other than -1 and 1, or do nothing.
_REFUSED_ARGUMENTS = (
    "learning_rate",
    "weight_decay",
    "use_ema",
    "ema_momentum",
    "ema_overwrite_frequency",
)


@saving.register_keras_serializable("larq_engine")
class Bop(keras.optimizers.Optimizer):
    """Flips a weight of -1 or 1 where the moving average of its gradients says so.

    It has no learning rate. Give it the weights marked by `NoOp(precision=1)`, with
    `CaseOptimizer`, as larq does.

    Args:
        threshold: How large the average must be to flip a weight: a number, or a schedule.
        gamma: How fast the average forgets: a number, or a schedule.
        name: The optimizer's name.
        clipnorm: As in Keras' optimizers; the other arguments too.
    """

    def __init__(
        self,
        threshold: Any = 1e-8,
        gamma: Any = 1e-4,
        name: str = "Bop",
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        loss_scale_factor: float | None = None,
        gradient_accumulation_steps: int | None = None,
    ) -> None:
        super().__init__(
            learning_rate=1.0,
            name=name,
            clipnorm=clipnorm,
            clipvalue=clipvalue,
            global_clipnorm=global_clipnorm,
            loss_scale_factor=loss_scale_factor,
            gradient_accumulation_steps=gradient_accumulation_steps,
        )
        self._threshold = self._number("threshold", threshold)
        self._gamma = self._number("gamma", gamma)

    def _number(self, name: str, given: Any) -> Any:
        """Returns a schedule as it is, and a number as a variable, which callbacks can set."""
        if isinstance(given, _Schedule):
            return given
        start = keras.initializers.Constant(given)
        return self.add_variable((), initializer=start, name=name)

    @property
    def threshold(self) -> Any:
        """The average that is large enough to flip a weight: a variable, or a schedule."""
        return self._threshold

    @threshold.setter
    def threshold(self, value: float) -> None:
        self._set("threshold", self._threshold, value)

    @property
    def gamma(self) -> Any:
        """The speed with which the average forgets: a variable, or a schedule."""
        return self._gamma

    @gamma.setter
    def gamma(self, value: float) -> None:
        self._set("gamma", self._gamma, value)

    def _set(self, name: str, number: Any, value: float) -> None:
        if isinstance(number, _Schedule):
            raise TypeError(
                f"Bop '{self.name}': expected a number as {name}, got a schedule when it was made, "
                "which sets it; give Bop a number, and set that"
            )
        number.assign(value)

    def build(self, variables: Any) -> None:
        if self.built:
            return
        super().build(variables)
        self._averages = self.add_optimizer_variables(variables, "m")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        average = self._averages[self._get_variable_index(variable)]
        gamma = ops.cast(self._now(self._gamma), variable.dtype)
        threshold = ops.cast(self._now(self._threshold), variable.dtype)
        gradient = ops.cast(gradient, variable.dtype)
        self.assign_add(average, gamma * (gradient - average))
        flipped = -ops.sign(variable * average - threshold)
        self.assign(variable, math.sign(flipped * variable))

    def _now(self, number: Any) -> Any:
        return number(self.iterations) if isinstance(number, _Schedule) else number

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        for name in _REFUSED_ARGUMENTS:
            del config[name]
        for name, number in (("threshold", self._threshold), ("gamma", self._gamma)):
            scheduled = isinstance(number, _Schedule)
            config[name] = (
                saving.serialize_keras_object(number)
                if scheduled
                else ops.convert_to_numpy(number).item()
            )
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
        """Tells whether a variable is marked as one of 1 bit."""
        return getattr(var, "precision", 32) == 1
