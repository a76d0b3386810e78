"""Fixtures that all of the converter's tests share."""

from collections.abc import Iterator

import pytest

from larq_engine.converter import rules_binary
from tests.converter.graphs import Net
from tests.model_builder import ModelBuilder


@pytest.fixture
def net() -> Net:
    """Returns a network without operators, to which the test adds some."""
    return Net()


@pytest.fixture
def builder() -> ModelBuilder:
    return ModelBuilder()


@pytest.fixture(scope="module", autouse=True)
def few_products_are_binary() -> Iterator[None]:
    """Makes layers of few products binary too: small layers stand for large ones in these tests.

    test_few_products.py tests the rule that keeps such layers in float.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules_binary, "_has_few_products", lambda layer: False)
        yield
