"""Provides the result of `larq_engine.profile`: a profile, and what else the measurement told."""

import os
from dataclasses import dataclass, field

from larq_engine.placing.profile import Link, Profile
from larq_engine.placing.profile_file import write_profile
from larq_engine.profiling.measured_rows import (
    MeasuredRow,
    columns,
    measured_rows,
    millijoules,
    short_ranges,
)
from larq_engine.profiling.rows import Share
from larq_engine.python import units
from larq_engine.python.profile import Columns, RowTable
from larq_engine.python.text_table import align_columns, counted, printable, printable_lines


@dataclass(frozen=True, repr=False)
class ProfileResult(RowTable[MeasuredRow]):
    """A profile, and what else is worth knowing about the measurement.

    It iterates over its rows: one for each operator, or several that run together, on each device
    with each kernel, batch and number of threads.

    Attributes:
        profile: The profile itself, which `save` writes.
        shares: How the time of each whole model divides into its rows.
        wrong: Candidates (operators on a device with a kernel) that computed wrong results and so
            have no time.
        noise: How quiet the machine was.
        rows: The rows, in the order of the profile's measurements.
    """

    profile: Profile
    shares: tuple[Share, ...]
    wrong: tuple[str, ...]
    noise: str
    rows: tuple[MeasuredRow, ...] = field(init=False, compare=False)  # made of the profile

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", measured_rows(self.profile))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the profile's file."""
        write_profile(self.profile, path)

    def __str__(self) -> str:
        """Returns all measurements as text: rows, totals with their rows' sums, links, noise."""
        profile = self.profile
        parts = [self._heading(), _table(profile, [row for row in self if len(row.nodes) == 1])]
        runs = [row for row in self if len(row.nodes) > 1]
        if runs:
            parts += ["operators that run together:", _table(profile, runs)]
        parts += ["whole models, and the sums of the rows that they are made of:", self._totals()]
        ends = [_link(link) for link in profile.links]
        ends += [f"WRONG RESULT, not measured: {text}" for text in self.wrong]
        parts += map(printable, ends)
        return "\n".join(parts)

    def __repr__(self) -> str:
        return f"<ProfileResult of {self._summary()}>"

    def _columns(self) -> Columns:
        return columns(self.profile, self.rows)

    def _summary(self) -> str:
        """Describes in one line the whole model on each device."""
        profile = self.profile
        wholes = [
            f"{units.seconds(total.seconds.median)} on {profile.called_as_whole(total.device)}"
            + (f", batch {total.batch}" if len(profile.batches()) > 1 else "")
            + (f", {counted(total.threads, 'thread')}" if len(profile.threads()) > 1 else "")
            for total in profile.totals
        ]
        facts = [f"{profile.model.name}, {counted(len(profile.ops), 'operator')}", *wholes]
        facts += [counted(len(self.wrong), "WRONG RESULT")] if self.wrong else []
        return printable(f"{'; '.join(facts)}; {self.noise}")

    def _heading(self) -> str:
        profile = self.profile
        size = "" if profile.model.bytes is None else f", {units.size(profile.model.bytes)}"
        lines = [f"model: {profile.model.name}{size}"]
        lines += [f"{device.called}: {device.title} ({device.name})" for device in profile.devices]
        lines += [f"energy: {profile.energy}", f"noise: {self.noise}", ""]
        return printable_lines(lines)

    def _totals(self) -> str:
        cut_out = f"{self.profile.called('host')}'s cut out"
        # A space tells two columns of one title apart.
        titles = ("batch", "device", "threads", "ms", "quartiles", "rows", "diff %", cut_out,
                  "diff % ", "mJ", "")  # fmt: skip
        numbers = set(titles) - {"device", "quartiles", ""}
        cells = [_share(self.profile, share) for share in self.shares]
        return "\n".join([*align_columns(titles, cells, numbers), ""])


def _table(profile: Profile, rows: list[MeasuredRow]) -> str:
    return "\n".join([*align_columns(*columns(profile, rows)), ""])


def _share(profile: Profile, share: Share) -> tuple[str, ...]:
    total = share.total
    seconds = total.seconds
    nodes = [profile.ops[op].node for op in share.missing]
    missing = f"without ops {short_ranges(nodes)}" if nodes else ""
    return (
        str(total.batch),
        profile.called_as_whole(total.device),
        str(total.threads),
        f"{seconds.median * 1e3:.4f}",
        f"{(seconds.q1 or 0) * 1e3:.4f}-{(seconds.q3 or 0) * 1e3:.4f}",
        f"{share.rows * 1e3:.4f}",
        f"{share.percent:+.1f}",
        f"{share.cut * 1e3:.4f}",
        f"{share.percent_cut:+.1f}",
        millijoules(total.joules),
        missing,
    )


def _link(link: Link) -> str:
    return f"{link.way}: {units.seconds(link.seconds)} and {units.rate(link.bytes_per_second)}"
