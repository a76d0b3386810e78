"""What the converter's tests share."""

from collections.abc import Iterator

import pytest

from larq_engine.converter import rules_binary


@pytest.fixture(scope="module", autouse=True)
def few_products_are_binary() -> Iterator[None]:
    """Small layers stand for large ones here; test_few_products.py has the rule as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules_binary, "_has_few_products", lambda layer: False)
        yield
