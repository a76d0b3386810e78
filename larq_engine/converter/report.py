"""Reports what became of every layer; for layers left in float also why, and what to change."""

import dataclasses
import json
from collections import Counter
from dataclasses import dataclass

from larq_engine.converter.graph import FloatLayer, Graph, Op, Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.lce_ops import WORD, layer_bits, unpacking
from larq_engine.converter.options import Options
from larq_engine.converter.quantizer.results import Int8Report
from larq_engine.converter.rules_binary import why_not_binary
from larq_engine.converter.weights import WEIGHTED_KINDS
from larq_engine.python import units
from larq_engine.python.text_table import (
    align_columns,
    counted,
    format_html,
    printable_lines,
)

# Kinds that a layer can become.
BINARY, WEIGHTS, INT8, FLOAT = "binary", "weights only", "int8", "float"


_TITLES = ("layer", "was", "became", "bits in x weight -> out", "kB before", "kB after")
_NUMBERS = _TITLES[4:]

# Layers named with each reason in the text; the table above has all of them.
_NAMED = 8

# Share of padding in a layer's weights from which on the text mentions it; JSON has all numbers.
_NOTABLE_PADDING = 0.1

_NOTHING_BINARY = (
    "No layer became binary, so the engine computes none as bits. A layer is binary if its input "
    "is a sign (1 where x >= 0, else -1) or one of few numbers at equal distances, and so are its "
    "weights in each output channel. If the model is meant to be binary, change what 'Not binary' "
    "says of its layers and convert it again."
)


@dataclass(frozen=True)
class LayerReport:
    """One layer of the model.

    Attributes:
        name: The layer's name in the model.
        kind: The operator that the layer was.
        became: "binary" (multiplied as bits, one or a few of each value), "weights only" (binary
            weights stored as bits, float arithmetic), "int8", "float".
        input_bits: Bits of an input value, 1 for signs.
        weight_bits: Bits of a weight in the file; of the other value if that is computed, too.
        output_bits: Bits of an output value: 1 if the operator also computes the next layer's sign.
        bytes_before: Bytes of the weights in the model that was given.
        bytes_after: Bytes of the weights in the file.
        reason: The reason why it is not binary; empty if it is.
        remedy: A change that would make it binary.
        bytes_of_bits: For a binary layer, the bytes that its weights would take without unused
            bits: one bit, or `weight_bits`, for each weight.
        padding: The reason why `bytes_after` is larger than that; empty if it is not.
    """

    name: str
    kind: str
    became: str
    input_bits: int
    weight_bits: int
    output_bits: int
    bytes_before: int
    bytes_after: int
    reason: str = ""
    remedy: str = ""
    bytes_of_bits: int = 0
    padding: str = ""


@dataclass(frozen=True)
class ConversionReport:
    """The result of a conversion. `str()` makes a table of it, `to_json()` a text for programs."""

    layers: tuple[LayerReport, ...]
    size_before: int
    size_after: int
    operators: dict[str, int]
    # Result of the self-check; empty if it did not run. Equality of reports ignores it.
    self_check: str = dataclasses.field(default="", compare=False)
    # The reason why `Interpreter.resize` changes only the batch; empty if it changes other sizes.
    fixed_sizes: str = dataclasses.field(default="", compare=False)
    # Ways in which the file differs from the model because options ask for it.
    remarks: tuple[str, ...] = ()
    # The effects of int8, if there was a representative data set.
    int8: Int8Report | None = None

    def count(self, became: str) -> int:
        """Returns the number of layers that became "binary", "weights only", "int8" or "float"."""
        return sum(layer.became == became for layer in self.layers)

    def summarize(self) -> str:
        """Returns the numbers of layers by what they became, as in "2 binary, 1 float"."""
        kinds = [kind for kind in (BINARY, WEIGHTS, INT8, FLOAT) if self.count(kind)]
        return ", ".join(f"{self.count(kind)} {kind}" for kind in kinds) or "none"

    @property
    def nothing_binary(self) -> str:
        """Says that nothing became binary, and what to do; empty if something did."""
        return "" if self.count(BINARY) else _NOTHING_BINARY

    def to_json(self) -> str:
        """Returns the report as a JSON object with the attributes' names."""
        fields = dataclasses.asdict(self) | {"nothing_binary": self.nothing_binary}
        return json.dumps(fields, indent=2)

    def __str__(self) -> str:
        return format_report(self)

    def _repr_html_(self) -> str:
        """Returns the table of layers for notebooks."""
        return format_html(_TITLES, _rows(self), _NUMBERS, _summary(self))


def format_report(report: ConversionReport) -> str:
    """Returns the report as text: a table of layers, then each reason with its layers."""
    lines = align_columns(_TITLES, _rows(report), _NUMBERS)
    reasons: dict[tuple[str, str], list[str]] = {}
    for layer in report.layers:
        if layer.reason:
            reasons.setdefault((layer.reason, layer.remedy), []).append(layer.name)
    if reasons:
        lines.append("")
        lines.append("Not binary:")
        for (reason, remedy), names in reasons.items():
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            lines.append(f"- {', '.join(names[:_NAMED])}{more}: {reason}.")
            lines.append(f"  To change that: {remedy}.")
    padded = [layer for layer in report.layers if _is_padded(layer)]
    if padded:
        lines += ["", "More than the bits of their weights:"]
        lines += [_describe_padding(layer) for layer in padded]
    lines += ["", _summary(report), *report.remarks]
    if report.nothing_binary:
        lines.append(report.nothing_binary)
    if report.self_check:
        lines.append(f"Self-check: {report.self_check}")
    if report.fixed_sizes:
        lines.append(f"The sizes of the inputs are fixed, but for the batch: {report.fixed_sizes}.")
    if report.int8 is not None:
        lines += ["", *report.int8.lines()]
    return printable_lines(lines)


