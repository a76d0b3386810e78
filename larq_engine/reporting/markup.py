"""HTML and SVG from elements. Texts are escaped here and nowhere else, so none can be forgotten."""

import html
import re
from collections.abc import Iterable
from typing import TypeAlias

# Elements of HTML without an end.
_EMPTY = frozenset({"br", "input", "link", "meta"})


class Markup(str):
    """What is HTML already."""

    __slots__ = ()


Content: TypeAlias = "str | Markup | Iterable[Content] | None"


def element(name: str, *content: Content, **attributes: object) -> Markup:
    """An element. Attributes: `_` in names is `-`, a `_` at the end is dropped, None leaves out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_escape(_attribute(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _EMPTY:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(content)}</{name}>")


def join(content: Content) -> Markup:
    """The parts one after the other; texts are escaped."""
    if content is None:
        return Markup("")
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return Markup(_escape(content))
    return Markup("".join(map(join, content)))


# What no XML file may hold: control characters, and halves of characters.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _escape(text: str) -> str:
    return html.escape(_ILLEGAL.sub("\ufffd", text))


def _attribute(value: object) -> str:
    if value is True:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value)
