"""The order in which contenders run in rounds, and the end of a benchmark's run."""

import argparse
from pathlib import Path

import pytest

from benchmarks import interleave
from benchmarks.contenders import OURS, XNNPACK_FLOAT32, XNNPACK_INT8, Contender
from benchmarks.interleave import Trial
from benchmarks.shapes import ConvShape

SMALL, LARGE = (ConvShape(name, size=7, channels=32) for name in ("small", "large"))


def trial(contender: Contender, case: ConvShape) -> Trial:
    return Trial(contender, case, lambda: b"", lambda answer: None, "equal")


def test_trials_of_a_case_run_one_after_the_other() -> None:
    trials = [trial(OURS, SMALL), trial(OURS, LARGE), trial(XNNPACK_INT8, SMALL)]
    assert interleave.by_case(trials) == [[trials[0], trials[2]], [trials[1]]]


def test_each_round_begins_with_another_contender() -> None:
    group = [trial(contender, SMALL) for contender in (OURS, XNNPACK_FLOAT32, XNNPACK_INT8)]
    first, second, third = group
    assert [interleave.rotate(group, number) for number in range(4)] == [
        [first, second, third],
        [second, third, first],
        [third, first, second],
        [first, second, third],
    ]


@pytest.mark.parametrize("text", ["0", "-1"])
def test_numbers_of_rounds_and_threads_are_positive(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = interleave.make_parser("convs", "", rounds=10, seconds=0.1)
    for option in ("--rounds", "--threads"):
        with pytest.raises(SystemExit):
            parser.parse_args([option, text])
        assert f"expected at least 1, got {text}" in capsys.readouterr().err


def test_defaults_are_those_of_the_benchmark() -> None:
    options = interleave.make_parser("convs", "", rounds=7, seconds=0.25).parse_args([])
    assert options == argparse.Namespace(rounds=7, seconds=0.25, threads=1, json=None)
    file = interleave.make_parser("convs", "", 7, 0.25).parse_args(["--json", "a.json"]).json
    assert file == Path("a.json")
