"""Keras twins of networks of tests/torch become the same operators; see tests/torch_twins.py."""

import pytest

from larq_engine.converter.api import convert_keras_model
from tests.converter.frameworks import require_keras
from tests.torch_twins import OPERATORS

require_keras()

from tests.converter.keras_twins import TWINS, with_random_statistics  # noqa: E402


@pytest.mark.parametrize("name", OPERATORS)
def test_twins_have_these_operators(name):
    converted = convert_keras_model(with_random_statistics(TWINS[name]), check=False)
    assert converted.report.operators == OPERATORS[name]
