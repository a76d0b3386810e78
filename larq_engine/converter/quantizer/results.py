"""What int8 did to a model: ranges, signs, outputs, and what stayed in float."""

from dataclasses import dataclass

from larq_engine.python.text_table import align_columns

# Operators named with each reason in the text.
_NAMED = 8


@dataclass(frozen=True)
class Int8Tensor:
    """A tensor that became int8: real = scale * (integer - zero_point).

    Attributes:
        name: As in the file.
        low: The least value that the samples showed, of all tensors with this scale.
        high: The largest.
        scale: Of one step.
        zero_point: The integer that is 0.
    """

    name: str
    low: float
    high: float
    scale: float
    zero_point: int


@dataclass(frozen=True)
class SignChanges:
    """How many of a binary layer's inputs have another sign than in the float model.

    Attributes:
        layer: The binary layer.
        changed: Signs that differ, over all samples.
        signs: Signs in all.
    """

    layer: str
    changed: int
    signs: int


@dataclass(frozen=True)
class OutputError:
    """How far an output is from that of the float model.

    Attributes:
        name: As callers know it.
        largest: The largest difference of a value.
        relative: The root of the mean square of the differences, in parts of that of the values.
    """

    name: str
    largest: float
    relative: float


@dataclass(frozen=True)
class FloatOp:
    """An operator of the host's that stayed in float32, and why."""

    name: str
    kind: str
    reason: str


@dataclass(frozen=True)
class Int8Report:
    """What int8 did. Without `check` nothing was compared."""

    samples: int
    tensors: tuple[Int8Tensor, ...] = ()
    float_ops: tuple[FloatOp, ...] = ()
    signs: tuple[SignChanges, ...] = ()
    outputs: tuple[OutputError, ...] = ()

    def lines(self) -> list[str]:
        """The report as lines of text."""
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
