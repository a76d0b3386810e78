"""`larq-engine place --verify` shows measured times beside the predicted ones."""

from dataclasses import replace

import numpy as np
import pytest

import larq_engine
from larq_engine.command_line.verify_placement import run_in_turns, verify
from larq_engine.placing.api import PlacedModel
from larq_engine.placing.unplaced import Verified
from larq_engine.profiling import turns
from tests.model_builder import ModelBuilder
from tests.profiling.models import small_model
from tests.python.test_placement import branch_model


def _placed(
    model: bytes, *, batch: list[int] | None = None, ours: tuple[int, ...] = ()
) -> PlacedModel:
    """Places a model with the operators `ours` on the CPU for sure."""
    profile = larq_engine.profile(model, rounds=1, batch=batch).profile
    kept = [m for m in profile.measurements if m.device != "host" or not {*m.ops} & {*ours}]
    return larq_engine.place(model, replace(profile, measurements=tuple(kept)))


def _rows(placed: PlacedModel) -> dict[str, float]:
    """Returns rows of predictions, by number and operator, or by what else a row begins with."""
    lines = verify(placed, placed.placement).splitlines()[2:]
    return {line.split("  ")[0].strip() or line.strip().split("  ")[0]: line for line in lines}


def _predicted(line: str) -> float:
    return float(line.split()[-2])


@pytest.mark.parametrize("batch", [1, 4])
def test_what_a_step_absorbs_is_in_its_row(batch):
    placed = _placed(small_model(), batch=[batch], ours=(4,))
    rows = _rows(placed)
    ops = {op.node: op for op in placed.placement.ops}
    assert "MUL+LceQuantize" in rows["4+5"]
    assert _predicted(rows["4+5"]) == pytest.approx(
        (ops[4].seconds + ops[5].seconds) * 1e3, abs=6e-5
    )
    left = [op.seconds for op in ops.values() if op.device == "host"]
    assert _predicted(rows["the rest, and moves"]) == pytest.approx(sum(left) * 1e3, abs=6e-5)


def test_nodes_of_other_graphs_are_those_of_their_caller():
    placed = _placed(branch_model())
    rows = _rows(placed)
    assert list(rows) == ["1", "the rest, and moves", "sum, the engine's clock running"]
    (called,) = (op for op in placed.placement.ops if op.op == "IF")
    assert _predicted(rows["the rest, and moves"]) == pytest.approx(called.seconds * 1e3, abs=6e-5)


def test_inputs_that_share_no_batch_keep_their_shapes():
    builder = ModelBuilder()
    x, y, total = builder.tensor((4, 8)), builder.tensor((8, 32)), builder.tensor((4, 32))
    bits = builder.tensor((4, 1), np.int32)
    builder.builtin("BATCH_MATMUL", [x, y], [total])
    builder.custom("LceQuantize", [total], [bits])
    assert "1" in _rows(_placed(builder.finish([x, y], [bits])))


def test_the_placed_model_and_the_same_without_a_placement_take_turns(monkeypatch):
    """Both run with the placement's batch; only one of them follows the file's placement."""
    monkeypatch.setattr(turns, "_TURN_SECONDS", 0.0)
    opened = []

    class Spy(larq_engine.Interpreter):
        def __init__(self, model, **options):
            super().__init__(model, **options)
            opened.append((self, options.get("placement", "")))

        def close(self):
            opened.append(self.input_shapes)
            super().close()

    monkeypatch.setattr(turns, "Interpreter", Spy)
    placed = _placed(small_model(), batch=[4], ours=(4,))
    found = run_in_turns(placed, placed.placement)
    placements = [entry[1] for entry in opened if isinstance(entry, tuple)]
    assert placements == ["", "none"] * turns._ROUNDS
    assert {shapes[0][0] for shapes in opened if isinstance(shapes, list)} == {4}
    assert min(found.seconds, found.unplaced_seconds) > 0
    assert found.lowest <= found.highest
    again = placed.verified(found)
    assert again.placement.verified == found
    assert str(again.placement).splitlines()[0].endswith("measured in turns")


@pytest.mark.parametrize(
    ("rounds", "said"),
    [
        ((1.02, 1.1), ": faster)"),
        ((0.9, 0.98), "SLOWER: keep"),
        ((0.99, 1.2), "no sure difference"),
    ],
)
def test_a_gain_is_told_with_what_is_sure_of_it(rounds, said):
    found = Verified(8e-6, 8e-6 * sum(rounds) / 2, *rounds)
    assert said in found.text and found.text.startswith(f"{sum(rounds) / 2:.2f}x as fast")
