"""Chooses the placement of a profiled model: `place_profile`."""

from collections.abc import Mapping, Sequence

import numpy as np

from larq_engine.placing.costs import Costs, choose_devices, costs_of
from larq_engine.placing.greedy import greedy
from larq_engine.placing.placement import (
    GOALS,
    Alternative,
    Elsewhere,
    Move,
    PlacedOp,
    Placement,
    SecondHalf,
    cost_of,
    run_name,
    unit_of,
)
from larq_engine.placing.problem import moves_of
from larq_engine.placing.profile import Device, Profile
from larq_engine.placing.solve import Solution, solve
from larq_engine.placing.split import (
    Split,
    Splits,
    choose_splits,
    helpers_of,
    joules_of,
    moves_home,
    part_joules,
    part_seconds,
    seconds_of,
)
from larq_engine.placing.two_costs import least_product, least_within
from larq_engine.placing.unplaced import find_unplaced
from larq_engine.python.devices import accelerator_of

AUTO = "auto"


def place_profile(
    profile: Profile,
    *,
    objective: str = "latency",
    batch: int | str | None = None,
    threads: int | None = None,
    max_energy: float | None = None,
    devices: Sequence[str] | None = None,
    channels: Mapping[int, int] | None = None,
    engine: str = "",
    falls_back: bool = False,
) -> Placement:
    """Returns the best placement of a profiled model.

    Args:
        profile: The measured costs.
        objective: "latency" or "throughput": least seconds; "energy": least joules; "edp": least
            product of both.
        batch: A batch of the profile; "auto": the one of least cost for each image; None: the
            smallest.
        threads: A number of threads of the profile; None: the best.
        max_energy: The most joules that a batch may take; for "latency" and "throughput" only.
        devices: Names of the devices that may be used; None: all.
        channels: Output channels of the operators, by id, that two devices can share.
        engine: The version of the engine, which the placement records.
        falls_back: Whether an operator goes where the plug-in's options say if its device or kernel
            is missing when the model runs; else that is an error.

    Raises:
        ValueError: The profile lacks what is asked for, or nothing can compute an operator.
    """
    _check(profile, objective, batch, threads, max_energy)
    chosen = choose_devices(profile, devices)
    _check_gpus(chosen)
    batches = profile.batches()
    if batch != AUTO:
        batches = [min(batches) if batch is None else int(batch)]
    numbers = profile.threads() if threads is None else [threads]
    least_energy = objective == "energy"
    needs_joules = _needs_joules(objective, max_energy)
    limited = [device.name for device in chosen if device.area is not None]
    _check_area(limited, objective, max_energy)
    shared = {} if needs_joules or limited else channels or {}
    tried: list[tuple[float, Costs, Solution, Splits]] = []
    problem = ""
    for size in batches:
        for number in numbers:
            costs = costs_of(profile, size, number, chosen, least_energy, needs_joules)
            try:
                _check_all_known(profile, costs, needs_joules)
                solution = _solve(costs, objective, max_energy)
            except ValueError as error:
                problem = f"{run_name(size, number)}: {error}"
                continue
            images = size**2 if objective == "edp" else size
            splits = choose_splits(costs, solution.devices, shared)
            cost = _objective_of(costs, solution.devices, splits.chosen, objective)
            assert cost is not None
            tried.append((cost / images, costs, solution, splits))
    if not tried:
        raise ValueError(problem)
    # Among equal ones, min takes the first: the smallest batch and the fewest threads.
    _, costs, solution, splits = min(tried, key=lambda entry: entry[0])
    alternatives = [
        _alternative(run_name(other.batch, other.threads), other, found.devices, some.chosen)
        for _, other, found, some in tried
        if other is not costs
    ]
    if splits.chosen:
        alternatives.insert(0, _alternative("each layer on one device", costs, solution.devices))
    seconds, joules = _totals(costs, solution.devices, splits.chosen)
    assert seconds is not None
    return Placement(
        engine=engine,
        model=profile.model,
        batch=costs.batch,
        threads=costs.threads,
        objective=objective,
        max_energy=max_energy,
        ops=_ops(profile, costs, solution.devices, splits.chosen, objective),
        moves=_moves(profile, costs, solution.devices, splits.chosen),
        seconds=seconds,
        joules=joules,
        bound=None if solution.exact else solution.bound,
        way=_way(solution, splits),
        alternatives=(*_baselines(costs), *alternatives),
        falls_back=falls_back,
        unplaced=find_unplaced(profile, costs.batch, costs.threads),
        busy=profile.busy,
        area=costs.area_of(solution.devices),
        most_area=costs.most_area,
    )


