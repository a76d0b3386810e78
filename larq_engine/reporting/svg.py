"""Writes drawings as SVG: in a page, or as files."""

import itertools
from collections.abc import Iterator

from larq_engine.reporting import palette
from larq_engine.reporting.drawing import Box, Curve, Drawing, Group, Label, Line, Shape
from larq_engine.reporting.markup import Markup, element

FONT = "system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"


def in_page(drawing: Drawing, name: str) -> Markup:
    """Returns SVG for a page with the palette's style sheet; its ids begin with `name`."""
    return _svg(
        drawing,
        _shapes(drawing),
        # A drawing that is not interactive is one picture: screen readers do not read its shapes.
        role="group" if drawing.interactive else "img",
        aria_labelledby=f"{name}-title",
        aria_describedby=f"{name}-description",
        title_id=f"{name}-title",
        description_id=f"{name}-description",
    )


def as_file(drawing: Drawing) -> bytes:
    """Returns a whole file with its colours, which follow the reader's system."""
    style = element("style", Markup(palette.style_sheet()))
    ground = _box(Box(0, 0, drawing.width, drawing.height, "page"))
    written = _svg(
        drawing,
        [style, ground, *_shapes(drawing)],
        xmlns="http://www.w3.org/2000/svg",
        role="img",
    )
    return f"{written}\n".encode()


def _svg(
    drawing: Drawing,
    content: list[Markup],
    title_id: str | None = None,
    description_id: str | None = None,
    **attributes: object,
) -> Markup:
    return element(
        "svg",
        element("title", drawing.title, id=title_id),
        element("desc", drawing.description, id=description_id),
        content,
        viewBox=f"0 0 {drawing.width:.0f} {drawing.height:.0f}",
        width=f"{drawing.width:.0f}",
        height=f"{drawing.height:.0f}",
        font_family=FONT,
        **attributes,
    )


def _shapes(drawing: Drawing) -> list[Markup]:
    return [_shape(shape) for shape in drawing.shapes]


def _shape(shape: Shape) -> Markup:
    if isinstance(shape, Group):
        return element("g", map(_shape, shape.shapes), **shape.attributes)
    if isinstance(shape, Box):
        return _box(shape)
    if isinstance(shape, Label):
        return _label(shape)
    return _path(shape)


def _box(box: Box) -> Markup:
    return element(
        "rect",
        element("title", box.tip) if box.tip else None,
        x=float(box.x),
        y=float(box.y),
        width=float(box.width),
        height=float(box.height),
        rx=float(box.radius) if box.radius else None,
        class_=f"fill-{box.role}",
        style=f"stroke: var(--{box.outline})" if box.outline else None,
    )


def _path(shape: Line | Curve) -> Markup:
    return element(
        "path",
        d=" ".join(_commands(shape)),
        class_=f"line-{shape.role}",
        stroke_width=float(shape.width),
        stroke_dasharray="5 4" if shape.dashed else None,
        stroke_linejoin="round",
    )


def _commands(shape: Line | Curve) -> Iterator[str]:
    letters = "MC  " if isinstance(shape, Curve) else itertools.chain("M", itertools.repeat("L"))
    for letter, (x, y) in zip(letters, shape.points, strict=False):
        yield f"{letter.strip()}{x:.1f} {y:.1f}"


def _label(label: Label) -> Markup:
    return element(
        "text",
        label.text,
        x=float(label.x),
        y=float(label.y),
        class_=f"fill-{label.role}" + (" halo" if label.halo else ""),
        text_anchor=None if label.anchor == "start" else label.anchor,
        font_weight="600" if label.bold else None,
        font_size=float(label.size),
    )
