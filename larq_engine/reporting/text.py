"""Formats the report for the terminal."""

from larq_engine.python.text_table import align_columns, printable
from larq_engine.reporting import card, tables
from larq_engine.reporting.study import Study
from larq_engine.reporting.tables import Table


def format_text(study: Study) -> str:
    """Returns the card, all tables, and the machine at the end."""
    parts = ["\n".join(map(printable, _card(study)))]
    shown = [
        *(tables.totals(study), tables.bill(study), tables.ops(study), _reasons(study)),
        *(tables.splits(study), tables.moves(study), tables.links(study), tables.batches(study)),
    ]
    parts += [_format(table) for table in shown if table.rows]
    facts = [f"{name}: {value}" for name, value in tables.facts(study)]
    parts.append("\n".join(["What was measured, and on what", *map(printable, facts)]))
    return "\n\n".join(parts)


def _card(study: Study) -> list[str]:
    lines = [study.profile.model.name]
    doubts = card.warning(study)
    lines += [] if doubts is None else [f"WARNING: {doubts}"]
    return lines + [f"{e.name}: {e.answer} ({e.about})" for e in card.entries(study)]


def _reasons(study: Study) -> Table:
    rows = [(str(op.op.node), study.place(op), op.reason) for op in study.ops]
    return Table(
        "Why each operator is where it is", ("#", "device", "reason"), rows, frozenset("#")
    )


def _format(table: Table) -> str:
    shown = table.without_empty_columns()
    return "\n".join([shown.caption, *align_columns(shown.columns, shown.rows, shown.numbers)])
