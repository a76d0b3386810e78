"""Chooses the inputs on which the self-check runs models."""

from collections.abc import Sequence

import numpy as np

from larq_engine.converter.check_plan import has_state, read_out
from larq_engine.converter.check_run import PartRun
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import NUMPY_TYPES, Array, Graph, Model, Tensor
from larq_engine.python.errors import host_errors

# Sizes that are tried in this order for open dimensions. Small ones take less time; images below 32
# pixels come last because a few poolings leave little of them.
_SIZES = (32, 64, 128, 224, 256, 384, 512, 16, 8, 4, 2, 1)

# Batch sizes that the check runs in addition to 1 if the file leaves the batch open.
_BATCHES = (2, 9)

# Most values that the inputs of such a run may have, so that it takes no longer than the first.
_MOST_VALUES = 1 << 20


def random_inputs(
    graph: Graph, low: float, high: float, generator: np.random.Generator
) -> list[Array]:
    """Returns random values for a graph's inputs; floats lie between `low` and `high`."""
    inputs: list[Array] = []
    for tensor in graph.inputs:
        dtype = NUMPY_TYPES.get(tensor.dtype)
        if dtype is None:
            raise ConversionError(
                f"self-check: input '{tensor.name}' has the type {tensor.dtype}, of which there "
                "are no random values; convert with check=False"
            )
        if np.issubdtype(dtype, np.floating):
            inputs.append(generator.uniform(low, high, tensor.shape).astype(dtype))
        elif tensor.dtype in ("INT8", "UINT8"):
            limits = np.iinfo(dtype)
            values = generator.integers(limits.min, limits.max + 1, tensor.shape)
            inputs.append(values.astype(dtype))
        else:
            # These may be indices, and small indices are in range.
            inputs.append(generator.integers(0, 2, tensor.shape).astype(dtype))
    return inputs


def runs_alone(model: Model, graph: Graph, generator: np.random.Generator) -> bool:
    """Tells whether a graph that others call runs on inputs of the sizes that it declares."""
    if has_state(graph) or any(tensor.dtype not in NUMPY_TYPES for tensor in graph.inputs):
        return False
    outputs = [tensor for tensor in graph.outputs if tensor.producer is not None]
    try:
        _shapes(model, graph, outputs, random_inputs(graph, -1.0, 1.0, generator))
    except ValueError:
        return False
    return True


def close_shapes(model: Model, graph: Graph, generator: np.random.Generator) -> None:
    """Gives a graph's tensors the sizes that they have when the model runs.

    In a file, open sizes behind the batch are placeholders, usually 1, where few models run.

    Raises:
        ConversionError: The model runs at none of the sizes tried.
    """
    if not any(map(_open_axes, graph.inputs)):
        return
    shown = [tensor for op in graph.ops for tensor in read_out(op)]
    declared = [tensor.shape for tensor in graph.inputs]
    usable = all(tensor.shape[axis] > 1 for tensor in graph.inputs for axis in _open_axes(tensor))
    problem: ValueError | None = None
    for size in (None, *_SIZES) if usable else _SIZES:
        for tensor, shape in zip(graph.inputs, declared, strict=True):
            open_axes = _open_axes(tensor)
            tensor.shape = tuple(size or s if n in open_axes else s for n, s in enumerate(shape))
        try:
            shapes = _shapes(model, graph, shown, random_inputs(graph, -1.0, 1.0, generator))
        except ValueError as error:
            problem = problem or error
            continue
        for tensor, found in zip(shown, shapes, strict=True):
            tensor.shape = found
        for tensor in [*graph.inputs, *shown]:
            tensor.signature = None
        return
    sizes = ", ".join(map(str, sorted(_SIZES)))
    raise ConversionError(
        f"self-check: expected the float model to run when the open sizes of its inputs are one of "
        f"{sizes}, got an error at {_SIZES[0]}: {problem}; give the model fixed sizes, or "
        "convert without this check with check=False"
    ) from problem


def other_shapes(graph: Graph) -> list[list[tuple[int, ...]]]:
    """Returns shapes of the inputs for further runs that vary the sizes that the file leaves open.

    An even size is replaced by half of it plus one, an odd size by half of it. This mixes odd and
    even sizes inside of the model, where pads that depend on the size differ.
    """
    if not graph.inputs or any(not tensor.shape for tensor in graph.inputs):
        return []
    found = [
        [
            tuple(
                max(1, size // 2 + 1 - size % 2) if axis in _open_axes(tensor) else size
                for axis, size in enumerate(tensor.shape)
            )
            for tensor in graph.inputs
        ]
    ]
    if all(tensor.signature and tensor.signature[0] < 0 for tensor in graph.inputs):
        found += [
            [(batch, *tensor.shape[1:]) for tensor in graph.inputs]
            for batch in _BATCHES
            if batch * sum(tensor.elements for tensor in graph.inputs) <= _MOST_VALUES
        ]
    first = [tensor.shape for tensor in graph.inputs]
    return [shapes for shapes in found if shapes != first]


def take_shapes(
    model: Model, graph: Graph, shapes: Sequence[tuple[int, ...]], generator: np.random.Generator
) -> bool:
    """Gives a graph's tensors their sizes for inputs of these shapes; tells whether it runs."""
    shown = [tensor for op in graph.ops for tensor in read_out(op)]
    for tensor, shape in zip(graph.inputs, shapes, strict=True):
        tensor.shape = shape
    try:
        found = _shapes(model, graph, shown, random_inputs(graph, -1.0, 1.0, generator))
    except ValueError:
        return False
    for tensor, shape in zip(shown, found, strict=True):
        tensor.shape = shape
    for tensor in [*graph.inputs, *shown]:
        tensor.signature = None
    return True


def _open_axes(tensor: Tensor) -> list[int]:
    """Returns the dimensions that a file leaves open, without the batch."""
    return [axis for axis, size in enumerate(tensor.signature or ()) if size < 0 and axis > 0]


def _shapes(
    model: Model, graph: Graph, shown: Sequence[Tensor], inputs: Sequence[Array]
) -> list[tuple[int, ...]]:
    with host_errors("the float model"):
        run = PartRun(model, graph.inputs, graph.ops, shown)
        run.run(dict(zip(graph.inputs, inputs, strict=True)))
        shapes = [run.shape(tensor) for tensor in shown]
    empty = [tensor for tensor, shape in zip(shown, shapes, strict=True) if 0 in shape]
    if empty:
        raise ValueError(f"'{empty[0].name}' is empty")
    return shapes
