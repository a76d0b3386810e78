"""Formats a profile as a table for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from larq_engine.placing.profile_file import Link, Measurement, Profile
from larq_engine.python.text_table import (
    align_columns,
    counted,
    format_html,
    printable,
    printable_lines,
)

if TYPE_CHECKING:
    from larq_engine.profiling.profiler import ProfileResult
    from larq_engine.profiling.rows import Share

_NUMBERS = (
    "ops",
    "batch",
    "threads",
    "ms",
    "cut out",
    "runs",
    "GMAC/s",
    "limit %",
    "mJ",
    "rows",
    "diff %",
    "diff % ",
)


def format_result(result: ProfileResult) -> str:
    """Lays out all measurements: rows, totals with their rows' sums, links, noise."""
    profile = result.profile
    parts = [
        _heading(result),
        _rows(profile, [m for m in profile.measurements if len(m.ops) == 1]),
    ]
    runs = [m for m in profile.measurements if len(m.ops) > 1]
    if runs:
        parts += ["operators that run together:", _rows(profile, runs)]
    parts += ["whole models, and the sums of the rows that they are made of:", _totals(result)]
    ends = [_link(link) for link in profile.links]
    ends += [f"WRONG RESULT, not measured: {text}" for text in result.wrong]
    parts += map(printable, ends)
    return "\n".join(parts)


def _heading(result: ProfileResult) -> str:
    profile = result.profile
    lines = [f"model: {profile.model.name}, {profile.model.bytes} bytes"]
    lines += [f"{device.called}: {device.title} ({device.name})" for device in profile.devices]
    lines += [f"energy: {profile.energy}", f"noise: {result.noise}", ""]
    return printable_lines(lines)


def format_result_html(result: ProfileResult) -> str:
    """Formats all rows as one HTML table for notebooks."""
    cells = _row_cells(result.profile, result.profile.measurements)
    return format_html(_TITLES, cells, _NUMBERS, summarize(result))


def summarize(result: ProfileResult) -> str:
    """Describes in one line the whole model on each device."""
    profile = result.profile
    wholes = [
        f"{total.seconds.median * 1e3:.4g} ms on {profile.called(total.device)}"
        + (f", batch {total.batch}" if len(profile.batches()) > 1 else "")
        + (f", {counted(total.threads, 'thread')}" if len(profile.threads()) > 1 else "")
        for total in profile.totals
    ]
    told = [f"{profile.model.name}, {counted(len(profile.ops), 'operator')}", *wholes]
    told += [counted(len(result.wrong), "WRONG RESULT")] if result.wrong else []
    return printable(f"{'; '.join(told)}; {result.noise}")


def records(profile: Profile) -> list[dict[str, object]]:
    """Returns the measurements as plain values."""
    return [
        {
            "nodes": _numbers([profile.ops[op].node for op in entry.ops]),
            "op": "+".join(profile.ops[op].op for op in entry.ops),
            "layer": _layer(profile, entry),
            "batch": entry.batch,
            "device": entry.device,
            "threads": entry.threads,
            "kernel": entry.kernel,
            "seconds": entry.seconds.median,
            "q1": entry.seconds.q1,
            "q3": entry.seconds.q3,
            "runs": entry.seconds.runs,
            "cut_seconds": entry.cut_seconds,
            "limit_seconds": entry.limit_seconds,
            "macs": sum(profile.ops[op].macs.get(entry.batch, 0) for op in entry.ops),
            "joules": entry.joules,
        }
        for entry in profile.measurements
    ]


_TITLES = ("ops", "op", "layer", "batch", "device", "threads", "kernel", "ms", "quartiles",
           "runs", "cut out", "GMAC/s", "limit %", "mJ")  # fmt: skip


def _rows(profile: Profile, measurements: Sequence[Measurement]) -> str:
    cells = _row_cells(profile, measurements)
    return "\n".join([*align_columns(_TITLES, cells, _NUMBERS), ""])


def _row_cells(profile: Profile, measurements: Sequence[Measurement]) -> list[tuple[str, ...]]:
    order = sorted(measurements, key=lambda m: (m.batch, m.ops[0], m.device, m.threads))
    return [_cells(profile, measurement) for measurement in order]


def _layer(profile: Profile, measurement: Measurement) -> str:
    """Returns the layer of the operator that multiplies most in a run."""
    ops = [profile.ops[number] for number in measurement.ops]
    return max(ops, key=lambda op: op.macs.get(measurement.batch, 0)).layer


def _cells(profile: Profile, measurement: Measurement) -> tuple[str, ...]:
    ops = [profile.ops[number] for number in measurement.ops]
    seconds = measurement.seconds
    macs = sum(op.macs.get(measurement.batch, 0) for op in ops)
    speed = f"{macs / seconds.median / 1e9:.1f}" if macs and seconds.median else ""
    return (
        _numbers([op.node for op in ops]),
        "+".join(op.op for op in ops),
        _layer(profile, measurement),
        str(measurement.batch),
        profile.called(measurement.device),
        str(measurement.threads),
        measurement.kernel or "",
        f"{seconds.median * 1e3:.4f}",
        "" if seconds.q1 is None or seconds.q3 is None
        else f"{seconds.q1 * 1e3:.4f}-{seconds.q3 * 1e3:.4f}",
        str(seconds.runs or ""),
        "" if measurement.cut_seconds is None else f"{measurement.cut_seconds * 1e3:.4f}",
        speed,
        _limit_share(measurement),
        _millijoules(measurement.joules),
    )  # fmt: skip


def _limit_share(measurement: Measurement) -> str:
    """Returns the least possible time in percent of the measured one."""
    limit, median = measurement.limit_seconds, measurement.seconds.median
    return f"{100 * limit / median:.1f}" if limit and median else ""


def _numbers(ops: Sequence[int]) -> str:
    """Shortens numbers to ranges, as "3-5,7"."""
    parts: list[list[int]] = []
    for number in ops:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)


def _millijoules(joules: float | None) -> str:
    return "" if joules is None else f"{joules * 1e3:.4g}"


def _totals(result: ProfileResult) -> str:
    cut_out = f"{result.profile.called('host')}'s cut out"
    titles = ("batch", "device", "threads", "ms", "quartiles", "rows", "diff %", cut_out,
              "diff % ", "mJ", "")  # fmt: skip
    cells = [_share(result.profile, share) for share in result.shares]
    return "\n".join([*align_columns(titles, cells, (*_NUMBERS, cut_out)), ""])


def _share(profile: Profile, share: Share) -> tuple[str, ...]:
    total = share.total
    seconds = total.seconds
    nodes = [profile.ops[op].node for op in share.missing]
    missing = f"without ops {_numbers(nodes)}" if nodes else ""
    return (
        str(total.batch),
        profile.called(total.device),
        str(total.threads),
        f"{seconds.median * 1e3:.4f}",
        f"{(seconds.q1 or 0) * 1e3:.4f}-{(seconds.q3 or 0) * 1e3:.4f}",
        f"{share.rows * 1e3:.4f}",
        f"{share.percent:+.1f}",
        f"{share.cut * 1e3:.4f}",
        f"{share.percent_cut:+.1f}",
        _millijoules(total.joules),
        missing,
    )


def _link(link: Link) -> str:
    return f"{link.way}: {link.seconds * 1e6:.1f} us and {link.bytes_per_second / 1e9:.3g} GB/s"