def _is_padded(layer: LayerReport) -> bool:
    return layer.bytes_after > layer.bytes_of_bits * (1 + _NOTABLE_PADDING) and bool(layer.padding)


def _describe_padding(layer: LayerReport) -> str:
    after, bits = units.size(layer.bytes_after), units.size(layer.bytes_of_bits)
    return f"- {layer.name}: {after} for {bits} of bits: {layer.padding}."


def _rows(report: ConversionReport) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for layer in report.layers:
        bits = f"{layer.input_bits} x {layer.weight_bits} -> {layer.output_bits}"
        sizes = (f"{layer.bytes_before / 1e3:.1f}", f"{layer.bytes_after / 1e3:.1f}")
        rows.append((layer.name, layer.kind, layer.became, bits, *sizes))
    return rows


def _summary(report: ConversionReport) -> str:
    return (
        f"{counted(len(report.layers), 'layer')}: {report.summarize()}. "
        f"{units.size(report.size_before)} before, {units.size(report.size_after)} after."
    )


def report_layers(graphs: list[Graph], options: Options) -> tuple[LayerReport, ...]:
    """Reports the layers of converted graphs."""
    found = []
    for graph in graphs:
        for op in graph.ops:
            layer = _report(op, options)
            if layer is not None:
                found.append(layer)
    return tuple(found)


def count_operators(graphs: list[Graph]) -> dict[str, int]:
    """Returns the number of times that each operator occurs, most frequent first."""
    return dict(Counter(op.kind for graph in graphs for op in graph.ops).most_common())


def _report(op: Op, options: Options) -> LayerReport | None:
    if op.float_layer is not None and op.float_layer.is_part:
        return None
    if op.kind == "LceBconv2d":
        return _binary(op)
    if op.kind == "LceBmatmul":
        return _product(op)
    if op.known.is_recurrent:
        return _recurrent(op)
    if op.kind not in WEIGHTED_KINDS:
        return None
    unpack = unpacking(op.inputs[1])
    if unpack is not None:
        return _weights_only(op, unpack)
    return _not_binary(op, options)


def _nbytes(*tensors: Tensor | None) -> int:
    return sum(tensor.stored_bytes for tensor in tensors if tensor is not None)


def _bits(tensor: Tensor | None) -> int:
    if tensor is not None and tensor.recipe is not None:
        tensor = tensor.recipe.inputs[0]
    widths = {
        "FLOAT32": 32,
        "FLOAT16": 16,
        "INT8": 8,
        "UINT8": 8,
        "INT16": 16,
        "INT4": 4,
        "INT32": 32,
    }
    return widths.get(tensor.dtype, 32) if tensor is not None else 0


def _binary(op: Op) -> LayerReport:
    filters = op.inputs[1]
    output_bits = 1 if op.output.dtype == "INT32" else _bits(op.output)
    bits_in, bits_weights = layer_bits(op)
    layer = op.float_layer
    before = layer.float_bytes if layer else _nbytes(filters)
    assert filters is not None
    outputs, height, width, words = filters.shape
    # The last word of a group's channels may have unused bits.
    channels = min(op.options["channels_in"], words // bits_weights * WORD)
    bits = outputs * height * width * channels * bits_weights
    padding = ""
    if channels % WORD:
        padding = f"each tap begins a word of {WORD} bits, and has {counted(channels, 'channel')}"
    return LayerReport(
        name_layer(op),
        layer.kind if layer else op.kind,
        BINARY,
        bits_in,
        bits_weights,
        output_bits,
        before,
        _nbytes(filters),
        bytes_of_bits=-(-bits // 8),
        padding=padding,
    )


def _product(op: Op) -> LayerReport:
    """Reports a product of bits that are computed when the model runs: it has no weights."""
    kind = op.float_layer.kind if op.float_layer else op.kind
    return LayerReport(name_layer(op), kind, BINARY, 1, 1, _bits(op.output), 0, 0)


def _data(op: Op) -> Tensor | None:
    """Returns the data that a layer multiplies with its weights."""
    weights = op.known.weights
    assert weights is not None
    return op.input(weights.data)


def _weights_only(op: Op, unpack: Op) -> LayerReport:
    layer = op.float_layer or FloatLayer(
        op.kind,
        _nbytes(*unpack.inputs),
        "the file was converted before, and does not say",
        "see the report of that conversion",
    )
    return LayerReport(
        name_layer(op),
        op.kind,
        WEIGHTS,
        _bits(_data(op)),
        1,
        _bits(op.output),
        layer.float_bytes,
        _nbytes(*unpack.inputs),
        layer.reason,
        layer.remedy,
    )


def _recurrent(op: Op) -> LayerReport:
    weights = [tensor for tensor in op.inputs if tensor is not None and tensor.is_constant]
    size = _nbytes(*weights)
    bits = _bits(weights[0]) if weights else 0
    return LayerReport(
        name_layer(op),
        op.kind,
        FLOAT,
        _bits(op.inputs[0]),
        bits,
        _bits(op.output),
        size,
        size,
        f"there is no binary {op.kind}",
        "leave it as it is",
    )


def _not_binary(op: Op, options: Options) -> LayerReport:
    weights, layer = op.inputs[1], op.float_layer
    size = _nbytes(weights)
    if layer is None:
        why = why_not_binary(op, options)
        layer = FloatLayer(op.kind, size, why.reason, why.remedy)
    return LayerReport(
        name_layer(op),
        op.kind,
        INT8 if weights is not None and weights.dtype == "INT8" else FLOAT,
        _bits(_data(op)),
        _bits(weights),
        _bits(op.output),
        layer.float_bytes,
        size,
        layer.reason,
        layer.remedy,
    )
