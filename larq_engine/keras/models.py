"""Counts a model's weights and operations by bits."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import keras

from larq_engine.keras.utils import memory_as_readable_str

__all__ = [
    "LayerProfile",
    "ModelProfile",
    "OperationProfile",
    "WeightProfile",
    "summary",
]

_FLOAT_BITS = 32
# Layers whose products are counted; those of larq_engine.keras build on these, and are included.
_WITH_PRODUCTS = (
    *(keras.layers.Dense, keras.layers.Conv1D, keras.layers.Conv2D, keras.layers.DepthwiseConv2D),
    *(keras.layers.SeparableConv1D, keras.layers.SeparableConv2D),
)
# Layers that are known to have no products.
_WITHOUT_PRODUCTS = (
    *(keras.layers.Flatten, keras.layers.BatchNormalization),
    *(keras.layers.MaxPooling1D, keras.layers.MaxPooling2D),
    *(keras.layers.AveragePooling1D, keras.layers.AveragePooling2D),
)


@dataclass(frozen=True)
class WeightProfile:
    """A weight of a layer.

    Attributes:
        name: The weight's name in the layer.
        count: The number of values in the weight.
        bitwidth: The bits of each value, according to the weight's quantizer.
        trainable: Whether training changes it.
    """

    name: str
    count: int
    bitwidth: int
    trainable: bool

    @property
    def memory(self) -> int:
        """The size in bits."""
        return self.count * self.bitwidth

    @property
    def int8_fp_weights_memory(self) -> int:
        """The size in bits if values of more than 8 bits had 8."""
        return self.count * min(self.bitwidth, 8)

    @property
    def fp_equivalent_memory(self) -> int:
        """The size in bits if all values had 32."""
        return self.count * _FLOAT_BITS

    def is_bias(self) -> bool:
        """Tells whether the weight is added, and not multiplied."""
        return "bias" in self.name


@dataclass(frozen=True)
class OperationProfile:
    """Operations of a layer.

    Attributes:
        n: The number of operations for one sample.
        precision: The bits of the wider one of their operands.
        op_type: "mac", a product that is added up.
    """

    n: int
    precision: int
    op_type: str


class LayerProfile:
    """A layer: its weights, and its products if they can be counted.

    Attributes:
        name: The layer's name.
        input_precision: The bits of its quantized inputs; None if nothing says how many.
        output_shape: The shape of the output, with -1 for open sizes; a list of shapes for several
            outputs; None if it is not known, as in models that users write as functions.
        weight_profiles: The weights, without those that a batch norm loses when it is folded.
        op_profiles: The layer's operations, such as products, counted by kind.
    """

    def __init__(self, layer: keras.layers.Layer) -> None:
        self.name = layer.name
        quantizer = getattr(layer, "input_quantizer", None)
        self.input_precision: int | None = getattr(quantizer, "precision", None)
        self.output_shape = _output_shape(layer)
        self.output_pixels = _pixels(self.output_shape, getattr(layer, "data_format", None))
        self.weight_profiles = [_weight_profile(layer, each) for each in _kept_weights(layer)]
        counted = isinstance(layer, _WITH_PRODUCTS) and self.output_pixels is not None
        self._knows_products = counted or isinstance(layer, _WITHOUT_PRODUCTS)
        self.op_profiles = [
            OperationProfile(
                n=weight.count * (self.output_pixels or 0),
                precision=max(self.input_precision or _FLOAT_BITS, weight.bitwidth),
                op_type="mac",
            )
            for weight in self.weight_profiles
            if counted and not weight.is_bias()
        ]

    @property
    def memory(self) -> int:
        """The size of the weights in bits."""
        return sum(weight.memory for weight in self.weight_profiles)

    @property
    def int8_fp_weights_memory(self) -> int:
        """The size of the weights in bits if values of more than 8 bits had 8."""
        return sum(weight.int8_fp_weights_memory for weight in self.weight_profiles)

    @property
    def fp_equivalent_memory(self) -> int:
        """The size of the weights in bits if all values had 32."""
        return sum(weight.fp_equivalent_memory for weight in self.weight_profiles)

    def weight_count(self, bitwidth: int | None = None, trainable: bool | None = None) -> int:
        """Returns the number of values in weights of these bits, trainable or not."""
        return sum(
            weight.count
            for weight in self.weight_profiles
            if bitwidth in (None, weight.bitwidth) and trainable in (None, weight.trainable)
        )

    def op_count(self, op_type: str = "mac", precision: int | None = None) -> int | None:
        """Returns the number of operations of these bits; None if they cannot be counted."""
        if op_type != "mac":
            raise ValueError(f"op_type: expected mac, got {op_type!r}; only these are counted")
        if not self._knows_products:
            return None
        return sum(op.n for op in self.op_profiles if precision in (None, op.precision))

    @property
    def unique_param_bitwidths(self) -> list[int]:
        """The bits of the weights, in rising order."""
        return sorted({weight.bitwidth for weight in self.weight_profiles})

    @property
    def unique_op_precisions(self) -> list[int]:
        """The bits of the operations, in rising order."""
        return sorted({op.precision for op in self.op_profiles})


class ModelProfile(LayerProfile):
    """A model: the sums of its layers, some of which may be models.

    Attributes:
        layer_profiles: The layers in order.
    """

    def __init__(self, model: keras.Model) -> None:
        self.name = model.name
        self.layer_profiles = [
            ModelProfile(layer) if isinstance(layer, keras.Model) else LayerProfile(layer)
            for layer in model.layers
        ]
        layers = self.layer_profiles
        self.input_precision = layers[0].input_precision if layers else None
        self.output_shape = layers[-1].output_shape if layers else None
        self.output_pixels = layers[-1].output_pixels if layers else None
        self.weight_profiles = [weight for layer in layers for weight in layer.weight_profiles]
        self.op_profiles = [op for layer in layers for op in layer.op_profiles]
        self._knows_products = True

    def generate_table(self, include_macs: bool = True) -> list[list[str]]:
        """Returns a row for each layer, between a row of titles and a row of sums."""
        bits = self.unique_param_bitwidths
        precisions = self.unique_op_precisions if include_macs else []

        def row(name: str, bits_in: str, shape: str, counted: LayerProfile) -> list[str]:
            return [
                *(name, bits_in, shape),
                *(f"{counted.weight_count(each):,}" for each in bits),
                f"{counted.memory / 8 / 1024:,.2f}",
                *(_or_unknown(counted.op_count("mac", each)) for each in precisions),
            ]

        titles = ["Layer", "Input bits", "Output shape", *(f"{each}-bit weights" for each in bits)]
        titles += ["KiB", *(f"{each}-bit MACs" for each in precisions)]
        rows = [
            row(each.name, str(each.input_precision or "-"), str(each.output_shape or "?"), each)
            for each in self.layer_profiles
        ]
        return [titles, *rows, row("Total", "", "", self)]

    def generate_summary(self, include_macs: bool = True) -> list[list[str]]:
        """Returns names and values of the whole model's sums."""
        ratio = self.memory / max(self.fp_equivalent_memory, 1)
        lines = [
            ["Weights", f"{self.weight_count():,}"],
            ["  trainable", f"{self.weight_count(trainable=True):,}"],
            ["  not trainable", f"{self.weight_count(trainable=False):,}"],
            ["Size", memory_as_readable_str(self.memory)],
            ["  with float weights of 8 bits", memory_as_readable_str(self.int8_fp_weights_memory)],
            ["  with all weights of 32 bits", memory_as_readable_str(self.fp_equivalent_memory)],
            ["  compared with that", f"{ratio:.4f}"],
        ]
        if include_macs:
            total = self.op_count() or 0
            lines.append(["MACs of a sample", f"{total:,}"])
            for bits, name in ((1, "binary"), (2, "ternary")):
                share = (self.op_count("mac", bits) or 0) / max(total, 1)
                if share > 0:
                    lines.append([f"  share of {name} ones", f"{share:.4f}"])
        return lines


