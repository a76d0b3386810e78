"""Networks of several kinds become binary where they are binary, and give PyTorch's results."""

from collections import Counter

import numpy as np
import pytest
import torch

import larq_engine
from tests.torch import networks
from tests.torch.cases import CASES
from tests.torch_twins import OPERATORS

# Accumulated rounding, as a share of the largest output.
_TOLERANCE = 1e-4

# Number of images. Rounding may bring the value of one of a network's signs to the other side of 0.
# The conversion's own check follows that, but here it may spoil one image.
_IMAGES = 5


@pytest.mark.parametrize("name", CASES)
def test_network(name):
    case = CASES[name]
    converted = convert_and_compare(case)
    # Only the input's channels are moved.
    transposes = 0 if "channels_last" in dict(case.options) else 1
    operators = Counter(converted.report.operators)
    assert operators.pop("TRANSPOSE", 0) <= transposes
    assert operators == Counter(OPERATORS[name])


def convert_and_compare(case):
    module = networks.with_random_statistics(case.make)
    converted = larq_engine.convert_torch(module, torch.randn(1, *case.shape), **dict(case.options))
    became = {layer.name: layer.became for layer in converted.report.layers}
    others = {became[layer] for layer in became if layer not in case.binary}
    assert {layer for layer in became if became[layer] == "binary"} == set(case.binary)
    assert others <= {"float", "weights only"}
    assert_results_are_those_of_pytorch(case, module, converted)
    return converted


def assert_results_are_those_of_pytorch(case, module, converted):
    images = torch.randn(_IMAGES, *case.shape, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        expected = module(images).numpy()
    if "channels_last" in dict(case.options):
        images = images.movedim(1, -1).contiguous()
    got = larq_engine.Interpreter(converted).predict(images.numpy())
    off = np.abs(got - expected).max(axis=1) / np.abs(expected).max()
    assert np.count_nonzero(off > _TOLERANCE) <= 1, off
