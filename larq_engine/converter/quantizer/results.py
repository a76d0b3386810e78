"""The effects of int8 on a model: ranges, signs, outputs, and operators that stayed in float."""

from dataclasses import dataclass

from larq_engine.python.text_table import align_columns

# Number of operators that the text names with each reason.
_NAMED = 8


@dataclass(frozen=True)
class Int8Tensor:
    """A tensor that became int8: real = scale * (integer - zero_point).

    Attributes:
        name: Its name in the file.
        low: The least value that the samples showed, among all tensors with this scale.
        high: The largest such value.
        scale: The size of one step.
        zero_point: The integer that stands for 0.
    """

    name: str
    low: float
    high: float
    scale: float
    zero_point: int


@dataclass(frozen=True)
class SignChanges:
    """Counts inputs of a binary layer whose sign differs from that in the float model.

    Attributes:
        layer: The binary layer.
        changed: Signs that differ, over all samples.
        signs: All signs, over all samples.
    """

    layer: str
    changed: int
    signs: int


@dataclass(frozen=True)
class OutputError:
    """Difference of an output from that of the float model.

    Attributes:
        name: The name for callers.
        largest: The largest difference of a value.
        relative: The root mean square of the differences, relative to that of the values.
    """

    name: str
    largest: float
    relative: float


@dataclass(frozen=True)
class FloatOp:
    """A host operator that stayed in float32, and the reason."""

    name: str
    kind: str
    reason: str


@dataclass(frozen=True)
class Int8Report:
    """The effects of int8. Nothing is compared without `check`."""

    samples: int
    tensors: tuple[Int8Tensor, ...] = ()
    float_ops: tuple[FloatOp, ...] = ()
    signs: tuple[SignChanges, ...] = ()
    outputs: tuple[OutputError, ...] = ()

    def lines(self) -> list[str]:
        """Returns the report as lines of text."""
        lines = [f"int8, with the ranges of {self.samples} sample{'s' * (self.samples != 1)}:", ""]
        if not self.tensors:
            lines.append("No operator gains by it.")
        else:
            lines += _table(
                ("tensor", "low", "high", "scale", "zero point"),
                [
                    (t.name, f"{t.low:.4g}", f"{t.high:.4g}", f"{t.scale:.4g}", str(t.zero_point))
                    for t in self.tensors
                ],
            )
        if self.signs:
            lines.append("")
            lines += _table(
                ("signs that a binary layer reads", "changed", "of", "%"),
                [
                    (s.layer, str(s.changed), str(s.signs), f"{100 * s.changed / s.signs:.2f}")
                    for s in self.signs
                ],
            )
        if self.outputs:
            lines.append("")
            lines += _table(
                ("output", "largest difference", "relative"),
                [(o.name, f"{o.largest:.3g}", f"{o.relative:.3g}") for o in self.outputs],
            )
        reasons: dict[str, list[str]] = {}
        for op in self.float_ops:
            reasons.setdefault(op.reason, []).append(op.name)
        if reasons:
            lines += ["", "Left in float32, operators and why:"]
        for reason, names in reasons.items():
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            lines.append(f"- {', '.join(names[:_NAMED])}{more}: {reason}.")
        return lines


def _table(titles: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    return align_columns(titles, rows, titles[1:])
