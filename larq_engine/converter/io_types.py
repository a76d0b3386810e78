"""Removes quantizing and dequantizing operators from the ends of a converted model.

The host then passes and gets the values that the operators inside the model compute with: int8, or
words of bits (docs/operators.md). Only graphs that a caller can run are changed; graphs that an IF
or a WHILE runs keep the types that it gives them.
"""

from collections.abc import Callable
from typing import Any

from larq_engine.converter import schema
from larq_engine.converter.graph import Graph, Model, Op, Tensor
from larq_engine.converter.options import type_name

# Sizes, indices, masks and texts are not quantized numbers, so a request for int8 excludes them.
_NEVER_QUANTIZED = ("BOOL", "INT32", "INT64", "STRING", "UINT32", "UINT64")


def modify_integer_quantized_model_io_type(
    model: bytes,
    inference_input_type: Any = "float32",
    inference_output_type: Any = "float32",
) -> bytes:
    """Makes inputs and outputs int8 where the model itself quantizes or dequantizes them.

    Args:
        model: The content of a .tflite file.
        inference_input_type: int8, or float32 for inputs that stay as they are; a TensorFlow type,
            a NumPy type or a name.
        inference_output_type: The same for outputs.

    Returns:
        The content of the changed file, in which scale and zero point of each input and output say
        what its numbers mean.

    Raises:
        ValueError: It is no model, a type is neither float32 nor int8, or the model computes with
            an input or output in float32, so that no int8 can take its place.
    """
    int8_inputs = type_name("inference_input_type", inference_input_type) == "int8"
    int8_outputs = type_name("inference_output_type", inference_output_type) == "int8"
    changed = schema.read(model)
    if not int8_inputs and not int8_outputs:
        return model
    if int8_inputs:
        _make_int8(changed, "input", lambda graph: graph.inputs, _quantized_input)
    if int8_outputs:
        _make_int8(changed, "output", lambda graph: graph.outputs, _quantized_output)
    return schema.write(changed)


def strip_lcedequantize_ops(model: bytes) -> bytes:
    """Removes the LceDequantize at a model's outputs, which then are bits.

    An output that is dequantized twice, to int8 and then to float32, becomes bits, too. Other
    outputs stay as they are.

    Args:
        model: The content of a .tflite file.

    Returns:
        The content of the changed file, with int32 words for the outputs. How many channels they
        hold is in the old file's output shapes only.

    Raises:
        ValueError: It is no model, or no LceDequantize makes any of its outputs.
    """
    changed = schema.read(model)
    stripped, others = False, []
    for graph in _runnable(changed):
        outputs = graph.outputs.copy()
        for number, output in enumerate(outputs):
            bits = _bits_of(output)
            if bits is None:
                producer = _describe(graph, output.producer)
                others.append(f"{_end('output', number, output)}: {producer}")
            else:
                _replace_end(changed, graph.outputs, output, bits)
                stripped = True
        _remove_unread(graph, outputs)
    if not stripped:
        raise ValueError(
            f"model: expected an output that LceDequantize makes, got {_join(others)}; let the "
            "model end in a quantizer such as ste_sign"
        )
    return schema.write(changed)


def _runnable(model: Model) -> list[Graph]:
    """Returns the graphs that a caller can run."""
    return [model.graphs[number] for number in schema.runnable_graphs(model)]


def _make_int8(
    model: Model,
    end: str,
    ends: Callable[[Graph], list[Tensor]],
    find: Callable[[Graph, Tensor, str], Tensor],
) -> None:
    """Makes one end of the model int8; `find` returns the tensor that replaces a float one."""
    graphs = _runnable(model)
    types = [tensor.dtype for graph in graphs for tensor in ends(graph)]
    if not {"FLOAT32", "INT8"}.intersection(types):
        raise ValueError(
            f"model: expected an {end} of float32 or int8, got {_join(types).lower()}; ask for "
            "float32, which leaves all as they are"
        )
    for graph in graphs:
        before = ends(graph).copy()
        for number, tensor in enumerate(before):
            what = _end(end, number, tensor)
            if tensor.dtype == "FLOAT32" and _is_both(graph, tensor):
                raise ValueError(
                    f"{what}: expected operators between inputs and outputs, got a tensor "
                    "that is both; ask for float32, or remove it from the inputs or the outputs"
                )
            if tensor.dtype == "FLOAT32":
                _replace_end(model, ends(graph), tensor, find(graph, tensor, what))
            elif tensor.dtype not in ("INT8", *_NEVER_QUANTIZED):
                raise ValueError(
                    f"{what}: expected float32 or int8, got {tensor.dtype.lower()}; ask for "
                    "float32, which leaves it as it is"
                )
        _remove_unread(graph, before)


_REMEDY = (
    "ask for float32, or give a representative_dataset; without one the model needs fake "
    "quantization right at the"
)


def _is_both(graph: Graph, tensor: Tensor) -> bool:
    return any(t is tensor for t in graph.inputs) and any(t is tensor for t in graph.outputs)


def _quantized_input(graph: Graph, tensor: Tensor, what: str) -> Tensor:
    readers = [_describe(graph, op) for op in tensor.consumers]
    readers += ["the model's outputs"] * any(output is tensor for output in graph.outputs)
    op = tensor.consumers[0] if len(readers) == 1 and tensor.consumers else None
    if op is None or op.kind != "QUANTIZE" or op.output.dtype != "INT8":
        raise ValueError(
            f"{what}: expected one QUANTIZE to int8 to be all that reads it, got {_join(readers)}; "
            f"{_REMEDY} input"
        )
    graph.discard(op)
    return op.output


def _quantized_output(graph: Graph, tensor: Tensor, what: str) -> Tensor:
    op = tensor.producer
    source = op.inputs[0] if op is not None and op.kind == "DEQUANTIZE" else None
    if source is None or source.dtype != "INT8":
        raise ValueError(
            f"{what}: expected a DEQUANTIZE from int8 to make it, got {_describe(graph, op)}; "
            f"{_REMEDY} output"
        )
    return source


def _bits_of(output: Tensor) -> Tensor | None:
    """Returns the bits that an output is dequantized from, if it is."""
    op = output.producer
    if op is not None and op.kind == "DEQUANTIZE" and op.inputs[0] is not None:
        op = op.inputs[0].producer
    return op.inputs[0] if op is not None and op.kind == "LceDequantize" else None


def _replace_end(model: Model, ends: list[Tensor], old: Tensor, new: Tensor) -> None:
    """Replaces an input or output by another tensor, also in the signatures."""

    def swap(tensor: Tensor) -> Tensor:
        return new if tensor is old else tensor

    ends[:] = map(swap, ends)
    model.extra.signatures = [
        (key, subgraph, *([(name, swap(tensor)) for name, tensor in side] for side in sides))
        for key, subgraph, *sides in model.extra.signatures
    ]


def _remove_unread(graph: Graph, tensors: list[Tensor]) -> None:
    for tensor in tensors:
        if tensor.producer is not None and not graph.uses(tensor):
            graph.discard(tensor.producer)


def _end(end: str, number: int, tensor: Tensor) -> str:
    return f"{end} '{tensor.name}' (#{number})"


def _describe(graph: Graph, op: Op | None) -> str:
    if op is None:
        return "no operator"
    return f"{op.kind} '{op.name}' (#{graph.ops.index(op)}, {op.output.dtype.lower()})"


def _join(parts: list[str]) -> str:
    return ", ".join(parts) or "none"
