"""Makes the beginning of a report: what a reader wants to know within a minute."""

from dataclasses import dataclass

from larq_engine.placing.profile import Total
from larq_engine.python import units
from larq_engine.python.text_table import counted
from larq_engine.reporting.study import OpStudy, Study

_OTHER_KINDS = 3  # kinds of operators that are named beside the one with the most time
_SOME_GAIN = 1.005  # the least gain that two digits show


@dataclass(frozen=True)
class Entry:
    """A question, its answer, and the reason for the answer."""

    name: str
    answer: str
    about: str


def warning(study: Study) -> str | None:
    """Returns a warning if the machine was busy."""
    busy = study.profile.busy
    if not busy:
        return None
    return (
        "Busy machine: the times of this report are doubtful. Profile again while nothing else "
        f"runs. {busy}"
    )


def entries(study: Study) -> list[Entry]:
    """Returns the card; entries about which nothing is known are left out."""
    found = [_time(study), _kinds(study), _slowest(study), _host(study), _placement(study)]
    return [entry for entry in found if entry is not None]


def slowest_ops(study: Study, most: int) -> list[tuple[OpStudy, float]]:
    """Returns the slowest operators, with their shares of the time of all operators."""
    return sorted(_shares(study), key=lambda entry: -entry[1])[:most]


def _shares(study: Study) -> list[tuple[OpStudy, float]]:
    """Returns the operators with times, with their shares of the time of all operators."""
    times = [(op, op.chosen.seconds.median) for op in study.ops if op.chosen is not None]
    everything = sum(seconds for _, seconds in times)
    return [(op, seconds / everything) for op, seconds in times] if everything else []


def fastest_engine(study: Study) -> tuple[str, Total] | None:
    """Returns the engine's device on which the whole model was fastest."""
    totals = [
        (device.name, total)
        for device in study.profile.devices
        if device.name != "host" and (total := study.total_of(device.name)) is not None
    ]
    return min(totals, key=lambda entry: entry[1].seconds.median, default=None)


def _time(study: Study) -> Entry | None:
    placement, unplaced = study.placement, fastest_engine(study)
    if placement is not None:
        verified = placement.verified
        seconds = study.expected(placement.seconds) if verified is None else verified.seconds
        origin = "predicted" if verified is None else "measured"
        image, where = seconds / placement.batch, "with the placement"
    elif unplaced is not None:
        device, total = unplaced
        image = total.seconds.median / total.batch
        where, origin = study.called(device), "measured"
    else:
        return None
    if not image:
        return None
    batch = "" if study.batch == 1 else f", in batches of {study.batch}"
    threads = counted(study.threads, "thread")
    return Entry(
        "One image takes",
        units.seconds(image),
        f"{where}, {threads}{batch}; {origin}; {units.count(1 / image)} images a second",
    )


def _kinds(study: Study) -> Entry | None:
    shares: dict[str, float] = {}
    for op, share in _shares(study):
        shares[op.op.op] = shares.get(op.op.op, 0) + share
    if len(shares) < 2:
        return None
    ordered = sorted(shares.items(), key=lambda entry: -entry[1])
    (most, share), *others = ordered[: 1 + _OTHER_KINDS]
    rest = ", ".join(f"{kind} {units.share(share)}" for kind, share in others)
    return Entry(
        "Most time is in",
        f"{units.share(share)} in {most}",
        f"operators of this kind together; then {rest}",
    )


def _slowest(study: Study) -> Entry | None:
    found = slowest_ops(study, 1)
    if not found:
        return None
    op, share = found[0]
    assert op.chosen is not None
    return Entry(
        "The slowest layer",
        f"{units.share(share)} in {op.op.layer or op.op.name or op.op.op}",
        f"operator {op.op.node}, {op.op.op}, {units.seconds(op.chosen.seconds.median)} on "
        f"{study.place(op)}; its share is of all operators' times",
    )


def _host(study: Study) -> Entry | None:
    ours, theirs = fastest_engine(study), study.total_of("host")
    if ours is None or theirs is None or not ours[1].seconds.median:
        return None
    device, total = ours
    times = theirs.seconds.median / total.seconds.median
    noise = "; the quartiles overlap, so it may be noise" if _overlap(total, theirs) else ""
    return Entry(
        f"The engine against {study.called('host')}",
        f"{units.times(times)} as fast",
        f"{units.seconds(total.seconds.median)} on {study.called(device)}; "
        f"{units.seconds(theirs.seconds.median)} on {study.profile.called_as_whole('host')}; "
        f"measured, without a placement{noise}",
    )


def _overlap(ours: Total, theirs: Total) -> bool:
    """Tells whether the ranges between quartiles of two measurements overlap."""
    quartiles = (ours.seconds.q1, ours.seconds.q3, theirs.seconds.q1, theirs.seconds.q3)
    our_q1, our_q3, their_q1, their_q3 = quartiles
    if our_q1 is None or our_q3 is None or their_q1 is None or their_q3 is None:
        return False
    return our_q1 <= their_q3 and their_q1 <= our_q3


def _placement(study: Study) -> Entry | None:
    placement = study.placement
    if placement is None:
        return None
    name = "The placement makes it"
    if placement.verified is not None:
        found = placement.verified
        return Entry(
            name,
            _as_fast(found.gain),
            f"{units.seconds(found.seconds)}, and {units.seconds(found.unplaced_seconds)} without "
            f"it; measured in turns ({found.lowest:.2f}x to {found.highest:.2f}x: "
            f"{found.certainty})",
        )
    unplaced = study.unplaced
    if unplaced is None or not placement.seconds:
        return None
    gain = unplaced.rows / placement.seconds
    return Entry(
        name,
        _as_fast(gain),
        f"{units.seconds(study.expected(placement.seconds))} with it, "
        f"{units.seconds(unplaced.seconds)} without; predicted. To measure it, run 'larq-engine "
        "place' on the profile's machine",
    )


def _as_fast(gain: float) -> str:
    if 1 / _SOME_GAIN < gain < _SOME_GAIN:
        return "no faster"
    return f"{gain:.2f}x as fast" + (", which is SLOWER" if gain < 1 else "")
