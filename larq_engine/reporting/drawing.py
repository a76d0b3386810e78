"""A drawing as shapes, which svg.py and png.py write. Colours are roles of palette.py."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Point: TypeAlias = tuple[float, float]

FONT_SIZE = 12.0
# Of the mean letter of sans-serif fonts, in parts of the font's size; wide, so that texts fit.
_LETTER, _BOLD_LETTER = 0.61, 0.70


@dataclass(frozen=True)
class Box:
    """A filled rectangle, with an outline where `outline` is a role."""

    x: float
    y: float
    width: float
    height: float
    role: str
    outline: str | None = None
    radius: float = 0.0
    tip: str | None = None  # told when pointed at


@dataclass(frozen=True)
class Line:
    """Straight from point to point."""

    points: Sequence[Point]
    role: str
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Curve:
    """From the first point to the last, drawn to the two between them."""

    points: tuple[Point, Point, Point, Point]
    role: str
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Label:
    """A text; y is its base line."""

    x: float
    y: float
    text: str
    role: str = "ink"
    anchor: str = "start"  # or middle, end
    bold: bool = False
    size: float = FONT_SIZE
    halo: bool = False  # over lines: with the page's colour around


@dataclass(frozen=True)
class Group:
    """Shapes that are one thing, with attributes for pages."""

    shapes: Sequence["Shape"]
    attributes: Mapping[str, object] = field(default_factory=dict)


Shape: TypeAlias = "Box | Line | Curve | Label | Group"


@dataclass(frozen=True)
class Drawing:
    """Shapes, from (0, 0) at the top left."""

    width: float
    height: float
    shapes: Sequence[Shape]
    title: str
    description: str
    interactive: bool = False  # its groups can be pointed at and focused


def text_width(text: str, size: float = FONT_SIZE, bold: bool = False) -> float:
    """About how wide a text is."""
    return len(text) * size * (_BOLD_LETTER if bold else _LETTER)


def shortened(text: str, width: float, size: float = FONT_SIZE, bold: bool = False) -> str:
    """The text, or its beginning and end where it is wider."""
    most = int(width / text_width("m", size, bold))
    if len(text) <= most:
        return text
    if most < 3:
        return text[: max(most, 0)]
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"
