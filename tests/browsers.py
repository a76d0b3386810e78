"""The browser that tests of pages need."""

import os

import pytest

from tools.browser import find_browser


def installed_browser() -> str:
    """Returns the browser's path; where there is none, skips the test or, if it must run, fails."""
    found = find_browser()
    if found is not None:
        return found
    advice = "Chromium is not installed here; `tools/setup.sh browser` installs it"
    if os.environ.get("LARQ_ENGINE_REQUIRE_BROWSER"):
        pytest.fail(advice)
    pytest.skip(advice)
