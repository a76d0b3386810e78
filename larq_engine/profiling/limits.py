"""Computes the least time that operators can take here, from the best rates of this machine.

A limit is the longest of three times: that of the products at the highest rate, that of the bytes
that are read at the highest bandwidth, and that of the bytes that are written. The rate is measured
with the kernel that was used, on a product that fits into a core's cache. The bandwidth is measured
on memory of the same size as the operators' data. Reading and writing count apart, as they overlap:
data that is changed in place comes and goes twice as fast as data that is copied.

All rates are measured with one thread, and the limit of several threads is that many times the
rate. Several threads reach less, and how much less depends on what else the machine does in those
milliseconds. When rates were measured with two threads while another program ran, they were
sometimes those of two cores and sometimes those of one, and so no limit of anything.
"""

import itertools
import math
import time
from collections.abc import Callable

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.graph import NUMPY_TYPES, Graph, Op, Quantization, Tensor
from larq_engine.profiling.network import Cut
from larq_engine.profiling.run_config import AUTO, CannotRunError, RunConfig, open_part
from larq_engine.profiling.work import BITS, Work
from larq_engine.python import library
from larq_engine.python.devices import CPU, HOST
from larq_engine.python.tensors import Array

# Pixels, depth and outputs. A long depth leaves little time to anything but the product. Which set
# is best for the caches differs: XNNPACK is fastest in floats with the smaller one, and in int8
# with the larger one.
_BITS_SHAPES = ((512, 4608, 64), (256, 4608, 256))
_DENSE_SHAPES = ((256, 256, 256), (512, 512, 512))

# Devices and types whose products are measured; the host has them in XNNPACK.
_MEASURED = ((CPU, BITS), (CPU, "FLOAT32"), (HOST, "FLOAT32"), (HOST, "INT8"))

# Kernels that add and subtract floats: they do more of that than the rate of products allows.
_SIGNED_SUMS = "signed_sums_"

_SIZES = tuple(1 << shift for shift in range(14, 27, 2))

# Time for each rate, and bounds of the number of runs in it; the fastest run counts.
_SECONDS = 0.02
_LEAST_RUNS, _MOST_RUNS = 3, 200

# Small sets are repeated up to this many bytes, so that the clock is fine enough.
_BYTES_OF_A_RUN = 1 << 22


class Limits:
    """Limits of the CPU; GPUs have none. Each rate is measured when it is first needed.

    Args:
        host: The host's name.
    """

    def __init__(self, host: str | None) -> None:
        self._host = host
        self._cores = library.usable_cpus()
        self._bandwidths: dict[int, float] = {}
        self._rates: dict[tuple[RunConfig, str], float | None] = {}

    def seconds(
        self, work: Work, device: str, threads: int, kernels: str | None = None
    ) -> float | None:
        """Returns the least seconds of some work; None if a rate was not measured.

        Args:
            work: The work to do.
            device: The device that does it.
            threads: The number of threads that do it.
            kernels: The kernel rows that computed the products of bits, joined by "+".
        """
        if RunConfig(device, threads).is_gpu:
            return None
        cores = min(threads, self._cores)
        names = (kernels or AUTO).split("+")
        if any(name.startswith(_SIGNED_SUMS) for name in names):
            return None
        arithmetic = 0.0
        for kind, products in work.products.items():
            configs = {RunConfig(device, 1, name if kind == BITS else AUTO) for name in names}
            rates = [self._rate(config, kind) for config in configs]
            known = [rate for rate in rates if rate is not None]
            if len(known) < len(rates):
                return None
            # The share of each kernel is unknown, so the fastest one bounds all.
            arithmetic += products / (cores * max(known))
        memory = max(self._memory_seconds(size / cores) for size in (work.read, work.written))
        return max(arithmetic, memory) or None

    def describe(self) -> dict[str, str]:
        """Describes the measured rates for people."""
        rates = [
            f"{kind if config.kernel == AUTO else config.kernel} on {config.device}: "
            f"{rate / 1e9:.4g} GMAC/s"
            for (config, kind), rate in self._rates.items()
            if rate is not None
        ]
        bandwidths = [
            f"{size >> 10} KiB: {rate / 1e9:.3g} GB/s" for size, rate in self._bandwidths.items()
        ]
        found = {"best products, one thread": rates, "best memory, one thread": bandwidths}
        return {name: "; ".join(texts) for name, texts in found.items() if texts}

    # ---- Memory ----------------------------------------------------------------------------------

    def _memory_seconds(self, size: float) -> float:
        """Returns the seconds to go through a set; as much as fits may lie in a cache."""
        if not self._bandwidths:
            self._bandwidths = _measure_bandwidths()
        rates = list(self._bandwidths.values())
        seconds = 0.0
        for number, (start, end) in enumerate(itertools.pairwise([0, *_SIZES[1:], math.inf])):
            # Larger sets are slower; where one was faster, the smaller one was disturbed.
            seconds += max(0.0, min(size, end) - start) / max(rates[number:])
        return seconds

    # ---- Products --------------------------------------------------------------------------------

    def _rate(self, config: RunConfig, kind: str) -> float | None:
        """Returns products a second; None if there is no way to measure them."""
        if (config.device, kind) not in _MEASURED:
            return None
        key = config, kind
        if key not in self._rates:
            self._rates[key] = self._measure_rate(config, kind)
        return self._rates[key]

    def _measure_rate(self, config: RunConfig, kind: str) -> float | None:
        products = [
            (_make_product(config.device, kind, *shape), math.prod(shape))
            for shape in (_BITS_SHAPES if kind == BITS else _DENSE_SHAPES)
        ]
        try:
            return max(count / self._seconds_of(op, config) for op, count in products)
        except CannotRunError:
            return None

    def _seconds_of(self, op: Op, config: RunConfig) -> float:
        x, y = op.inputs[0], op.output
        assert x is not None
        content = schema.write(schema.make_model([Graph("", [x], [y], [op])]))
        ours = lce_ops.is_ours(op)
        cut = Cut(content, (0,), (0,), (x,), (y,), (ours,), ours)
        data = np.zeros(x.shape, NUMPY_TYPES[x.dtype])
        runner = open_part(cut, config, self._host, [data], 1)
        return _least_seconds(runner.time_ns)


