"""Makes tables of texts, for the page and for the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from larq_engine.placing.device_names import memory_title
from larq_engine.placing.placement import GOALS, Placement, unit_of
from larq_engine.placing.profile import Measurement, Timing
from larq_engine.python import units
from larq_engine.python.text_table import counted
from larq_engine.reporting.study import OpStudy, Study

Row = tuple[str, ...]

# Ways in which times of whole models were found.
_PROFILED = "measured"
_IN_TURNS = "measured in turns"


@dataclass(frozen=True)
class Table:
    """Titles and rows; columns titled in `numbers` align right."""

    caption: str
    columns: Row
    rows: Sequence[Row]
    numbers: frozenset[str] = frozenset()

    def without_empty_columns(self) -> "Table":
        """Returns the table with its first column, and the other columns that are not empty."""
        kept = [
            index
            for index in range(len(self.columns))
            if index == 0 or any(row[index] for row in self.rows)
        ]
        rows = [tuple(row[index] for index in kept) for row in self.rows]
        return replace(self, columns=tuple(self.columns[index] for index in kept), rows=rows)


def facts(study: Study) -> list[tuple[str, str]]:
    """Returns names and values that say what was measured, where and how."""
    profile = study.profile
    size = "" if profile.model.bytes is None else f", {units.size(profile.model.bytes)}"
    shown = [
        ("model", profile.model.name + size),
        ("sha256", profile.model.sha256 or "none: no file was profiled"),
        *((name, _fact(value)) for name, value in profile.machine.items()),
        *(
            (device.called, f"{device.title} ({device.name}), {memory_title(device.memory)}")
            for device in profile.devices
        ),
        ("larq_engine", profile.engine),
        ("energy", profile.energy),
        ("shown", f"batch {study.batch}, {counted(study.threads, 'thread')}"),
    ]
    if study.placement is None:
        shown.append(("placement", "none given: each operator is shown where it is fastest alone"))
    else:
        shown.append(("placement", _proof(study.placement)))
    return shown


def _fact(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _proof(placement: Placement) -> str:
    bound = placement.bound
    proof = "proven the best"
    if bound is not None:
        proof = f"none can be below {units.amount(bound, unit_of(placement.objective))}"
    way = f" ({placement.way})" if placement.way else ""
    return f"for {GOALS.get(placement.objective, placement.objective)}; {proof}{way}"


def totals(study: Study) -> Table:
    """Compares the whole model's times: the placement, each device and the other placements."""
    placement = study.placement
    predicted = "predicted" if study.unplaced else "sum of its operators"
    # The placement's seconds for an image, by the way in which they were found. Predicted times
    # stand on the scale of the profile's measured ones, but a run in turns may find the machine in
    # another state.
    ours: dict[str, float] = {}
    if placement is not None:
        ours[predicted] = study.expected(placement.seconds) / placement.batch
        if study.unplaced:
            ours[_PROFILED] = ours[predicted]
        if placement.verified is not None:
            ours[_IN_TURNS] = placement.verified.seconds / placement.batch
    rows = []

    def add(what: str, origin: str, batch: int, seconds: Timing, joules: float | None) -> None:
        median = seconds.median
        image = median / batch
        reference = ours.get(origin, 0.0)
        rows.append(
            (
                what,
                units.seconds(median),
                _quartiles(seconds),
                units.times(image / reference) if reference else "",
                units.seconds(image),
                units.count(1 / image) if image else "",
                "" if joules is None else units.joules(joules),
                origin,
            )
        )

    if placement is not None:
        verified = placement.verified
        if verified is not None:
            add("the placement", _IN_TURNS, placement.batch, Timing(verified.seconds), None)
            without = Timing(verified.unplaced_seconds)
            add("without a placement", _IN_TURNS, placement.batch, without, None)
        expected = Timing(study.expected(placement.seconds))
        add("the placement", predicted, placement.batch, expected, placement.joules)
    for device in study.profile.devices:
        total = study.total_of(device.name)
        if total is not None:
            whole = study.profile.called_as_whole(device.name)
            add(whole, _PROFILED, study.batch, total.seconds, total.joules)
    for other in () if placement is None else placement.alternatives:
        if other.seconds is not None:
            expected = Timing(study.expected(other.seconds))
            add(other.name, predicted, other.batch, expected, other.joules)
    columns = (
        *("whole model", "time", "quartiles", "vs placement", "per image", "images/s"),
        *("energy", "from"),
    )
    shown = f"Whole model, batch {study.batch}, {counted(study.threads, 'thread')}"
    return Table(
        shown + _about_comparison(placement),
        columns,
        rows,
        frozenset({"time", "vs placement", "per image", "images/s", "energy"}),
    )


