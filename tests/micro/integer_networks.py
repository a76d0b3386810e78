"""Random networks of integers alone: int8 and bits, as microcontrollers run them."""

from dataclasses import dataclass

import numpy as np

from tests.model_builder import ABSENT, ACTIVATION, PADDING, ModelBuilder, bconv_options
from tests.oracle import Conv, pack_bits

_ACTIVATIONS = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")


@dataclass
class Value:
    """A tensor: int8 of a scale, or bits (`scale` 0) of so many channels."""

    number: int
    shape: tuple[int, ...]
    scale: float = 0.0
    zero_point: int = 0

    @property
    def is_bits(self) -> bool:
        return self.scale == 0


class IntegerNetwork:
    """A network that grows by random operators on its latest values."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.builder = ModelBuilder()
        size = int(self.rng.integers(5, 14))
        shape = (1, size, int(self.rng.integers(5, 14)), int(self.rng.choice([1, 3, 8, 32, 40])))
        self.input = self._value(shape, float(self.rng.uniform(0.01, 0.1)))
        self.values = [self.input]
        self.kinds: list[str] = []

    def build(self, layers: int) -> bytes:
        """Returns a model of so many layers, with an end that classifies or without."""
        for _ in range(layers):
            self._layer()
        last = self.values[-1]
        if last.is_bits:
            last = self._dequantize(last)
        outputs = [last]
        if self.rng.random() < 0.6:
            outputs = self._classify(last)
        return self.builder.finish([self.input.number], [value.number for value in outputs])

    # ---- values ----------------------------------------------------------------------------------

    def _value(self, shape: tuple[int, ...], scale: float, zero_point: int | None = None) -> Value:
        zero = int(self.rng.integers(-128, 128)) if zero_point is None else zero_point
        number = self.builder.tensor(shape, np.int8, scale=scale, zero_point=zero)
        return Value(number, shape, float(np.float32(scale)), zero)

    def _bits(self, shape: tuple[int, ...]) -> Value:
        words = (*shape[:-1], -(-shape[-1] // 32))
        return Value(self.builder.tensor(words, np.int32), shape)

    def _activation(self) -> dict[str, int]:
        return {"fusedActivationFunction": ACTIVATION[str(self.rng.choice(_ACTIVATIONS))]}

    def _scale(self, most: float) -> float:
        """Returns a scale for results up to `most`; some are powers of two, whose halves tie."""
        scale = most / 100 * float(self.rng.uniform(0.5, 2))
        return float(2.0 ** np.round(np.log2(scale))) if self.rng.random() < 0.3 else scale

    # ---- layers ----------------------------------------------------------------------------------

    def _layer(self) -> None:
        x = self.values[-1]
        of_bytes = (
            self._quantize,
            self._quantize,
            self._conv,
            self._depthwise,
            self._pool,
            self._sum,
            self._product,
            self._pad,
            self._split,
            self._table,
        )
        of_bits = (self._binary, self._binary, self._binary, self._pool_bits, self._dequantize)
        make = (of_bits if x.is_bits else of_bytes)[
            int(self.rng.integers(len(of_bits if x.is_bits else of_bytes)))
        ]
        self.kinds.append(make.__name__)
        self.values.append(make(x))

    def _window(self, x: Value, most: int = 3) -> tuple[tuple[int, int], tuple[int, int], str]:
        taps = tuple(int(min(size, self.rng.integers(1, most + 1))) for size in x.shape[1:3])
        strides = tuple(int(n) for n in self.rng.integers(1, 3, 2))
        return taps, strides, str(self.rng.choice(["SAME", "VALID"]))

    def _out(
        self,
        x: Value,
        taps: tuple[int, int],
        strides: tuple[int, int],
        padding: str,
        dilation: int = 1,
    ) -> tuple[int, int]:
        sizes = []
        for size, tap, stride in zip(x.shape[1:3], taps, strides, strict=True):
            extent = (tap - 1) * dilation + 1
            sizes.append(-(-(size if padding == "SAME" else size - extent + 1) // stride))
        return sizes[0], sizes[1]

    def _quantize(self, x: Value) -> Value:
        y = self._bits(x.shape)
        self.builder.custom("LceQuantize", [x.number], [y.number])
        return y

    def _dequantize(self, x: Value) -> Value:
        y = self._value(x.shape, float(self.rng.uniform(0.005, 1.5)))
        self.builder.custom("LceDequantize", [x.number], [y.number])
        return y

    def _binary(self, x: Value) -> Value:
        rng = self.rng
        taps, strides, padding = self._window(x)
        channels = x.shape[3]
        groups = int(rng.choice([1, 2])) if channels % 64 == 0 else 1
        outputs = groups * int(rng.choice([1, 7, 32, 33, 64]))
        dilation = 2 if rng.random() < 0.15 and padding == "SAME" else 1
        pad_value = int(rng.choice([1, 0, -1])) if padding == "SAME" else 1
        conv = Conv(
            x.shape,
            taps,
            outputs,
            groups=groups,
            stride=strides,
            dilation=(dilation, dilation),
            padding=padding,
            pad_value=pad_value,
            activation=str(rng.choice(_ACTIVATIONS)),
        )
        filters = pack_bits(rng.choice([-1, 1], (outputs, *taps, channels // groups)))
        depth = taps[0] * taps[1] * channels // groups
        out = (1, *self._out(x, taps, strides, padding, dilation), outputs)
        weights = self.builder.constant(filters)
        if rng.random() < 0.6:
            y = self._bits(out)
            spread = max(1, int(np.sqrt(depth)))
            thresholds = (depth // 2 + rng.integers(-spread, spread + 1, outputs)).astype(np.int32)
            inputs = [weights, ABSENT, ABSENT, self.builder.constant(thresholds)]
        else:
            y = self._value(out, self._scale(3 * np.sqrt(depth)))
            multiplier = rng.uniform(-1.5, 1.5, outputs).astype(np.float32)
            bias = rng.normal(0, np.sqrt(depth), outputs).astype(np.float32)
            if rng.random() < 0.3:
                multiplier, bias = np.sign(multiplier), np.rint(bias).astype(np.float32)
            inputs = [
                weights,
                self.builder.constant(multiplier),
                self.builder.constant(bias),
                ABSENT,
            ]
        options = bconv_options(conv)
        self.builder.custom("LceBconv2d", [x.number, *inputs], [y.number], options)
        return y

    def _pool_bits(self, x: Value) -> Value:
        taps, strides, padding = self._window(x)
        y = self._bits((1, *self._out(x, taps, strides, padding), x.shape[3]))
        options = {
            "filter_height": taps[0],
            "filter_width": taps[1],
            "stride_height": strides[0],
            "stride_width": strides[1],
            "padding": PADDING[padding],
        }
        self.builder.custom("LceBMaxPool2d", [x.number], [y.number], options)
        return y

    def _weights(self, shape: tuple[int, ...], channels: int, axis: int) -> tuple[int, np.ndarray]:
        data = self.rng.integers(-127, 128, shape).astype(np.int8)
        scale = self.rng.uniform(0.001, 0.01, channels).astype(np.float32)
        number = self.builder.constant(
            data, scale=scale, zero_point=[0] * channels, quantized_dimension=axis
        )
        return number, scale

    def _bias(self, x: Value, scale: np.ndarray, depth: int) -> int:
        bias = self.rng.normal(0, 2000 * np.sqrt(depth), scale.size).astype(np.int32)
        return self.builder.constant(
            bias, scale=scale * x.scale, zero_point=[0] * scale.size, quantized_dimension=0
        )

    def _conv(self, x: Value) -> Value:
        taps, strides, padding = self._window(x)
        dilation = 2 if self.rng.random() < 0.15 and padding == "SAME" else 1
        outputs = int(self.rng.choice([1, 5, 16, 32]))
        weights, scale = self._weights((outputs, *taps, x.shape[3]), outputs, 0)
        depth = taps[0] * taps[1] * x.shape[3]
        bias = self._bias(x, scale, depth)
        most = float(scale.mean()) * x.scale * 5000 * np.sqrt(depth)
        y = self._value(
            (1, *self._out(x, taps, strides, padding, dilation), outputs), self._scale(most)
        )
        self.builder.builtin(
            "CONV_2D",
            [x.number, weights, bias],
            [y.number],
            strideH=strides[0],
            strideW=strides[1],
            padding=PADDING[padding],
            dilationHFactor=dilation,
            dilationWFactor=dilation,
            **self._activation(),
        )
        return y

    def _depthwise(self, x: Value) -> Value:
        taps, strides, padding = self._window(x)
        times = int(self.rng.choice([1, 1, 2]))
        outputs = x.shape[3] * times
        weights, scale = self._weights((1, *taps, outputs), outputs, 3)
        bias = self._bias(x, scale, taps[0] * taps[1])
        most = float(scale.mean()) * x.scale * 5000 * np.sqrt(taps[0] * taps[1])
        y = self._value((1, *self._out(x, taps, strides, padding), outputs), self._scale(most))
        self.builder.builtin(
            "DEPTHWISE_CONV_2D",
            [x.number, weights, bias],
            [y.number],
            strideH=strides[0],
            strideW=strides[1],
            padding=PADDING[padding],
            depthMultiplier=times,
            dilationHFactor=1,
            dilationWFactor=1,
            **self._activation(),
        )
        return y

    def _pool(self, x: Value) -> Value:
        taps, strides, padding = self._window(x)
        shape = (1, *self._out(x, taps, strides, padding), x.shape[3])
        y = self._value(shape, x.scale, x.zero_point)
        self.builder.builtin(
            str(self.rng.choice(["MAX_POOL_2D", "AVERAGE_POOL_2D"])),
            [x.number],
            [y.number],
            filterHeight=taps[0],
            filterWidth=taps[1],
            strideH=strides[0],
            strideW=strides[1],
            padding=PADDING[padding],
            **self._activation(),
        )
        return y

    def _other(self, x: Value) -> tuple[int, float]:
        """Returns a second operand: an earlier value of the shape, or a constant."""
        alike = [v for v in self.values if v.shape == x.shape and not v.is_bits]
        if self.rng.random() < 0.6:
            other = alike[int(self.rng.integers(len(alike)))]
            return other.number, other.scale
        shape = x.shape if self.rng.random() < 0.3 else (x.shape[3],)
        data = self.rng.integers(-128, 128, shape).astype(np.int8)
        scale = x.scale * float(self.rng.uniform(0.2, 5))
        return self.builder.constant(data, scale=scale, zero_point=3), scale

    def _sum(self, x: Value) -> Value:
        other, scale = self._other(x)
        y = self._value(x.shape, self._scale(100 * (x.scale + scale)))
        pair = [x.number, other] if self.rng.random() < 0.7 else [other, x.number]
        kind = str(self.rng.choice(["ADD", "SUB"]))
        self.builder.builtin(kind, pair, [y.number], **self._activation())
        return y

    def _product(self, x: Value) -> Value:
        other, scale = self._other(x)
        y = self._value(x.shape, self._scale(8000 * x.scale * scale))
        self.builder.builtin("MUL", [x.number, other], [y.number], **self._activation())
        return y

    def _pad(self, x: Value) -> Value:
        pads = self.rng.integers(0, 3, (4, 2)).astype(np.int32)
        pads[0] = 0
        shape = tuple(int(n) for n in np.array(x.shape) + pads.sum(axis=1))
        y = self._value(shape, x.scale, x.zero_point)
        self.builder.builtin("PAD", [x.number, self.builder.constant(pads)], [y.number])
        return y

    def _split(self, x: Value) -> Value:
        """Splits along an axis, and joins the parts in the other order."""
        axis = int(self.rng.integers(1, 4))
        size = x.shape[axis]
        first = int(self.rng.integers(1, size)) if size > 1 else 1
        sizes = [first, size - first] if size > 1 else [1]
        parts = [
            self._value((*x.shape[:axis], part, *x.shape[axis + 1 :]), x.scale, x.zero_point)
            for part in sizes
        ]
        numbers = [part.number for part in parts]
        table = self.builder.constant(np.array(sizes, np.int32))
        place = self.builder.constant(np.array(axis, np.int32))
        self.builder.builtin("SPLIT_V", [x.number, table, place], numbers, numSplits=len(parts))
        y = self._value(x.shape, x.scale, x.zero_point)
        self.builder.builtin("CONCATENATION", numbers[::-1], [y.number], axis=axis)
        return y

    def _table(self, x: Value) -> Value:
        kind = str(self.rng.choice(["LOGISTIC", "TANH", "QUANTIZE", "RELU", "RELU6"]))
        scales = {"LOGISTIC": (2.0**-8, -128), "TANH": (2.0**-7, 0)}
        scale, zero = scales.get(kind, (x.scale * float(self.rng.uniform(0.3, 3)), None))
        y = self._value(x.shape, scale, zero)
        self.builder.builtin(kind, [x.number], [y.number])
        return y

    # ---- the end ---------------------------------------------------------------------------------

    def _classify(self, x: Value) -> list[Value]:
        rng = self.rng
        if rng.random() < 0.5:
            y = self._value((1, x.shape[3]), x.scale * float(rng.uniform(0.3, 1.2)))
            axes = self.builder.constant(np.array([1, 2], np.int32))
            self.builder.builtin("MEAN", [x.number, axes], [y.number], keepDims=False)
        else:
            depth = int(np.prod(x.shape))
            y = self._value((1, depth), x.scale, x.zero_point)
            table = self.builder.constant(np.array([1, depth], np.int32))
            self.builder.builtin("RESHAPE", [x.number, table], [y.number])
        depth = y.shape[1]
        weights = rng.integers(-127, 128, (10, depth)).astype(np.int8)
        scale = np.array([0.004], np.float32)
        number = self.builder.constant(weights, scale=scale, zero_point=[0])
        bias = rng.normal(0, 2000 * np.sqrt(depth), 10).astype(np.int32)
        given = self.builder.constant(bias, scale=scale * y.scale, zero_point=[0])
        logits = self._value((1, 10), self._scale(0.004 * y.scale * 5000 * np.sqrt(depth)))
        self.builder.builtin(
            "FULLY_CONNECTED", [y.number, number, given], [logits.number], **self._activation()
        )
        end = rng.integers(3)
        if end == 0:
            return [logits]
        if end == 1:
            scores = self._value((1, 10), 2.0**-8, -128)
            self.builder.builtin("SOFTMAX", [logits.number], [scores.number], beta=1.0)
            return [scores, logits]
        best = Value(self.builder.tensor((1,), np.int32), (1,))
        place = self.builder.constant(np.array(-1, np.int32))
        self.builder.builtin("ARG_MAX", [logits.number, place], [best.number], outputType=2)
        return [best]
