"""Provides the common parts of quantized layers, for users' own layers too.

These classes stand before a layer of Keras among the bases, as in `class
QuantConv2DTranspose(QuantizerBase, keras.layers.Conv2DTranspose)`. Weights stay latent: the
optimizer changes the latent values, and each call computes with what the quantizer makes of them.
"""

import logging
from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from larq_engine.keras import activations, constraints, context, quantizers
from larq_engine.keras.quantized_variable import QuantizedVariable

__all__ = [
    "BaseLayer",
    "QuantizerBase",
    "QuantizerBaseConv",
    "QuantizerDepthwiseBase",
    "QuantizerSeparableBase",
]

_log = logging.getLogger(__name__)


class BaseLayer(keras.layers.Layer):
    """A layer whose inputs are quantized, and weights for which `_get_quantizer` has a quantizer.

    Args:
        input_quantizer: Quantizer of the inputs: a name, a Quantizer or a function.
        kwargs: The arguments of the next class. Names of constraints and activations are looked up
            here, so that those of larq_engine.keras are found.
    """

    def __init__(self, *args: Any, input_quantizer: Any = None, **kwargs: Any) -> None:
        for name in [name for name in kwargs if name.endswith("_constraint")]:
            kwargs[name] = constraints.get(kwargs[name])
        if "activation" in kwargs:
            kwargs["activation"] = activations.get(kwargs["activation"])
        super().__init__(*args, **kwargs)
        self.input_quantizer = quantizers.get(input_quantizer)

    def build(self, input_shape: Any) -> None:
        _build(self.input_quantizer, input_shape)
        super().build(input_shape)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with context.layer_call():
            return super().__call__(*args, **kwargs)

    def call(self, inputs: Any) -> Any:
        if self.input_quantizer is not None:
            inputs = self.input_quantizer(inputs)
        with context.layer_call(), context.quantized_scope(True):
            return super().call(inputs)

    def add_weight(self, *args: Any, **kwargs: Any) -> Any:
        weight = super().add_weight(*args, **kwargs)
        quantizer = self._get_quantizer(weight.name)
        _build(quantizer, tuple(weight.shape))
        return QuantizedVariable.from_variable(weight, quantizer)

    def _get_quantizer(self, name: str) -> Callable[[Any], Any] | None:
        """Returns the quantizer of the weight with this name."""
        return None

    def _set_kernel_quantizer(self, argument: str, identifier: Any) -> None:
        """Sets the attribute of a quantizer's argument; warns if its weights may stop learning."""
        quantizer = quantizers.get_kernel_quantizer(identifier)
        setattr(self, argument, quantizer)
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

    def enable_lora(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            f"{type(self).__name__} '{self.name}': expected no LoRA, whose sum with a quantized "
            "kernel is not quantized; leave it to layers of Keras"
        )

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **_serialized(self, "input_quantizer")}


class QuantizerBase(BaseLayer):
    """A layer with a quantized `kernel`.

    Args:
        kernel_quantizer: Quantizer of the kernel: a name, a Quantizer or a function.
        kwargs: The arguments of BaseLayer and the next class.
    """

    def __init__(self, *args: Any, kernel_quantizer: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._set_kernel_quantizer("kernel_quantizer", kernel_quantizer)

    def _get_quantizer(self, name: str) -> Callable[[Any], Any] | None:
        return self.kernel_quantizer if name == "kernel" else None

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **_serialized(self, "kernel_quantizer")}


class QuantizerDepthwiseBase(BaseLayer):
    """A layer with a quantized depthwise kernel.

    Args:
        depthwise_quantizer: Quantizer of the kernel: a name, a Quantizer or a function.
        kwargs: The arguments of BaseLayer and the next class.
    """

    def __init__(self, *args: Any, depthwise_quantizer: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._set_kernel_quantizer("depthwise_quantizer", depthwise_quantizer)

    def _get_quantizer(self, name: str) -> Callable[[Any], Any] | None:
        # Keras 3 names the weight `kernel`; larq names it `depthwise_kernel`.
        return self.depthwise_quantizer if name in ("kernel", "depthwise_kernel") else None

    @property
    def depthwise_kernel(self) -> Any:
        """The kernel, under larq's name for it."""
        return self.kernel

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **_serialized(self, "depthwise_quantizer")}


