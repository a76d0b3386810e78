"""Formats the contents of a .tflite file: a table of operators, and lines with totals."""

from larq_engine.command_line.model_facts import (
    HOST,
    PLUG_IN,
    ModelFacts,
    OperatorFacts,
    TensorFacts,
)
from larq_engine.python import units
from larq_engine.python.text_table import align_columns, counted, printable_lines

_COLUMNS = ("#", "operator", "layer", "first input", "output", "types", "bytes", "MMAC", "runs in")
_NUMBERS = ("#", "bytes", "MMAC")

# Operators named with each reason; JSON has the reason of each.
_NAMED = 8


def format_facts(facts: ModelFacts, why_unknown: str = "") -> str:
    """Returns several lines; `why_unknown` is the reason why the plug-in was not asked."""
    rows = list(map(_row, facts.operators))
    lines = [*align_columns(_COLUMNS, rows, _NUMBERS), ""]
    for name, tensors in (("inputs", facts.inputs), ("outputs", facts.outputs)):
        shown = ", ".join(f"{tensor.name} {_shape(tensor)} {tensor.type}" for tensor in tensors)
        lines.append(f"{name}: {shown or 'none'}")
    if any(tensor.bits == 1 for op in facts.operators for tensor in op.outputs):
        lines.append("bits: the last size counts words of 32 channels")
    for place in (PLUG_IN, HOST):
        kinds = facts.count_kinds(place)
        shown = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        operators = counted(sum(kinds.values()), "operator")
        lines.append(f"in a host on this machine, the {place} runs {operators}: {shown or 'none'}")
    lines += _reasons(facts)
    if why_unknown:
        lines.append(f"who runs the others is unknown, as the model does not open: {why_unknown}")
    if facts.needs_host is not None:
        lines.append(f"without a host: {facts.needs_host or 'the engine runs the model'}")
    if facts.placement:
        lines.append(f"placed by the file: {facts.placement}")
    work = [("binary", facts.binary_macs), ("float", facts.float_macs)]
    if facts.integer_macs:
        work.append(("integer", facts.integer_macs))
    shown = ", ".join(f"{units.count(macs)} {kind}" for kind, macs in work)
    lines.append(f"multiplications of one run: {shown}")
    lines.append(
        f"file: {units.size(facts.file_bytes)}, of which weights in bits take "
        f"{units.size(facts.binary_weight_bytes)}"
    )
    return printable_lines(lines)


def _row(op: OperatorFacts) -> tuple[str, ...]:
    inputs = [tensor for tensor in op.inputs if tensor is not None]
    # If all inputs are constants, the first one is shown, as the bits of an LceUnpackWeights.
    variable = [tensor for tensor in inputs if not tensor.constant]
    source = next(iter(variable or inputs), None)
    output = next(iter(op.outputs), None)
    types = [_type(source)]
    if op.weight_bits is not None:
        types.append("bit" if op.weight_bits == 1 else _type(op.inputs[1]))
    return (
        _number(op),
        op.kind,
        op.layer,
        _shape(source),
        _shape(output),
        f"{' x '.join(types)} -> {_type(output)}",
        str(op.constant_bytes),
        f"{op.macs / 1e6:.2f}" if op.macs else "",
        op.runs_in,
    )


def _number(op: OperatorFacts) -> str:
    return f"{op.graph}.{op.index}" if op.graph else str(op.index)


def _reasons(facts: ModelFacts) -> list[str]:
    """Returns a line for each reason why operators stay with the host."""
    found: dict[str, list[str]] = {}
    for op in facts.operators:
        if op.runs_in == HOST and op.reason:
            found.setdefault(op.reason, []).append(f"{_number(op)} {op.kind}")
    return [f"  {reason}: {_some(ops)}" for reason, ops in found.items()]


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _shape(tensor: TensorFacts | None) -> str:
    if tensor is None:
        return "none"
    return "x".join("?" if size < 0 else str(size) for size in tensor.shape) or "scalar"


def _type(tensor: TensorFacts | None) -> str:
    if tensor is None:
        return "none"
    if tensor.type != "int32" or tensor.bits == 32:
        return tensor.type
    return "bit" if tensor.bits == 1 else f"{tensor.bits} bits"