def _check(
    profile: Profile,
    objective: str,
    batch: int | str | None,
    threads: int | None,
    max_energy: float | None,
) -> None:
    if objective not in GOALS:
        raise ValueError(f"objective: expected one of {', '.join(GOALS)}, got '{objective}'")
    for what, asked, known in (
        ("batch", batch if batch != AUTO else None, profile.batches()),
        ("threads", threads, profile.threads()),
    ):
        if asked is not None and asked not in known:
            raise ValueError(
                f"{what}: expected one of the profile's ({', '.join(map(str, known))}), got "
                f"{asked}; profile the model with it"
            )
    if _needs_joules(objective, max_energy) and all(
        entry.joules is None for entry in profile.measurements
    ):
        raise ValueError(
            f"energy: expected a profile with joules, got one without ({profile.energy}); profile "
            "where there are counters, or with --energy SENSOR"
        )
    if max_energy is not None:
        if objective not in ("latency", "throughput"):
            raise ValueError(
                f"max_energy: expected the objective latency or throughput, got {objective}"
            )
        if not (np.isfinite(max_energy) and max_energy > 0):
            raise ValueError(f"max_energy: expected joules above 0, got {max_energy}")


def _check_gpus(devices: Sequence[Device]) -> None:
    """Checks that there is one GPU at most: a placement cannot name which GPU an operator is on."""
    gpus = [device.name for device in devices if accelerator_of(device.name)]
    if len(gpus) > 1:
        raise ValueError(
            "devices: expected one GPU at most, as a model runs on one at a time, got "
            f"{', '.join(gpus)}; name the devices that may be used"
        )


def _check_area(limited: Sequence[str], objective: str, max_energy: float | None) -> None:
    if len(limited) > 1:
        raise ValueError(
            f"devices: expected one with an area at most, got {', '.join(limited)}; name the "
            "devices that may be used"
        )
    if limited and (objective == "edp" or max_energy is not None):
        raise ValueError(
            f"objective: expected latency, throughput or energy with '{limited[0]}', whose area is "
            "a limit already, got another limit or the product of both"
        )


def _needs_joules(objective: str, max_energy: float | None) -> bool:
    return objective in ("energy", "edp") or max_energy is not None


def _check_all_known(profile: Profile, costs: Costs, needs_joules: bool) -> None:
    table = costs.joules.op_cost if needs_joules else costs.seconds.op_cost
    for op in profile.ops:
        if np.isinf(table[op.id]).all():
            names = ", ".join(device.name for device in costs.devices)
            what, advice = "time", "profile it there"
            if needs_joules:
                what = "joules"
                advice = "profile where RAPL or a sensor that --energy names tells them"
            raise ValueError(
                f"{op.op} (node {op.node}): expected its {what} on one of {names}, got none; take "
                f"more devices, or {advice}"
            )


def _solve(costs: Costs, objective: str, max_energy: float | None) -> Solution:
    if max_energy is not None:
        try:
            return least_within(costs.seconds, costs.joules, max_energy)
        except ValueError as error:
            raise ValueError(f"max_energy: {error} joules a batch") from None
    if costs.area is not None and costs.most_area is not None:
        least = costs.joules if objective == "energy" else costs.seconds
        try:
            return least_within(least, costs.area, costs.most_area)
        except ValueError as error:
            raise ValueError(
                f"area: {error} for all operators that no other device has; take more devices, or "
                "export with a greater fold"
            ) from None
    if objective == "energy":
        return solve(costs.joules)
    if objective == "edp":
        return least_product(costs.seconds, costs.joules)
    return solve(costs.seconds)


def _way(solution: Solution, splits: Splits) -> str:
    if not splits.chosen:
        return solution.way
    how = "all sets of layers tried" if splits.all_tried else "some layers added one by one"
    return f"{solution.way} for whole layers; then layers on two devices: {how}"


def _totals(
    costs: Costs, devices: Sequence[int], splits: Sequence[Split] = ()
) -> tuple[float | None, float | None]:
    return (
        _known(seconds_of(costs, devices, splits)),
        _known(joules_of(costs, devices, splits)),
    )


