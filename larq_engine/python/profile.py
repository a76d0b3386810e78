"""Rows of times as tables: as text, as HTML, for pandas, and as JSON.

Makes such a table of the plug-in's steps: a row for each, and one for the host's share, if there is
a host.
"""

import json
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias, TypeVar, overload

from larq_engine.python import units
from larq_engine.python.frames import make_frame
from larq_engine.python.text_table import align_columns, counted, format_html, printable_lines

_TITLES = ("op", "layer", "kernel", "calls", "ms/call", "%", "GMAC/s")
# Titles of tables with other devices than the CPU.
_PLACED_TITLES = ("node", "op", "layer", "device", *_TITLES[2:])
_NUMBERS = ("node", *_TITLES[3:])

# Titles, the cells of each row, and the titles of columns that align right.
Columns: TypeAlias = tuple[Sequence[str], Sequence[Sequence[str]], Sequence[str]]

# The `op` of the row that stands for everything that the plug-in did not run.
HOST = "host runtime"


@dataclass(frozen=True)
class ProfileRow:
    """The time of one step of the plug-in, or of everything that the host ran itself.

    A row of `larq_engine.profile` is the time of an operator, or of several, on one device.

    Attributes:
        op: The operator; of several, their names joined by "+".
        name: The layer that the operator belongs to, as the conversion's report names it; of
            several operators, the layer of the one that multiplies most.
        tensor: The name in the file of the step's output.
        node: The operator's number in its graph, by which placements name it; -1 for the host's
            row.
        device: The device that computes the step; for a transfer, its destination.
        kernel: The kernel that computes the step.
        calls: The number of runs.
        ms_per_call: The mean time; for `larq_engine.profile` the median.
        percent: The share of the time of all runs, or of the whole model as that device runs it;
            NaN where a profile has no time of the whole model on that device.
        gmac_per_s: Billions of products a second, for operators that multiply.
        subgraph: The number of the node's graph in the file; -1 if the host does not tell it.
        absorbed: Other nodes of that graph whose results this step computes.
    """

    op: str
    name: str
    tensor: str
    node: int
    device: str
    kernel: str
    calls: int
    ms_per_call: float
    percent: float
    gmac_per_s: float | None
    subgraph: int = 0
    absorbed: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns the row as plain values, ready for JSON, which has no NaN."""
        percent = None if math.isnan(self.percent) else self.percent
        return asdict(self) | {"percent": percent, "absorbed": list(self.absorbed)}


_Row = TypeVar("_Row", bound=ProfileRow, covariant=True)


class RowTable(Sequence[_Row], ABC):
    """Rows of times, which all functions that profile return.

    It is a sequence: it has a length, and `table[0]` is its first row.
    """

    rows: tuple[_Row, ...]

    @overload
    def __getitem__(self, index: int) -> _Row: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[_Row, ...]: ...

    def __getitem__(self, index: int | slice) -> _Row | tuple[_Row, ...]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    @abstractmethod
    def _columns(self) -> Columns:
        """Returns what is shown of all rows."""

    @abstractmethod
    def _summary(self) -> str:
        """Returns the line that stands below the table."""

    def to_pandas(self) -> Any:
        """Returns the rows as a pandas.DataFrame.

        Raises:
            ImportError: pandas is not installed.
        """
        return make_frame([row.to_dict() for row in self])

    def _repr_html_(self) -> str:
        """Returns the table as HTML, for notebooks."""
        return format_html(*self._columns(), self._summary())


@dataclass(frozen=True)
class ProfileTable(RowTable[ProfileRow]):
    """Rows in the order of the operators, a host's row last; `str()` gives an aligned table."""

    rows: tuple[ProfileRow, ...]
    runs: int
    ms_per_run: float

    def to_dict(self) -> dict[str, Any]:
        """Returns the table as plain values, ready for JSON."""
        return asdict(self) | {"rows": [row.to_dict() for row in self.rows]}

    def to_json(self) -> str:
        """Returns the table as JSON text."""
        return json.dumps(self.to_dict(), indent=2)

    def __repr__(self) -> str:
        return f"<ProfileTable of {counted(len(self.rows), 'row')}: {self._summary()}>"

    def __str__(self) -> str:
        return printable_lines([*align_columns(*self._columns()), self._summary()])

    def _columns(self) -> Columns:
        if {row.device for row in self.rows} <= {"cpu", ""}:
            return _TITLES, list(map(_cells, self.rows)), _NUMBERS
        return _PLACED_TITLES, [_placed_cells(row) for row in self.rows], _NUMBERS

    def _summary(self) -> str:
        return f"{units.seconds(self.ms_per_run / 1e3)} per run, mean of {self.runs} runs"


def _cells(row: ProfileRow) -> tuple[str, ...]:
    speed = "" if row.gmac_per_s is None else f"{row.gmac_per_s:.1f}"
    return (
        row.op,
        row.name,
        row.kernel,
        str(row.calls),
        f"{row.ms_per_call:.4f}",
        f"{row.percent:.1f}",
        speed,
    )


def _placed_cells(row: ProfileRow) -> tuple[str, ...]:
    op, layer, *others = _cells(row)
    return ("" if row.node < 0 else str(row.node), op, layer, row.device, *others)


def make_table(
    steps: Sequence[Mapping[str, Any]],
    elapsed_ns: int,
    runs: int,
    host_ops: Sequence[str] | None,
) -> ProfileTable:
    """Makes the table from the plug-in's steps, the time of all runs and the host's operators.

    If these are None, there is no host, and no row of it.
    """
    rows = [
        ProfileRow(
            op=step["op"],
            name=step["layer"],
            tensor=step["name"],
            node=step["node"],
            device=step["device"],
            kernel=step["kernel"],
            calls=step["calls"],
            # Steps of a branch that the data did not take have no calls.
            ms_per_call=step["total_ns"] / max(step["calls"], 1) / 1e6,
            percent=100 * step["total_ns"] / elapsed_ns,
            gmac_per_s=(
                macs * step["calls"] / step["total_ns"] if macs and step["total_ns"] else None
            ),
            subgraph=step["subgraph"],
            absorbed=tuple(step["absorbed"]),
        )
        for step in steps
        for macs in [step["macs"] + step["absorbed_macs"]]
    ]
    if host_ops is not None:
        host_ns = elapsed_ns - sum(step["total_ns"] for step in steps)
        rows.append(_host_row(host_ops, host_ns, elapsed_ns, runs))
    return ProfileTable(tuple(rows), runs, elapsed_ns / runs / 1e6)


def _host_row(host_ops: Sequence[str], host_ns: int, elapsed_ns: int, runs: int) -> ProfileRow:
    counts = Counter(host_ops)
    return ProfileRow(
        op=HOST,
        name=", ".join(f"{count} {op}" for op, count in counts.most_common())
        or "between operators",
        tensor="",
        node=-1,
        device="",
        kernel="",
        calls=runs,
        ms_per_call=host_ns / runs / 1e6,
        percent=100 * host_ns / elapsed_ns,
        gmac_per_s=None,
    )