def _make_bits_product(pixels: int, depth: int, channels: int) -> Op:
    """Makes a product from bits to bits, which does little but multiply."""
    x = Tensor("x", lce_ops.packed_shape((1, 1, pixels, depth)), "INT32")
    y = Tensor("y", lce_ops.packed_shape((1, 1, pixels, channels)), "INT32")
    filters = lce_ops.constant(np.zeros(lce_ops.packed_shape((channels, 1, 1, depth)), np.int32))
    thresholds = lce_ops.constant(np.zeros(channels, np.int32))
    ones = ("stride_height", "stride_width", "dilation_height_factor", "dilation_width_factor")
    options = {
        **dict.fromkeys(ones, 1),
        "channels_in": depth,
        "fused_activation_function": 0,
        "pad_values": 1,
        "padding": schema.PADDING["VALID"],
    }
    return Op("LceBconv2d", [x, filters, None, None, thresholds], [y], options, custom=True)


def _make_float_convolution(pixels: int, depth: int, channels: int) -> Op:
    x = Tensor("x", (1, 1, pixels, depth), "FLOAT32")
    y = Tensor("y", (1, 1, pixels, channels), "FLOAT32")
    filters = np.ones((channels, 1, 1, depth), np.float32)
    w = Tensor("w", filters.shape, "FLOAT32", filters)
    options = schema.make_options(
        "Conv2DOptions", padding=schema.PADDING["VALID"], strideW=1, strideH=1
    )
    return Op("CONV_2D", [x, w, None], [y], options)


def _make_product(device: str, kind: str, pixels: int, depth: int, channels: int) -> Op:
    if kind == BITS:
        return _make_bits_product(pixels, depth, channels)
    if device == CPU:  # For floats, the engine's convolutions are fastest.
        return _make_float_convolution(pixels, depth, channels)
    scale = None if kind == "FLOAT32" else Quantization((1.0,), (0,))
    weights = np.ones((channels, depth), NUMPY_TYPES[kind])
    x = Tensor("x", (pixels, depth), kind, quantization=scale)
    y = Tensor("y", (pixels, channels), kind, quantization=scale)
    w = Tensor("w", weights.shape, kind, weights, quantization=scale)
    options = schema.make_options("FullyConnectedOptions")
    return Op("FULLY_CONNECTED", [x, w, None], [y], options)


def _measure_bandwidths() -> dict[int, float]:
    """Returns bytes a second by the size of a set: the faster of copying it and searching it."""
    memory = bytearray(b"\1" * _SIZES[-1])
    found: dict[int, float] = {}
    for way in (_time_copy, _time_search) * 2:  # A disturbance may be over the second time.
        for size in _SIZES:
            seconds = way(memory, size, -(-_BYTES_OF_A_RUN // size))
            found[size] = max(found.get(size, 0.0), size / seconds)
    return found


def _time_copy(memory: bytearray, size: int, times: int) -> float:
    """Copies half of a set to the other half, so often that the call itself costs nothing."""
    half = size // 2
    source: Array = np.ndarray((times,), f"V{half}", memory, 0, strides=(0,))
    target: Array = np.ndarray((times,), f"V{half}", memory, half, strides=(0,))
    return _least_seconds(lambda: np.copyto(target, source)) / times


def _time_search(memory: bytearray, size: int, times: int) -> float:
    """Searches for what is not there; the time includes the call itself, some 0.1 us."""

    def search() -> None:
        for _ in itertools.repeat(None, times):
            memory.find(0, 0, size)

    return _least_seconds(search) / times


def _least_seconds(run: Callable[[], object]) -> float:
    """Returns the fastest of many runs: other users of the machine can only make a run slower."""
    samples: list[int] = []
    end = time.perf_counter() + _SECONDS
    while len(samples) < _LEAST_RUNS or (len(samples) < _MOST_RUNS and time.perf_counter() < end):
        start = time.perf_counter_ns()
        run()
        samples.append(time.perf_counter_ns() - start)
    return min(samples) / 1e9