def _about_comparison(placement: Placement | None) -> str:
    """Tells with what the rows are compared, where the placement has two times."""
    if placement is None or placement.verified is None:
        return ""
    return (
        "; rows measured in turns are compared with the placement's measured time, all others with "
        "its predicted time"
    )


def bill(study: Study) -> Table:
    """Divides the time between operators, by device, and moves."""
    rows = []
    for device in study.profile.devices:
        there = [op for op in study.ops_on(device.name) if op.chosen]
        for place in dict.fromkeys(map(study.place, there)):
            own = [
                op.chosen.seconds.median for op in there if op.chosen and study.place(op) == place
            ]
            rows.append((f"on {place}", counted(len(own), "operator"), sum(own)))
    moved = [move.seconds for move in study.moves if move.seconds is not None]
    if study.moves:
        rows.append(("transfers", counted(len(study.moves), "value"), sum(moved)))
    if study.saved:
        rows.append(("saved by fusing", "", -study.saved))
    summed = sum(seconds for _, _, seconds in rows)
    total = study.expected(summed)
    if total != summed:
        rows.append(("what such sums miss of the whole model", "", total - summed))
    rows.append(("the whole model", "", total))
    columns = ("where", "what", "time", "share")
    return Table(
        "Where the time goes",
        columns,
        [
            (
                where,
                what,
                f"{'-' if seconds < 0 else ''}{units.seconds(abs(seconds))}",
                units.share(seconds / total) if total > 0 and seconds >= 0 else "",
            )
            for where, what, seconds in rows
        ],
        frozenset({"time", "share"}),
    )


def ops(study: Study) -> Table:
    """Lists each operator on its device, beside the best time of each device."""
    devices = study.profile.devices
    everything = sum(op.chosen.seconds.median for op in study.ops if op.chosen is not None)
    rows = []
    for op in study.ops:
        chosen = op.chosen
        best = [study.fastest_on(op, device.name) for device in devices]
        macs = op.op.macs.get(study.batch)
        rows.append(
            (
                str(op.op.node),
                op.op.op,
                op.op.layer,
                study.place(op),
                (chosen.kernel if chosen is not None else None) or "",
                _median(chosen),
                "" if chosen is None else _quartiles(chosen.seconds),
                units.share(chosen.seconds.median / everything) if chosen and everything else "",
                limit_share(chosen),
                units.count(macs) if macs else "",
                *map(_median, best),
            )
        )
    on_devices = tuple(f"on {device.called}" for device in devices)
    columns = (
        *("#", "operator", "layer", "device", "kernel", "time", "quartiles", "share"),
        *("of limit", "MACs", *on_devices),
    )
    numbers = frozenset({"#", "time", "share", "of limit", "MACs", *on_devices})
    return Table("Operators in the order of execution", columns, rows, numbers)


def costs(study: Study, op: OpStudy) -> Table:
    """Lists an operator's costs with each kernel of each device, and in fused runs."""
    chosen = None if op.chosen is None else op.chosen.seconds.median
    origins = [_origin(entry) for entry in (*op.alone, *op.fused)]
    rows = [
        (
            study.called(entry.device) + (" (chosen)" if entry is op.chosen else ""),
            _ops_of(study, entry),
            units.seconds(entry.seconds.median),
            "" if not chosen or len(entry.ops) > 1 else units.times(entry.seconds.median / chosen),
            _more(op, entry),
            limit_share(entry),
            _quartiles(entry.seconds),
            entry.kernel or "",
            "" if entry.joules is None else units.joules(entry.joules),
            origin or ("measured" if any(origins) else ""),
        )
        for entry, origin in zip((*op.alone, *op.fused), origins, strict=True)
    ]
    return Table(
        f"Cost of operator {op.op.node} on each device",
        (
            *("device", "computes", "time", "of chosen", "in all", "of limit"),
            *("quartiles", "kernel", "energy", "from"),
        ),
        rows,
        frozenset({"time", "of chosen", "in all", "of limit", "energy"}),
    )


