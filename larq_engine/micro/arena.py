"""Places the memory of a plan in one arena, where nothing overlaps that lives at one time."""

import random
from collections.abc import Iterable

from larq_engine.micro.plan import ALIGNMENT, Memory, Plan, copied

# Comparisons of two memories in orders that are tried where the first ones do not reach the bound.
_COMPARISONS = 2_000_000
_SEED = 1


def plan_memory(plan: Plan) -> tuple[Plan, int]:
    """Returns a copy of a plan whose memory is placed, and the bytes of its arena.

    A step that writes less than it reads may do so in the same memory, which then stays as large as
    it was. For some models that is less in all, for some more: the better one is taken.
    """
    plans = []
    for may_shrink in (True, False):
        planned = copied(plan)
        plan_lifetimes(planned, may_shrink=may_shrink)
        plans.append((planned, place(planned)))
    return min(plans, key=lambda planned: planned[1])


def plan_lifetimes(plan: Plan, *, may_shrink: bool = True) -> None:
    """Finds when each memory is used; steps may write where they read if nobody reads later."""
    set_lifetimes(plan)
    for number, step in enumerate(plan.steps):
        source = step.in_place
        if source is None or source.name or source.last != number or source.first < 0:
            continue
        target = step.writes[0]
        if target.name or target is source or target.first != number:
            continue
        if target.bytes > source.bytes or (target.bytes < source.bytes and not may_shrink):
            continue
        _share(plan, range(number, target.last + 1), target, source)
        source.last = target.last


def _share(plan: Plan, numbers: range, old: Memory, new: Memory) -> None:
    def chosen(memory: Memory) -> Memory:
        return new if memory is old else memory

    for number in numbers:
        plan.steps[number] = plan.steps[number].with_memory(chosen)


def set_lifetimes(plan: Plan) -> None:
    """Finds the first and the last step that use each memory."""
    for memory in plan.memories():
        memory.first = memory.last = -1
    for number, step in enumerate(plan.steps):
        scratch = [step.scratch] if step.scratch is not None else []
        for memory in [*step.writes, *scratch, *step.reads]:
            memory.first = number if memory.first < 0 else memory.first
            memory.last = number


def place(plan: Plan) -> int:
    """Gives each memory its offset; returns the bytes of the arena."""
    memories = [memory for memory in plan.memories() if memory.bytes]
    bound = live_bytes(plan)
    goal = max(bound, default=0)
    best: tuple[int, dict[int, int]] | None = None
    for order in _orders(memories):
        size, offsets = _place_in_order(order)
        if best is None or size < best[0]:
            best = size, offsets
        if best[0] <= goal:
            break
    if best is None:
        return 0
    for memory in memories:
        memory.offset = best[1][id(memory)]
    return best[0]


def live_bytes(plan: Plan) -> list[int]:
    """Returns for each step the bytes of all that must be in the arena then."""
    live = [0] * len(plan.steps)
    for memory in plan.memories():
        for number in range(memory.first, memory.last + 1):
            live[number] += rounded(memory.bytes)
    return live


def rounded(size: int) -> int:
    """Returns the bytes that so many take in the arena."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def _orders(memories: list[Memory]) -> Iterable[list[Memory]]:
    yield sorted(memories, key=lambda m: -m.bytes)
    yield sorted(memories, key=lambda m: (m.first - m.last, -m.bytes))
    yield sorted(memories, key=lambda m: -m.bytes * (m.last - m.first + 1))
    yield sorted(memories, key=lambda m: m.first)
    chance = random.Random(_SEED)
    order = sorted(memories, key=lambda m: -m.bytes)
    for _ in range(_COMPARISONS // max(1, len(memories)) ** 2):
        changed = list(order)
        for _ in range(1 + chance.randrange(3)):
            a, b = (chance.randrange(len(changed)) for _ in range(2))
            changed[a], changed[b] = changed[b], changed[a]
        yield changed


def _place_in_order(order: list[Memory]) -> tuple[int, dict[int, int]]:
    """Places one after the other as low as those that live at the same time allow."""
    placed: list[tuple[int, Memory]] = []
    offsets: dict[int, int] = {}
    size = 0
    for memory in order:
        taken = sorted(
            (offset, offset + rounded(other.bytes))
            for offset, other in placed
            if other.first <= memory.last and memory.first <= other.last
        )
        at = 0
        for begin, end in taken:
            if begin >= at + memory.bytes:
                break
            at = max(at, end)
        placed.append((at, memory))
        offsets[id(memory)] = at
        size = max(size, at + rounded(memory.bytes))
    return size, offsets
