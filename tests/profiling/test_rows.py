"""Samples become rows: within whole models, and cut out."""

import pytest

from larq_engine.placing.profile import Timing, Total
from larq_engine.profiling.rows import Key, Rows
from larq_engine.profiling.run_config import RunConfig
from larq_engine.profiling.whole import Layout, ModelRun, WholeTimes

# Operators 0 and 3 are the host's; 1 and 2 are the engine's, which runs them in one go.
_FUSED = WholeTimes(
    ModelRun(RunConfig("cpu", 1), True, 1),
    Layout({(1, 2): "row"}, {1: "cpu", 2: "cpu"}, (0, 3)),
    seconds=[10.0],
    groups={(1, 2): [4.0]},
    rest=[6.0],
)
_SINGLE = WholeTimes(
    ModelRun(RunConfig("cpu", 1), False, 1),
    Layout({(1,): "row", (2,): None}, {1: "cpu", 2: "cpu"}, (0, 3)),
    seconds=[11.0],
    groups={(1,): [3.0], (2,): [2.0]},
    rest=[6.0],
)
_HOST = WholeTimes(
    ModelRun(RunConfig("host", 1), True, 1),
    Layout({(1,): "row"}, {1: "cpu"}, (0, 2, 3)),
    seconds=[20.0],
    groups={(1,): [3.5]},
    rest=[16.0],
)


def _key(ops, device, kernel=None):
    return Key(ops, device, 1, 1, kernel)


_OURS = {
    _key((1, 2), "cpu", "row"),
    _key((1,), "cpu", "row"),
    _key((2,), "cpu"),
}


def _timing(seconds):
    return Timing(seconds, seconds / 2, seconds * 2, 3)


def _cut(**changes):
    times = {
        _key((0,), "host"): 8.0,
        _key((3,), "host"): 4.0,
        _key((2,), "host"): 20.0,
        _key((3,), "cpu"): 6.0,
    }
    return {key: _timing(seconds) for key, seconds in {**times, **changes}.items()}


def _seconds(rows):
    return {
        (key.ops, key.device): (row.seconds.median, row.cut_seconds)
        for key, row in rows.rows.items()
    }


def test_the_engines_rows_are_within_the_model_and_the_hosts_in_proportion():
    rows = Rows([_FUSED, _SINGLE, _HOST], _cut(), _OURS | set(_cut()), {1: 1})
    assert _seconds(rows) == {
        ((1, 2), "cpu"): (4.0, None),
        ((1,), "cpu"): (3.0, None),  # from the first model that has it, not from the host's
        ((2,), "cpu"): (2.0, None),
        ((0,), "host"): (4.0, 8.0),  # 6 of the fused model for 12 cut out
        ((3,), "host"): (2.0, 4.0),
        ((2,), "host"): (10.0, 20.0),  # 16 of the host's model for 32 cut out
        ((3,), "cpu"): (3.0, 6.0),  # scaled like the host's
    }
    timing = rows.rows[_key((0,), "host")].seconds
    assert (timing.q1, timing.q3, timing.runs) == (2.0, 8.0, 3)


@pytest.mark.parametrize(
    ("whole", "sum_of_rows", "cut"), [(_FUSED, 10.0, 16.0), (_HOST, 19.0, 35.0)]
)
def test_what_a_whole_model_is_made_of(whole, sum_of_rows, cut):
    rows = Rows([_FUSED, _SINGLE, _HOST], _cut(), _OURS | set(_cut()), {1: 1})
    total = Total(1, whole.model_run.config.device, 1, Timing(whole.seconds[0]))
    share = rows.share(whole, total, [])
    assert (share.rows, share.cut, share.missing) == (sum_of_rows, cut, ())
    assert share.percent == pytest.approx(100 * (sum_of_rows / whole.seconds[0] - 1))


def test_what_is_missing_is_said_and_nothing_stands_in_for_it():
    """A part of the time that is left for the host is of an operator that has no time."""
    cut = _cut()
    del cut[_key((3,), "host")]
    rows = Rows([_FUSED, _SINGLE, _HOST], cut, {_key((1,), "cpu", "row")} | set(cut), {1: 1})
    assert _seconds(rows)[(0,), "host"] == (8.0, 8.0)
    share = rows.share(_FUSED, Total(1, "cpu", 1, Timing(10.0)), [])
    assert share.missing == (1, 2, 3)
    assert share.rows == 8.0
