"""Computes layers in strips of lines where a plan takes more memory than it may.

A run of layers is computed for some lines of its last image, from the first layer to the last one,
and then for the next lines. Images in between hold the lines of one strip alone. Those that lie
under two strips are computed twice.
"""

from dataclasses import dataclass
from functools import cache

from larq_engine.micro.arena import (
    live_bytes,
    plan_lifetimes,
    plan_memory,
    rounded,
    set_lifetimes,
)
from larq_engine.micro.plan import ALIGNMENT, Plan, Step, copied
from larq_engine.micro.strip_parts import is_run, outer_images, strip

# A run has at most so many layers, and is computed in at most so many strips.
_MOST_LAYERS = 10
_MOST_STRIPS = 32


@dataclass(frozen=True)
class _Run:
    """Steps of a plan from the first to the last one, in strips of so many lines."""

    first: int
    last: int
    height: int


@dataclass(frozen=True)
class _Way:
    """The first steps of a plan, some of them in runs, and what that costs."""

    work: int
    calls: int
    runs: tuple[_Run, ...]

    @property
    def cost(self) -> tuple[int, int]:
        return self.work, self.calls


def plan_in_strips(plan: Plan, limit: int) -> tuple[Plan, int]:
    """Returns a plan whose memory is placed within so many bytes, or else in the fewest.

    What runs need is found for each by itself, so that the memory of a whole plan may be larger.
    Then the plan of the fewest bytes is taken, which is the same for all limits.
    """
    search = _Search(plan)
    runs = search.choose(limit)
    if runs is not None:
        planned, size = _placed(plan, runs)
        if size <= limit:
            return planned, size
    runs = search.choose(search.least())
    assert runs is not None, "there are runs for the least"
    return _placed(plan, runs)


def _placed(plan: Plan, runs: tuple[_Run, ...]) -> tuple[Plan, int]:
    return plan_memory(_expand(plan, runs))


def _expand(plan: Plan, runs: tuple[_Run, ...]) -> Plan:
    """Returns the plan with runs in strips."""
    steps: list[Step] = []
    end = 0
    for run in runs:
        steps += plan.steps[end : run.first]
        end = run.last + 1
        whole, rows = plan.steps[run.first : end], _rows(plan.steps[run.last])
        for first in range(0, rows, run.height):
            steps += strip(whole, (first, min(first + run.height, rows)))
    return Plan(plan.inputs, plan.outputs, [*steps, *plan.steps[end:]])


def _rows(step: Step) -> int:
    assert step.lines is not None
    return step.lines.rows


class _Search:
    """Finds the runs that compute the least of those that stay within a number of bytes."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._whole = [min(live) for live in zip(*map(self._live, (True, False)), strict=True)]
        set_lifetimes(plan)
        self._uses = [(memory, memory.first, memory.last) for memory in plan.memories()]
        self._needs = cache(self._measure)
        self._are_run = cache(lambda first, last: is_run(plan, plan.steps[first : last + 1]))

    def _live(self, may_shrink: bool) -> list[int]:
        planned = copied(self._plan)
        plan_lifetimes(planned, may_shrink=may_shrink)
        return live_bytes(planned)

    def least(self) -> int:
        """Returns the fewest bytes for which there are runs."""
        low, high = 0, max(self._whole, default=0) // ALIGNMENT
        while low < high:
            middle = (low + high) // 2
            if self.choose(middle * ALIGNMENT) is None:
                low = middle + 1
            else:
                high = middle
        return high * ALIGNMENT

    def choose(self, limit: int) -> tuple[_Run, ...] | None:
        """Returns runs after each other that compute the least within the limit, if there are any.

        The best way to the end of a step is the best of those that end in a run or a step there.
        """
        ways: list[_Way | None] = [_Way(0, 0, ())]
        for last, step in enumerate(self._plan.steps):
            found = []
            before = ways[last]
            if before is not None and self._whole[last] <= limit:
                found.append(_Way(before.work + step.work, before.calls + 1, before.runs))
            for first in range(max(0, last - _MOST_LAYERS + 1), last + 1):
                before = ways[first]
                if before is not None and self._are_run(first, last):
                    found += self._in_strips(before, first, last, limit)
            ways.append(min(found, key=lambda way: way.cost, default=None))
        return None if ways[-1] is None else ways[-1].runs

    def _in_strips(self, before: _Way, first: int, last: int, limit: int) -> list[_Way]:
        """Returns the way that goes on with a run in the highest strips that fit, or none.

        Strips of fewer lines need less memory and compute more, so that halving finds them.
        """
        if self._kept_bytes(first, last) > limit:
            return []
        heights = _heights(self._plan.steps[last])
        low, high = -1, len(heights) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self._needs(first, last, heights[middle])[0] <= limit:
                low = middle
            else:
                high = middle - 1
        if low < 0:
            return []
        _, work, calls = self._needs(first, last, heights[low])
        runs = (*before.runs, _Run(first, last, heights[low]))
        return [_Way(before.work + work, before.calls + calls, runs)]

    def _measure(self, first: int, last: int, height: int) -> tuple[int, int, int]:
        """Returns the bytes that a run needs, what it computes, and its calls."""
        steps, rows = self._plan.steps[first : last + 1], _rows(self._plan.steps[last])
        firsts = list(range(0, rows, height))
        # The first strips stand for all in between.
        few = firsts[:3] + firsts[3:][-1:]
        strips = [strip(steps, (begin, min(begin + height, rows))) for begin in few]
        parts = Plan([], [], [part for made in strips for part in made])
        plan_lifetimes(parts)
        for memory in outer_images(steps):
            memory.last = len(parts.steps) - 1
            memory.first = 0 if memory is not steps[-1].writes[0] else memory.first
        live = max(live_bytes(parts)) + self._across(first, last)
        works = [sum(part.work for part in made) for made in strips]
        between = works[min(2, len(works) - 1)]
        return live, sum(works) + (len(firsts) - len(few)) * between, len(firsts) * len(steps)

    def _kept_bytes(self, first: int, last: int) -> int:
        """Returns the bytes of whole images that must be there at the end of a run."""
        outer = outer_images(self._plan.steps[first : last + 1])
        return sum(rounded(memory.bytes) for memory in outer) + self._across(first, last)

    def _across(self, first: int, last: int) -> int:
        """Returns the bytes of what lies in memory over a run that does not use it."""
        used = {id(memory) for memory in outer_images(self._plan.steps[first : last + 1])}
        return sum(
            rounded(memory.bytes)
            for memory, begin, end in self._uses
            if begin < first and end > last and id(memory) not in used
        )


def _heights(step: Step) -> list[int]:
    """Returns numbers of lines for strips, without those that make as many strips as others."""
    rows = _rows(step)
    return sorted({-(-rows // strips) for strips in range(2, min(rows, _MOST_STRIPS) + 1)})
