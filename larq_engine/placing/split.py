"""One layer on two devices at once, by output channels: where both finish together.

Advice beside a placement, whose operators are each on one device. A device takes for some of the
channels the same part of its time for all. The second device reads all inputs, which are moved to
it if they are not there; what it makes is moved to where the first has its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from larq_engine.placing.costs import Costs
from larq_engine.placing.problem import HOST, gains_of, moves_of
from larq_engine.placing.profile_file import Profile


@dataclass(frozen=True)
class Split:
    """The last channels of a layer computed elsewhere, at the same time."""

    op: int
    device: int  # which computes them
    channels: int  # so many
    of: int
    seconds: float  # of the layer
    saved: float


def best_split(
    channels: int,
    step: int,
    first_seconds: float,
    second_seconds: float,
    move_in: float,
    move_out: tuple[float, float],
) -> tuple[int, float]:
    """How many channels the second device computes, a multiple of `step`, and the seconds in all.

    Args:
        channels: Of the layer.
        step: Channels come in whole numbers of so many, such as 32 where they are bits of words.
        first_seconds: The first device's, for all channels.
        second_seconds: The second device's, for all channels.
        move_in: Until the second device has what it reads.
        move_out: Seconds of moving what it makes: for any, and for all channels beside.
    """
    best = (0, first_seconds)
    for there in range(step, channels, step):
        part = there / channels
        seconds = max(
            first_seconds * (1 - part),
            move_in + second_seconds * part + move_out[0] + move_out[1] * part,
        )
        if seconds < best[1]:
            best = (there, seconds)
    return best


def find_splits(
    profile: Profile, costs: Costs, devices: Sequence[int], channels: Mapping[int, int]
) -> list[Split]:
    """The splits that pay, each alone; `channels` has those of the layers that can be split."""
    problem, routes = costs.seconds, costs.routes
    has = {
        (number, HOST if value.maker < 0 else problem.memory_of[devices[value.maker]])
        for number, value in enumerate(problem.values)
    } | {(number, target) for number, _, target in moves_of(problem, devices)}
    splits = []
    for op, count in sorted(channels.items()):
        own = devices[op]
        home = problem.memory_of[own]
        gained = sum(gain.saved for gain in gains_of(problem, devices) if op in gain.ops)
        before = float(problem.op_cost[op, own])
        found: Split | None = None
        for other in range(problem.num_devices):
            if other == own or costs.measured[op][other] is None:
                continue
            memory = problem.memory_of[other]
            size = sum(
                profile.values[value].bytes[costs.batch] for value in profile.ops[op].outputs
            )
            for_any = routes.seconds_of(0, memory, home)
            there, seconds = best_split(
                count,
                32 if profile.ops[op].op.startswith("Lce") else 1,
                before,
                float(problem.op_cost[op, other]),
                sum(
                    min(
                        float(problem.move_cost[value, source, memory])
                        for number, source in has
                        if number == value
                    )
                    for value in dict.fromkeys(profile.ops[op].inputs)
                ),
                (for_any, routes.seconds_of(size, memory, home) - for_any),
            )
            saved = before - gained - seconds
            if there and saved > 0 and (found is None or saved > found.saved):
                found = Split(op, other, there, count, seconds, saved)
        if found is not None:
            splits.append(found)
    return splits
