"""Networks of our operators and the host's, built with NumPy's values of their tensors."""

import builtins
from collections.abc import Callable, Sequence

import numpy as np

import larq_engine
from larq_engine.command_line.model_facts import collect_facts
from tests import oracle
from tests.model_builder import (
    ABSENT,
    ACTIVATION,
    PADDING,
    ModelBuilder,
    add_quantize,
    bconv_options,
)
from tests.oracle import Conv

Array = np.ndarray

BOUNDS = {
    "NONE": (-np.inf, np.inf),
    "RELU": (0, np.inf),
    "RELU_N1_TO_1": (-1, 1),
    "RELU6": (0, 6),
}

ACTIVATIONS = list(BOUNDS)


def clamp(x: Array, activation: str) -> Array:
    """Changes only values beyond a bound: NaN stays, and so does the sign of a zero."""
    low, high = map(np.float32, BOUNDS[activation])
    x = np.where(x < low, low, x)
    return np.where(x > high, high, x)


class Value:
    """A tensor and its value according to NumPy."""

    def __init__(self, number: int, array: Array) -> None:
        self.number = number
        self.array = array


class Net:
    """A model, built together with the values of its tensors for a batch of samples."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.builder = ModelBuilder()
        self.inputs: list[Value] = []

    def input(self, data: Array, *, signature: Sequence[int] | None = None) -> Value:
        """Adds a model input; a file declares one sample of it, and `data` has any number."""
        shape = (1, *data.shape[1:])
        value = Value(self.builder.tensor(shape, data.dtype, signature=signature), data)
        self.inputs.append(value)
        return value

    def _made(self, array: Array, dtype: type = np.float32) -> Value:
        shape = (1, *array.shape[1:])
        return Value(self.builder.tensor(shape, dtype), array.astype(dtype))

    def constant(self, array: Array) -> Value:
        array = np.asarray(array, np.float32)
        return Value(self.builder.constant(array), array)

    def per_channel(self, channels: int, *, dims: int = 1) -> Value:
        """Adds a constant with a value of either sign for each channel."""
        values = self.rng.uniform(-1.5, 1.5, (1,) * (dims - 1) + (channels,))
        return self.constant(values)

    def conv(
        self,
        x: Value,
        channels: int,
        taps: int = 3,
        *,
        stride: int = 1,
        activation: str = "NONE",
        bits_in: int = 1,
        bits_weights: int = 1,
    ) -> Value:
        """Adds LceQuantize and LceBconv2d."""
        shape = x.array.shape
        conv = Conv(
            (1, *shape[1:]),
            (taps, taps),
            channels,
            stride=(stride,) * 2,
            activation=activation,
            bits_in=bits_in,
            bits_weights=bits_weights,
        )
        filters = oracle.odd_numbers(self.rng, bits_weights, conv.filter_shape)
        limits, values = None, oracle.signs(x.array)
        if bits_in > 1:
            limits = self.rng.standard_normal((2**bits_in - 1, shape[3])).astype(np.float32)
            limits = np.sort(limits, axis=0)
            values = oracle.count_limits(x.array, limits)
        multiplier = self.rng.uniform(-0.3, 0.3, channels).astype(np.float32)
        bias = self.rng.uniform(-2, 2, channels).astype(np.float32)
        bits = add_quantize(self.builder, x.number, (1, *shape[1:]), limits=limits)
        dots = oracle.dot_products(conv.with_batch(len(x.array)), values, filters)
        result = self._made(clamp(dots, activation) * multiplier + bias)
        packed = oracle.pack_planes(filters, bits_weights)
        constants = map(self.builder.constant, (packed, multiplier, bias))
        self.builder.custom(
            "LceBconv2d", [bits, *constants, ABSENT], [result.number], bconv_options(conv)
        )
        return result

    def bits(self, x: Value) -> Value:
        words = oracle.pack_bits(oracle.signs(x.array))
        result = self._made(words, np.int32)
        self.builder.custom("LceQuantize", [x.number], [result.number])
        return result

    def floats(self, bits: Value, signs: Array, dtype: type = np.float32) -> Value:
        """Adds LceDequantize to floats, or to int8 of scale 1; `signs` are the bits' values."""
        shape = (1, *signs.shape[1:])
        number = self.builder.tensor(shape, dtype, scale=1.0 if dtype is np.int8 else None)
        self.builder.custom("LceDequantize", [bits.number], [number])
        return Value(number, signs.astype(dtype))

    def float_conv(
        self,
        x: Value,
        weights: Array,
        bias: Array,
        *,
        stride: tuple[int, int] = (1, 1),
        padding: str = "SAME",
        dilation: int = 1,
        activation: str = "NONE",
        depthwise: bool = False,
        stored: int | None = None,
    ) -> Value:
        """Adds CONV_2D or DEPTHWISE_CONV_2D; weights have the layout that a file has.

        `stored` is the tensor of the weights if they are no constant.
        """
        filters = weights.transpose(3, 1, 2, 0) if depthwise else weights
        channels, *taps, _ = filters.shape
        depth = x.array.shape[3]
        conv = Conv(
            x.array.shape,
            (taps[0], taps[1]),
            channels,
            groups=depth if depthwise else 1,
            stride=stride,
            dilation=(dilation, dilation),
            padding=padding,
            pad_value=0,
        )
        sums = oracle.dot_products(conv, x.array, filters) + bias
        return self.host(
            "DEPTHWISE_CONV_2D" if depthwise else "CONV_2D",
            x,
            clamp(sums.astype(np.float32), activation),
            self.builder.constant(weights) if stored is None else stored,
            self.builder.constant(bias),
            strideH=stride[0],
            strideW=stride[1],
            padding=PADDING[padding],
            fusedActivationFunction=ACTIVATION[activation],
            dilationHFactor=dilation,
            dilationWFactor=dilation,
            **({"depthMultiplier": channels // depth} if depthwise else {}),
        )

    def binary(self, op: str, a: Value, b: Value, activation: str = "NONE") -> Value:
        """Adds ADD, MUL or SUB."""
        functions = {"ADD": np.add, "MUL": np.multiply, "SUB": np.subtract}
        both = functions[op](a.array, b.array)
        fused = ACTIVATION[activation]
        return self.host(op, a, clamp(both, activation), b.number, fusedActivationFunction=fused)

    def add(self, a: Value, b: Value, activation: str = "NONE") -> Value:
        return self.binary("ADD", a, b, activation)

    def mul(self, a: Value, b: Value, activation: str = "NONE") -> Value:
        return self.binary("MUL", a, b, activation)

    def relu(self, x: Value, kind: str) -> Value:
        return self.host(kind, x, clamp(x.array, kind))

    def prelu(self, x: Value, slopes: Value) -> Value:
        values = np.where(x.array < 0, x.array * slopes.array, x.array)
        return self.host("PRELU", x, values, slopes.number)

    def pool(
        self,
        x: Value,
        window: tuple[int, int],
        stride: tuple[int, int],
        padding: str,
        activation: str = "NONE",
    ) -> Value:
        pooled = clamp(oracle.max_pool(x.array, window, stride, padding), activation)
        return self._pooled("MAX_POOL_2D", x, pooled, window, stride, padding, activation)

    def average(
        self, x: Value, taps: int, stride: int, padding: str, activation: str = "NONE"
    ) -> Value:
        """Adds AVERAGE_POOL_2D, which averages only the taps inside of the image."""
        window = ((taps, taps), (stride, stride))
        sums = oracle.sum_pool(x.array, *window, padding)
        averages = sums / oracle.sum_pool(np.ones_like(x.array), *window, padding)
        values = clamp(averages.astype(np.float32), activation)
        return self._pooled("AVERAGE_POOL_2D", x, values, *window, padding, activation)

    def _pooled(
        self,
        op: str,
        x: Value,
        values: Array,
        window: tuple[int, int],
        stride: tuple[int, int],
        padding: str,
        activation: str,
    ) -> Value:
        return self.host(
            op,
            x,
            values,
            filterHeight=window[0],
            filterWidth=window[1],
            strideH=stride[0],
            strideW=stride[1],
            padding=PADDING[padding],
            fusedActivationFunction=ACTIVATION[activation],
        )

    def mean(self, x: Value, axes: tuple[int, ...], *, keep: bool) -> Value:
        return self.host(
            "MEAN",
            x,
            x.array.mean(axes, keepdims=keep),
            self.builder.constant(np.array(axes, np.int32)),
            keepDims=keep,
        )

    def dense(
        self,
        x: Value,
        weights: Array,
        bias: Array | None = None,
        *,
        keep: bool = False,
        activation: str = "NONE",
    ) -> Value:
        """Adds FULLY_CONNECTED; weights are [units][depth]."""
        units, depth = weights.shape
        rows = x.array.reshape(-1, depth) @ weights.T + (0 if bias is None else bias)
        shape = (*x.array.shape[:-1], units) if keep else (-1, units)
        return self.host(
            "FULLY_CONNECTED",
            x,
            clamp(rows.reshape(shape).astype(np.float32), activation),
            self.builder.constant(weights),
            ABSENT if bias is None else self.builder.constant(bias),
            keepNumDims=keep,
            fusedActivationFunction=ACTIVATION[activation],
        )

    def logistic(self, x: Value) -> Value:
        return self.host("LOGISTIC", x, 1 / (1 + np.exp(-x.array)))

    def softmax(self, x: Value) -> Value:
        powers = np.exp(x.array - x.array.max(-1, keepdims=True))
        return self.host("SOFTMAX", x, powers / powers.sum(-1, keepdims=True), beta=1.0)

    def reshape(self, x: Value, *shape: int) -> Value:
        table = self.builder.constant(np.array(shape, np.int32))
        return self.host("RESHAPE", x, x.array.reshape(shape), table)

    def concatenate(self, values: Sequence[Value], axis: int = -1) -> Value:
        result = self._made(np.concatenate([value.array for value in values], axis=axis))
        self.builder.builtin(
            "CONCATENATION", [value.number for value in values], [result.number], axis=axis
        )
        return result

    def split(self, x: Value, sizes: int | Sequence[int], axis: int = -1) -> list[Value]:
        """Adds SPLIT into a number of parts, or SPLIT_V into sizes, of which one may be -1."""
        parts: list[Array]
        place = self.builder.constant(np.array(axis, np.int32))
        if isinstance(sizes, int):
            parts = np.split(x.array, sizes, axis)
            op, inputs = "SPLIT", [place, x.number]
        else:
            known = [size if size >= 0 else x.array.shape[axis] - sum(sizes) - 1 for size in sizes]
            parts = np.split(x.array, np.cumsum(known)[:-1], axis)
            table = self.builder.constant(np.array(sizes, np.int32))
            op, inputs = "SPLIT_V", [x.number, table, place]
        results = [self._made(part, part.dtype.type) for part in parts]
        numbers = [result.number for result in results]
        self.builder.builtin(op, inputs, numbers, numSplits=len(parts))
        return results

    def slice(self, x: Value, begin: Sequence[int], size: Sequence[int]) -> Value:
        """Adds SLICE; a size of -1 is the rest of the dimension."""
        box = [slice(b, None if s < 0 else b + s) for b, s in zip(begin, size, strict=True)]
        constants = (self.builder.constant(np.array(v, np.int32)) for v in (begin, size))
        return self.host("SLICE", x, x.array[tuple(box)], *constants)

    def strided_slice(self, x: Value, *box: builtins.slice, **options: object) -> Value:
        """Adds STRIDED_SLICE; a bound that a slice leaves open is a bit of a mask."""
        values = np.array([[b.start or 0, b.stop or 0, b.step or 1] for b in box], np.int32)
        masks = {
            name: sum(1 << i for i, b in enumerate(box) if getattr(b, field) is None)
            for name, field in (("beginMask", "start"), ("endMask", "stop"))
        }
        constants = map(self.builder.constant, values.T)
        return self.host("STRIDED_SLICE", x, x.array[box], *constants, **{**masks, **options})

    def host(self, op: str, x: Value, array: Array, *constants: int, **options: object) -> Value:
        """Adds an operator of the host; `array` is its result."""
        result = self._made(array, array.dtype.type)
        self.builder.builtin(op, [x.number, *constants], [result.number], **options)
        return result

    def finish(self, *outputs: Value) -> "Model":
        model = self.builder.finish(
            [value.number for value in self.inputs], [value.number for value in outputs]
        )
        return Model(
            model, [value.array for value in self.inputs], [value.array for value in outputs]
        )


class Model:
    """A file, data, and the results."""

    def __init__(self, content: bytes, inputs: list[Array], expected: list[Array]) -> None:
        self.content = content
        self.inputs = inputs
        self.expected = expected

    def open(self, **options: object) -> larq_engine.Interpreter:
        return larq_engine.Interpreter(self.content, **options)

    def check(self, **options: object) -> list[str]:
        """Compares for all samples at once and for the first one; returns the steps' operators."""
        interpreter = self.open(**options)
        for samples in (1, len(self.inputs[0])):
            got = interpreter.predict([array[:samples] for array in self.inputs])
            results = got if isinstance(got, list) else [got]
            for result, expected in zip(results, self.expected, strict=True):
                assert result.dtype == expected.dtype
                np.testing.assert_array_equal(result, expected[:samples])
        return claimed(interpreter)

    def check_both(self, **options: object) -> list[str]:
        """Checks the model fused and not fused; returns the operators of the fused plans."""
        self.check(fuse=False, **options)
        return self.check(fuse=True, **options)


def claimed(interpreter: larq_engine.Interpreter) -> list[str]:
    """Returns the operators that the plug-in computes.

    The row of a convolution or a pooling stands for the operators that it absorbed, too.
    """
    content, _ = interpreter._session.recipe()
    kinds = {(op.graph, op.index): op.kind for op in collect_facts(content).operators}
    ops = []
    for row in interpreter.profile(runs=1):
        if row.op in ("host runtime", "TRANSFER"):
            continue
        absorbed = [kinds[row.subgraph, node] for node in row.absorbed]
        if row.op == "MAX_POOL_2D":
            ops += absorbed
        ops.append(row.op)
        if row.op == "LceBconv2d":
            ops += absorbed
    return ops


def random_images(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def residual_net(rng: np.random.Generator, images: Array) -> Model:
    """Builds two layers with shortcuts, of which the second is read after its group has gone on."""
    net = Net(rng)
    channels = images.shape[3]
    x = net.input(images)
    y = net.mul(net.conv(x, channels), net.per_channel(channels))
    y = net.prelu(net.add(y, net.per_channel(channels)), net.per_channel(channels, dims=3))
    first = net.add(y, x)
    z = net.relu(net.add(net.conv(first, channels), first), "RELU6")
    z = net.concatenate([net.pool(z, (2, 2), (2, 2), "SAME"), net.conv(z, 7, stride=2)])
    return net.finish(net.conv(z, 11, taps=1))


def _random_step(net: Net, values: Sequence[Value]) -> Value:
    """Adds any operator on any of the values."""
    rng = net.rng
    # The last value is the most likely one, as in real networks.
    x = values[-1] if rng.random() < 0.6 else values[rng.integers(len(values))]
    channels = x.array.shape[3]
    alike = [value for value in values if value.array.shape == x.array.shape]
    beside = [value for value in values if value.array.shape[:3] == x.array.shape[:3]]
    other = alike[rng.integers(len(alike))]
    activation = str(rng.choice(ACTIVATIONS))
    window, stride = ((int(a), int(b)) for a, b in rng.integers(1, 4, (2, 2)))
    makers: list[Callable[[], Value]] = [
        lambda: net.conv(x, channels, window[0], activation=activation),
        lambda: net.conv(x, channels, window[0]),
        lambda: net.conv(x, int(rng.integers(1, 50)), stride=stride[0]),
        lambda: net.add(x, other, activation),
        lambda: net.add(x, net.per_channel(channels), activation),
        # The clamp is needed, as repeated squares would leave the range of floats.
        lambda: net.mul(x, other, "RELU_N1_TO_1"),
        lambda: net.mul(net.per_channel(channels, dims=4), x, activation),
        lambda: net.relu(x, str(rng.choice(ACTIVATIONS[1:]))),
        lambda: net.prelu(x, net.per_channel(channels)),
        lambda: net.pool(x, window, stride, "SAME", activation),
        lambda: net.concatenate([x, *beside[: rng.integers(1, 4)]]),
        lambda: net.host("NEG", x, -x.array),
        lambda: net.concatenate(net.split(x, [-1, channels // 2] if channels > 1 else 1)[::-1]),
    ]
    return makers[rng.integers(len(makers))]()


def random_net(rng: np.random.Generator) -> Model:
    net = Net(rng)
    shape = (int(rng.integers(1, 4)), *rng.integers(1, 12, 2), int(rng.choice([1, 7, 32, 45])))
    values = [net.input(random_images(rng, *shape))]
    for _ in range(rng.integers(3, 15)):
        values.append(_random_step(net, values))
    outputs = [value for value in values[1:-1] if rng.random() < 0.2]
    return net.finish(*outputs, net.bits(values[-1]), net.conv(values[-1], 3))
