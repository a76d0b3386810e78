"""Counts the least work of operators, and the least time that it takes."""

import itertools

import numpy as np
import pytest

import larq_engine
from larq_engine.profiling.limits import Limits
from larq_engine.profiling.network import Network
from larq_engine.profiling.reference import Reference
from larq_engine.profiling.work import BITS, Work, count_work
from larq_engine.python import library
from tests.model_builder import PADDING, ModelBuilder
from tests.profiling.models import KINDS, small_model

_IMAGE, _FLOATS, _PACKED = 8 * 8 * 3 * 4, 8 * 8 * 32 * 4, 8 * 8 * 4
_BINARY = 8 * 8 * 32 * 9 * 32
_FILTERS = 32 * 9 * 4 + 2 * 32 * 4  # with a multiplier and a bias for each filter


@pytest.fixture(scope="module")
def limits():
    return Limits(None)


def _work(model, positions, times=1):
    network = Network(model)
    return count_work(network, positions, Reference(network, None).values, times)


@pytest.mark.parametrize(
    ("positions", "products", "read", "constant", "written"),
    [
        ((0,), {"FLOAT32": 8 * 8 * 32 * 27}, _IMAGE, 32 * 27 * 4 + 32 * 4, _FLOATS),
        ((1,), {}, _FLOATS, 0, _PACKED),
        ((2,), {BITS: _BINARY}, _PACKED, _FILTERS, _FLOATS),
        ((3,), {}, 2 * _FLOATS, 0, _FLOATS),
        # The output can be in the memory of the input.
        ((7,), {}, 0, 0, 0),
        # Weights that an operator unpacks count as the floats that are multiplied.
        ((8,), {"FLOAT32": 64 * 32 * 10}, _FLOATS, 64 * 32 * 10 * 4, 10 * 4),
        # Values in between need not leave the run.
        ((2, 3, 4, 5), {BITS: _BINARY}, _PACKED + _FLOATS, _FILTERS + 32 * 4, _PACKED),
        # The sum, which is not part of this run, reads the floats.
        ((0, 1), {"FLOAT32": 8 * 8 * 32 * 27}, _IMAGE, 32 * 27 * 4 + 32 * 4, _FLOATS + _PACKED),
    ],
)
def test_work(positions, products, read, constant, written):
    assert _work(small_model(), positions) == Work(products, read + constant, written)
    several = {kind: 3 * count for kind, count in products.items()}
    expected = Work(several, 3 * read + constant, 3 * written)
    assert _work(small_model(), positions, times=3) == expected


def _one_operator(kind, shape, made, constants=(), dtype=np.float32, **options):
    builder = ModelBuilder()
    x, y = builder.tensor(shape, dtype), builder.tensor(made, dtype)
    builder.builtin(kind, [x, *map(builder.constant, constants)], [y], **options)
    return builder.finish([x], [y])


@pytest.mark.parametrize("stride", [1, 2, 4])
def test_pixels_between_strides_are_not_read(stride):
    side = 8 // stride
    filters, bias = np.ones((16, 1, 1, 4), np.float32), np.zeros(16, np.float32)
    steps = {"strideH": stride, "strideW": stride, "padding": PADDING["SAME"]}
    model = _one_operator("CONV_2D", (1, 8, 8, 4), (1, side, side, 16), (filters, bias), **steps)
    work = _work(model, (0,))
    assert work.read == side**2 * 4 * 4 + filters.nbytes + bias.nbytes
    assert work.written == side**2 * 16 * 4
    window = {"filterHeight": 1, "filterWidth": 1}
    pool = _one_operator("AVERAGE_POOL_2D", (1, 8, 8, 4), (1, side, side, 4), **steps, **window)
    assert _work(pool, (0,)).read == side**2 * 4 * 4


def test_what_an_operator_may_not_need_is_not_counted():
    begin, size = np.array([0, 0], np.int32), np.array([1, 5], np.int32)
    model = _one_operator("SLICE", (64, 5), (1, 5), (begin, size))
    assert _work(model, (0,)) == Work({}, 0, 5 * 4)
    unknown = _one_operator("LOG_SOFTMAX", (64, 5), (64, 5))
    assert _work(unknown, (0,)) == Work({}, 0, 0)


@pytest.mark.parametrize(("device", "kind"), [("cpu", BITS), ("host", "FLOAT32"), ("host", "INT8")])
def test_the_longest_of_products_and_bytes(limits, device, kind):
    def seconds(products, read, written=0, threads=1):
        return limits.seconds(Work({kind: products}, read, written), device, threads)

    product, memory = seconds(10**9, 0), seconds(0, 10**9)
    assert product > 0
    assert seconds(2 * 10**9, 0) == pytest.approx(2 * product)
    assert seconds(10**9, 1, 1) == product, "all go on at the same time"
    assert seconds(1, 10**9, 10**9) == seconds(0, 1, 10**9) == memory
    times = [seconds(0, 1 << shift) for shift in range(10, 30)]
    assert all(b >= 2 * a * (1 - 1e-9) for a, b in itertools.pairwise(times)), "caches are faster"
    assert seconds(10**9, 0, threads=2) <= product
    assert seconds(0, 10**9, threads=2) <= memory
    assert seconds(10**9, 0, threads=10**6) > 0, "no more than there are cores"
    assert seconds(0, 0) is None


def test_without_a_measurement_there_is_no_limit(limits):
    for device, kind in (("cuda", BITS), ("cuda:1", "FLOAT32"), ("host", "INT16"), ("host", BITS)):
        assert limits.seconds(Work({kind: 1000}, 1000, 0), device, 1) is None
    assert limits.seconds(Work({BITS: 10, "FLOAT16": 10}, 1000, 0), "cpu", 1) is None
    assert limits.seconds(Work({}, 1000, 0), "cuda", 1) is None


def test_each_kernel_has_its_own_limit():
    limits = Limits(None)
    assert limits.describe() == {}
    work = Work({BITS: 10**9}, 1, 1)
    alone = {row: limits.seconds(work, "cpu", 1, row) for row in library.kernels()}
    assert min(alone.values()) > 0
    assert len(set(alone.values())) == len(alone)
    # The share of each kernel is unknown, so the limit is that of the fastest.
    assert limits.seconds(work, "cpu", 1, "+".join(alone)) == min(alone.values())
    assert limits.seconds(work, "cpu", 1, "no such row") is None
    description = limits.describe()
    assert all(row in description["best products, one thread"] for row in alone)
    assert "64 KiB" in description["best memory, one thread"]


def test_a_profile_has_limits():
    result = larq_engine.profile(
        small_model(), devices=["cpu", "host"], rounds=1, threads=[1, 2], batch=[1, 4]
    )
    rows = result.profile.measurements
    without = {(KINDS[m.ops[0]], m.device) for m in rows if m.limit_seconds is None}
    # The rate of summing floats with the signs of weights is not measured.
    assert without <= {("RESHAPE", "host"), ("FULLY_CONNECTED", "cpu")}
    assert all(m.limit_seconds is None for m in rows if "signed_sums" in (m.kernel or ""))
    assert all(m.limit_seconds != 0 for m in rows)
    for device in ("host", "cpu"):
        assert f"FLOAT32 on {device}" in result.profile.machine["best products, one thread"]
    assert "limit %" in str(result)
    assert b"Physical limits" in larq_engine.report(result).to_html()