class QuantizerSeparableBase(BaseLayer):
    """A layer with a quantized `depthwise_kernel` and a quantized `pointwise_kernel`.

    Args:
        depthwise_quantizer: Quantizer of the depthwise kernel: a name, a Quantizer or a function.
        pointwise_quantizer: Quantizer of the pointwise kernel.
        kwargs: The arguments of BaseLayer and the next class.
    """

    def __init__(
        self,
        *args: Any,
        depthwise_quantizer: Any = None,
        pointwise_quantizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._set_kernel_quantizer("depthwise_quantizer", depthwise_quantizer)
        self._set_kernel_quantizer("pointwise_quantizer", pointwise_quantizer)

    def _get_quantizer(self, name: str) -> Callable[[Any], Any] | None:
        by_weight = {
            "depthwise_kernel": self.depthwise_quantizer,
            "pointwise_kernel": self.pointwise_quantizer,
        }
        return by_weight.get(name)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            **_serialized(self, "depthwise_quantizer", "pointwise_quantizer"),
        }


class QuantizerBaseConv(keras.layers.Layer):
    """A convolution whose "same" padding can be another number than 0.

    It is the last base before Keras' layer.

    Args:
        pad_values: The number with which padding="same" pads.
        kwargs: The arguments of the next class.
    """

    def __init__(self, *args: Any, pad_values: float = 0.0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pad_values = pad_values
        if self.padding == "causal" and pad_values != 0.0:
            raise ValueError(
                f"{type(self).__name__} '{self.name}': expected pad_values=0 with causal padding, "
                f"got {pad_values}; leave pad_values out"
            )

    def call(self, inputs: Any) -> Any:
        x = self._convolve(*self._padded(inputs))
        if self.use_bias:
            across = (-1,) if self._channels_last else (-1, *(1,) * self.rank)
            x = ops.add(x, ops.reshape(self.bias, across))
        return x if self.activation is None else self.activation(x)

    def _convolve(self, inputs: Any, padding: str) -> Any:
        """Returns the products with the weights; other kinds of convolutions override it."""
        return ops.conv(
            inputs,
            self.kernel,
            strides=list(self.strides),
            padding=padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
        )

    @property
    def _channels_last(self) -> bool:
        return bool(self.data_format == "channels_last")

    def _padded(self, inputs: Any) -> tuple[Any, str]:
        """Returns the inputs with those pads that Keras cannot make, and the remaining padding."""
        if self.padding == "causal":
            pads = [(self.dilation_rate[0] * (self.kernel_size[0] - 1), 0)]
        elif self.padding == "same" and self.pad_values != 0.0:
            shape = ops.shape(inputs)
            sizes = shape[1:-1] if self._channels_last else shape[2:]
            # Keras' depthwise layers have two numbers for each argument, like its convolutions.
            numbers = zip(sizes, self.strides, self.dilation_rate, self.kernel_size, strict=True)
            pads = [_same_pads(*each) for each in numbers]
        else:
            return inputs, self.padding
        none = [(0, 0)]
        pads = [*none, *pads, *none] if self._channels_last else [*none, *none, *pads]
        return ops.pad(inputs, pads, constant_values=self.pad_values), "valid"

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "pad_values": self.pad_values}


def _build(quantizer: Any, shape: Any) -> None:
    """Builds a quantizer that is a layer, before its owner is locked."""
    if isinstance(quantizer, keras.layers.Layer) and not quantizer.built:
        quantizer.build(shape)


def _serialized(layer: BaseLayer, *arguments: str) -> dict[str, Any]:
    return {name: quantizers.serialize(getattr(layer, name)) for name in arguments}


def _same_pads(size: Any, stride: int, dilation: int, kernel: int) -> tuple[Any, Any]:
    """Returns the pads before and behind; outputs are the size over the stride, rounded up."""
    outputs = (size + stride - 1) // stride
    pads = (outputs - 1) * stride + (kernel - 1) * dilation + 1 - size
    pads = max(pads, 0) if isinstance(pads, int) else ops.maximum(pads, 0)
    return pads // 2, pads - pads // 2
