"""Makes layers around the binary ones of a converted model int8, calibrated with samples."""

from collections.abc import Callable
from dataclasses import replace

from larq_engine.converter.graph import Graph, Model, Op, Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.options import Options
from larq_engine.converter.quantizer.calibration import Range, observe
from larq_engine.converter.quantizer.comparing import Comparison
from larq_engine.converter.quantizer.islands import Ends, Islands, find_islands, values
from larq_engine.converter.quantizer.limiting import Limiter
from larq_engine.converter.quantizer.results import FloatOp, Int8Report, Int8Tensor
from larq_engine.converter.quantizer.rewriting import Quantized, Rewriter
from larq_engine.converter.quantizer.samples import Samples
from larq_engine.converter.rules_lce import unpacked


class Quantizer:
    """Makes host operators int8 in all graphs that callers can run.

    Args:
        model: A model whose binary layers have been found.
        options: Options of the conversion, with a `representative_dataset`.
        progress: Called with the name of each step as it begins.
    """

    def __init__(
        self,
        model: Model,
        options: Options,
        progress: Callable[[str], None],
    ) -> None:
        input_type, output_type = options.file_types
        self._model = model
        self._samples = Samples(options.representative_dataset, model)
        self._ends = Ends(
            inputs=input_type == "int8",
            outputs=output_type == "int8",
            everything=options.for_integers,
        )
        self._limit = options.max_output_error
        self._options = options
        self._progress = progress
        self._comparisons: list[Comparison] = []
        self._quantized: list[Quantized] = []
        self._in_float: list[tuple[Op, str]] = []
        self._count = 0

    def quantize(self) -> None:
        """Changes the model; with the option `check`, the float model is kept to compare with."""
        for number in self._samples.graphs:
            _unpack_weights(self._model.graphs[number])
            if self._options.check:
                self._comparisons.append(Comparison(self._model, number))
            self._quantize(number)

    def _quantize(self, number: int) -> None:
        graph = self._model.graphs[number]
        islands = find_islands(graph, self._ends)
        tensors = _seen(graph, islands, self._ends)
        ranges, count = observe(self._model, number, tensors, self._samples, self._progress)
        self._count += count
        if self._limit is not None:
            in_float = self._find_in_float(number, ranges, self._limit)
            islands = find_islands(graph, self._ends, in_float)
        self._in_float += [(op, islands.reasons[op]) for op in graph.ops if op in islands.reasons]
        rewriter = Rewriter(graph, islands, ranges, self._options)
        self._quantized += rewriter.rewrite(self._ends)

    def _find_in_float(
        self, number: int, ranges: dict[Tensor, Range], limit: float
    ) -> dict[Op, str]:
        samples, ends, options = self._samples, self._ends, self._options
        limiter = Limiter(self._model, number, ranges, samples, ends, options, self._progress)
        return limiter.find(limit)

    def report(self) -> Int8Report:
        """Reports the result; the model must have its final operators and names."""
        tensors = []
        for found in self._quantized:
            quantization = found.tensor.quantization
            if found.tensor.producer is not None and quantization is not None:
                (scale,), (zero_point,) = quantization.scale, quantization.zero_point
                seen = found.range
                tensors.append(
                    Int8Tensor(found.tensor.name, seen.low, seen.high, scale, zero_point)
                )
        compared = [
            comparison.run(self._samples, self._progress) for comparison in self._comparisons
        ]
        return Int8Report(
            self._count,
            tuple(tensors),
            tuple(FloatOp(name_layer(op), op.kind, why) for op, why in self._in_float),
            tuple(change for signs, _ in compared for change in signs),
            tuple(error for _, errors in compared for error in errors),
        )


def _unpack_weights(graph: Graph) -> None:
    """Unpacks weights of a file that was converted before; they are packed again in the end."""
    for op in [op for op in graph.ops if op.kind == "LceUnpackWeights"]:
        weights = unpacked(op, graph)
        if weights is not None and weights.dtype == "FLOAT32":
            weights.recipe = replace(op, outputs=[weights])
            graph.replace(op, weights)


def _seen(graph: Graph, islands: Islands, ends: Ends) -> list[Tensor]:
    """Returns the tensors whose ranges are needed."""
    tensors = [t for op in graph.ops if op in islands.ops for t in (*values(op), *op.outputs)]
    if ends.inputs:
        tensors += graph.inputs
    if ends.outputs:
        tensors += graph.outputs
    return [t for t in dict.fromkeys(tensors) if not t.is_constant and t.dtype == "FLOAT32"]
