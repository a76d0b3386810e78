"""Makes float networks with random weights, operator by operator, as TensorFlow writes them."""

from typing import Any

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import Array, Graph, Op, Tensor


class RandomNetwork:
    """Collects the operators of the network."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        self.ops: list[Op] = []

    def op(
        self,
        kind: str,
        options: str | None,
        name: str,
        shape: tuple[int, ...],
        *inputs: Tensor | Array | float,
        **values: Any,
    ) -> Tensor:
        made = Tensor(name, shape, "FLOAT32")
        read = [x if isinstance(x, Tensor) else self._constant(name, x) for x in inputs]
        how = schema.make_options(options, **values) if options else None
        self.ops.append(Op(kind, list(read), [made], how))
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

    def signs(self, *shape: int) -> Array:
        """Returns +1 and -1, each as likely as the other."""
        return np.where(self.random.random(shape) < 0.5, -1.0, 1.0)

    def conv(
        self, name: str, x: Tensor, weights: Array, stride: int = 1, padding: str = "VALID"
    ) -> Tensor:
        """Adds a convolution; the padding is TensorFlow's VALID or SAME."""
        channels, height, width, _ = weights.shape
        shape = _shape_of_windows(x, (height, width), stride, padding, channels)
        bias = self.random.normal(0, 1, channels)
        how = {"padding": schema.PADDING[padding], "strideH": stride, "strideW": stride}
        return self.op("CONV_2D", "Conv2DOptions", name, shape, x, weights, bias, **how)

    def depthwise(self, name: str, x: Tensor, weights: Array, stride: int) -> Tensor:
        """Adds a convolution of each channel with a filter of its own, with padding."""
        _, height, width, channels = weights.shape
        shape = _shape_of_windows(x, (height, width), stride, "SAME", channels)
        bias = self.random.normal(0, 1, channels)
        how = {"padding": schema.PADDING["SAME"], "strideH": stride, "strideW": stride}
        how["depthMultiplier"] = 1
        options = "DepthwiseConv2DOptions"
        return self.op("DEPTHWISE_CONV_2D", options, name, shape, x, weights, bias, **how)

    def file(self, image: Tensor, output: Tensor) -> bytes:
        """Returns the network as a .tflite file."""
        return schema.write(schema.make_model([Graph("main", [image], [output], self.ops)]))


def _shape_of_windows(
    x: Tensor, window: tuple[int, int], stride: int, padding: str, channels: int
) -> tuple[int, int, int, int]:
    sides = x.shape[1:3]
    if padding == "VALID":
        sides = tuple(side - size + 1 for side, size in zip(sides, window, strict=True))
    height, width = (-(-side // stride) for side in sides)
    return 1, height, width, channels
