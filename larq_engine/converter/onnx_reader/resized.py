"""Compares the file of an ONNX model at another size with a file of the model at that size.

ONNX models fix height and width, so sizes become numbers in the file. The reader makes another file
of the model with other input sizes, if the model works at these. The two files must have the same
operators and numbers at many sizes, and compute the same at one. Results alone do not show a
difference: the largest value of an image is often that of an image of another size, too.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.check_inputs import random_inputs
from larq_engine.converter.check_run import PartRun
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Array, Graph, Model
from larq_engine.converter.onnx_reader.file import Declared, OnnxModel
from larq_engine.converter.other_sizes import Shapes, all_other_shapes, differs_at, find_fixed_sizes
from larq_engine.converter.same_operators import has_same_operators
from larq_engine.python.errors import host_errors

_SEED = 0

# Both files run the same kernels, but these may add in another order.
_ROUNDING = 1e-5


def compare_other_sizes(model: OnnxModel, made: Model, make: Callable[[OnnxModel], Graph]) -> str:
    """Returns the reason why a file's inputs have fixed sizes; empty if other sizes are right.

    Args:
        made: The file of the model.
        make: Makes the graph of the model at another size.
    """

    def at(shapes: Shapes) -> Graph | None:
        inputs = tuple(map(_with_sizes, model.inputs, shapes))
        try:
            return make(replace(model, inputs=inputs))
        except ConversionError:  # The model does not work at this size.
            return None

    def agrees(shapes: Shapes) -> bool | None:
        graph = at(shapes)
        if graph is None:
            return None
        other = schema.make_model([graph])
        given = random_inputs(graph, -1.0, 1.0, np.random.default_rng(_SEED))
        try:
            got, expected = _run(made, given), _run(other, given)
        except ValueError:  # A host raises it.
            return False
        return all(map(_is_same, got, expected))

    shapes = [tuple(n or 1 for n in given.shape) for given in model.inputs]
    for others in all_other_shapes(shapes):
        graph = at(others)
        if graph is not None and not has_same_operators(made.graphs[0], graph):
            return differs_at(others)
    return find_fixed_sizes(shapes, agrees)


def _with_sizes(given: Declared, sizes: tuple[int, ...]) -> Declared:
    return replace(given, shape=(*given.shape[:1], *sizes[1:]))


def _run(model: Model, given: list[Array]) -> list[Array]:
    graph = model.graphs[0]
    run = PartRun(model, graph.inputs, graph.ops, graph.outputs)
    with host_errors("another size"):
        run.run(dict(zip(graph.inputs, given, strict=True)))
        return [run.value(tensor) for tensor in graph.outputs]


def _is_same(got: Array, expected: Array) -> bool:
    if got.shape != expected.shape:
        return False
    bound = _ROUNDING * max(1.0, float(np.abs(expected).max(initial=0)))
    return bool((np.abs(got.astype(np.float64) - expected) <= bound).all())
