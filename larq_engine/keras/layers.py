"""larq's layers for Keras 3, with larq's arguments."""

from typing import Any, ClassVar

import keras
from keras import ops, saving

from larq_engine.keras.layers_base import QuantizedConv, QuantizedLayer

__all__ = [
    "QuantConv1D",
    "QuantConv2D",
    "QuantConv3D",
    "QuantDense",
    "QuantDepthwiseConv2D",
    "QuantSeparableConv1D",
    "QuantSeparableConv2D",
]


@saving.register_keras_serializable("larq_engine")
class QuantDense(QuantizedLayer, keras.layers.Dense):
    """Dense, of quantized inputs and a quantized kernel.

    Args:
        input_quantizer: Quantizer of the inputs: a name, a Quantizer or a function.
        kernel_quantizer: Quantizer of the kernel.

    Everything else is as in `keras.layers.Dense`.
    """

    _WEIGHTS: ClassVar[dict[str, str]] = {"kernel_quantizer": "kernel"}

    def __init__(
        self, units: int, activation: Any = None, use_bias: bool = True, **kwargs: Any
    ) -> None:
        super().__init__(units, activation=activation, use_bias=use_bias, **kwargs)

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        x = ops.matmul(self._quantized_inputs(inputs), self._quantized_weight("kernel_quantizer"))
        if self.use_bias:
            x = ops.add(x, self.bias)
        return x if self.activation is None else self.activation(x)


class _KernelConv(QuantizedConv):
    """A convolution with one kernel."""

    _WEIGHTS: ClassVar[dict[str, str]] = {"kernel_quantizer": "kernel"}

    def _convolve(self, inputs: Any, padding: str) -> Any:
        return ops.conv(
            inputs,
            self._quantized_weight("kernel_quantizer"),
            strides=list(self.strides),
            padding=padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
        )


@saving.register_keras_serializable("larq_engine")
class QuantConv1D(_KernelConv, keras.layers.Conv1D):
    """Conv1D, of quantized inputs and a quantized kernel.

    Args:
        pad_values: What padding="same" pads with, after the quantizer.
        input_quantizer: Quantizer of the inputs: a name, a Quantizer or a function.
        kernel_quantizer: Quantizer of the kernel.

    Everything else is as in `keras.layers.Conv1D`.
    """


@saving.register_keras_serializable("larq_engine")
class QuantConv2D(_KernelConv, keras.layers.Conv2D):
    """Conv2D, of quantized inputs and a quantized kernel; arguments as of QuantConv1D."""


@saving.register_keras_serializable("larq_engine")
class QuantConv3D(_KernelConv, keras.layers.Conv3D):
    """Conv3D, of quantized inputs and a quantized kernel; arguments as of QuantConv1D."""


@saving.register_keras_serializable("larq_engine")
class QuantDepthwiseConv2D(QuantizedConv, keras.layers.DepthwiseConv2D):
    """DepthwiseConv2D, of quantized inputs and a quantized kernel.

    Args:
        pad_values: What padding="same" pads with, after the quantizer.
        input_quantizer: Quantizer of the inputs: a name, a Quantizer or a function.
        depthwise_quantizer: Quantizer of the kernel.

    Everything else is as in `keras.layers.DepthwiseConv2D`.
    """

    _WEIGHTS: ClassVar[dict[str, str]] = {"depthwise_quantizer": "kernel"}

    def _convolve(self, inputs: Any, padding: str) -> Any:
        return ops.depthwise_conv(
            inputs,
            self._quantized_weight("depthwise_quantizer"),
            strides=self.strides,
            padding=padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
        )


class _SeparableConv(QuantizedConv):
    """A depthwise convolution, then one of 1x1."""

    _WEIGHTS: ClassVar[dict[str, str]] = {
        "depthwise_quantizer": "depthwise_kernel",
        "pointwise_quantizer": "pointwise_kernel",
    }

    def _convolve(self, inputs: Any, padding: str) -> Any:
        return ops.separable_conv(
            inputs,
            self._quantized_weight("depthwise_quantizer"),
            self._quantized_weight("pointwise_quantizer"),
            strides=self.strides,
            padding=padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
        )


@saving.register_keras_serializable("larq_engine")
class QuantSeparableConv1D(_SeparableConv, keras.layers.SeparableConv1D):
    """SeparableConv1D, of quantized inputs and two quantized kernels.

    Args:
        pad_values: What padding="same" pads with, after the quantizer.
        input_quantizer: Quantizer of the inputs: a name, a Quantizer or a function.
        depthwise_quantizer: Quantizer of the depthwise kernel.
        pointwise_quantizer: Quantizer of the pointwise kernel.

    Everything else is as in `keras.layers.SeparableConv1D`.
    """


@saving.register_keras_serializable("larq_engine")
class QuantSeparableConv2D(_SeparableConv, keras.layers.SeparableConv2D):
    """SeparableConv2D, quantized; arguments as of QuantSeparableConv1D."""


def __getattr__(name: str) -> Any:
    raise AttributeError(f"larq_engine.keras.layers has no {name!r}; it has {', '.join(__all__)}")
