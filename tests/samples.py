"""Samples large grids, tests that train for minutes, and slow suites: another sample each time.

--one-in N runs a share of each test's cases. --full runs every case. --sample N draws a sample
again; a failing test prints its number.
"""

import os
import random
import zlib
from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")
_LARGEST = 2**31
_VARIABLE = "LARQ_ENGINE_TEST_SAMPLE"
_ONE_IN = "LARQ_ENGINE_TEST_ONE_IN"


def add_options(group: pytest.OptionGroup, full: bool) -> None:
    group.addoption(
        "--full",
        action="store_true",
        default=full,
        help="run all cases of the grids, not a sample (as LARQ_ENGINE_TEST_FULL=1)",
    )
    group.addoption(
        "--one-in",
        type=_at_least_one,
        metavar="N",
        default=os.environ.get(_ONE_IN) or "1",
        help=f"run one in N cases of each test, and at least one (as {_ONE_IN}=N)",
    )
    group.addoption(
        "--sample",
        type=int,
        # The processes of pytest-xdist inherit the number of the one that starts them.
        default=int(os.environ.setdefault(_VARIABLE, str(random.randrange(_LARGEST)))),
        help="which sample of the cases runs (default: any)",
    )


def replay_options(config: pytest.Config) -> str:
    if config.getoption("--full"):
        return "--full"
    return f"--one-in {config.getoption('--one-in')} --sample {config.getoption('--sample')}"


def takes(config: pytest.Config, case: object, one_in: int = 5) -> bool:
    """Tells whether the sample of one case in `one_in` has this one, or --full runs all."""
    return config.getoption("--full") or _place(config, case) % one_in == 0


def choose(config: pytest.Config, cases: Sequence[T], count: int) -> list[T]:
    """Returns `count` of the cases, in their order, or all of them with --full."""
    if config.getoption("--full"):
        return list(cases)
    places = random.Random(config.getoption("--sample")).sample(range(len(cases)), count)
    return [cases[place] for place in sorted(places)]


def drawn(config: pytest.Config, items: list[pytest.Item]) -> list[pytest.Item]:
    """Leaves one test of each group that is marked as `drawn`, and one in N cases of each test.

    If tests were named, all of these are left.
    """
    if config.getoption("--full") or any("::" in argument for argument in config.args):
        return items
    items = _share(config, items)
    groups: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if marker := item.get_closest_marker("drawn"):
            groups[marker.args[0]].append(item)
    left = {
        item
        for group in groups.values()
        for item in group
        if item is not min(group, key=lambda item: _place(config, item.nodeid))
    }
    return [item for item in items if item not in left]


def _at_least_one(text: str) -> int:
    if (number := int(text)) < 1:
        raise ValueError
    return number


def _share(config: pytest.Config, items: list[pytest.Item]) -> list[pytest.Item]:
    """Leaves one in N cases of each test, for each host and contract by itself.

    A host that is not installed would otherwise take the place of one that is.
    """
    if (one_in := config.getoption("--one-in")) == 1:
        return items
    cases: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        by_itself = [parameters.get(name) for name in ("host", "contract")]
        cases[item.nodeid.partition("[")[0], repr(by_itself)].append(item)
    kept = {
        item
        for group in cases.values()
        for item in sorted(group, key=lambda item: _place(config, item.nodeid))[
            : -(-len(group) // one_in)
        ]
    }
    return [item for item in items if item in kept]


def _place(config: pytest.Config, case: object) -> int:
    return zlib.crc32(f"{config.getoption('--sample')} {case!r}".encode())
