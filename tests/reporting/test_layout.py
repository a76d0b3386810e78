"""In random graphs, operators are below those they read from, and none covers another."""

import numpy as np
import pytest

from larq_engine.placing.profile import ModelIdentity, Op, Profile, Value
from larq_engine.reporting.layout import lay_out


def _random_profile(rng: np.random.Generator) -> Profile:
    """Makes a profile: operators read some values before them, and the last value is an output."""
    count = int(rng.integers(1, 40))
    values = [Value(0, "in", {1: 8}, "input")]
    ops = []
    for number in range(count):
        reads = rng.choice(len(values), size=min(len(values), int(rng.integers(1, 4))))
        kind = "output" if number == count - 1 else "inner"
        values.append(Value(len(values), "v", {1: 8}, kind))
        inputs = tuple(int(value) for value in reads)
        ops.append(Op(number, number, "ADD", "", "", {}, inputs, (values[-1].id,)))
    return Profile("1", ModelIdentity("m"), tuple(values), tuple(ops), (), (), ())


@pytest.mark.parametrize("case", range(100))
def test_random_graphs(case):
    profile = _random_profile(np.random.default_rng(case))
    layout = lay_out(profile)
    assert len(set(zip(layout.rows, layout.columns, strict=True))) == len(profile.ops)
    assert layout.num_columns == max(layout.columns) + 1
    spans = {}
    for edge in layout.edges:
        above = -1 if edge.source is None else layout.rows[edge.source]
        below = layout.num_rows if edge.target is None else layout.rows[edge.target]
        assert above < below
        assert (edge in layout.lanes) == (below - above > 1)
        for row in range(above, below) if edge in layout.lanes else ():
            place = (layout.lanes[edge], row)
            assert place not in spans, "two edges in one lane"
            spans[place] = edge
    read = {(value, op.id) for op in profile.ops for value in op.inputs}
    assert {(edge.value, edge.target) for edge in layout.edges if edge.target is not None} == read
