"""Tests the batch that a profile recommends."""

from dataclasses import replace

import pytest

from larq_engine.batch.best_batch import best_batch
from larq_engine.placing.profile import Profile, Timing, Total
from larq_engine.placing.profile_file import write_profile
from tests.placing.profiles import profile


def _profile(*totals: tuple[int, int, float]) -> Profile:
    """Makes a profile with totals of batch, threads and seconds."""
    made = (Total(batch, "cpu", threads, Timing(median)) for batch, threads, median in totals)
    return replace(profile(), totals=tuple(made))


def test_least_time_a_sample():
    assert best_batch(_profile((1, 1, 1.0), (8, 1, 4.0), (64, 1, 64.0))) == 8


def test_the_smaller_of_equal_ones():
    assert best_batch(_profile((64, 1, 32.0), (8, 1, 4.0))) == 8


def test_threads_are_the_workers():
    measured = _profile((1, 1, 1.0), (8, 1, 9.0), (1, 2, 0.9), (8, 2, 0.8))
    assert best_batch(measured, threads=1) == 1
    assert best_batch(measured, threads=2) == best_batch(measured, threads=16) == 8


def test_the_file(tmp_path):
    path = tmp_path / "profile.json"
    write_profile(_profile((4, 1, 1.0)), path)
    assert best_batch(path) == 4


def test_without_totals():
    with pytest.raises(ValueError, match=r"expected times of the whole model, got none"):
        best_batch(_profile())
