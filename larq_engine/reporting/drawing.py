"""Defines drawings as shapes, which svg.py and png.py write. Colours are roles of palette.py."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Point: TypeAlias = tuple[float, float]

FONT_SIZE = 12.0
# Width of the mean letter of sans-serif fonts, as a part of the font's size; rather large, so that
# texts fit.
_LETTER, _BOLD_LETTER = 0.61, 0.70


@dataclass(frozen=True)
class Box:
    """A filled rectangle, with an outline if `outline` is a role."""

    x: float
    y: float
    width: float
    height: float
    role: str
    outline: str | None = None
    radius: float = 0.0
    tip: str | None = None  # shown when the box is pointed at


@dataclass(frozen=True)
class Line:
    """Straight lines from point to point."""

    points: Sequence[Point]
    role: str
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Curve:
    """A curve from the first point to the last; the two in between are its control points."""

    points: tuple[Point, Point, Point, Point]
    role: str
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Label:
    """A text; `y` is its base line."""

    x: float
    y: float
    text: str
    role: str = "ink"
    anchor: str = "start"  # or middle, end
    bold: bool = False
    size: float = FONT_SIZE
    halo: bool = False  # for texts over lines: an outline in the page's colour


@dataclass(frozen=True)
class Group:
    """Shapes that belong together, with attributes for pages."""

    shapes: Sequence["Shape"]
    attributes: Mapping[str, object] = field(default_factory=dict)


Shape: TypeAlias = "Box | Line | Curve | Label | Group"


@dataclass(frozen=True)
class Drawing:
    """Shapes; (0, 0) is the top left corner."""

    width: float
    height: float
    shapes: Sequence[Shape]
    title: str
    description: str
    interactive: bool = False  # its groups can be pointed at and focused


def text_width(text: str, size: float = FONT_SIZE, bold: bool = False) -> float:
    """Estimates the width of a text."""
    return len(text) * size * (_BOLD_LETTER if bold else _LETTER)


def shortened(text: str, width: float, size: float = FONT_SIZE, bold: bool = False) -> str:
    """Returns the text, or its beginning and end if it is wider than `width`."""
    most = int(width / text_width("m", size, bold))
    if len(text) <= most:
        return text
    if most < 3:
        return text[: max(most, 0)]
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"
