"""Makes a float .tflite file of an ONNX model."""

import re

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.float_file import FloatFile
from larq_engine.converter.graph import Graph, Tensor
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.evaluating import Evaluator
from larq_engine.converter.onnx_reader.file import (
    Declared,
    Node,
    OnnxModel,
    OnnxSource,
    read_onnx,
)
from larq_engine.converter.onnx_reader.graph_builder import GraphBuilder, Operand
from larq_engine.converter.onnx_reader.layout import OPEN, Shape, Value, channels_last, identity
from larq_engine.converter.onnx_reader.masks import with_masks
from larq_engine.converter.onnx_reader.moving import OPEN_SIZE
from larq_engine.converter.onnx_reader.resized import compare_other_sizes
from larq_engine.converter.onnx_reader.table import find_row
from larq_engine.converter.onnx_reader.zeros import count_zeros
from larq_engine.converter.options import Options, SignOfZero
from larq_engine.converter.other_sizes import NOT_COMPARED
from larq_engine.converter.third_values import PlainSign, choose_signs, describe_chosen


def onnx_to_tflite(source: OnnxSource, options: Options) -> FloatFile:
    """Returns the float .tflite file of an ONNX model.

    Args:
        source: The model's path or content.
        options: Options of the conversion; `check` compares the file at another size with that of a
            model of that size.

    Raises:
        ValueError: It is no model.
        ConversionError: An operator, or a form of it, is not supported.
    """
    model = read_onnx(source)
    with np.errstate(all="ignore"):  # The runtime accepts infinities and NaN as results.
        making = _Making(model, options)
        made = schema.make_model([making.graph()])
        content = schema.write(made)
        fixed = NOT_COMPARED
        remarks = making.remarks()
        if options.check:
            if remark := count_zeros(made, making.chosen):
                remarks += (remark,)
            fixed = compare_other_sizes(model, made, lambda other: _Making(other, options).graph())
    return FloatFile(content, remarks=remarks, fixed_sizes=fixed)