def _known(cost: float) -> float | None:
    return cost if np.isfinite(cost) else None


def _objective_of(
    costs: Costs, devices: Sequence[int], splits: Sequence[Split], objective: str
) -> float | None:
    return cost_of(objective, *_totals(costs, devices, splits))


def _ops(
    profile: Profile,
    costs: Costs,
    devices: Sequence[int],
    splits: Sequence[Split],
    objective: str,
) -> tuple[PlacedOp, ...]:
    now = _objective_of(costs, devices, splits, objective)
    split_of = {split.op: split for split in splits}
    placed = []
    for op, device in zip(profile.ops, devices, strict=True):
        split = split_of.get(op.id)
        others = [other for other in splits if other is not split]
        elsewhere = []
        for other in range(len(costs.devices)):
            if other != device or split is not None:
                moved = [*devices[: op.id], other, *devices[op.id + 1 :]]
                cost = None
                if costs.fits(moved):
                    cost = _objective_of(costs, moved, others, objective)
                more = None if cost is None or now is None else cost - now
                elsewhere.append(_elsewhere(costs, op.id, other, more, objective))
        own = costs.measured[op.id][device]
        assert own is not None
        placed.append(
            PlacedOp(
                op.node,
                op.op,
                op.layer,
                costs.devices[device].name,
                own.kernel,
                own.seconds.median if split is None else part_seconds(costs, devices, split),
                own.joules if split is None else _known(part_joules(costs, devices, split)),
                tuple(elsewhere),
                costs.devices[device].called,
                None if split is None else _second_half(costs, devices, splits, split),
            )
        )
    return tuple(placed)


def _elsewhere(costs: Costs, op: int, device: int, more: float | None, objective: str) -> Elsewhere:
    unit = unit_of(objective)
    name, title = costs.devices[device].name, costs.devices[device].called
    entry = costs.measured[op][device]
    if entry is None:
        return Elsewhere(name, title, None, None, None, unit)
    return Elsewhere(name, title, entry.seconds.median, entry.joules, more, unit)


def _second_half(
    costs: Costs, devices: Sequence[int], splits: Sequence[Split], split: Split
) -> SecondHalf:
    entry = costs.measured[split.op][split.second]
    assert entry is not None
    without = [other for other in splits if other is not split]
    return SecondHalf(
        costs.devices[split.second].name,
        entry.kernel,
        split.channels,
        split.of,
        seconds_of(costs, devices, without) - seconds_of(costs, devices, splits),
    )


def _moves(
    profile: Profile, costs: Costs, devices: Sequence[int], splits: Sequence[Split]
) -> tuple[Move, ...]:
    whole = [
        (value, source, target, 1.0, float(costs.seconds.move_cost[value, source, target]))
        for value, source, target in moves_of(costs.seconds, devices, helpers_of(splits))
    ]
    parts = [
        (move.value, move.source, move.target, move.share, move.seconds)
        for split in splits
        for move in moves_home(costs, devices, split)
    ]
    return tuple(
        Move(
            profile.values[value].name,
            costs.memories[source],
            costs.memories[target],
            round(profile.values[value].bytes[costs.batch] * share),
            seconds,
        )
        for value, source, target, share, seconds in sorted(whole + parts)
    )


def _baselines(costs: Costs) -> list[Alternative]:
    """Returns what people do without a placement: one device for all that it can compute."""
    cost = costs.seconds.op_cost
    found = []
    for number, device in enumerate(costs.devices):
        can = np.isfinite(cost[:, number])
        devices = [
            number if able else int(row.argmin()) for able, row in zip(can, cost, strict=True)
        ]
        rest = "" if can.all() else "; the operators that it lacks, where each is fastest"
        name = f"all on {device.called}{rest}"
        found.append(_alternative(name, costs, devices))
    mapped, paid = greedy(costs.seconds)
    name = "greedy, each layer moving its own (HEP-BNN)"
    paid = paid if costs.fits(mapped) else np.inf
    found.append(Alternative(name, _known(paid), None, costs.batch, costs.threads))
    found.append(_alternative("the same devices, values staying where they are", costs, mapped))
    return found


def _alternative(
    name: str, costs: Costs, devices: Sequence[int], splits: Sequence[Split] = ()
) -> Alternative:
    totals = _totals(costs, devices, splits) if costs.fits(devices) else (None, None)
    return Alternative(name, *totals, costs.batch, costs.threads)
