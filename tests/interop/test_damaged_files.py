"""Truncated and corrupted files: ValueError, or a run if the damage is only in weights; no crash.

Needs what tflite_runtime's environment has and no more: that host follows every offset unchecked.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash_box import CrashBox, load_and_run
from tests.hosts import HOSTS

_MODELS = sorted((Path(__file__).parent / "data").glob("*.tflite"))


@pytest.fixture
def box() -> Iterator[CrashBox]:
    made = CrashBox()
    yield made
    made.close()


@pytest.mark.parametrize("runtime", HOSTS)
def test_truncated_files(runtime, box, full):
    model = min(_MODELS, key=lambda path: path.stat().st_size).read_bytes()
    step = 1 if full else 41
    for size in [*range(0, len(model), step), len(model) - 1]:
        kind, message = box.call(load_and_run, model[:size], runtime)
        assert kind == "ValueError", size
        assert f"model ({size} bytes): expected " in message
        assert "copy or convert it again" in message or "give the content of a .tflite" in message


@pytest.mark.parametrize("runtime", HOSTS)
def test_corrupted_files(runtime, box, full, rng):
    outcomes: Counter[str] = Counter()
    for case in range(5000 if full else 150):
        content = bytearray(_MODELS[case % len(_MODELS)].read_bytes())
        for position in rng.integers(len(content), size=rng.integers(1, 5)):
            content[position] = rng.integers(256)
        try:
            kind, message = box.call(load_and_run, bytes(content), runtime)
        except AssertionError as crash:
            raise AssertionError(f"case {case}") from crash
        assert kind in ("", "ValueError"), (case, kind, message)
        assert bool(kind) == bool(message), case
        outcomes[kind] += 1
    assert min(outcomes[""], outcomes["ValueError"]) > 20, "damage of both sorts was tried"
