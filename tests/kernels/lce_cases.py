"""Runs one convolution with every kind of output and every kernel, and compares with the oracle."""

import zlib
from collections.abc import Sequence

import numpy as np

import larq_engine
from tests import oracle
from tests.kernel_rows import KERNELS
from tests.model_builder import bconv_model
from tests.oracle import Conv

# Twice the rounding errors of one product and one sum in float32.
_FLOAT_ERROR = 2.0**-22
_INT32 = np.iinfo(np.int32)

# Kernel and threads. Rows do not know of threads, so two threads test all code that shares out
# work.
_ALL_RUNS = [*((kernel, 1) for kernel in KERNELS), ("auto", 2), ("reference", 2)]


def generator(case: object, seed: int) -> np.random.Generator:
    """Returns a generator of a case's data, which do not depend on which other cases run."""
    return np.random.default_rng([seed, zlib.crc32(repr(case).encode())])


class ConvCase:
    """A convolution with random constants, which can be compared with the oracle for any input."""

    def __init__(self, conv: Conv, rng: np.random.Generator) -> None:
        self.conv = conv
        self.filters = oracle.odd_numbers(rng, conv.bits_weights, conv.filter_shape)
        # Limits quantize values to that many bits; in some cases they differ between channels.
        self.limits = None
        if conv.bits_in > 1:
            channels_in = int(rng.choice([1, conv.channels_in]))
            limits = rng.standard_normal((2**conv.bits_in - 1, channels_in)).astype(np.float32)
            self.limits = np.sort(limits, axis=0)
        channels = conv.channels_out
        # Both signs; one channel in four has the multiplier zero.
        self.multiplier = rng.uniform(-1.5, 1.5, channels).astype(np.float32)
        self.multiplier[rng.integers(0, 4, channels) == 0] = 0
        self.bias = rng.uniform(-1.5, 1.5, channels).astype(np.float32)
        self.scale = 1 / rng.integers(1, 21)
        self.zero_point = int(rng.integers(-20, 21))
        # Outputs differ around half of the differing bits; some thresholds are always or never
        # reached.
        spread = (int(np.sqrt(conv.depth)) + 1) * conv.largest_dot // conv.depth
        middle = conv.largest_dot // 2
        self.thresholds = rng.integers(middle - spread, middle + spread, channels).astype(np.int32)
        extreme = rng.integers(0, 16, channels)
        self.thresholds[extreme == 0] = _INT32.min
        self.thresholds[extreme == 1] = _INT32.max

    def model(self, input_type: type = np.float32) -> bytes:
        return bconv_model(
            self.conv,
            self.filters,
            self.multiplier,
            self.bias,
            outputs=("float", "int8", "bits"),
            scale=self.scale,
            zero_point=self.zero_point,
            thresholds=self.thresholds,
            limits=self.limits,
            input_type=input_type,
        )

    def values(self, x: np.ndarray) -> np.ndarray:
        """Returns the values that the input is quantized to."""
        return oracle.signs(x) if self.limits is None else oracle.count_limits(x, self.limits)

    def check(self, outputs: Sequence[np.ndarray], dots: np.ndarray) -> None:
        """Asserts that the outputs follow from these dot products."""
        floats, int8s, bits = outputs
        expected = oracle.float_output(dots, self.conv.activation, self.multiplier, self.bias)
        bound = np.abs(expected - self.bias) + np.abs(self.bias)
        error = np.abs(floats - expected) - bound * _FLOAT_ERROR
        assert floats.shape == expected.shape, f"float output has shape {floats.shape}"
        assert error.max() <= 0, f"float output is off by {np.abs(floats - expected).max()}"
        oracle.check_int8(int8s, expected, self.scale, self.zero_point)
        expected_bits = oracle.threshold_bits(dots, self.conv.largest_dot, self.thresholds)
        got_bits = oracle.unpack_bits(bits, self.conv.channels_out)
        np.testing.assert_array_equal(got_bits, expected_bits, err_msg="bits")


def check_conv(
    conv: Conv,
    seed: int,
    runs: Sequence[tuple[str, int]] = _ALL_RUNS,
    activations: Sequence[str] = ("NONE",),
) -> None:
    """Compares every output kind of one geometry, with each activation, in each run.

    Args:
        conv: The geometry; its activation is replaced.
        seed: Of the data.
        runs: Kernels and numbers of threads.
        activations: Share their dot products, which take the oracle most of its time.
    """
    rng = generator(conv, seed)
    case = ConvCase(conv, rng)
    x = rng.standard_normal(conv.input_shape).astype(np.float32)
    dots = oracle.dot_products(conv, case.values(x), case.filters)
    for activation in activations:
        case.conv = conv.with_activation(activation)
        model = case.model()
        for kernel, threads in runs:
            interpreter = larq_engine.Interpreter(model, kernel=kernel, num_threads=threads)
            try:
                case.check(interpreter.predict(x), dots)
            except AssertionError as error:
                raise AssertionError(f"{case.conv}, {kernel=}, {threads=}: {error}") from error
