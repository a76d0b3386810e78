"""Provides larq's layers for Keras 3, with larq's arguments in larq's order.

Constructors name every argument, so that editors can show them. `kwargs` takes the arguments of
every Keras layer: name, dtype, trainable.
"""

from typing import Any

import keras
from keras import ops, saving

from larq_engine.keras.layers_base import (
    QuantizerBase,
    QuantizerBaseConv,
    QuantizerDepthwiseBase,
    QuantizerSeparableBase,
)

__all__ = [
    "QuantConv1D",
    "QuantConv2D",
    "QuantConv2DTranspose",
    "QuantConv3D",
    "QuantConv3DTranspose",
    "QuantDense",
    "QuantDepthwiseConv2D",
    "QuantSeparableConv1D",
    "QuantSeparableConv2D",
]

_Size = int | tuple[int, ...]


def _arguments(local: dict[str, Any]) -> dict[str, Any]:
    """Returns a constructor's arguments, which are all its local names, for the next class's."""
    named = {name: local[name] for name in local if name not in ("self", "kwargs", "__class__")}
    return {**named, **local["kwargs"]}


@saving.register_keras_serializable("larq_engine")
class QuantDense(QuantizerBase, keras.layers.Dense):
    """Dense, of quantized inputs and a quantized kernel.

    Args:
        input_quantizer: Quantizer of the inputs: a name, a Quantizer or a function.
        kernel_quantizer: Quantizer of the kernel.

    Everything else is as in `keras.layers.Dense`.
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        input_quantizer: Any = None,
        kernel_quantizer: Any = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**_arguments(locals()))


@saving.register_keras_serializable("larq_engine")
class QuantConv1D(QuantizerBase, QuantizerBaseConv, keras.layers.Conv1D):
    """Conv1D, of quantized inputs and a quantized kernel.

    Args:
        pad_values: What padding="same" pads with, after the quantizer.
        input_quantizer: Quantizer of the inputs: a name, a Quantizer or a function.
        kernel_quantizer: Quantizer of the kernel.

    Everything else is as in `keras.layers.Conv1D`.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: _Size,
        strides: _Size = 1,
        padding: str = "valid",
        pad_values: float = 0.0,
        data_format: str | None = None,
        dilation_rate: _Size = 1,
        groups: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        input_quantizer: Any = None,
        kernel_quantizer: Any = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**_arguments(locals()))


@saving.register_keras_serializable("larq_engine")
class QuantConv2D(QuantizerBase, QuantizerBaseConv, keras.layers.Conv2D):
    """Conv2D, of quantized inputs and a quantized kernel.

    Args:
        pad_values: What padding="same" pads with, after the quantizer.
        input_quantizer: Quantizer of the inputs: a name, a Quantizer or a function.
        kernel_quantizer: Quantizer of the kernel.

    Everything else is as in `keras.layers.Conv2D`.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: _Size,
        strides: _Size = (1, 1),
        padding: str = "valid",
        pad_values: float = 0.0,
        data_format: str | None = None,
        dilation_rate: _Size = (1, 1),
        groups: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        input_quantizer: Any = None,
        kernel_quantizer: Any = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**_arguments(locals()))


@saving.register_keras_serializable("larq_engine")
class QuantConv3D(QuantizerBase, QuantizerBaseConv, keras.layers.Conv3D):
    """Conv3D, of quantized inputs and a quantized kernel.

    Args:
        pad_values: What padding="same" pads with, after the quantizer.
        input_quantizer: Quantizer of the inputs: a name, a Quantizer or a function.
        kernel_quantizer: Quantizer of the kernel.

    Everything else is as in `keras.layers.Conv3D`.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: _Size,
        strides: _Size = (1, 1, 1),
        padding: str = "valid",
        pad_values: float = 0.0,
        data_format: str | None = None,
        dilation_rate: _Size = (1, 1, 1),
        groups: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        input_quantizer: Any = None,
        kernel_quantizer: Any = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**_arguments(locals()))


