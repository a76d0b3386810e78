"""Makes the documentation's pictures of a report, in headless Chromium.

    .venv/bin/python -m tools.report_screenshots profile.json FOLDER --placement placed.json

`make pictures` draws the pictures of the documents. Show a profile that was measured: readers take
the pictures for results.
"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import larq_engine
from tools.browser import Page, find_browser

# Sections, and the scheme of each picture: light or dark.
PICTURES = (
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
    take_pictures(arguments.profile, arguments.placement, arguments.operator, arguments.folder)
    return 0


def take_pictures(profile: Path, placement: Path | None, operator: int, folder: Path) -> None:
    """Takes pictures of a profile's report, with this operator chosen in the graph."""
    browser = find_browser()
    if browser is None:
        sys.exit("error: expected Chromium, got none; `tools/setup.sh browser` installs it")
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as temporary, Page(browser) as page:
        report = Path(temporary) / "report.html"
        larq_engine.report(profile, placement, report)
        page.resize(*_SIZE)
        for section, theme in PICTURES:
            page.prefer(theme)
            page.open(report)
            chosen = f"document.querySelector('.node[data-op=\"{operator}\"]')"
            page.evaluate(f"{chosen}.focus()")
            page.evaluate(f"{chosen}.scrollIntoView({{block: 'center'}})")
            page.evaluate(f"document.getElementById('{section}').scrollIntoView()")
            picture = folder / f"report_{section}_{theme}.png"
            picture.write_bytes(page.screenshot())
            print(f"drawn: {picture}")


if __name__ == "__main__":
    sys.exit(main())
