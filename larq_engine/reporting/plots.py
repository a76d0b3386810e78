"""Makes the drawings of a report."""

from larq_engine.placing.profile import Timing, Total
from larq_engine.python import units
from larq_engine.reporting import card, tables
from larq_engine.reporting.charts import Bar, Bars, Series, draw_bars, draw_curves
from larq_engine.reporting.drawing import Drawing
from larq_engine.reporting.graph_drawing import draw_graph
from larq_engine.reporting.palette import device_role, device_symbol
from larq_engine.reporting.study import OpStudy, Study

_SLOWEST = 5


def draw_all(study: Study) -> dict[str, Drawing]:
    """Returns the drawings by name, without those for which nothing was measured."""
    drawings = {
        "slowest": draw_slowest(study),
        "totals": draw_totals(study),
        "graph": draw_graph(study),
        "operators": draw_ops(study),
        "batches": draw_batches(study),
        "limits": draw_limits(study),
    }
    return {name: drawing for name, drawing in drawings.items() if drawing is not None}


def draw_totals(study: Study) -> Drawing | None:
    """Draws the placement beside each device and the other placements, per image."""
    groups = []
    placement = study.placement
    if placement is not None:
        verified = placement.verified
        if verified is None:
            image = study.expected(placement.seconds) / placement.batch
            groups.append(Bars("the placement", [_predicted(image, "ink")]))
        else:
            pair = {
                "the placement": verified.seconds,
                "without a placement": verified.unplaced_seconds,
            }
            for name, taken in pair.items():
                image = taken / placement.batch
                text = f"{units.seconds(image)}, measured in turns"
                groups.append(Bars(name, [Bar(image, "ink", text)]))
    for number, device in enumerate(study.profile.devices):
        total = study.total_of(device.name)
        if total is not None:
            seconds = _per_image(total)
            text = f"{units.seconds(seconds.median)}, measured"
            bar = Bar.of_timing(seconds, device_role(number), text)
            groups.append(Bars(study.profile.called_as_whole(device.name), [bar]))
    for other in () if placement is None else placement.alternatives:
        if other.seconds is not None:
            image = study.expected(other.seconds) / other.batch
            groups.append(Bars(other.name, [_predicted(image, "muted")]))
    if not groups:
        return None
    return draw_bars(
        groups,
        "Time of the whole model per image",
        "; ".join(f"{group.label}: {group.bars[0].text}" for group in groups),
        units.seconds,
    )


def _per_image(total: Total) -> Timing:
    seconds, batch = total.seconds, total.batch
    return Timing(
        seconds.median / batch,
        None if seconds.q1 is None else seconds.q1 / batch,
        None if seconds.q3 is None else seconds.q3 / batch,
        seconds.runs,
    )


def _predicted(seconds: float, role: str) -> Bar:
    return Bar(seconds, role, f"{units.seconds(seconds)}, predicted")


def draw_slowest(study: Study) -> Drawing | None:
    """Draws the slowest operators, each on its device."""
    groups = []
    for op, share in card.slowest_ops(study, _SLOWEST):
        assert op.chosen is not None and op.device is not None
        number = study.device_number(op.device)
        text = (
            f"{device_symbol(number)} {study.place(op)} "
            f"{units.seconds(op.chosen.seconds.median)}, {units.share(share)}"
        )
        bar = Bar(op.chosen.seconds.median, device_role(number), text)
        groups.append(Bars(_name(op), [bar]))
    if not groups:
        return None
    return draw_bars(
        groups,
        "The slowest operators",
        "; ".join(f"{group.label}: {group.bars[0].text}" for group in groups),
        units.seconds,
    )


def draw_ops(study: Study) -> Drawing | None:
    """Draws each operator on each device, with its best kernel."""
    groups = []
    for op in study.ops:
        bars = []
        for number, device in enumerate(study.profile.devices):
            entry = op.chosen if device.name == op.device else study.fastest_on(op, device.name)
            if entry is not None:
                chosen = " ✓" if device.name == op.device else ""
                text = (
                    f"{device_symbol(number)} {study.place(op) if chosen else device.called} "
                    f"{units.seconds(entry.seconds.median)}{chosen}"
                )
                bars.append(
                    Bar.of_timing(entry.seconds, device_role(number), text, entry.limit_seconds)
                )
        if bars:
            groups.append(Bars(_name(op), bars))
    if not groups:
        return None
    return draw_bars(
        groups,
        "Time of each operator on each device",
        "Bars are medians with the best kernel, whiskers quartiles, upright strokes physical "
        "limits; ✓ marks where the operator is put. The table of operators has the numbers.",
        units.seconds,
    )


def draw_batches(study: Study) -> Drawing | None:
    """Draws time per image over batch; returns None if there is only one batch."""
    if len({total.batch for total in study.profile.totals}) < 2:
        return None
    by_line: dict[tuple[str, int], list[Total]] = {}
    for total in sorted(study.profile.totals, key=lambda total: total.batch):
        by_line.setdefault((total.device, total.threads), []).append(total)
    series = []
    for (device, threads), totals in by_line.items():
        number = study.device_number(device)
        several = len({other for name, other in by_line if name == device}) > 1
        label = study.profile.called_as_whole(device)
        label += f", {threads} thread{'s' if threads > 1 else ''}" if several else ""
        points = [(float(total.batch), total.seconds.median / total.batch) for total in totals]
        symbol = device_symbol(number)
        dashed = several and threads != study.threads
        series.append(Series(label, device_role(number), symbol, points, dashed))
    return draw_curves(
        series,
        "Time per image over batch",
        "The table of batches has the numbers.",
        "batch",
        "per image",
        units.seconds,
    )


def draw_limits(study: Study) -> Drawing | None:
    """Draws how near each operator comes to its physical limit, on its device."""
    groups = []
    for op in study.ops:
        entry = op.chosen
        if entry is None or not entry.limit_seconds or not entry.seconds.median:
            continue
        part = entry.limit_seconds / entry.seconds.median
        text = f"{tables.limit_share(entry)}, limit {units.seconds(entry.limit_seconds)}"
        role = device_role(study.device_number(entry.device))
        groups.append(
            Bars(_name(op), [Bar(min(part, 1.0), role, f"{study.called(entry.device)} {text}")])
        )
    if not groups:
        return None
    return draw_bars(
        groups,
        "Share of the physical limit",
        "The least time that memory and arithmetic allow, in percent of the measured time: the "
        "nearer to 100 %, the less can be gained. The limit is measured too, so that a row may be "
        "some percent above. The table of operators has the numbers.",
        units.share,
        most=1.0,
    )


def _name(op: OpStudy) -> str:
    return f"{op.op.node} {op.op.op} {op.op.layer}".rstrip()
