"""Places operators of a drawing in rows, each below all operators that it reads from."""

from collections.abc import Sequence
from dataclasses import dataclass

from larq_engine.placing.profile import Profile


@dataclass(frozen=True)
class Edge:
    """A value's way between two operators; None as an end is the caller, above or below all."""

    value: int
    source: int | None
    target: int | None


@dataclass(frozen=True)
class Layout:
    """Row and column of each operator, and a lane beside them for each edge that passes rows."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    edges: tuple[Edge, ...]
    lanes: dict[Edge, int]
    num_rows: int
    num_columns: int
    num_lanes: int


def lay_out(profile: Profile) -> Layout:
    """Chooses rows by the longest path from an input, and columns by the order of execution."""
    edges = _edges(profile)
    rows = [0] * len(profile.ops)
    for edge in sorted(edges, key=lambda edge: -1 if edge.target is None else edge.target):
        if edge.source is not None and edge.target is not None:
            rows[edge.target] = max(rows[edge.target], rows[edge.source] + 1)
    width: dict[int, int] = {}
    columns = []
    for row in rows:
        columns.append(width.get(row, 0))
        width[row] = columns[-1] + 1
    num_rows = max(rows) + 1
    lanes = _lanes([(edge, *_span(edge, rows, num_rows)) for edge in edges])
    return Layout(
        tuple(rows),
        tuple(columns),
        edges,
        lanes,
        num_rows,
        max(width.values()),
        max(lanes.values(), default=-1) + 1,
    )


def _edges(profile: Profile) -> tuple[Edge, ...]:
    producer = {value: op.id for op in profile.ops for value in op.outputs}
    read = [
        Edge(value, producer.get(value), op.id)
        for op in profile.ops
        for value in dict.fromkeys(op.inputs)
    ]
    ends = [
        Edge(value.id, producer[value.id], None)
        for value in profile.values
        if value.kind == "output"
    ]
    return (*read, *ends)


def _span(edge: Edge, rows: Sequence[int], num_rows: int) -> tuple[int, int]:
    above = -1 if edge.source is None else rows[edge.source]
    below = num_rows if edge.target is None else rows[edge.target]
    return above, below


def _lanes(spans: Sequence[tuple[Edge, int, int]]) -> dict[Edge, int]:
    """Gives edges that pass a row the innermost lane that is free there; short edges go first."""
    lanes: dict[Edge, int] = {}
    taken: list[list[tuple[int, int]]] = []
    for edge, above, below in sorted(spans, key=lambda span: (span[2] - span[1], span[1])):
        if below - above == 1:
            continue
        free = (
            number
            for number, others in enumerate(taken)
            if all(end <= above or begin >= below for begin, end in others)
        )
        lanes[edge] = next(free, len(taken))
        if lanes[edge] == len(taken):
            taken.append([])
        taken[lanes[edge]].append((above, below))
    return lanes
