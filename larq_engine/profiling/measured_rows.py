"""Makes the rows of a profile that people and pandas see: one for each measurement."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from larq_engine.placing.profile import Measurement, Profile
from larq_engine.python.profile import Columns, ProfileRow

_TITLES = ("ops", "op", "layer", "batch", "device", "threads", "kernel", "ms", "%", "quartiles",
           "runs", "cut out", "GMAC/s", "limit %", "mJ")  # fmt: skip
_TEXTS = ("op", "layer", "device", "kernel", "quartiles")
_NUMBERS = tuple(title for title in _TITLES if title not in _TEXTS)


@dataclass(frozen=True, kw_only=True)
class MeasuredRow(ProfileRow):
    """The time of an operator, or of several that run together, on one device.

    Attributes:
        nodes: The numbers of all its operators in their graph.
        macs: The products of these operators.
        measurement: The entry of the profile's file, which also has the batch, threads, quartiles,
            energy and limit. Its operators are numbered by their position in the profile.
    """

    nodes: tuple[int, ...]
    macs: int
    measurement: Measurement

    def to_dict(self) -> dict[str, Any]:
        """Returns the row as plain values, with times in seconds too."""
        entry = self.measurement
        own = {
            "nodes": short_ranges(self.nodes),
            "op": self.op,
            "layer": self.name,
            "batch": entry.batch,
            "device": self.device,
            "threads": entry.threads,
            "kernel": entry.kernel,
            "seconds": entry.seconds.median,
            "q1": entry.seconds.q1,
            "q3": entry.seconds.q3,
            "runs": entry.seconds.runs,
            "cut_seconds": entry.cut_seconds,
            "limit_seconds": entry.limit_seconds,
            "macs": self.macs,
            "joules": entry.joules,
        }
        common = super().to_dict()
        del common["measurement"]
        return own | {key: value for key, value in common.items() if key not in own}


def measured_rows(profile: Profile) -> tuple[MeasuredRow, ...]:
    """Returns the rows in the order of the profile's measurements."""
    totals = {(t.device, t.batch, t.threads): t.seconds.median for t in profile.totals}
    return tuple(
        _row(profile, entry, totals.get((entry.device, entry.batch, entry.threads)))
        for entry in profile.measurements
    )


def _row(profile: Profile, entry: Measurement, whole: float | None) -> MeasuredRow:
    ops = [profile.ops[number] for number in entry.ops]
    main = max(ops, key=lambda op: op.macs.get(entry.batch, 0))
    median = entry.seconds.median
    macs = sum(op.macs.get(entry.batch, 0) for op in ops)
    return MeasuredRow(
        op="+".join(op.op for op in ops),
        name=main.layer,
        tensor=ops[-1].name,
        node=main.node,
        device=entry.device,
        kernel=entry.kernel or "",
        calls=entry.seconds.runs or 0,
        ms_per_call=median * 1e3,
        percent=100 * median / whole if whole else math.nan,
        gmac_per_s=macs / median / 1e9 if macs and median else None,
        absorbed=tuple(op.node for op in ops if op is not main),
        nodes=tuple(op.node for op in ops),
        macs=macs,
        measurement=entry,
    )


def columns(profile: Profile, rows: Sequence[MeasuredRow]) -> Columns:
    """Lays out rows by batch, operator, device and threads."""

    def sort_key(row: MeasuredRow) -> tuple[int, int, str, int]:
        entry = row.measurement
        return entry.batch, entry.ops[0], entry.device, entry.threads

    return _TITLES, [_cells(profile, row) for row in sorted(rows, key=sort_key)], _NUMBERS


def _cells(profile: Profile, row: MeasuredRow) -> tuple[str, ...]:
    entry = row.measurement
    seconds = entry.seconds
    return (
        short_ranges(row.nodes),
        row.op,
        row.name,
        str(entry.batch),
        profile.called(row.device),
        str(entry.threads),
        row.kernel,
        f"{row.ms_per_call:.4f}",
        "" if math.isnan(row.percent) else f"{row.percent:.1f}",
        "" if seconds.q1 is None or seconds.q3 is None
        else f"{seconds.q1 * 1e3:.4f}-{seconds.q3 * 1e3:.4f}",
        str(seconds.runs or ""),
        "" if entry.cut_seconds is None else f"{entry.cut_seconds * 1e3:.4f}",
        "" if row.gmac_per_s is None else f"{row.gmac_per_s:.1f}",
        _limit_share(entry),
        millijoules(entry.joules),
    )  # fmt: skip


def _limit_share(entry: Measurement) -> str:
    """Returns the least possible time in percent of the measured one."""
    limit, median = entry.limit_seconds, entry.seconds.median
    return f"{100 * limit / median:.1f}" if limit and median else ""


def millijoules(joules: float | None) -> str:
    """Formats an energy; "" if it is not known."""
    return "" if joules is None else f"{joules * 1e3:.4g}"


def short_ranges(numbers: Sequence[int]) -> str:
    """Shortens numbers to ranges, as "3-5,7"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)
