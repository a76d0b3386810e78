"""Which part of the tests runs: `quick` while a change is made, `rest` what that leaves out.

Quick is what runs in LiteRT, needs no TensorFlow and is not marked as slow: `make test` runs it in
minutes, on a machine without TensorFlow.
"""

import pytest

QUICK, REST, ALL = PARTS = ("quick", "rest", "all")

# Set from the option --part before tests are collected.
chosen = ALL

_QUICK_HOST = "ai_edge_litert"


def is_chosen(item: pytest.Item) -> bool:
    return chosen == ALL or _is_quick(item) == (chosen == QUICK)


def _is_quick(item: pytest.Item) -> bool:
    if item.get_closest_marker("slow") or _needs_keras(item):
        return False
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return parameters.get("runtime", _QUICK_HOST) == _QUICK_HOST


def _needs_keras(item: pytest.Item) -> bool:
    """Modules that ask for TensorFlow do so through tests/converter/frameworks.py."""
    return hasattr(getattr(item, "module", None), "require_keras")
