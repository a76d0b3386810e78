"""A small network with random weights, for trying out hosts, programs and devices."""

from typing import Any

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.api import convert_tflite
from larq_engine.converter.converted_model import ConvertedModel
from larq_engine.converter.graph import Array, Graph, Op, Tensor

_SIZE = 96
_CLASSES = 10
_CHANNELS = (32, 64, 128)  # Output channels of the float layer, then of the binary layers.


def example_model() -> ConvertedModel:
    """Returns a classifier of 96x96x3 float32 images, with two binary layers between float ones."""
    return convert_tflite(_float_model())


def _float_model() -> bytes:
    net = _Net(np.random.default_rng(1))
    x = image = Tensor("image", (1, _SIZE, _SIZE, 3), "FLOAT32")
    weights = net.random.normal(0, 0.2, (_CHANNELS[0], 3, 3, 3))
    x = net.conv("stem", x, weights)
    for number, channels in enumerate(_CHANNELS[1:], start=1):
        weights = np.where(net.random.random((channels, 3, 3, x.shape[3])) < 0.5, -1.0, 1.0)
        x = net.conv(f"binary_{number}", net.sign(x), weights)
        scale = net.random.uniform(0.02, 0.1, channels)
        x = net.op("MUL", "MulOptions", f"scale_{number}", x.shape, x, scale)
    axes = np.array([1, 2], np.int32)
    x = net.op("MEAN", "ReducerOptions", "pool", (1, x.shape[3]), x, axes)
    weights = net.random.normal(0, 0.5, (_CLASSES, x.shape[1]))
    x = net.op("FULLY_CONNECTED", "FullyConnectedOptions", "scores", (1, _CLASSES), x, weights)
    return schema.write(schema.make_model([Graph("main", [image], [x], net.ops)]))


class _Net:
    """Collects the operators of the network."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        self.ops: list[Op] = []

    def op(
        self,
        kind: str,
        options: str,
        name: str,
        shape: tuple[int, ...],
        *inputs: Tensor | Array | float,
        **values: Any,
    ) -> Tensor:
        made = Tensor(name, shape, "FLOAT32")
        read = [x if isinstance(x, Tensor) else self._constant(name, x) for x in inputs]
        self.ops.append(Op(kind, list(read), [made], schema.make_options(options, **values)))
        return made

    def _constant(self, name: str, value: Array | float) -> Tensor:
        data = np.asarray(value)
        if data.dtype != np.int32:
            data = data.astype(np.float32)
        return Tensor(f"{name}/constant", data.shape, data.dtype.name.upper(), data)

    def sign(self, x: Tensor) -> Tensor:
        """Adds the operators that TensorFlow makes of larq's ste_sign."""
        shifted = self.op("ADD", "AddOptions", f"{x.name}/shifted", x.shape, self._sign(x), 0.1)
        return self._sign(shifted)

    def _sign(self, x: Tensor) -> Tensor:
        return self.op("SIGN", "SignOptions", f"{x.name}/sign", x.shape, x)

    def conv(self, name: str, x: Tensor, weights: Array) -> Tensor:
        """Adds a convolution with stride 2 and no padding."""
        channels, height, width, _ = weights.shape
        shape = (1, (x.shape[1] - height) // 2 + 1, (x.shape[2] - width) // 2 + 1, channels)
        bias = self.random.normal(0, 1, channels)
        how = {"padding": schema.PADDING["VALID"], "strideH": 2, "strideW": 2}
        return self.op("CONV_2D", "Conv2DOptions", name, shape, x, weights, bias, **how)
