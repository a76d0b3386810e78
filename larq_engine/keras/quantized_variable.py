"""Provides weights that are quantized where layers compute with them."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import ops

from larq_engine.keras import context

__all__ = ["QuantizedVariable"]


class QuantizedVariable(keras.Variable):
    """A variable of Keras that is read through a quantizer, as `context.quantized_scope` says.

    The quantized weights in layers of larq_engine.keras are such variables. Assigning to one sets
    the latent value.

    Attributes:
        quantizer: The quantizer; None if the values are not quantized.
        precision: The bits of the quantized values; None if they are not known.
    """

    quantizer: Callable[[Any], Any] | None
    precision: int | None

    @classmethod
    def from_variable(
        cls,
        variable: keras.Variable,
        quantizer: Callable[[Any], Any] | None = None,
        precision: int | None = None,
    ) -> "QuantizedVariable":
        """Makes a variable a quantized one. It stays the same object, which its layer tracks.

        Args:
            variable: The variable, whose values are the latent ones.
            quantizer: A quantizer, or a function of a tensor.
            precision: The bits of the quantized values; the quantizer's if None.

        Raises:
            TypeError: One of the arguments is of another type.
        """
        expected = (
            ("variable", variable, isinstance(variable, keras.Variable), "a variable of Keras"),
            ("quantizer", quantizer, quantizer is None or callable(quantizer), "a function"),
            ("precision", precision, precision is None or type(precision) is int, "an int"),
        )
        for name, given, is_right, kind in expected:
            if not is_right:
                raise TypeError(f"{name}: expected {kind}, got {type(given).__name__}")
        # Keras' layers make their variables themselves, so only the class is changed.
        variable.__class__ = cls
        variable.quantizer = quantizer
        variable.precision = (
            getattr(quantizer, "precision", None) if precision is None else precision
        )
        return variable

    @property
    def value(self) -> Any:
        return self._read(context.computes_quantized())

    def numpy(self) -> np.ndarray[Any, Any]:
        return self.__array__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        values = np.asarray(ops.convert_to_numpy(self._read(context.should_quantize())), dtype)
        return values.copy() if copy else values

    def _read(self, quantized: bool) -> Any:
        # PyTorch's compiler does not follow super() in Keras' own property.
        latent = keras.Variable.value.fget(self)
        if self.quantizer is None or not quantized:
            return latent
        return self.quantizer(ops.convert_to_tensor(latent))
