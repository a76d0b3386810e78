"""Makes the sections of the page."""

from collections.abc import Mapping
from dataclasses import dataclass

from larq_engine.python import units
from larq_engine.python.text_table import counted
from larq_engine.reporting import card, svg, tables
from larq_engine.reporting.drawing import Drawing
from larq_engine.reporting.markup import Content, Markup, element
from larq_engine.reporting.palette import device_role, device_symbol
from larq_engine.reporting.study import OpStudy, Study
from larq_engine.reporting.tables import Row, Table

Drawings = Mapping[str, Drawing]


@dataclass(frozen=True)
class Section:
    """A part of the page under a heading, to which the navigation leads."""

    name: str
    title: str
    content: Content

    def markup(self) -> Markup:
        heading = f"{self.name}-heading"
        return element(
            "section",
            element("h2", self.title, id=heading),
            self.content,
            id=self.name,
            aria_labelledby=heading,
        )


def summary(study: Study, drawings: Drawings) -> Section:
    """Makes the card, the slowest operators and the whole model's times."""
    doubts = card.warning(study)
    entries = [
        element(
            "div",
            element("dt", entry.name),
            element("dd", entry.answer, class_="answer"),
            element("dd", entry.about, class_="muted"),
        )
        for entry in card.entries(study)
    ]
    content = [
        None if doubts is None else element("p", f"⚠ {doubts}", class_="warning", role="note"),
        element("dl", entries, class_="card") if entries else None,
        [
            [element("h3", drawings[name].title), _chart(drawings, name)]
            for name in ("slowest", "totals")
            if name in drawings
        ],
        _table(tables.totals(study)),
        _table(tables.bill(study)),
    ]
    return Section("summary", "Summary", content)


def machine(study: Study) -> Section:
    """Describes in a folded part what was measured and on what: few readers need it."""
    facts = [(element("dt", name), element("dd", value)) for name, value in tables.facts(study)]
    folded = element(
        "details",
        element("summary", "The machine, the devices, the files and how quiet it was"),
        element("div", element("dl", facts, class_="facts"), class_="body"),
        id="facts",
    )
    return Section("machine", "What was measured", folded)


def graph(study: Study, drawings: Drawings) -> Section:
    """Makes the graph by device; the page's script fills the panel beside it."""
    how = (
        "In the graph, the up and down keys follow the values, left and right go in the order of "
        "execution, Enter goes to what is known of the operator, and Escape comes back. Dashed "
        "lines are values that are moved to another memory, with their size and the time it takes."
    )
    place = (
        "Colours, symbols and names say where each operator is put."
        if study.placement is not None
        else "No placement was given: colours, symbols and names say where each operator is "
        "fastest alone, without transfers."
    )
    panel = element(
        "aside",
        element("p", "No operator is chosen."),
        id="panel",
        class_="panel",
        tabindex="-1",
        aria_label="The chosen operator",
    )
    content = [
        element("p", place, " ", how),
        _legend(study),
        element("div", _chart(drawings, "graph"), panel, class_="graph"),
    ]
    return Section("graph", "Graph", content)


def operators(study: Study, drawings: Drawings) -> Section:
    """Makes the times per operator."""
    content = [
        element("p", drawings["operators"].description) if "operators" in drawings else None,
        _legend(study),
        _chart(drawings, "operators"),
        _table(tables.ops(study)),
    ]
    return Section("operators", "Operators", content)


def reasons(study: Study) -> Section:
    """Makes the reasons for each operator's device: the cost of every alternative."""
    if study.placement is None:
        about = "No placement was given: each operator is shown where it is fastest alone."
    else:
        about = (
            "Each operator with its cost on every device. “In all” is what the whole model would "
            "take more with this operator alone on the other device, transfers counted."
        )
    shared = tables.splits(study)
    content = [
        element("p", about),
        [_reason(study, op) for op in study.ops],
        _table(shared) if shared.rows else None,
    ]
    return Section("reasons", "Why each operator is where it is", content)


def batches(study: Study, drawings: Drawings) -> Section | None:
    """Makes the totals over batch."""
    table = tables.batches(study)
    if not table.rows:
        return None
    return Section("batches", "Batches", [_chart(drawings, "batches"), _table(table)])


def limits(drawings: Drawings) -> Section | None:
    """Makes the shares of the physical limit."""
    if "limits" not in drawings:
        return None
    about = element("p", drawings["limits"].description)
    return Section("limits", "Physical limits", [about, _chart(drawings, "limits")])


def transfers(study: Study) -> Section | None:
    """Makes the moves of values, and the costs of moving."""
    shown = [table for table in (tables.moves(study), tables.links(study)) if table.rows]
    if not shown:
        return None
    none = None if study.moves else element("p", "Nothing is moved between memories.")
    return Section("transfers", "Transfers", [none, map(_table, shown)])


def _legend(study: Study) -> Markup:
    entries = []
    for number, device in enumerate(study.profile.devices):
        symbol = element("span", device_symbol(number), class_=f"text-{device_role(number)}")
        put = len(study.ops_on(device.name))
        text = f" {device.called}: {device.title}, {counted(put, 'operator')}"
        entries.append(element("li", symbol, text))
    return element("ul", entries, class_="legend", aria_label="Devices")


def _reason(study: Study, op: OpStudy) -> Markup:
    layer = f" {op.op.layer}" if op.op.layer else ""
    time = "not measured" if op.chosen is None else units.seconds(op.chosen.seconds.median)
    title = f"{op.op.node} {op.op.op}{layer}"
    body = [
        element("h3", title),
        element("p", f"On {study.place(op)}: {op.reason or time}."),
        element("p", f"Output {op.op.name or 'without a name'}.", class_="muted"),
        _table(tables.costs(study, op)) if op.alone or op.fused else None,
    ]
    return element(
        "details",
        element("summary", f"{title}: {study.place(op)}, {time}"),
        element("div", body, class_="body"),
        id=f"op-{op.op.id}",
    )


def _chart(drawings: Drawings, name: str) -> Markup | None:
    if name not in drawings:
        return None
    drawing = drawings[name]
    # The bars show the numbers, and the description is for readers who cannot see the bars.
    return element(
        "div",
        svg.in_page(drawing, f"drawing-{name}"),
        class_="scroll",
        role="region",
        tabindex="0",
        aria_label=drawing.title,
    )


# Titles of columns with texts that may be long.
_NAMES = frozenset({"layer", "value", "kernel", "from", "whole model"})


def _table(table: Table) -> Markup:
    shown = table.without_empty_columns()
    sorts = [
        "number" if title in shown.numbers else "name" if title in _NAMES else None
        for title in shown.columns
    ]

    def line(cells: Row, first: str, other: str, scope: str) -> Markup:
        made = [
            element(
                first if index == 0 else other,
                cell,
                scope=scope if index == 0 or other == "th" else None,
                class_=sort,
            )
            for index, (cell, sort) in enumerate(zip(cells, sorts, strict=True))
        ]
        return element("tr", made)

    written = element(
        "table",
        element("caption", shown.caption),
        element("thead", line(shown.columns, "th", "th", "col")),
        element("tbody", [line(row, "th", "td", "row") for row in shown.rows]),
    )
    return element(
        "div", written, class_="scroll", role="region", tabindex="0", aria_label=shown.caption
    )
