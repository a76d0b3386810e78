"""Makes the documentation's pictures of a report, in headless Chromium.

    .venv/bin/python -m tools.report_screenshots profile.json docs/images --placement placed.json

Show a profile that was measured: the pictures are read as results.
"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import larq_engine
from tools.browser import Page, find_browser

# Sections, light or dark.
_PICTURES = (
    ("summary", "light"),
    ("graph", "light"),
    ("graph", "dark"),
    ("operators", "light"),
)
_SIZE = (1200, 760)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("profile", type=Path)
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--placement", type=Path)
    parser.add_argument("--operator", type=int, default=0, help="which one is chosen in the graph")
    arguments = parser.parse_args()
    browser = find_browser()
    if browser is None:
        sys.exit("error: expected Chromium, got none; `tools/setup.sh browser` installs it")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as temporary, Page(browser) as page:
        report = Path(temporary) / "report.html"
        larq_engine.report(arguments.profile, arguments.placement, report)
        page.resize(*_SIZE)
        for section, theme in _PICTURES:
            page.prefer(theme)
            page.open(report)
            chosen = f"document.querySelector('.node[data-op=\"{arguments.operator}\"]')"
            page.evaluate(f"{chosen}.focus()")
            page.evaluate(f"{chosen}.scrollIntoView({{block: 'center'}})")
            page.evaluate(f"document.getElementById('{section}').scrollIntoView()")
            picture = arguments.folder / f"report_{section}_{theme}.png"
            picture.write_bytes(page.screenshot())
            print(f"wrote {picture}: {picture.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
