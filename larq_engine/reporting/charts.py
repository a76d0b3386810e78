"""Draws bars and curves."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from larq_engine.placing.profile import Timing
from larq_engine.reporting.drawing import Box, Drawing, Label, Line, Point, Shape, shortened

_LEFT, _BARS, _VALUES = 12.0, 640.0, 220.0
_LABEL, _BAR, _BETWEEN = 17.0, 16.0, 10.0
_TOP = 40.0


@dataclass(frozen=True)
class Bar:
    """A number as a bar, with its quartiles as a whisker and a limit as a stroke."""

    value: float
    role: str
    text: str  # at its end
    q1: float | None = None
    q3: float | None = None
    limit: float | None = None

    @staticmethod
    def of_timing(seconds: Timing, role: str, text: str, limit: float | None = None) -> "Bar":
        return Bar(seconds.median, role, text, seconds.q1, seconds.q3, limit)

    def longest(self) -> float:
        return max(self.value, self.q3 or 0.0, self.limit or 0.0)


@dataclass(frozen=True)
class Bars:
    """The bars of one operator, device or placement."""

    label: str
    bars: Sequence[Bar]


def draw_bars(
    groups: Sequence[Bars],
    title: str,
    description: str,
    unit: Callable[[float], str],
    most: float | None = None,
) -> Drawing:
    """Draws groups of horizontal bars, one group below the other.

    Args:
        groups: The groups of bars.
        title: The drawing's title.
        description: A text for readers who cannot see the drawing.
        unit: A function that formats numbers of the scale.
        most: The end of the scale; None: the longest bar.
    """
    end = most or max((bar.longest() for group in groups for bar in group.bars), default=0.0) or 1.0
    scale = _BARS / end
    height = _TOP + sum(_LABEL + len(group.bars) * _BAR + _BETWEEN for group in groups) + 8
    shapes: list[Shape] = []
    for tick in ticks(end):
        x = _LEFT + tick * scale
        shapes += [
            Line([(x, _TOP - 8), (x, height - 8)], "line"),
            Label(x, _TOP - 14, unit(tick), "muted", "middle" if tick else "start", size=11),
        ]
    y = _TOP
    for group in groups:
        shapes.append(Label(_LEFT, y + 11.0, shortened(group.label, _BARS), "ink", halo=True))
        y += _LABEL
        for bar in group.bars:
            shapes += _draw_bar(bar, y, scale)
            y += _BAR
        y += _BETWEEN
    return Drawing(_LEFT + _BARS + _VALUES, height, shapes, title, description)


def _draw_bar(bar: Bar, y: float, scale: float) -> list[Shape]:
    width, middle = bar.value * scale, y + _BAR / 2 - 1.5  # on a pixel
    shapes: list[Shape] = [
        Box(_LEFT, y, max(width, 1.0), _BAR - 2, bar.role, radius=2, tip=bar.text)
    ]
    end = width
    if bar.q1 is not None and bar.q3 is not None:
        low, high = _LEFT + bar.q1 * scale, _LEFT + bar.q3 * scale
        end = max(end, bar.q3 * scale)
        shapes += _stroke((low, middle), (high, middle), 1.2)
        shapes += _stroke((low, middle - 3), (low, middle + 3), 1.2)
        shapes += _stroke((high, middle - 3), (high, middle + 3), 1.2)
    if bar.limit is not None:
        x = _LEFT + bar.limit * scale
        end = max(end, bar.limit * scale)
        shapes += _stroke((x, y - 1.5), (x, y + _BAR - 0.5), 2.0)
    shapes.append(Label(_LEFT + end + 6, y + 11, bar.text, "ink", size=11, halo=True))
    return shapes


def _stroke(begin: Point, end: Point, width: float) -> list[Shape]:
    """Returns a line that is visible on the page and on bars of any colour."""
    return [Line([begin, end], "page", width + 2.0), Line([begin, end], "ink", width)]


def ticks(end: float) -> list[float]:
    """Returns four to seven round numbers from 0 up to `end`."""
    if end <= 0:
        return [0.0]
    step = 10.0 ** math.floor(math.log10(end))
    step = next(step * part for part in (0.2, 0.25, 0.5, 1.0, 2.0) if end / (step * part) < 7)
    return [number * step for number in range(int(end / step * (1 + 1e-9)) + 1)]


@dataclass(frozen=True)
class Series:
    """A line through points, with its label."""

    label: str
    role: str
    symbol: str
    points: Sequence[Point]
    dashed: bool = False


def draw_curves(
    series: Sequence[Series],
    title: str,
    description: str,
    x_title: str,
    y_title: str,
    unit: Callable[[float], str],
) -> Drawing:
    """Draws curves; the x scale is logarithmic to base 2, and y begins at 0."""
    left, top, width, height = 70.0, 34.0, 520.0, 260.0
    xs = sorted({x for line in series for x, _ in line.points})
    end = max((y for line in series for _, y in line.points), default=0.0) or 1.0
    begin, steps = math.log2(xs[0]), max(math.log2(xs[-1]) - math.log2(xs[0]), 1e-9)

    def place(point: Point) -> Point:
        x = (math.log2(point[0]) - begin) / steps if len(xs) > 1 else 0.5
        return left + 12 + x * (width - 24), top + height * (1 - point[1] / end)

    shapes: list[Shape] = [Label(8, 16, y_title, "muted", size=11)]
    for tick in ticks(end):
        y = place((xs[0], tick))[1]
        shapes += [
            Line([(left, y), (left + width, y)], "line"),
            Label(left - 6, y + 4, unit(tick), "muted", "end", size=11),
        ]
    for x in xs:
        at = place((x, 0.0))[0]
        shapes.append(Label(at, top + height + 18, f"{x:.0f}", "muted", "middle", size=11))
    shapes.append(Label(left + width / 2, top + height + 38, x_title, "muted", "middle", size=11))
    for line in series:
        places = [place(point) for point in line.points]
        shapes.append(Line(places, line.role, 2.0, line.dashed))
        shapes += [
            Label(x, y + 3.5, line.symbol, line.role, "middle", halo=True) for x, y in places
        ]
    lasts = [place(line.points[-1])[1] + 4 for line in series]
    for line, y in zip(series, _apart(lasts, 15.0), strict=True):
        x = place(line.points[-1])[0]
        shapes.append(Label(x + 12, y, line.label, line.role, halo=True))
    return Drawing(left + width + 210, top + height + 50, shapes, title, description)


def _apart(places: Sequence[float], least: float) -> list[float]:
    """Returns the places, moved down where they are less than `least` apart."""
    moved = list(places)
    previous = -math.inf
    for index in sorted(range(len(places)), key=places.__getitem__):
        moved[index] = previous = max(places[index], previous + least)
    return moved
