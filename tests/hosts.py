"""The host runtimes as test parameters: one that is not installed is skipped and says so.

LARQ_ENGINE_REQUIRE_HOSTS, a list with commas, names those whose absence is a failure.
"""

import importlib.util
import os

import pytest
from _pytest.mark import ParameterSet

from larq_engine.python.host import NO_HOST, RUNTIMES

_REQUIRED = set(filter(None, os.environ.get("LARQ_ENGINE_REQUIRE_HOSTS", "").split(",")))
if _REQUIRED - set(RUNTIMES):
    raise ValueError(
        f"LARQ_ENGINE_REQUIRE_HOSTS: expected names out of {list(RUNTIMES)}, got {_REQUIRED}"
    )


def _parameter(name: str) -> ParameterSet:
    absent = importlib.util.find_spec(name) is None and name not in _REQUIRED
    return pytest.param(
        name, marks=pytest.mark.skipif(absent, reason=f"{name} is not installed here")
    )


# A required host that is absent is not skipped: its tests fail with the command that installs it.
HOSTS = [_parameter(name) for name in RUNTIMES]

# All that can run a model: the hosts, and the engine alone.
RUNNERS = [*HOSTS, pytest.param(NO_HOST)]
