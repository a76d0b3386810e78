"""Texts can be read in both themes, by contrasts as WCAG 2 defines them."""

import pytest

from larq_engine.reporting.palette import ROLES
from tests.reporting.contrast import contrast, hex_parts

_TEXTS = ["ink", "muted", "accent", *(role for role in ROLES if role.startswith("device-"))]


def _contrast(first: str, second: str) -> float:
    return contrast(hex_parts(first), hex_parts(second))


def test_the_formula():
    assert _contrast("#000000", "#ffffff") == pytest.approx(21)
    assert _contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=1e-3)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["page", "surface"])
def test_texts(theme, ground):
    for role in _TEXTS:
        assert _contrast(ROLES[role][theme], ROLES[ground][theme]) >= 4.5, role


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_lines_that_mean_something(theme):
    for role in ("edge", "focus"):
        assert _contrast(ROLES[role][theme], ROLES["page"][theme]) >= 3, role
