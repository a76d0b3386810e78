"""Tests numbers as people read them."""

import pytest

from larq_engine.python import units


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0 s"),
        (1e-10, "0.100 ns"),
        (1e-9, "1.00 ns"),
        (38.06e-6, "38.1 µs"),
        (999.4e-6, "999 µs"),
        (999.6e-6, "1.00 ms"),
        (1.0, "1.00 s"),
        (1234.0, "1,234 s"),
    ],
)
def test_seconds(value, text):
    assert units.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (602_112, "602 kB"), (4.2e12, "4.20 TB")],
)
def test_sizes(value, text):
    assert units.size(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0 %"), (0.004, "0.4 %"), (0.0996, "10 %"), (1.0, "100 %")]
)
def test_shares(value, text):
    assert units.share(value) == text


def test_others():
    assert units.count(11_500_000) == "11.5 M"
    assert units.rate(1.2e10) == "12.0 GB/s"
    assert units.joules(0.0023) == "2.30 mJ"
    assert units.times(1.125) == "1.12x"
    assert units.amount(0.0023, "J") == "2.30 mJ"
    assert units.amount(0.00234, "J s") == "0.00234 J s"
