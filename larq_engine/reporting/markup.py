"""Makes HTML and SVG of elements. All texts are escaped here, so that none can be forgotten."""

import html
import re
from collections.abc import Iterable
from typing import TypeAlias

# Elements of HTML without an end tag.
_EMPTY = frozenset({"br", "input", "link", "meta"})


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


Content: TypeAlias = "str | Markup | Iterable[Content] | None"


def element(name: str, *content: Content, **attributes: object) -> Markup:
    """Returns an element.

    `_` in the name of an attribute is `-`, and is dropped at the end. None leaves an attribute out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_escape(_attribute(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _EMPTY:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(content)}</{name}>")


def join(content: Content) -> Markup:
    """Joins the parts; escapes texts."""
    if content is None:
        return Markup("")
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return Markup(_escape(content))
    return Markup("".join(map(join, content)))


# Characters that no XML file may hold: control characters, and halves of surrogate pairs.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _escape(text: str) -> str:
    return html.escape(_ILLEGAL.sub("\ufffd", text))


def _attribute(value: object) -> str:
    if value is True:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value)
