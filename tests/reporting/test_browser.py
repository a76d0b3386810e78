"""tools/browser.py leaves nothing behind, shown with a program in place of Chromium."""

import os
from pathlib import Path

import pytest

from tools.browser import Page

_REFUSES = """#!/bin/sh
echo $$ > "{pid}"
printf '{{"id": 1, "error": "no"}}\\0' >&4
exec sleep 600
"""


def test_a_browser_that_refuses_is_ended(tmp_path: Path) -> None:
    browser, pid = tmp_path / "browser", tmp_path / "pid"
    browser.write_text(_REFUSES.format(pid=pid))
    browser.chmod(0o755)
    with pytest.raises(RuntimeError, match="no"):
        Page(str(browser))
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
