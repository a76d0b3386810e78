"""Provides metrics of training with few bits."""

import math
from typing import Any

import keras
from keras import ops, saving

__all__ = ["FlipRatio"]


@saving.register_keras_serializable("larq_engine")
class FlipRatio(keras.metrics.Metric):
    """The share of values that differ from those of the previous update, as a mean of all updates.

    The first update of an epoch is not counted: it is only compared with by the next one.

    Args:
        values_dtype: The type that values are compared in; "int8" holds signs.
        name: The metric's name.
        dtype: The type of the mean.
    """

    def __init__(
        self, values_dtype: str = "int8", name: str = "flip_ratio", dtype: Any = None
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self.values_dtype = values_dtype
        self.built = False

    def build(self, input_shape: Any) -> None:
        """Makes the variables for values of a shape.

        Raises:
            ValueError: A size of the shape is open.
        """
        shape = tuple(input_shape)
        if None in shape:
            raise ValueError(
                f"FlipRatio '{self.name}': expected values of a known shape, got {shape}; it is "
                "for weights, or for inputs with a batch that the model fixes"
            )
        zeros = {"initializer": "zeros", "dtype": self.dtype}
        self.total = self.add_variable((), **zeros, name="total")
        self.count = self.add_variable((), **zeros, name="count")
        self._previous = self.add_variable(
            shape, initializer="zeros", dtype=self.values_dtype, name="previous_values"
        )
        self.built = True

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        values = ops.cast(values, self.values_dtype)
        if not self.built:
            self.build(values.shape)
        if tuple(values.shape) != tuple(self._previous.shape):
            raise ValueError(
                f"FlipRatio '{self.name}': expected the shape {tuple(self._previous.shape)}, got "
                f"{tuple(values.shape)}; make a metric, or its quantizer, for each weight"
            )
        flipped = ops.cast(ops.not_equal(values, self._previous), self.dtype)
        ratio = ops.sum(flipped) / max(math.prod(self._previous.shape), 1)
        self.total.assign_add(ratio * ops.sign(self.count))
        self.count.assign_add(1)
        self._previous.assign(values)

    def result(self) -> Any:
        if not self.built:
            return 0.0
        return ops.divide_no_nan(self.total, self.count - 1)

    def reset_state(self) -> None:
        """Forgets the mean, but not the values of the last update."""
        if self.built:
            self.total.assign(0)
            self.count.assign(0)

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name, "dtype": self.dtype, "values_dtype": self.values_dtype}
