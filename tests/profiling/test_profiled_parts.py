"""Tests the parts of which a profile is made."""

import os

import numpy as np
import pytest

from larq_engine.profiling import energy
from larq_engine.profiling.compare import find_difference
from larq_engine.profiling.links import fit
from larq_engine.profiling.network import Network
from larq_engine.profiling.noise import Noise
from larq_engine.profiling.run_config import RunConfig, open_part
from larq_engine.python.devices import HOST
from tests.model_builder import ModelBuilder
from tests.profiling.models import NODES, small_model


def test_cuts_have_what_their_operators_need():
    network = Network(small_model())
    assert network.nodes == NODES
    dense = network.cut((8,))
    assert dense.needs_engine and dense.nodes == (1,), "the weights' operator comes first"
    run = network.cut((2, 3, 4, 5))
    assert [t.shape for t in run.given] == [(1, 8, 8, 1), (1, 8, 8, 32)]
    assert len(run.wanted) == 1, "nothing else reads the values in between"
    assert run.is_ours == (True, False, False, True)
    assert len(network.whole(keep_all=True).wanted) == len(NODES)


def test_an_input_without_dimensions_is_given_too():
    builder = ModelBuilder()
    x, scalar, y = builder.tensor((1, 4)), builder.tensor(()), builder.tensor((1, 4))
    builder.builtin("ADD", [x, scalar], [y])
    network = Network(builder.finish([x, scalar], [y]))
    values = [np.arange(4, dtype=np.float32).reshape(1, 4), np.array(3.5, np.float32)]
    runner = open_part(network.cut((0,)), RunConfig(HOST, 1), None, values, 1)
    np.testing.assert_array_equal(runner.outputs()[0], values[0] + values[1])


_FLOATS = np.linspace(-2, 2, 1000, dtype=np.float32)
_WORDS = np.arange(10000, dtype=np.int32)


def _changed(array, by, places=1):
    made = array.copy()
    made[:places] += np.array(by, array.dtype)
    return made


@pytest.mark.parametrize(
    ("got", "expected", "rounds", "is_right"),
    [
        (_FLOATS, _FLOATS, False, True),
        (_changed(_FLOATS, 1e-4), _FLOATS, False, True),
        (_changed(_FLOATS, 1e-3), _FLOATS, False, False),
        (_changed(_FLOATS, np.nan), _FLOATS, False, False),
        (_changed(_FLOATS, np.nan), _changed(_FLOATS, np.nan), False, True),
        (_changed(_FLOATS, np.inf), _changed(_FLOATS, np.inf), False, True),
        (_changed(_FLOATS, -np.inf), _changed(_FLOATS, np.inf), False, False),
        (_changed(_WORDS, 1), _WORDS, False, False),
        (_changed(_WORDS, 1, 10), _WORDS, True, True),
        (_changed(_WORDS, 1, 11), _WORDS, True, False),
        (_WORDS.astype(np.int64), _WORDS, True, False),
        (np.array([3, 4], np.int8), np.array([4, 4], np.int8), True, True),
        (np.array([3, 4], np.int8), np.array([4, 4], np.int8), False, False),
        (np.array([-128, 4], np.int8), np.array([127, 4], np.int8), True, False),
        (np.zeros((2, 3), np.float32), np.zeros((2, 4), np.float32), False, False),
        (np.zeros((0,), np.float32), np.zeros((0,), np.float32), False, True),
    ],
)
def test_what_counts_as_right(got, expected, rounds, is_right):
    assert (find_difference([got], [expected], rounds=rounds) is None) == is_right


def test_several_times_the_same_batch_is_compared_with_one():
    twice = np.concatenate([_FLOATS, _FLOATS])
    assert find_difference([twice], [_FLOATS], rounds=False) is None
    twice[-1] = 0
    assert "output 0" in find_difference([twice], [_FLOATS], rounds=False)


@pytest.mark.parametrize(("latency", "bandwidth"), [(8e-6, 2e10), (0.0, 5e9), (1e-3, 1e12)])
def test_links_are_found_again(latency, bandwidth):
    sizes = [32, 4096, 1 << 16, 1 << 20, 1 << 24]
    found = fit([(size, latency + size / bandwidth) for size in sizes])
    assert found == pytest.approx((latency, bandwidth), rel=1e-3, abs=1e-12)


def test_links_are_never_negative():
    for times in ([(10, 5.0), (1000, 1.0)], [(10, 0.0), (1000, 0.0)], [(10, 1e-9), (1000, 1.0)]):
        latency, bandwidth = fit(times)
        assert latency >= 0
        assert 0 < bandwidth < np.inf


def test_a_sensor_of_energy(tmp_path):
    counter = tmp_path / "energy1_input"
    counter.write_text("1000000\n")

    def work():
        counter.write_text(str(int(counter.read_text()) + 2_000_000))

    meter = energy.cpu_meter(counter)
    assert meter.measure(work) == pytest.approx(2)
    assert str(counter) in meter.source


def test_a_counter_that_began_anew_tells_nothing(tmp_path):
    counter = tmp_path / "energy_uj"
    counter.write_text("1000000")
    assert energy.cpu_meter(counter).measure(lambda: counter.write_text("5")) is None


@pytest.mark.parametrize(("name", "factor"), [("power1_input", 1e-6), ("in_power0_input", 1e-3)])
def test_a_sensor_of_power(tmp_path, name, factor):
    sensor = tmp_path / name
    sensor.write_text("4000")
    runs = []
    joules = energy.cpu_meter(sensor).measure(lambda: runs.append(1))
    seconds = joules * len(runs) / (4000 * factor)
    assert seconds >= energy._SECONDS


def test_sensors_that_are_none(tmp_path):
    (tmp_path / "power1_input").write_text("many")
    (tmp_path / "temp1_input").write_text("40000")
    with pytest.raises(ValueError, match=r"power1_input': expected a sensor's file, got could not"):
        energy.cpu_meter(tmp_path / "power1_input")
    with pytest.raises(ValueError, match=r"begins with energy, power, in_power, got 'temp1_input'"):
        energy.cpu_meter(tmp_path / "temp1_input")


def test_nothing_is_made_up_without_counters(monkeypatch, tmp_path):
    monkeypatch.setattr(energy, "_RAPL", tmp_path / "none")
    meter = energy.cpu_meter(None)
    assert meter.source == f"not available: {tmp_path / 'none'} has no counters"
    assert meter.measure(os.getpid) is None


def test_rapl(monkeypatch, tmp_path):
    for package in (0, 1):
        folder = tmp_path / f"intel-rapl:{package}"
        folder.mkdir()
        (folder / "energy_uj").write_text("3000000")
    monkeypatch.setattr(energy, "_RAPL", tmp_path)
    meter = energy.cpu_meter(None)
    assert meter.source.startswith("RAPL of intel-rapl:0, intel-rapl:1")
    assert meter.measure(os.getpid) == 0


def test_noise():
    noise = Noise()
    assert str(noise) == "unknown: nothing measured"
    noise.add(100, 99)
    assert str(noise) == "quiet: time held off the core 1.0 %"
    noise.add(100, 51)
    assert str(noise) == "NOISY: time held off the core 25.0 %"
