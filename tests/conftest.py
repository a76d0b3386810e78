"""Options that all Python tests share, and the command that replays a failure.

Without --full a sample of the grids runs (samples.py). --part runs a part of the tests (parts.py).
Random data come from --seed, so a failing test prints the command that repeats it exactly.
"""

import gc
import os
from collections.abc import Generator, Iterator

import numpy as np
import pytest

from tests import parts, samples
from tests.crash_box import CrashBox

_DEFAULT_SEED = 1


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("larq_engine")
    samples.add_options(group, full=bool(os.environ.get("LARQ_ENGINE_TEST_FULL")))
    group.addoption(
        "--part", choices=parts.PARTS, default=parts.ALL, help="run this part of the tests"
    )
    group.addoption("--seed", type=int, default=_DEFAULT_SEED, help="seed of all random data")


def pytest_configure(config: pytest.Config) -> None:
    parts.chosen = config.getoption("--part")


@pytest.hookimpl(trylast=True)  # after -k and -m, so that it samples what they leave
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    selected = samples.drawn(config, [item for item in items if parts.is_chosen(item)])
    kept = set(selected)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = selected


def pytest_collection_finish() -> None:
    # Each conversion ends with a collection, which took 100 of a test's 150 ms because it examined
    # all of the thousands of tests.
    gc.collect()
    gc.freeze()


def _replay_options(config: pytest.Config) -> str:
    return f"--seed {config.getoption('--seed')} {samples.replay_options(config)}"


def pytest_report_header(config: pytest.Config) -> str:
    return f"larq_engine: {_replay_options(config)}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        command = f"pytest '{item.nodeid}' {_replay_options(item.config)}"
        report.sections.append(("replay", command))
    return report


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """Tells whether every case runs."""
    return bool(request.config.getoption("--full"))


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Returns random data, which are the same for a test whatever else runs."""
    return np.random.default_rng(request.config.getoption("--seed"))


@pytest.fixture(scope="module")
def box() -> Iterator[CrashBox]:
    """Yields a process for code that might crash."""
    made = CrashBox()
    yield made
    made.close()
