"""Rules are applied until none applies any more, and this comes to an end."""

from dataclasses import replace

import numpy as np

from larq_engine.converter import convert as stages
from tests.converter.graphs import convert_and_compare, edges


def test_rule_that_never_ends(net, rng, monkeypatch):
    def turn(op, graph, options):
        return [replace(op, inputs=op.inputs[::-1])]

    monkeypatch.setattr(stages, "_FLOAT_STAGES", [{turn: ("ADD",)}, *stages._FLOAT_STAGES])
    y = net.op("ADD", net.input(2, 3), np.array([1.0, 2.0, 4.0]))
    converted = convert_and_compare(net, y, inputs=[edges(rng, 2, 3)])
    assert converted.kinds == ["ADD"]
