"""Tests a placed model with layers that two devices compute at the same time."""

import numpy as np
import pytest

import larq_engine
from larq_engine.command_line.verify_placement import verify
from larq_engine.converter.example import example_model
from larq_engine.placing.api import PlacedModel
from larq_engine.placing.profile_file import parse_profile
from tests.placing.profiles import KERNELS, encoded, profile_with_gpu


@pytest.fixture(scope="module")
def model() -> bytes:
    return bytes(example_model())


def _placed(model: bytes, seconds: dict[str, float]) -> PlacedModel:
    return larq_engine.place(model, parse_profile(encoded(profile_with_gpu(model, seconds))))


@pytest.mark.parametrize(
    ("seconds", "halves"),
    [
        ({"cpu": 1e-4, "cuda": 3e-4}, {"cpu": 96, "cuda": 32}),
        ({"cpu": 3e-4, "cuda": 1e-4}, {"cpu": 32, "cuda": 96}),
    ],
)
def test_the_placed_model_runs_as_it_says(
    model: bytes, seconds: dict[str, float], halves: dict[str, int]
) -> None:
    placed = _placed(model, seconds)
    split = [op for op in placed.placement.ops if op.split is not None]
    assert [op.op for op in split] == ["LceBconv2d"] * len(split) and split
    faster = min(seconds, key=lambda device: seconds[device])
    other = max(seconds, key=lambda device: seconds[device])
    item = f"{faster}:{KERNELS[faster]}@{halves[faster]}+{other}:{KERNELS[other]}"
    assert f"{split[0].node}:{item}" in placed.placement.option.split(",")
    image = np.random.default_rng(0).normal(size=(1, 96, 96, 3)).astype(np.float32)
    with larq_engine.Interpreter(model, device="cpu") as alone:
        expected = alone.predict(image)
    with larq_engine.Interpreter(placed, device="cuda") as interpreter:
        np.testing.assert_array_equal(interpreter.predict(image), expected)
        table = interpreter.profile(image, runs=1)
    for op in split:
        rows = [row for row in table if row.node == op.node and row.op != "TRANSFER"]
        assert [(row.op, row.device) for row in rows] == [
            ("LceBconv2d", "cuda"),
            ("LceBconv2d", "cpu"),
            ("CONCATENATION", faster),
        ]
        assert [row.kernel for row in rows[:2]] == [KERNELS["cuda"], KERNELS["cpu"]]
        assert rows[0].gmac_per_s is not None and all(row.calls == 1 for row in rows)


def test_what_was_predicted_stands_beside_what_it_takes(model: bytes) -> None:
    placed = _placed(model, {"cpu": 1e-4, "cuda": 3e-4})
    lines = verify(placed, placed.placement).splitlines()
    for op in placed.placement.ops:
        if op.split is not None:
            (line,) = (line for line in lines if line.split()[:1] == [str(op.node)])
            assert "  engine, CPU + engine, GPU  " in line
            assert line.split()[-2] == "0.0750"
