"""Makes the report as one page, which needs no other file."""

import base64
import hashlib
import string
from pathlib import Path

from larq_engine.reporting import palette, plots, sections
from larq_engine.reporting.markup import Markup, element, join
from larq_engine.reporting.study import Study

_FOLDER = Path(__file__).parent


def make_page(study: Study) -> bytes:
    """Returns the bytes of an .html file."""
    drawings = plots.draw_all(study)
    made = [
        sections.summary(study, drawings),
        sections.graph(study, drawings),
        sections.operators(study, drawings),
        sections.reasons(study),
        sections.batches(study, drawings),
        sections.limits(drawings),
        sections.transfers(study),
        sections.machine(study),
    ]
    shown = [section for section in made if section is not None]
    title = f"{study.profile.model.name}: profile" + (" and placement" if study.placement else "")
    links = [
        element("li", element("a", section.title, href=f"#{section.name}")) for section in shown
    ]
    content = join(
        [
            element(
                "header",
                element("h1", title),
                element("button", "Dark colours", id="theme", type="button", hidden=True),
                element("nav", element("ul", links), aria_label="Sections"),
            ),
            element("main", [section.markup() for section in shown], id="main", tabindex="-1"),
            element(
                "footer",
                element("p", "Made by larq-engine report. This page is whole: it loads nothing."),
            ),
        ]
    )
    script = _text("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # The template is filled in once, so placeholders inside of markup are not replaced.
    page = string.Template(_text("page.html")).substitute(
        title=join(title),
        style=Markup(palette.style_sheet() + "\n" + _text("page.css")),
        content=content,
        script=script,
        script_hash=f"sha256-{digest}",
    )
    return page.encode()


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
