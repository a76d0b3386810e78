"""Computes layers in strips of lines where a plan takes more memory than it may.

A run of layers is computed for some lines of its last image, from the first layer to the last one,
and then for the next lines. Images in between hold the lines of one strip alone. Those that lie
under two strips are computed twice.
"""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from larq_engine.micro.arena import live_bytes, plan_lifetimes, plan_memory
from larq_engine.micro.plan import Plan, Step, copied
from larq_engine.micro.strip_parts import is_run, strip

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


_Runs = tuple[_Run, ...]

# The bytes above a limit, the most of a step and all together; what is computed; and the calls.
_Cost = tuple[int, int, int, int]


def plan_in_strips(plan: Plan, limit: int) -> tuple[Plan, int]:
    """Returns a plan whose memory is placed within so many bytes, or the smallest that is found.

    Each search takes the best step forward, and which ones these are depends on the limit. Where
    none reaches it, a search for no memory at all follows, and then one for a byte less than each
    that was found. So the smallest arena that is named is one that the next call finds again.
    """
    planned, size = _placed(in_strips(plan, limit))
    if size <= limit:
        return planned, size
    goal = 0
    planned, size = _placed(in_strips(plan, goal))
    while size > limit:
        smaller, smaller_size = _placed(in_strips(plan, size - 1))
        if smaller_size >= size:
            break
        planned, size = smaller, smaller_size
    return planned, size


def _placed(plan: Plan) -> tuple[Plan, int]:
    return plan_memory(lambda: copied(plan))


def in_strips(plan: Plan, limit: int) -> Plan:
    """Returns the plan with layers in strips until it fits into so many bytes, or none helps."""
    runs: _Runs = ()
    cost, live = _measured(plan, runs, limit)
    while cost[0]:
        forward = _steps_forward(plan, runs, live, limit)
        best = min(forward, key=operator.itemgetter(0), default=(cost, runs))
        if best[0] >= cost:
            break
        runs = best[1]
        cost, live = _measured(plan, runs, limit)
    return _expand(plan, runs, _all_strips)


def _all_strips(rows: int, height: int) -> list[int]:
    return list(range(0, rows, height))


def _few_strips(rows: int, height: int) -> list[int]:
    """Returns the strips at the image's ends, and two that stand for all in between."""
    firsts = _all_strips(rows, height)
    return firsts[:3] + firsts[3:][-1:]


def _expand(plan: Plan, runs: _Runs, strips_of: Callable[[int, int], list[int]]) -> Plan:
    """Returns the plan with runs in strips; steps know which of the plan's they are."""
    steps: list[Step] = []
    end = 0
    for run in sorted(runs, key=lambda run: run.first):
        steps += plan.steps[end : run.first]
        end = run.last + 1
        whole, rows = plan.steps[run.first : end], _rows(plan.steps[run.last])
        for first in strips_of(rows, run.height):
            steps += strip(whole, (first, min(first + run.height, rows)))
    return Plan(plan.inputs, plan.outputs, [*steps, *plan.steps[end:]])


def _measured(plan: Plan, runs: _Runs, limit: int) -> tuple[_Cost, list[int]]:
    """Returns the cost of runs, and the most bytes that each step of the plan needs with them."""
    expanded = _expand(plan, runs, _few_strips)
    live = min((_live(plan, expanded, may_shrink) for may_shrink in (True, False)), key=max)
    over = [max(0, most - limit) for most in live]
    work = sum(step.work for step in plan.steps)
    calls = len(plan.steps)
    for run in runs:
        whole, rows = plan.steps[run.first : run.last + 1], _rows(plan.steps[run.last])
        firsts = _all_strips(rows, run.height)
        # A strip in the middle stands for all.
        middle = firsts[len(firsts) // 2]
        made = strip(whole, (middle, min(middle + run.height, rows)))
        work += len(firsts) * sum(step.work for step in made) - sum(step.work for step in whole)
        calls += (len(firsts) - 1) * len(whole)
    return (max(over, default=0), sum(over), work, calls), live


def _live(plan: Plan, expanded: Plan, may_shrink: bool) -> list[int]:
    planned = copied(expanded)
    plan_lifetimes(planned, may_shrink=may_shrink)
    most = [0] * len(plan.steps)
    for step, live in zip(planned.steps, live_bytes(planned), strict=True):
        most[step.number] = max(most[step.number], live)
    return most


def _steps_forward(
    plan: Plan, runs: _Runs, live: list[int], limit: int
) -> Iterator[tuple[_Cost, _Runs]]:
    """Yields runs with one more around the step with the most memory, which replaces others."""
    peak = live.index(max(live))
    for first in range(max(0, peak - _MOST_LAYERS + 1), peak + 1):
        for last in range(peak, min(first + _MOST_LAYERS, len(plan.steps))):
            steps = plan.steps[first : last + 1]
            if is_run(plan, steps) and _kept_bytes(steps) < live[peak]:
                yield _with_run(plan, runs, (first, last), limit)


def _kept_bytes(steps: list[Step]) -> int:
    """Returns the bytes in the arena of whole images that a run reads and writes."""
    made = {id(step.writes[0]) for step in steps[:-1]}
    kept = {id(memory): memory for step in steps for memory in [*step.reads, *step.writes]}
    return sum(m.bytes for key, m in kept.items() if key not in made and not m.name)


def _with_run(plan: Plan, runs: _Runs, ends: tuple[int, int], limit: int) -> tuple[_Cost, _Runs]:
    """Returns the cost of one more run, in the highest strips that need no more than the lowest.

    Strips of fewer lines need less memory and compute more, so that halving finds them.
    """
    heights = _heights(plan.steps[ends[1]])

    def measured(place: int) -> tuple[_Cost, _Runs]:
        run = _Run(*ends, heights[place])
        more = (*(other for other in runs if not other.overlaps(run)), run)
        return _measured(plan, more, limit)[0], more

    low, high = 0, len(heights) - 1
    best = measured(low)
    while low < high:
        middle = (low + high + 1) // 2
        found = measured(middle)
        if found[0][:2] <= best[0][:2]:
            low, best = middle, found
        else:
            high = middle - 1
    return best


def _rows(step: Step) -> int:
    assert step.lines is not None
    return step.lines.rows


def _heights(step: Step) -> list[int]:
    """Returns numbers of lines for strips, without those that make as many strips as others."""
    rows = _rows(step)
    return sorted({-(-rows // strips) for strips in range(2, min(rows, _MOST_STRIPS) + 1)})
