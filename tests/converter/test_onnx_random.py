"""Random models of all operators, against ONNX's reference evaluator."""

import pytest

from tests.converter.onnx_models import compare
from tests.converter.onnx_random import random_model

_SEEDS = 200
_AT_ONCE = 20


@pytest.mark.parametrize("first", range(0, _SEEDS, _AT_ONCE))
def test_random_models(first):
    for seed in range(first, first + _AT_ONCE):
        made = random_model(seed)
        content = made.net.finish(*made.outputs)
        # What rounds comes last; everything before is equal to the bit.
        tolerance = 1e-5 if made.rounds else 0.0
        try:
            compare(content, made.inputs, tolerance, batch=made.batch if made.opens else None)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error
