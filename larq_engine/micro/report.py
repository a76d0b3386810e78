"""The table of an exported model: what each step takes of flash and memory."""

from dataclasses import dataclass

from larq_engine.micro.arena import live_bytes
from larq_engine.micro.plan import Plan, Step
from larq_engine.micro.stack import stack_bytes
from larq_engine.python.text_table import align_columns, printable

_COLUMNS = ("step", "operator", "layer", "kernel", "flash, bytes", "arena, bytes")
# The line of steps in floats names so many.
_MOST_NAMED = 4

_NUMBERS = ("step", "flash, bytes", "arena, bytes")


@dataclass
class _Row:
    """A step, or all parts of one that is computed in strips of lines."""

    number: int
    step: Step
    flash: int = 0
    arena: int = 0
    parts: int = 0

    def texts(self) -> tuple[str, ...]:
        kind = self.step.kind
        if self.step.strip is not None:
            kind += f", {self.parts} strips"
        instance = self.step.instance
        kernel = self.step.function if instance is None else instance.name
        return str(self.number), kind, self.step.layer, kernel, str(self.flash), str(self.arena)


def describe(plan: Plan, arena: int, flash: int, whole_work: int) -> str:
    """Returns the table, and the sums below it; `whole_work` is that of the plan without strips."""
    rows = _rows(plan)
    lines = align_columns(_COLUMNS, [row.texts() for row in rows], _NUMBERS)
    sums = [
        f"{flash} bytes of constants in flash, {arena} bytes of memory for a run (arena); inputs "
        "and outputs are the program's own"
    ]
    in_strips = sum(row.step.strip is not None for row in rows)
    if in_strips:
        more = sum(step.work for step in plan.steps) / max(1, whole_work) - 1
        sums.append(
            f"{in_strips} steps are computed in strips of lines for the sake of the arena, which "
            f"makes {100 * more:.0f}% more products and values in all"
        )
    sums.append(
        f"at most {stack_bytes(plan)} bytes of stack, as gcc 12 compiles it with -O1 or more"
    )
    in_floats = [f"{row.step.kind} of '{row.step.layer}'" for row in rows if row.step.has_floats]
    floats = f"{len(in_floats)} of {len(rows)} steps compute floats"
    if in_floats:
        ending = ", ..." if len(in_floats) > _MOST_NAMED else ""
        floats += f": {', '.join(in_floats[:_MOST_NAMED])}{ending}"
    return "\n".join([*lines, "", *map(printable, [*sums, floats])])


def _rows(plan: Plan) -> list[_Row]:
    rows: dict[object, _Row] = {}
    for number, (step, flash, live) in enumerate(
        zip(plan.steps, plan.flash(), live_bytes(plan), strict=True)
    ):
        key = number if step.strip is None else ("strips", step.number)
        row = rows.setdefault(key, _Row(number, step))
        row.flash += flash
        row.arena = max(row.arena, live)
        row.parts += 1
    return list(rows.values())
