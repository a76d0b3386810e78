"""Memory that is used at one time does not overlap, and takes no more than it must."""

import itertools

import numpy as np
import pytest

from larq_engine.converter import schema
from larq_engine.micro.arena import live_bytes, place, plan_lifetimes
from larq_engine.micro.lowering import make_plan
from larq_engine.micro.plan import ALIGNMENT, Memory, Plan, Step
from tests.micro.integer_networks import IntegerNetwork


def _plan(seed: int, layers: int) -> Plan:
    return make_plan(schema.read(IntegerNetwork(seed).build(layers)).graphs[0])


@pytest.mark.parametrize("seed", range(12))
def test_nothing_overlaps(seed: int) -> None:
    plan = _plan(seed, 12)
    plan_lifetimes(plan)
    size = place(plan)
    memories = plan.memories()
    for memory in memories:
        assert memory.offset % ALIGNMENT == 0
        assert memory.offset >= 0 and memory.offset + memory.bytes <= size
    for a, b in itertools.combinations(memories, 2):
        if a.first <= b.last and b.first <= a.last:
            assert a.offset + a.bytes <= b.offset or b.offset + b.bytes <= a.offset
    assert size <= 1.1 * max(live_bytes(plan), default=0)


def _step(reads: list[Memory], writes: list[Memory], *, in_place: Memory | None = None) -> Step:
    return Step((), "", [*reads, *writes], reads, writes, in_place=in_place)


def test_memory_is_used_again_and_in_place() -> None:
    given, a, b, c, taken = (
        Memory(64, "input"),
        *(Memory(64) for _ in range(3)),
        Memory(64, "output"),
    )
    steps = [_step([given], [a]), _step([a], [b], in_place=a), _step([b], [c]), _step([c], [taken])]
    plan = Plan([], [], steps)
    plan_lifetimes(plan)
    assert steps[1].writes == [a] and steps[2].reads == [a]
    assert steps[1].arguments == [a, a]
    assert place(plan) == 128
    assert live_bytes(plan) == [64, 64, 128, 64]


def test_memory_that_is_read_later_is_not_overwritten() -> None:
    given, a, b, taken = Memory(64, "input"), Memory(64), Memory(64), Memory(64, "output")
    steps = [_step([given], [a]), _step([a], [b], in_place=a), _step([a, b], [taken])]
    plan = Plan([], [], steps)
    plan_lifetimes(plan)
    assert steps[1].writes == [b]
    assert place(plan) == 128


def test_an_order_by_size_that_is_not_best_is_improved() -> None:
    """Random lifetimes come within a tenth of what must be in memory at once."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        memories = [Memory(int(4 * rng.integers(1, 100))) for _ in range(30)]
        steps = [_step([], []) for _ in range(20)]
        for memory in memories:
            first, last = sorted(int(n) for n in rng.integers(0, 20, 2))
            for number in range(first, last + 1):
                steps[number].reads.append(memory)
        plan = Plan([], [], steps)
        plan_lifetimes(plan)
        assert place(plan) <= 1.1 * max(live_bytes(plan))
