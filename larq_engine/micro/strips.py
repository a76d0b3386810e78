"""Computes layers in strips of lines where a plan takes more memory than it may.

A run of layers is computed for some lines of its last image, from the first layer to the last one,
and then for the next lines. Images in between hold the lines of one strip alone. Those that lie
under two strips are computed twice.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from larq_engine.micro.arena import live_bytes, plan_lifetimes
from larq_engine.micro.plan import Memory, Plan, Range, Step, copied

# A run has at most so many layers, and is computed in at most so many strips.
_MOST_LAYERS = 10
_MOST_STRIPS = 32


@dataclass(frozen=True)
class _Run:
    """Steps of a plan from the first to the last one, in strips of so many lines."""

    first: int
    last: int
    height: int

    def overlaps(self, other: "_Run") -> bool:
        return self.first <= other.last and other.first <= self.last


def in_strips(plan: Plan, limit: int) -> Plan:
    """Returns the plan with layers in strips until it fits into so many bytes, or none helps."""
    runs: tuple[_Run, ...] = ()
    cost = _cost(plan, runs, limit)
    while cost[0]:
        found = min(
            ((_cost(plan, more, limit), more) for more in _with_another(plan, runs)),
            key=lambda measured: measured[0],
            default=(cost, runs),
        )
        if found[0] >= cost:
            break
        cost, runs = found
    return _expand(plan, runs)[0]


def _expand(plan: Plan, runs: tuple[_Run, ...]) -> tuple[Plan, list[int]]:
    """Returns the plan with runs in strips, and which step of it each of the new ones is of."""
    steps: list[Step] = []
    origins: list[int] = []
    number = 0
    for run in (*sorted(runs, key=lambda run: run.first), None):
        end = len(plan.steps) if run is None else run.first
        steps += plan.steps[number:end]
        origins += range(number, end)
        if run is None:
            break
        number = run.last + 1
        whole = plan.steps[run.first : number]
        parts = _parts(whole, run.height)
        steps += parts
        origins += [*range(run.first, number)] * (len(parts) // len(whole))
    return Plan(plan.inputs, plan.outputs, steps), origins


def _live(plan: Plan, runs: tuple[_Run, ...]) -> list[int]:
    """Returns the most bytes that each step of the plan needs with these runs in strips."""
    expanded, origins = _expand(plan, runs)
    found = []
    for may_shrink in (True, False):
        planned = copied(expanded)
        plan_lifetimes(planned, may_shrink=may_shrink)
        most = [0] * len(plan.steps)
        for origin, live in zip(origins, live_bytes(planned), strict=True):
            most[origin] = max(most[origin], live)
        found.append(most)
    return min(found, key=max)


def _cost(plan: Plan, runs: tuple[_Run, ...], limit: int) -> tuple[int, int, int]:
    """Returns what is too much, what is computed, and the calls.

    What is too much are bytes above the limit, of all layers: one less is a step forward.
    """
    over = sum(max(0, most - limit) for most in _live(plan, runs))
    steps = _expand(plan, runs)[0].steps
    return over, sum(step.work for step in steps), len(steps)


def _with_another(plan: Plan, runs: tuple[_Run, ...]) -> Iterator[tuple[_Run, ...]]:
    """Yields runs with one more around the step with the most memory, which replaces others."""
    live = _live(plan, runs)
    peak = live.index(max(live))
    for first in range(max(0, peak - _MOST_LAYERS + 1), peak + 1):
        for last in range(peak, min(first + _MOST_LAYERS, len(plan.steps))):
            steps = plan.steps[first : last + 1]
            for height in _heights(steps[-1]) if _is_run(plan, steps) else ():
                run = _Run(first, last, height)
                yield (*(other for other in runs if not other.overlaps(run)), run)


def _heights(step: Step) -> list[int]:
    """Returns numbers of lines for strips, without those that make as many strips as others."""
    assert step.lines is not None
    rows = step.lines.rows
    return sorted({-(-rows // strips) for strips in range(2, min(rows, _MOST_STRIPS) + 1)})


def _is_run(plan: Plan, steps: list[Step]) -> bool:
    """Tells whether steps pass lines on to each other alone, and only the last image is kept."""
    rows: dict[int, int] = {}
    for step in steps:
        if step.lines is None or step.lines.rows < 2 or len(step.writes) != 1:
            return False
        for memory in step.reads:
            made = rows.get(id(memory))
            if made is None:
                continue
            is_beside = any(memory is other for other in step.lines.beside)
            if is_beside or made != step.lines.window["in_size"]:
                return False
        if id(step.writes[0]) in rows:
            return False
        rows[id(step.writes[0])] = step.lines.rows
    inner = {id(step.writes[0]) for step in steps[:-1]}
    if any(step.writes[0].name for step in steps[:-1]):
        return False
    kept = {id(step.writes[0]) for step in steps}
    for step in plan.steps:
        if any(step is other for other in steps):
            continue
        if any(id(memory) in inner for memory in step.reads):
            return False
        if any(id(memory) in kept for memory in step.writes):
            return False
    read = {id(memory) for step in steps for memory in step.reads}
    return inner <= read


def _parts(steps: list[Step], height: int) -> list[Step]:
    """Returns the steps of all strips of so many lines of the last image."""
    last = steps[-1]
    assert last.lines is not None
    rows = last.lines.rows
    parts = []
    for first in range(0, rows, height):
        parts += _strip(steps, (first, min(first + height, rows)))
    return parts


def _strip(steps: list[Step], made: Range) -> list[Step]:
    """Returns the steps that make some lines of the last image."""
    ranges = {id(steps[-1].writes[0]): made}
    inner = {id(step.writes[0]) for step in steps[:-1]}
    for step in reversed(steps):
        assert step.lines is not None
        read = step.lines.read(ranges[id(step.writes[0])])
        for memory in step.reads:
            if id(memory) in inner:
                other = ranges.get(id(memory), read)
                ranges[id(memory)] = min(read[0], other[0]), max(read[1], other[1])
    strips: dict[int, Memory] = {}
    return [_part(step, ranges, strips, inner) for step in steps]


def _part(step: Step, ranges: dict[int, Range], strips: dict[int, Memory], inner: set[int]) -> Step:
    """Returns the step for the lines that its output has in `ranges`."""
    lines, target = step.lines, step.writes[0]
    assert lines is not None
    made = ranges[id(target)]
    read = lines.read(made)
    places: dict[int, tuple[Memory, int]] = {}
    for memory in step.reads:
        if any(memory is other for other in lines.beside):
            continue
        line = memory.bytes // lines.window["in_size"]
        if id(memory) in inner:
            begin = ranges[id(memory)][0]
            places[id(memory)] = strips[id(memory)], (read[0] - begin) * line
        else:
            places[id(memory)] = memory, read[0] * line
    line = target.bytes // lines.rows
    if id(target) in inner:
        strips[id(target)] = Memory((made[1] - made[0]) * line)
        places[id(target)] = strips[id(target)], 0
    else:
        places[id(target)] = target, made[0] * line
    scratch = None if step.scratch is None else Memory(step.scratch.bytes)
    if step.scratch is not None and scratch is not None:
        places[id(step.scratch)] = scratch, 0
    source = step.in_place
    changed = replace(step, **lines.change(step, lines.window_of(made)))
    return replace(
        changed,
        arguments=[_placed(argument, places) for argument in changed.arguments],
        reads=[places.get(id(memory), (memory, 0))[0] for memory in step.reads],
        writes=[places[id(target)][0]],
        scratch=scratch,
        in_place=strips.get(id(source)) if _is_alike(source, target, ranges, inner) else None,
        work=step.work * (made[1] - made[0]) // lines.rows,
        strip=made,
        lines=None,
    )


def _is_alike(
    source: Memory | None, target: Memory, ranges: dict[int, Range], inner: set[int]
) -> bool:
    """Tells whether both images have the same lines in a strip."""
    if source is None or id(source) not in inner or id(target) not in inner:
        return False
    return ranges[id(source)] == ranges[id(target)]


def _placed(argument: object, places: dict[int, tuple[Memory, int]]) -> object:
    memory, skip = argument if isinstance(argument, tuple) else (argument, 0)
    if id(memory) not in places:
        return argument
    moved, more = places[id(memory)]
    return (moved, skip + more)
