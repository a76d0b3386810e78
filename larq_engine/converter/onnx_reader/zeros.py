"""Counts zeros at signs that have another value for 0 in the file than in ONNX."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from larq_engine.converter.check_inputs import random_inputs
from larq_engine.converter.check_run import PartRun
from larq_engine.converter.graph import Model, Tensor
from larq_engine.converter.third_values import PlainSign, describe_met, value_before_sign
from larq_engine.python.errors import host_errors

_SEED = 0


def count_zeros(made: Model, chosen: Mapping[Tensor, PlainSign]) -> str:
    """Runs a file on random inputs and describes zeros that the chosen signs met, if any."""
    graph = made.graphs[0]
    before = [(value_before_sign(tensor), sign.layer) for tensor, sign in chosen.items()]
    layers = [(tensor, layer) for tensor, layer in before if tensor is not None]
    if not layers:
        return ""
    run = PartRun(made, graph.inputs, graph.ops, [tensor for tensor, _ in layers])
    given = random_inputs(graph, -1.0, 1.0, np.random.default_rng(_SEED))
    zeros, values = Counter[str](), Counter[str]()
    with host_errors("self-check (check=False leaves it out)"):
        run.run(dict(zip(graph.inputs, given, strict=True)))
        for tensor, layer in layers:
            value = run.value(tensor)
            zeros[layer] += int((value == 0).sum())
            values[layer] += value.size
    return describe_met("Random inputs", zeros, values)
