"""The hosts as test parameters: one that is not installed is skipped and says so.

LARQ_ENGINE_REQUIRE_HOSTS, a list with commas, names the packages whose absence is a failure.
"""

import importlib.util
import os

import pytest
from _pytest.mark import ParameterSet

from larq_engine.python import hosts

_REQUIRED = set(filter(None, os.environ.get("LARQ_ENGINE_REQUIRE_HOSTS", "").split(",")))
_PACKAGES = list(map(hosts.package_of, hosts.HOSTS))
if _REQUIRED - set(_PACKAGES):
    raise ValueError(
        f"LARQ_ENGINE_REQUIRE_HOSTS: expected names out of {_PACKAGES}, got {_REQUIRED}"
    )


def _parameter(name: str) -> ParameterSet:
    package = hosts.package_of(name)
    absent = importlib.util.find_spec(package) is None and package not in _REQUIRED
    return pytest.param(
        name, marks=pytest.mark.skipif(absent, reason=f"{package} is not installed here")
    )


# A required host that is absent is not skipped: its tests fail with the command that installs it.
HOSTS = [_parameter(name) for name in hosts.HOSTS]

# All that can run a model: the hosts, and the engine alone.
RUNNERS = [*HOSTS, pytest.param(hosts.NO_HOST)]