def summary(
    model: keras.Model, print_fn: Callable[[str], Any] | None = None, include_macs: bool = True
) -> None:
    """Prints a model's layers with weights, memory and multiply-accumulate operations by bits.

    A product has the bits of its wider operand: products of binary weights with float inputs are
    float ones. "?" stands for numbers that cannot be counted. Of a batch norm, what is left when it
    is folded is counted: two numbers for each channel.

    Args:
        model: A model that was built.
        print_fn: A function that prints a text; `print` if None.
        include_macs: Whether to count operations.

    Raises:
        ValueError: The model was not built.
    """
    if not model.built:
        raise ValueError(
            f"model '{model.name}': expected a model that was built, got one without weights; give "
            "it an Input layer, or call it once on data"
        )
    show = print if print_fn is None else print_fn
    profile = ModelProfile(model)
    show(f"{model.name}: layers\n{_aligned(profile.generate_table(include_macs), heading=True)}")
    show(f"{model.name}: sums\n{_aligned(profile.generate_summary(include_macs))}")


def _kept_weights(layer: keras.layers.Layer) -> list[Any]:
    """Returns a layer's weights; of a batch norm, the two numbers a channel that folding leaves."""
    weights = {weight.name: weight for weight in layer.weights}
    if isinstance(layer, keras.layers.BatchNormalization):
        for folded, into in (("beta", "moving_mean"), ("gamma", "moving_variance")):
            if into in weights:
                weights.pop(folded, None)
        return list(weights.values())
    return list(layer.weights)


def _weight_profile(layer: keras.layers.Layer, weight: Any) -> WeightProfile:
    return WeightProfile(
        name=weight.name,
        count=math.prod(weight.shape),
        bitwidth=getattr(weight, "precision", None) or _FLOAT_BITS,
        trainable=any(weight is each for each in layer.trainable_weights),
    )


def _output_shape(layer: keras.layers.Layer) -> Any:
    try:
        output = layer.output
    except (AttributeError, ValueError):  # the layer is in no graph, or in several
        return None
    shapes = [
        tuple(-1 if size is None else size for size in tensor.shape)
        for tensor in keras.tree.flatten(output)
    ]
    return shapes[0] if len(shapes) == 1 else shapes


def _pixels(shape: Any, data_format: str | None) -> int | None:
    """Returns the positions of each output channel; None if that is open or not known."""
    if not isinstance(shape, tuple) or len(shape) < 2:
        return None
    sizes = shape[2:] if data_format == "channels_first" else shape[1:-1]
    return None if -1 in sizes else math.prod(sizes)


def _or_unknown(count: int | None) -> str:
    return "?" if count is None else f"{count:,}"


def _aligned(rows: Sequence[Sequence[str]], heading: bool = False) -> str:
    """Formats rows as text, with names to the left and numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]

    def line(row: Iterable[str]) -> str:
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)]
        return "  ".join(cells).rstrip()

    lines = [line(row) for row in rows]
    if heading:
        rule = "-" * max(map(len, lines))
        lines[1:1] = [rule]
        lines[-1:-1] = [rule]
    return "\n".join(lines)
