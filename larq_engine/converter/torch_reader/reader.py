"""Makes float .tflite files of PyTorch modules: torch.export, our rewriting, litert_torch."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from larq_engine.converter import schema
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.float_file import FloatFile
from larq_engine.converter.options import Options, SignOfZero
from larq_engine.converter.other_sizes import (
    NO_RESULTS,
    NOT_COMPARED,
    differs_at,
    larger_shapes,
    slightly_larger_shapes,
)
from larq_engine.converter.same_operators import has_same_operators
from larq_engine.converter.torch_reader.checks import check_inputs, check_module
from larq_engine.converter.torch_reader.comparing import compare_export, compare_with_torch
from larq_engine.converter.torch_reader.exporting import BATCHES, Exported, Resized, export
from larq_engine.converter.torch_reader.folding import fold_constants
from larq_engine.converter.torch_reader.lowering import Lowered, lower
from larq_engine.converter.torch_reader.open_batch import open_batch as open_graph
from larq_engine.converter.torch_reader.other_operators import find_other_operators
from larq_engine.converter.torch_reader.packages import import_litert_torch, import_torch
from larq_engine.converter.torch_reader.pads import write_pads
from larq_engine.converter.torch_reader.pools import held_pool, write_pools
from larq_engine.converter.torch_reader.quiet import quiet_torch
from larq_engine.converter.torch_reader.signs import Signs, rewrite_signs
from larq_engine.converter.torch_reader.slices import Slices, read_slices
from larq_engine.converter.torch_reader.straight_through import remove_straight_through
from larq_engine.converter.torch_reader.zeros import choose_zero


def torch_to_tflite(
    module: Any, example_inputs: Any, options: Options, progress: Callable[[str], None]
) -> FloatFile:
    """Converts a module; the first two arguments are those of `convert_torch`.

    Raises:
        ImportError: torch or litert_torch is not installed.
        TypeError: An argument is no module or no tensor.
        ValueError: The module is in training mode, on another device or of another type than
            float32.
        ConversionError: The module cannot be exported or lowered, or the file differs from it.
    """
    choice = SignOfZero.read(options.sign_of_zero)
    with quiet_torch():
        import_torch()
        check_module(module)
        choice = choice.renamed("", type(module).__name__)
        inputs = check_inputs(example_inputs)
        import_litert_torch()
        progress("exporting")
        exported = export(module, inputs, BATCHES[0] if options.open_batch else None)
        if options.check:
            compare_export(module, exported)
        signs = _rewrite(exported, choice)
        progress("making operators of LiteRT")
        resized = Resized(module, exported)
        slices = read_slices(exported.rewritten, resized)
        lowered = lower(exported, options.channels_last, slices.known)
        held = held_pool(exported.original)
        if slices.held:
            held = f"what the slice '{slices.held[0]}' takes follows from the image's size"
        elif options.check and not held and lowered.has_other_numbers:
            held = _held_numbers(resized, choice, slices, lowered)
        if options.open_batch:
            twin = export(module, inputs, BATCHES[1])
            _rewrite(twin, choice)
            twin_graph = lower(twin, options.channels_last, slices.known).model.graphs[0]
            what = f"module {type(module).__name__}"
            open_graph(lowered.model.graphs[0], twin_graph, BATCHES, what)
            lowered = replace(lowered, content=schema.write(lowered.model))
        lowered, jumps, remarks = choose_zero(lowered, signs, choice)
        compared, fixed = "", held or NOT_COMPARED
        if options.check:
            progress("comparing with PyTorch")
            compared, differs = compare_with_torch(module, resized, jumps, lowered)
            fixed = held or differs or find_other_operators(resized)
        # The module may keep tensors of its last call, which must not be of another size.
        resized.run(inputs)
    return FloatFile(lowered.content, remarks=remarks, compared=compared, fixed_sizes=fixed)


def _held_numbers(resized: Resized, choice: SignOfZero, slices: Slices, lowered: Lowered) -> str:
    """Compares the numbers of a file with those of the files of two larger sizes.

    Returns:
        The reason why the sizes are fixed; empty if the numbers are the same.
    """
    sizes = [tuple(tensor.shape) for tensor in resized.exported.inputs]
    compared = 0
    for shapes in [*slightly_larger_shapes(sizes), *larger_shapes(sizes)]:
        try:
            larger = resized.at(shapes)
            if larger is None:
                continue
            _rewrite(larger, choice)
            graph = lower(larger, lowered.channels_last, slices.known).model.graphs[0]
        except ConversionError:
            continue
        if not has_same_operators(lowered.model.graphs[0], graph):
            return differs_at(shapes)
        compared += 1
        if compared == 2:
            break
    return "" if compared else NO_RESULTS


def _rewrite(exported: Exported, choice: SignOfZero) -> Signs:
    remove_straight_through(exported.rewritten)
    signs = rewrite_signs(exported.rewritten, choice)
    write_pads(exported.rewritten)
    write_pools(exported.rewritten)
    fold_constants(exported.rewritten)
    return signs
