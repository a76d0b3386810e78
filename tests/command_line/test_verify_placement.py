"""`larq-engine place --verify`: what was predicted stands beside what was measured of the same."""

from dataclasses import replace

import numpy as np
import pytest

import larq_engine
from larq_engine.command_line.verify_placement import verify
from larq_engine.placing.api import PlacedModel
from tests.model_builder import ModelBuilder
from tests.profiling.models import small_model
from tests.python.test_placement import branch_model


def _placed(
    model: bytes, *, batch: list[int] | None = None, ours: tuple[int, ...] = ()
) -> PlacedModel:
    """With the operators `ours` on the CPU for sure."""
    profile = larq_engine.profile(model, rounds=1, batch=batch).profile
    kept = [m for m in profile.measurements if m.device != "host" or not {*m.ops} & {*ours}]
    return larq_engine.place(model, replace(profile, measurements=tuple(kept)))


def _rows(placed: PlacedModel) -> dict[str, float]:
    """What was predicted, by number and operator, or by what else a row begins with."""
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
    assert _predicted(rows["host and moves"]) == pytest.approx(sum(left) * 1e3, abs=6e-5)


def test_nodes_of_other_graphs_are_those_of_their_caller():
    placed = _placed(branch_model())
    rows = _rows(placed)
    assert list(rows) == ["1", "host and moves", "in all, in ms"]
    (called,) = (op for op in placed.placement.ops if op.op == "IF")
    assert _predicted(rows["host and moves"]) == pytest.approx(called.seconds * 1e3, abs=6e-5)


def test_inputs_that_share_no_batch_keep_their_shapes():
    builder = ModelBuilder()
    x, y, total = builder.tensor((4, 8)), builder.tensor((8, 32)), builder.tensor((4, 32))
    bits = builder.tensor((4, 1), np.int32)
    builder.builtin("BATCH_MATMUL", [x, y], [total])
    builder.custom("LceQuantize", [total], [bits])
    assert "1" in _rows(_placed(builder.finish([x, y], [bits])))
