"""Models in turns all run equally often, and each comes first in some turn."""

from collections import Counter

import numpy as np
import pytest

from benchmarks import turns


class Counting:
    def __init__(self, name, calls):
        self.name, self.calls = name, calls

    def predict(self, image):
        self.calls.append(self.name)
        return image


def test_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_SECONDS", 0.0)  # Each turn is then only the run that warms up.
    monkeypatch.setattr(np, "median", lambda sampled: len(sampled))
    calls: list[str] = []
    opened = [Counting(name, calls) for name in "abc"]
    assert turns.time_round(opened, np.zeros(1)) == [0, 0, 0]
    assert set(Counter(calls).values()) == {4}
    firsts = {calls[start] for start in range(0, len(calls), 3)}
    assert firsts == {"a", "b", "c"}
    assert not opened
