"""Converts a model that came in through a front door."""

import gc
from typing import Any

from larq_engine.converter import schema
from larq_engine.converter.attached import attach
from larq_engine.converter.calls import pass_constants
from larq_engine.converter.constants import restore_recipes
from larq_engine.converter.convert import finish, prepare_int8, rewrite
from larq_engine.converter.converted_model import ConvertedModel
from larq_engine.converter.doors import Door, Progress
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Model
from larq_engine.converter.io_types import modify_integer_quantized_model_io_type
from larq_engine.converter.names import find_layers, find_output_layers, write_names
from larq_engine.converter.options import Options
from larq_engine.converter.other_sizes import compare_sizes, mark_fixed_sizes
from larq_engine.converter.quantizer.quantize import Quantizer
from larq_engine.converter.report import ConversionReport, count_operators, report_layers
from larq_engine.converter.rules_int8 import quantize_ends
from larq_engine.converter.self_check import check_conversion
from larq_engine.converter.sharing import share_filters
from larq_engine.python import library
from larq_engine.python.progress import progress_steps


def convert(door: Door, source: tuple[Any, ...], options: Options) -> ConvertedModel:
    """Converts a model, given as the first arguments of its door's function."""
    int8_range = options.experimental_default_int8_range
    quantizer: Quantizer | None = None
    with progress_steps(options.verbose) as step:
        step("reading the model")
        read = door.read(source, options, step)
        file = schema.File(read.content)
        step("rewriting")
        model = file.model()
        pass_constants(model)
        find_output_layers(model)
        for graph in model.graphs:
            rewrite(graph, options)
            if options.has_samples:
                prepare_int8(graph, options)
        is_exact = int8_range is None and not options.has_samples
        if not is_exact:
            # int8 changes results, so the model is compared as it is before it becomes int8.
            checked, fixed = _compare(model, file, read.fixed_sizes, options, step)
        if options.has_samples:
            quantizer = Quantizer(model, options, step)
            quantizer.quantize()
        if int8_range is not None:
            step("quantizing")
            model = _quantize(model, int8_range)
        for graph in model.graphs:
            finish(graph, options)
        share_filters(model.graphs)
        if is_exact:
            checked, fixed = _compare(model, file, read.fixed_sizes, options, step)
        mark_fixed_sizes(model, fixed)
        step("writing")
        for graph in model.graphs:
            write_names(graph)
        int8 = None if quantizer is None else quantizer.report()
        layers = report_layers(model.graphs, options)
        for graph in model.graphs:
            restore_recipes(graph)
        operators = count_operators(model.graphs)
        size = file.size
        written, attached = schema.write_view(model), model.extra.attached
        # All weights are in `written` now, and `bytes` and `attach` below each copy it. Operators
        # and tensors refer to each other, so only the garbage collector can free them.
        compared, remarks = read.compared, (*read.remarks, *_left_in_floats(model, options))
        del model, graph, file, quantizer, read
        gc.collect()
        result = attach(bytes(written), attached)
        del written
        if options.file_types != ("float32", "float32"):
            result = modify_integer_quantized_model_io_type(result, *options.file_types)
        _check_file(result)
    checks = " ".join(text for text in (compared, checked) if text)
    report = ConversionReport(
        layers, size, len(result), operators, checks, fixed, remarks=remarks, int8=int8
    )
    return ConvertedModel(result, report)


def _left_in_floats(model: Model, options: Options) -> tuple[str, ...]:
    """Says for chips that compute with integers why the model computes with floats."""
    is_exact = not options.has_samples and options.experimental_default_int8_range is None
    # An output of floats is made of int8 by one operator.
    makes_floats = any(
        tensor.dtype == "FLOAT32" and not op.custom and op.kind != "DEQUANTIZE"
        for graph in model.graphs
        for op in graph.ops
        for tensor in op.outputs
    )
    if not (options.for_integers and is_exact and makes_floats):
        return ()
    return (
        "target: microcontroller, but without `representative_dataset` all but the binary layers "
        "stays in floats; give samples of what the model will see, and all becomes int8 that can",
    )


def _compare(
    model: Model, file: schema.File, known: str | None, options: Options, step: Progress
) -> tuple[str, str]:
    """Returns what the self-check compared, and the reason why sizes are fixed, both in words."""
    checked = check_conversion(model, file, step) if options.check else ""
    return checked, compare_sizes(model, file, check=options.check, known=known, progress=step)


def _check_file(content: bytes) -> None:
    """Raises ConversionError if hosts could not run the file that was written."""
    if problem := library.check_model(content):
        raise ConversionError(
            f"the converted model ({len(content)} bytes) is one that hosts cannot run: {problem}. "
            "The converter is at fault: please report it with the model"
        )


def _quantize(model: Model, int8_range: tuple[float, float]) -> Model:
    from larq_engine.converter.keras import quantize_float_ops

    for graph in model.graphs:
        write_names(graph)
    quantized = schema.read(quantize_float_ops(schema.write(model), int8_range))
    # A file does not hold what the report says of a layer, so it is copied from the old graph.
    binary = [
        [op for graph in side.graphs for op in graph.ops if op.kind == "LceBconv2d"]
        for side in (model, quantized)
    ]
    for before, after in zip(*binary, strict=True):
        filters = [op.inputs[1] for op in (before, after)]
        assert len({tensor.shape for tensor in filters if tensor is not None}) == 1
        after.float_layer = before.float_layer
    for graph in quantized.graphs:
        find_layers(graph)
        quantize_ends(graph, int8_range)
    return quantized