class _Making:
    """Makes the graph of a model."""

    def __init__(self, model: OnnxModel, options: Options) -> None:
        self._model = model
        self._channels_last = options.channels_last
        self._sign_of_zero = SignOfZero.read(options.sign_of_zero)
        self._net = GraphBuilder()
        self._values: dict[str, Operand] = dict(model.constants)
        self._evaluator = Evaluator(model.opset, model.constants.values())
        self._differences: dict[str, tuple[str, str]] = {}
        self._chosen: dict[Tensor, float] = {}

    def graph(self) -> Graph:
        for given in self._model.inputs:
            self._values[given.name] = self._input(given)
        for node in with_masks(self._model).nodes:
            self._net.layer = _layer(node)
            self._make(node)
        for name in self._model.outputs:
            self._output(name)
        graph = self._net.graph(self._model.name)
        plain = self._net.plain_signs
        signs = [*plain.values(), *self._net.constant_signs]
        self._sign_of_zero.check_layers(sign.layer for sign in signs)
        self._chosen = choose_signs(graph, plain, self._sign_of_zero)
        return graph

    @property
    def chosen(self) -> dict[Tensor, PlainSign]:
        """The signs that have another value for 0 than in ONNX."""
        return {tensor: self._net.plain_signs[tensor] for tensor in self._chosen}

    def remarks(self) -> tuple[str, ...]:
        """Returns remarks on where the file differs from the model."""
        chosen = {self._net.plain_signs[tensor]: zero for tensor, zero in self._chosen.items()}
        remarks = describe_chosen("Sign", "ONNX", chosen)
        rounded = self._net.rounded
        if not rounded:
            return tuple(remarks)
        more = f" and {len(rounded) - _NAMED} more" if len(rounded) > _NAMED else ""
        return (
            *remarks,
            f"Weights of {', '.join(list(rounded)[:_NAMED])}{more}: sizes that are up to "
            f"{max(rounded.values()):.1g} of their mean away from it, as exporters round them, are "
            "one size for each output channel.",
        )

    def _input(self, given: Declared) -> Value:
        sizes = given.shape
        if None in sizes[1:]:
            raise ConversionError(
                f"input '{given.name}': expected fixed sizes but for the first, the batch, got "
                f"{['open' if size is None else size for size in sizes]}; export it with fixed "
                "sizes, or set them (onnx.tools.update_model_dims)"
            )
        shape = tuple(OPEN if size is None else size for size in sizes)
        return self._net.input(given.name, shape, given.dtype, self._order(shape))

    def _order(self, shape: Shape) -> tuple[int, ...]:
        """Returns the order of dimensions of inputs and outputs."""
        turned = self._channels_last and len(shape) in (3, 4)
        return channels_last(len(shape)) if turned else identity(shape)

    def _output(self, name: str) -> None:
        value = self._values[name]
        if not isinstance(value, Value):
            raise ConversionError(
                f"output '{name}': expected a value that depends on the inputs, got a constant; "
                "export the model without it"
            )
        has_open = any(OPEN in given.signature for given in self._net.inputs if given.signature)
        if has_open and value.shape[:1] != (OPEN,):
            sizes = ["open" if size == OPEN else size for size in value.shape]
            raise ConversionError(
                f"output '{name}': expected the samples along its first dimension, as along that "
                f"of the inputs, whose batch is open, got the shape {sizes}; export the model with "
                "a fixed batch, or leave what joins the samples out of it"
            )
        self._net.layer = name
        self._net.output(name, self._net.ordered(value, self._order(value.shape)))

    def _make(self, node: Node) -> None:
        missing = [name for name in node.inputs if name and name not in self._values]
        if missing:
            raise ConversionError(
                f"{node.title}: expected inputs that the converter makes, got '{missing[0]}', a "
                "second output of an operator, which it does not make; export the model without it"
            )
        inputs = [self._values[name] if name else None for name in node.inputs]
        if node.kind == "Sub" and len(inputs) == 2:
            self._differences[node.outputs[0]] = (node.inputs[0], node.inputs[1])
        kept = self._straight_through(node)
        if kept is not None:
            self._values[node.outputs[0]] = kept
            return
        call = Call(node, inputs, self._model.opset, self._net, self._sign_of_zero)
        try:
            results = self._results(call)
        except ConversionError:
            raise
        except Exception as error:
            raise ConversionError(
                f"{node.title}: reading it failed ({type(error).__name__}: {error}); the file is "
                "damaged, or the converter is at fault: if other tools run it, please report it"
            ) from error
        self._values.update(zip(node.outputs, results, strict=False))

    def _results(self, call: Call) -> list[Operand]:
        """Returns the results of an operator."""
        node = call.node
        row = find_row(node.domain, node.kind)
        for index in range(row.inputs if row is not None else 0):
            call.operand(index)
        known = [x for x in call.inputs if isinstance(x, np.ndarray)]
        moves = row is not None and row.moves
        if not moves and any(x.dtype == np.int64 and (x == OPEN_SIZE).any() for x in known):
            raise call.error("sizes that are known", "the open batch", "export a fixed batch")
        if not any(isinstance(x, Value) for x in call.inputs):
            if row is not None and row.fold is not None:
                folded = row.fold(call, *call.inputs)
                if folded is not None:
                    return [np.asarray(folded)]
            if self._evaluator.computes(node.kind, node.domain):
                return [*self._evaluator.evaluate(call)]
        if row is None:
            raise call.error(
                "an operator that the converter reads (docs/from_onnx.md has the list)",
                f"{node.kind} of values that are computed when the model runs",
                "export the model without it, or put it before or behind the model",
            )
        made = row.make(call)
        return made if isinstance(made, list) else [made]

    def _straight_through(self, node: Node) -> Operand:
        """Returns s of (s - x) + x, which PyTorch writes to give s the gradient of x; else None.

        The rounding of this sum is not part of the model. It would make binary weights differ in
        the last bit.
        """
        if node.kind == "Add" and len(node.inputs) == 2:
            for rest, x in (node.inputs, node.inputs[::-1]):
                s, subtracted = self._differences.get(rest, ("", ""))
                if s and subtracted == x and self._shape(s) == self._shape(x):
                    return self._values[s]
        return None

    def _shape(self, name: str) -> Shape | None:
        value = self._values[name]
        return None if value is None else value.shape


# Number of layers that a remark names.
_NAMED = 8

# Suffix that PyTorch gives the main parameter of a module.
_WEIGHT = ".weight"


def _layer(node: Node) -> str:
    """Returns the layer's name in reports: its module, its node without suffixes, or a result."""
    if node.module:
        # A batch norm that the exporter has fused into a layer leaves its own module with the
        # operator.
        parameters = [name for name in node.inputs if name.endswith(_WEIGHT)]
        return parameters[0].removesuffix(_WEIGHT) if parameters else node.module
    name = re.sub(rf"/{re.escape(node.kind)}(_\d+)?$", "", node.name).strip("/")
    return name or next(filter(None, node.outputs), node.kind)