def _origin(entry: Measurement) -> str:
    """Tells how a time was found that was not measured itself."""
    if entry.source or entry.cut_seconds is None:
        return entry.source or ""
    return f"derived from {units.seconds(entry.cut_seconds)} cut out of the model"


def _more(op: OpStudy, entry: Measurement) -> str:
    """Returns the model's additional cost if only this operator moves; for best kernels only."""
    best = next(other for other in (*op.alone, *op.fused) if other.device == entry.device)
    if entry is not best or entry.device not in op.elsewhere:
        return ""
    other = op.elsewhere[entry.device]
    assert other.more is not None
    return f"{'-' if other.more < 0 else '+'}{units.amount(abs(other.more), other.unit)}"


def splits(study: Study) -> Table:
    """Lists the operators that two devices compute at the same time."""
    rows = [
        (
            str(op.op.node),
            f"{op.split.channels} on {study.called(op.device)}, "
            f"{op.split.of - op.split.channels} on {study.called(op.split.device)}",
            units.seconds(op.split.saved),
        )
        for op in study.ops
        if op.split is not None and op.device is not None
    ]
    columns = ("node", "output channels", "saves")
    return Table("Layers on two devices at the same time", columns, rows, frozenset({"saves"}))


def moves(study: Study) -> Table:
    """Lists the moves between memories."""
    rows = [
        (
            move.value.name,
            way(move.source, move.target),
            units.size(move.size),
            "unknown" if move.seconds is None else units.seconds(move.seconds),
            "" if move.joules is None else units.joules(move.joules),
            "the caller" if move.producer is None else str(move.producer),
            ", ".join(map(str, move.readers)) or "the caller",
        )
        for move in study.moves
    ]
    columns = ("value", "way", "size", "time", "energy", "made by", "read by")
    return Table("Transfers", columns, rows, frozenset({"size", "time", "energy"}))


def way(source: str, target: str) -> str:
    """Describes the direction from one memory to another."""
    return f"{memory_title(source)} to {memory_title(target)}"


def links(study: Study) -> Table:
    """Lists the costs of moving."""
    rows = [
        (
            link.way,
            units.seconds(link.seconds),
            units.rate(link.bytes_per_second),
            "" if link.joules_per_byte is None else f"{units.joules(link.joules_per_byte)}/B",
        )
        for link in study.profile.links
    ]
    columns = ("way", "latency", "bandwidth", "energy")
    return Table("Links between memories", columns, rows, frozenset(columns[1:]))


def batches(study: Study) -> Table:
    """Lists the measured totals."""
    rows = [
        (
            study.profile.called_as_whole(total.device),
            str(total.threads),
            str(total.batch),
            units.seconds(total.seconds.median),
            _quartiles(total.seconds),
            units.seconds(total.seconds.median / total.batch),
            "" if total.joules is None else units.joules(total.joules / total.batch),
        )
        for total in sorted(
            study.profile.totals, key=lambda total: (total.device, total.threads, total.batch)
        )
    ]
    columns = ("device", "threads", "batch", "time", "quartiles", "per image", "energy per image")
    numbers = frozenset({"threads", "batch", "time", "per image", "energy per image"})
    return Table("Whole model at each batch, measured", columns, rows, numbers)


def limit_share(entry: Measurement | None) -> str:
    """Returns the physical floor as a share of the time; "" if it is not known."""
    if entry is None or entry.limit_seconds is None or entry.seconds.median == 0:
        return ""
    return units.share(entry.limit_seconds / entry.seconds.median)


def _median(entry: Measurement | None) -> str:
    return "" if entry is None else units.seconds(entry.seconds.median)


def _quartiles(seconds: Timing) -> str:
    if seconds.q1 is None or seconds.q3 is None:
        return ""
    return f"{units.seconds(seconds.q1)} to {units.seconds(seconds.q3)}"


def _ops_of(study: Study, entry: Measurement) -> str:
    nodes = [study.profile.ops[op].node for op in entry.ops]
    if len(nodes) == 1:
        return "it alone"
    first, last = min(nodes), max(nodes)
    if len(nodes) == last - first + 1:
        return f"{first} to {last} fused"
    return f"{', '.join(map(str, nodes))} fused"
