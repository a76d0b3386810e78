"""Draws drawings as PNG with matplotlib, if it is installed."""

import io
from typing import Any

from larq_engine.reporting.drawing import Box, Curve, Drawing, Group, Label, Shape
from larq_engine.reporting.palette import ROLES

_DOTS = 144  # per inch; a drawing's unit is a point, 1/72 inch
_POINTS = 72
# matplotlib cannot draw larger pictures.
_MOST_DOTS = 65_000


def as_file(drawing: Drawing) -> bytes:
    """Returns the bytes of the file, in the light colours.

    Raises:
        ImportError: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            f"PNG files: expected the package matplotlib, got none ({error}); install it, or take "
            "the SVG files"
        ) from error
    dots = min(_DOTS, _POINTS * _MOST_DOTS / max(drawing.width, drawing.height))
    figure = Figure(
        figsize=(drawing.width / _POINTS, drawing.height / _POINTS),
        dpi=dots,
        facecolor=_colour("page"),
    )
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, drawing.width), ylim=(drawing.height, 0))
    axes.axis("off")
    for shape in drawing.shapes:
        _draw(axes, shape)
    written = io.BytesIO()
    FigureCanvasAgg(figure)
    figure.savefig(written, format="png")
    return written.getvalue()


def _colour(role: str) -> str:
    return ROLES[role][0]


def _draw(axes: Any, shape: Shape) -> None:
    from matplotlib.patches import FancyBboxPatch, PathPatch
    from matplotlib.path import Path

    if isinstance(shape, Group):
        for part in shape.shapes:
            _draw(axes, part)
    elif isinstance(shape, Box):
        style = f"round,pad=0,rounding_size={min(shape.radius, shape.width / 2)}"
        patch = FancyBboxPatch(
            (shape.x, shape.y),
            shape.width,
            shape.height,
            boxstyle=style if shape.radius and shape.width > 1 else "square,pad=0",
            facecolor=_colour(shape.role),
            edgecolor=_colour(shape.outline) if shape.outline else "none",
        )
        axes.add_patch(patch)
    elif isinstance(shape, Label):
        axes.text(
            shape.x,
            shape.y,
            shape.text,
            color=_colour(shape.role),
            size=shape.size,
            weight="bold" if shape.bold else "normal",
            ha={"start": "left", "middle": "center", "end": "right"}[shape.anchor],
            va="baseline",
            parse_math=False,
        )
    else:
        codes = [Path.MOVETO]
        codes += [Path.CURVE4 if isinstance(shape, Curve) else Path.LINETO] * (
            len(shape.points) - 1
        )
        axes.add_patch(
            PathPatch(
                Path(list(shape.points), codes),
                fill=False,
                edgecolor=_colour(shape.role),
                linewidth=shape.width,
                linestyle=(0, (5, 4)) if shape.dashed else "solid",
            )
        )