@saving.register_keras_serializable("larq_engine")
class QuantDepthwiseConv2D(QuantizerDepthwiseBase, QuantizerBaseConv, keras.layers.DepthwiseConv2D):
    """DepthwiseConv2D, of quantized inputs and a quantized kernel.

    Args:
        pad_values: What padding="same" pads with, after the quantizer.
        input_quantizer: Quantizer of the inputs: a name, a Quantizer or a function.
        depthwise_quantizer: Quantizer of the kernel.

    Everything else is as in `keras.layers.DepthwiseConv2D`.
    """

    def __init__(
        self,
        kernel_size: _Size,
        strides: _Size = (1, 1),
        padding: str = "valid",
        pad_values: float = 0.0,
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: _Size = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        input_quantizer: Any = None,
        depthwise_quantizer: Any = None,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**_arguments(locals()))

    def _convolve(self, inputs: Any, padding: str) -> Any:
        return ops.depthwise_conv(
            inputs,
            self.kernel,
            strides=self.strides,
            padding=padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
        )


class _SeparableConv(QuantizerSeparableBase, QuantizerBaseConv):
    """A depthwise convolution, and then a 1x1 convolution."""

    def _convolve(self, inputs: Any, padding: str) -> Any:
        return ops.separable_conv(
            inputs,
            self.depthwise_kernel,
            self.pointwise_kernel,
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

    def __init__(
        self,
        filters: int,
        kernel_size: _Size,
        strides: _Size = 1,
        padding: str = "valid",
        pad_values: float = 0.0,
        data_format: str | None = None,
        dilation_rate: _Size = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        input_quantizer: Any = None,
        depthwise_quantizer: Any = None,
        pointwise_quantizer: Any = None,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**_arguments(locals()))


@saving.register_keras_serializable("larq_engine")
class QuantSeparableConv2D(_SeparableConv, keras.layers.SeparableConv2D):
    """SeparableConv2D, of quantized inputs and two quantized kernels.

    Args:
        pad_values: What padding="same" pads with, after the quantizer.
        input_quantizer: Quantizer of the inputs: a name, a Quantizer or a function.
        depthwise_quantizer: Quantizer of the depthwise kernel.
        pointwise_quantizer: Quantizer of the pointwise kernel.

    Everything else is as in `keras.layers.SeparableConv2D`.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: _Size,
        strides: _Size = (1, 1),
        padding: str = "valid",
        pad_values: float = 0.0,
        data_format: str | None = None,
        dilation_rate: _Size = (1, 1),
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        input_quantizer: Any = None,
        depthwise_quantizer: Any = None,
        pointwise_quantizer: Any = None,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**_arguments(locals()))


@saving.register_keras_serializable("larq_engine")
class QuantConv2DTranspose(QuantizerBase, keras.layers.Conv2DTranspose):
    """Conv2DTranspose, of quantized inputs and a quantized kernel.

    Args:
        input_quantizer: Quantizer of the inputs: a name, a Quantizer or a function.
        kernel_quantizer: Quantizer of the kernel.

    Everything else is as in `keras.layers.Conv2DTranspose`.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: _Size,
        strides: _Size = (1, 1),
        padding: str = "valid",
        output_padding: _Size | None = None,
        data_format: str | None = None,
        dilation_rate: _Size = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        input_quantizer: Any = None,
        kernel_quantizer: Any = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**_arguments(locals()))


@saving.register_keras_serializable("larq_engine")
class QuantConv3DTranspose(QuantizerBase, keras.layers.Conv3DTranspose):
    """Conv3DTranspose, of quantized inputs and a quantized kernel.

    Args:
        input_quantizer: Quantizer of the inputs: a name, a Quantizer or a function.
        kernel_quantizer: Quantizer of the kernel.

    Everything else is as in `keras.layers.Conv3DTranspose`.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: _Size,
        strides: _Size = (1, 1, 1),
        padding: str = "valid",
        output_padding: _Size | None = None,
        data_format: str | None = None,
        dilation_rate: _Size = (1, 1, 1),
        activation: Any = None,
        use_bias: bool = True,
        input_quantizer: Any = None,
        kernel_quantizer: Any = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**_arguments(locals()))


def __getattr__(name: str) -> Any:
    raise AttributeError(f"larq_engine.keras.layers has no {name!r}; it has {', '.join(__all__)}")
