"""What quantized layers have in common."""

import logging
from typing import Any, ClassVar

import keras
from keras import ops

from larq_engine.keras import activations, constraints, quantizers

_log = logging.getLogger(__name__)


class QuantizedLayer(keras.layers.Layer):
    """A layer of Keras' whose inputs and weights are quantized; stands before it among the bases.

    Weights stay what they are, latent: the optimizer changes these, and each call quantizes them.
    """

    # The quantizers of weights by their arguments, and the weights.
    _WEIGHTS: ClassVar[dict[str, str]] = {}

    def __init__(self, *args: Any, input_quantizer: Any = None, **kwargs: Any) -> None:
        found = {argument: quantizers.get(kwargs.pop(argument, None)) for argument in self._WEIGHTS}
        for name in [name for name in kwargs if name.endswith("_constraint")]:
            kwargs[name] = constraints.get(kwargs[name])
        if "activation" in kwargs:
            kwargs["activation"] = activations.get(kwargs["activation"])
        super().__init__(*args, **kwargs)
        self.input_quantizer = quantizers.get(input_quantizer)
        for argument, quantizer in found.items():
            setattr(self, argument, quantizer)
            self._warn_of_starving(argument, quantizer)

    def _warn_of_starving(self, argument: str, quantizer: Any) -> None:
        constraint = argument.replace("_quantizer", "_constraint")
        binary = getattr(quantizer, "precision", None) == 1
        if binary and not isinstance(quantizer, quantizers.NoOp) and not getattr(self, constraint):
            _log.warning(
                "%s '%s': binary weights without %s may stop learning, as there is no gradient "
                "far from 0; give it weight_clip",
                type(self).__name__,
                self.name,
                constraint,
            )

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        for argument, weight in self._WEIGHTS.items():
            precision = getattr(getattr(self, argument), "precision", None)
            # What optimizers ask, `Bop` for one.
            getattr(self, weight).precision = precision

    def _quantized_inputs(self, inputs: Any) -> Any:
        return self.input_quantizer(inputs) if self.input_quantizer else inputs

    def _quantized_weight(self, argument: str) -> Any:
        quantizer = getattr(self, argument)
        weight = getattr(self, self._WEIGHTS[argument])
        return quantizer(weight) if quantizer else weight

    def get_config(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("input_quantizer", *self._WEIGHTS)}
        return {
            **super().get_config(),
            **{name: quantizers.serialize(quantizer) for name, quantizer in own.items()},
        }


class QuantizedConv(QuantizedLayer):
    """A quantized convolution, which "same" can pad with another number than 0."""

    def __init__(self, *args: Any, pad_values: float = 0.0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pad_values = pad_values
        if self.padding == "causal" and pad_values != 0.0:
            raise ValueError(
                f"{type(self).__name__} '{self.name}': expected pad_values=0 with causal padding, "
                f"got {pad_values}; leave pad_values out"
            )

    def call(self, inputs: Any) -> Any:
        x, padding = self._padded(self._quantized_inputs(inputs))
        x = self._convolve(x, padding)
        if self.use_bias:
            across = (-1,) if self._channels_last else (-1, *(1,) * self.rank)
            x = ops.add(x, ops.reshape(self.bias, across))
        return x if self.activation is None else self.activation(x)

    def _convolve(self, inputs: Any, padding: str) -> Any:
        """The products with the quantized weights, which each kind of layer computes its way."""
        raise NotImplementedError  # of this class itself no layer is made

    @property
    def _channels_last(self) -> bool:
        return bool(self.data_format == "channels_last")

    def _padded(self, inputs: Any) -> tuple[Any, str]:
        """The inputs with the pads that Keras does not make, and the padding that is left."""
        if self.padding == "causal":
            pads = [(self.dilation_rate[0] * (self.kernel_size[0] - 1), 0)]
        elif self.padding == "same" and self.pad_values != 0.0:
            shape = ops.shape(inputs)
            sizes = shape[1:-1] if self._channels_last else shape[2:]
            # Keras' depthwise layers have numbers of two dimensions too.
            numbers = zip(sizes, self.strides, self.dilation_rate, self.kernel_size, strict=True)
            pads = [_same_pads(*each) for each in numbers]
        else:
            return inputs, self.padding
        none = [(0, 0)]
        pads = [*none, *pads, *none] if self._channels_last else [*none, *none, *pads]
        return ops.pad(inputs, pads, constant_values=self.pad_values), "valid"

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "pad_values": self.pad_values}


def _same_pads(size: Any, stride: int, dilation: int, kernel: int) -> tuple[Any, Any]:
    """The pads before and behind that make as many outputs as there are strides in the size."""
    outputs = (size + stride - 1) // stride
    pads = (outputs - 1) * stride + (kernel - 1) * dilation + 1 - size
    pads = max(pads, 0) if isinstance(pads, int) else ops.maximum(pads, 0)
    return pads // 2, pads - pads // 2
