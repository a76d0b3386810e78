"""Measures latency and bandwidth of moving values between the host's memory and a GPU's."""

from collections.abc import Sequence

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.placing.profile import HOST_MEMORY, Link
from larq_engine.profiling.network import Cut
from larq_engine.profiling.run_config import RunConfig, Runner, open_part, seconds_of
from larq_engine.python.library import TRANSFER

# Numbers of pixels of 32 channels: a pixel is 128 bytes as floats, and 4 as bits.
_PIXELS = tuple(8 << shift for shift in range(0, 15, 2))
_CHANNELS = 32
_RUNS = 15

# Bandwidth of a link that moves larger values in the same time: no bound was measured.
UNBOUNDED = 1e15


def measure_links(config: RunConfig, host: str | None, memory: str) -> tuple[Link, Link]:
    """Measures the link to the GPU and the link back, with values of several sizes."""
    there: list[tuple[int, float]] = []
    back: list[tuple[int, float]] = []
    for pixels in _PIXELS:
        for packs in (True, False):
            runner = _open(config, host, pixels, packs)
            samples: dict[bool, list[tuple[int, float]]] = {True: [], False: []}
            for _ in range(_RUNS):
                for step in runner.read_steps():
                    if step["op"] == TRANSFER:
                        is_there = step["device"] == config.device.partition(":")[0]
                        samples[is_there].append((step["bytes"], seconds_of(step)))
            for side, found in ((there, samples[True]), (back, samples[False])):
                sizes = {size for size, _ in found}
                side += [(s, float(np.median([t for z, t in found if z == s]))) for s in sizes]
    return (
        _make_link(HOST_MEMORY, memory, there),
        _make_link(memory, HOST_MEMORY, back),
    )


def _open(config: RunConfig, host: str | None, pixels: int, packs: bool) -> Runner:
    """Opens a model that packs or unpacks bits: one way moves 32 times the other's bytes."""
    floats = Tensor("floats", (1, 1, pixels, _CHANNELS), "FLOAT32")
    bits = Tensor("bits", lce_ops.packed_shape(floats.shape), "INT32")
    x, y = (floats, bits) if packs else (bits, floats)
    op = Op("LceQuantize" if packs else "LceDequantize", [x], [y], custom=True)
    model = schema.make_model([Graph("", [x], [y], [op])])
    cut = Cut(schema.write(model), (0,), (0,), (x,), (y,), (True,), True)
    data = np.zeros(x.shape, np.float32 if packs else np.int32)
    return open_part(cut, config, host, [data], 1)


def _make_link(source: str, target: str, times: Sequence[tuple[int, float]]) -> Link:
    latency, bandwidth = fit(times)
    return Link(source, target, latency, bandwidth)


def fit(times: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Fits latency and bytes a second to sizes and seconds, with the least relative error."""
    sizes = np.array([size for size, _ in times], float)
    seconds = np.array([max(second, 1e-12) for _, second in times])
    columns = np.stack([1 / seconds, sizes / seconds], axis=1)
    (latency, per_byte), *_ = np.linalg.lstsq(columns, np.ones(len(times)), rcond=None)
    if latency < 0:
        latency = 0.0
        per_byte = float(np.sum(sizes / seconds) / np.sum((sizes / seconds) ** 2))
    if per_byte <= 1 / UNBOUNDED:
        return float(np.sum(1 / seconds) / np.sum(1 / seconds**2)), UNBOUNDED
    return float(latency), float(1 / per_byte)
