"""The site's search runs its worker on pages that are opened as files."""

import time
from pathlib import Path

import pytest

from tests.browsers import installed_browser
from tools.browser import Page
from tools.docs_site import WORKER

pytestmark = pytest.mark.slow

_PAGE = f"""<!doctype html><body><script src="{WORKER.name}"></script><script>
window.answers = [];
const worker = new Worker("doubling.js");
worker.addEventListener("message", event => answers.push(event.data));
for (const number of [3, 4]) worker.postMessage(number);
</script>"""
_SCRIPT = 'self.addEventListener("message", event => postMessage(2 * event.data));'


def test_a_worker_answers_in_order(tmp_path: Path) -> None:
    browser = installed_browser()
    (tmp_path / WORKER.name).write_text(WORKER.read_text())
    (tmp_path / "doubling.js").write_text(_SCRIPT)
    (tmp_path / "page.html").write_text(_PAGE)
    with Page(browser) as page:
        page.open(tmp_path / "page.html")
        end = time.monotonic() + 60
        while len(page.evaluate("answers")) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        assert page.evaluate("answers") == [6, 8]
        assert page.complaints() == []
