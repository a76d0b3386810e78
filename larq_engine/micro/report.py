"""The table of an exported model: what each step takes of flash and memory."""

from larq_engine.micro.arena import live_bytes
from larq_engine.micro.plan import Plan
from larq_engine.python.text_table import align_columns, printable

_COLUMNS = ("step", "operator", "layer", "kernel", "flash, bytes", "arena, bytes")
# The line of steps in floats names so many.
_MOST_NAMED = 4

_NUMBERS = ("step", "flash, bytes", "arena, bytes")


def describe(plan: Plan, arena: int, flash: int) -> str:
    """Returns the table, and the sums below it."""
    rows = [
        (
            str(number),
            step.kind,
            step.layer,
            step.instance.name if step.instance is not None else step.function,
            str(step.flash),
            str(live),
        )
        for number, (step, live) in enumerate(zip(plan.steps, live_bytes(plan), strict=True))
    ]
    lines = align_columns(_COLUMNS, rows, _NUMBERS)
    sums = (
        f"{flash} bytes of constants in flash, {arena} bytes of memory for a run (arena); inputs "
        "and outputs are the program's own"
    )
    in_floats = [f"{step.kind} of '{step.layer}'" for step in plan.steps if step.has_floats]
    floats = f"{len(in_floats)} of {len(plan.steps)} steps compute floats"
    if in_floats:
        more = ", ..." if len(in_floats) > _MOST_NAMED else ""
        floats += f": {', '.join(in_floats[:_MOST_NAMED])}{more}"
    return "\n".join([*lines, "", printable(sums), printable(floats)])
