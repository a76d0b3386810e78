"""The report for the terminal."""

from larq_engine.python.text_table import align_columns, printable
from larq_engine.reporting import tables
from larq_engine.reporting.study import Study
from larq_engine.reporting.tables import Table


def format_text(study: Study) -> str:
    """All tables, one below the other."""
    facts = [printable(f"{name}: {value}") for name, value in tables.facts(study)]
    parts = ["\n".join(facts)]
    shown = [
        *(tables.totals(study), tables.bill(study), tables.ops(study), _reasons(study)),
        *(tables.splits(study), tables.moves(study), tables.links(study), tables.batches(study)),
    ]
    parts += [_format(table) for table in shown if table.rows]
    return "\n\n".join(parts)


def _reasons(study: Study) -> Table:
    rows = [(str(op.op.node), op.place, op.reason) for op in study.ops]
    return Table(
        "Why each operator is where it is", ("#", "device", "reason"), rows, frozenset("#")
    )


def _format(table: Table) -> str:
    shown = table.without_empty_columns()
    return "\n".join([shown.caption, *align_columns(shown.columns, shown.rows, shown.numbers)])
