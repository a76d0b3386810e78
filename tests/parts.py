"""Selects the part of the tests that runs: `quick` while a change is made, `rest` for the others.

Quick tests run in LiteRT, need no TensorFlow and are not marked as slow: `make test` runs them in
minutes, on a machine without TensorFlow.
"""

import pytest

QUICK, REST, ALL = PARTS = ("quick", "rest", "all")

# conftest.py sets this from the option --part before tests are collected.
chosen = ALL

_OTHER_HOSTS = ("tensorflow", "tflite_runtime")  # than LiteRT


def is_chosen(item: pytest.Item) -> bool:
    return chosen == ALL or _is_quick(item) == (chosen == QUICK)


def _is_quick(item: pytest.Item) -> bool:
    if item.get_closest_marker("slow") or _needs_keras(item):
        return False
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return parameters.get("host") not in _OTHER_HOSTS


def _needs_keras(item: pytest.Item) -> bool:
    """Tells whether a test needs Keras: such modules import tests/converter/frameworks.py."""
    return hasattr(getattr(item, "module", None), "require_keras")
