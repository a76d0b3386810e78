"""A share of each test's cases runs, and one test of each group that is marked as drawn."""

from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from tests import samples


@dataclass(frozen=True)
class Item:
    nodeid: str
    group: str = ""
    host: str = ""

    @property
    def callspec(self) -> Any:
        return SimpleNamespace(params={"host": self.host})

    def get_closest_marker(self, name: str) -> Any:
        return pytest.mark.drawn(self.group) if name == "drawn" and self.group else None


@dataclass(frozen=True)
class Config:
    options: dict[str, Any] = field(default_factory=dict)
    args: tuple[str, ...] = ("tests/torch",)

    def getoption(self, name: str) -> Any:
        return {"--full": False, "--one-in": 1, "--sample": 1, **self.options}[name]


CASES = [Item(f"t.py::test_many[{case}]") for case in range(10)]
ITEMS = [Item("t.py::test_one"), *CASES, Item("t.py::test_two[a]"), Item("t.py::test_two[b]")]


def left(items: list[Item] = ITEMS, config: Config | None = None, **options: Any) -> list[Item]:
    return samples.drawn(config or Config(options), items)


def count_cases(items: list[Item]) -> Counter[str]:
    return Counter(item.nodeid.partition("[")[0] for item in items)


def test_one_in_n_cases_of_each_test_and_at_least_one():
    counts = count_cases(left(**{"--one-in": 3}))
    assert counts == {"t.py::test_one": 1, "t.py::test_many": 4, "t.py::test_two": 1}


def test_each_host_has_its_share():
    hosts = ("tensorflow", "tflite_runtime")
    items = [Item(f"t.py::test_host[{host}]", host=host) for host in hosts]
    assert left(items, **{"--one-in": 3}) == items


def test_the_order_stays_and_another_sample_has_other_cases():
    samples_drawn = [left(**{"--one-in": 3, "--sample": sample}) for sample in range(20)]
    for items in samples_drawn:
        assert items == sorted(items, key=ITEMS.index)
    assert {item for items in samples_drawn for item in items} == set(ITEMS)


@pytest.mark.parametrize(
    "config",
    [
        Config(),
        Config({"--one-in": 3, "--full": True}),
        Config({"--one-in": 3}, args=("t.py::test_many",)),
    ],
    ids=["by default", "full", "named"],
)
def test_all_cases(config):
    assert left(config=config) == ITEMS


def test_one_test_of_each_group():
    items = [Item("t.py::test_learns", "slow"), *CASES, Item("t.py::test_learns_too", "slow")]
    for sample in range(5):
        counts = count_cases(left(items, **{"--sample": sample}))
        assert counts["t.py::test_many"] == len(CASES)
        assert counts["t.py::test_learns"] + counts["t.py::test_learns_too"] == 1
