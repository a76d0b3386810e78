"""Draws the graph: operators by device, the values between them, and the moves of values."""

from collections.abc import Sequence

from larq_engine.python import units
from larq_engine.reporting.drawing import (
    Box,
    Curve,
    Drawing,
    Group,
    Label,
    Line,
    Point,
    Shape,
    shortened,
    text_width,
)
from larq_engine.reporting.layout import Edge, Layout, lay_out
from larq_engine.reporting.palette import device_role, device_symbol
from larq_engine.reporting.study import Move, OpStudy, Study

_WIDTH, _HEIGHT = 268.0, 44.0
_COLUMN = _WIDTH + 24.0
_GAP, _GAP_OF_MOVES = 22.0, 38.0  # between rows; the second one leaves room for labels of moves
_LANE = 11.0
_SMALL = 10.5  # size of letters
_MARGIN = 8.0


def draw_graph(study: Study) -> Drawing:
    """Draws operators in rows, each below all operators that it reads from."""
    return _Graph(study).draw()


class _Graph:
    def __init__(self, study: Study) -> None:
        self._study = study
        self._layout: Layout = lay_out(study.profile)
        self._longest = max(
            (op.chosen.seconds.median for op in study.ops if op.chosen is not None), default=0.0
        )
        # Moves by value and first reader: the label stands there, other readers only get a line.
        self._moves = {
            (move.value.id, move.readers[0] if move.readers else None): move for move in study.moves
        }
        self._carried = {
            (move.value.id, reader) for move in study.moves for reader in move.readers or (None,)
        }
        self._tops = self._place_rows()

    def draw(self) -> Drawing:
        lanes_at = _MARGIN + self._layout.num_columns * _COLUMN
        widths = [text_width(_label(move)) for move in self._study.moves]
        room = max(widths, default=0.0) + 16.0
        width = lanes_at + self._layout.num_lanes * _LANE + room
        edges = [shape for edge in self._layout.edges for shape in self._draw_edge(edge)]
        labels = [shape for edge in self._layout.edges for shape in self._draw_move(edge)]
        nodes = [self._draw_op(op) for op in self._study.ops]
        return Drawing(
            width,
            self._tops[-1] + _HEIGHT + _MARGIN,
            [*edges, *self._draw_ends(), *nodes, *labels],
            f"Graph of {self._study.profile.model.name}",
            f"{len(self._study.ops)} operators, those that read below those that make; "
            f"{len(self._study.moves)} values are moved between memories. The tables below have "
            "all of it as text.",
            interactive=True,
        )

    def _place_rows(self) -> list[float]:
        """Returns the tops of the inputs, of each row, and of the outputs."""
        rows_of_moves = {self._row(target) for _, target in self._moves}
        tops = [_MARGIN]
        for row in range(1, self._layout.num_rows + 2):
            gap = _GAP_OF_MOVES if row in rows_of_moves else _GAP
            tops.append(tops[-1] + _HEIGHT + gap)
        return tops

    def _row(self, op: int | None) -> int:
        """Returns the row of an operator, from 1; inputs are row 0, None is the row of outputs."""
        return self._layout.num_rows + 1 if op is None else self._layout.rows[op] + 1

    def _corner(self, op: int) -> Point:
        return _MARGIN + self._layout.columns[op] * _COLUMN, self._tops[self._row(op)]

    def _ends(self, kind: str) -> list[int]:
        return [value.id for value in self._study.profile.values if value.kind == kind]

    def _corner_of_end(self, kind: str, value: int) -> Point:
        top = self._tops[0] if kind == "input" else self._tops[-1]
        return _MARGIN + self._ends(kind).index(value) * _COLUMN, top

    def _corners(self, edge: Edge) -> tuple[Point, Point]:
        source = (
            self._corner_of_end("input", edge.value)
            if edge.source is None
            else self._corner(edge.source)
        )
        target = (
            self._corner_of_end("output", edge.value)
            if edge.target is None
            else self._corner(edge.target)
        )
        return source, target

    def _lane_x(self, edge: Edge) -> float:
        """Returns the x of an edge's lane, right of the columns; lanes count outwards."""
        return (
            _MARGIN + self._layout.num_columns * _COLUMN - 14.0 + self._layout.lanes[edge] * _LANE
        )

    def _draw_edge(self, edge: Edge) -> list[Shape]:
        (x0, y0), (x1, y1) = self._corners(edge)
        moved = (edge.value, edge.target) in self._carried
        role, width = ("accent", 2.0) if moved else ("edge", 1.2)
        if edge in self._layout.lanes:
            lane = self._lane_x(edge)
            low, high = y0 + 0.75 * _HEIGHT, y1 + 0.25 * _HEIGHT
            path: Shape = Line(
                [
                    (x0 + _WIDTH, low),
                    (lane - 4, low),
                    (lane, low + 4),
                    (lane, high - 4),
                    (lane - 4, high),
                    (x1 + _WIDTH + 6, high),
                ],
                role,
                width,
                dashed=moved,
            )
            return [path, _arrow((x1 + _WIDTH, high), role, from_right=True)]
        begin = (x0 + _WIDTH / 2, y0 + _HEIGHT)
        end = (x1 + _WIDTH / 2, y1 - 6)
        half = (begin[1] + end[1]) / 2
        return [
            Curve((begin, (begin[0], half), (end[0], half), end), role, width, dashed=moved),
            _arrow((end[0], y1), role),
        ]

    def _draw_move(self, edge: Edge) -> list[Shape]:
        move = self._moves.get((edge.value, edge.target))
        if move is None:
            return []
        (x0, _), (x1, y1) = self._corners(edge)
        if edge in self._layout.lanes:
            place = (self._lane_x(edge) + 8, y1 + 0.25 * _HEIGHT - 8)
            return [Label(*place, _label(move), "accent", halo=True)]
        # The label is on the side that the line does not come from.
        side, anchor = (-10, "end") if x0 > x1 else (10, "start")
        return [Label(x1 + _WIDTH / 2 + side, y1 - 13, _label(move), "accent", anchor, halo=True)]

    def _draw_ends(self) -> list[Shape]:
        shapes: list[Shape] = []
        for kind in ("input", "output"):
            for value in self._ends(kind):
                x, y = self._corner_of_end(kind, value)
                name = self._study.profile.values[value].name
                text = shortened(f"{kind} {name}", _WIDTH - 20)
                shapes += [
                    Box(x, y, _WIDTH, _HEIGHT, "surface", "line", _HEIGHT / 2),
                    Label(x + _WIDTH / 2, y + 27, text, "muted", "middle"),
                ]
        return shapes

    def _draw_op(self, study: OpStudy) -> Group:
        x, y = self._corner(study.op.id)
        median = None if study.chosen is None else study.chosen.seconds.median
        text = "not measured" if median is None else units.seconds(median)
        number = None if study.device is None else self._study.device_number(study.device)
        role = "muted" if number is None else device_role(number)
        symbol = "" if number is None else f"{device_symbol(number)} "
        place = shortened(f"{symbol}{self._study.place(study)}", _WIDTH / 2)
        name = shortened(f"{study.op.node} {study.op.op}", _WIDTH - 24, bold=True)
        layer = shortened(study.op.layer, _WIDTH - 34 - text_width(name, bold=True), _SMALL)
        longest = (_WIDTH - 22) * (median or 0.0) / (self._longest or 1.0)
        return Group(
            [
                Box(x, y, _WIDTH, _HEIGHT, "surface", role, 5.0),
                Box(x, y, 6.0, _HEIGHT, role, None, 2.0),
                Label(x + 14, y + 17, name, "ink", bold=True),
                Label(x + _WIDTH - 8, y + 17, layer, "muted", "end", size=_SMALL),
                Label(x + 14, y + 33, place, role),
                Label(x + _WIDTH - 8, y + 33, text, "ink", "end"),
                Box(x + 14, y + _HEIGHT - 6, longest, 3.0, role),
            ],
            {
                "class_": "node",
                "role": "button",
                "tabindex": "0" if study.op.id == 0 else "-1",
                "data_op": study.op.id,
                "data_up": _numbers(self._neighbours(study.op.id, up=True)),
                "data_down": _numbers(self._neighbours(study.op.id, up=False)),
                "aria_label": f"Operator {study.op.node}, {study.op.op}"
                + (f", layer {study.op.layer}" if study.op.layer else "")
                + f", on {self._study.place(study)}, {text}",
            },
        )

    def _neighbours(self, op: int, up: bool) -> list[int]:
        found = [
            edge.source if up else edge.target
            for edge in self._layout.edges
            if (edge.target if up else edge.source) == op
        ]
        return sorted({other for other in found if other is not None}, reverse=up)


def _arrow(tip: Point, role: str, from_right: bool = False) -> Line:
    x, y = tip
    if from_right:
        return Line([(x + 6, y - 3.5), (x, y), (x + 6, y + 3.5)], role, 1.6)
    return Line([(x - 3.5, y - 6), (x, y), (x + 3.5, y - 6)], role, 1.6)


def _label(move: Move) -> str:
    known = "" if move.seconds is None else f", {units.seconds(move.seconds)}"
    return f"⇄ {units.size(move.size)}{known}"


def _numbers(ops: Sequence[int]) -> str:
    return " ".join(map(str, ops))
