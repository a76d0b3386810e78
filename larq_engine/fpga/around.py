"""Writes the operators before hardware and behind it as models, for the program that drives it."""

from collections.abc import Sequence

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.graph import Array, Op, Tensor
from larq_engine.exporting.int8_results import of_channels
from larq_engine.fpga.runs import Run, ends_in


def models_around(content: bytes, run: Run) -> dict[str, bytes]:
    """Returns before.tflite and after.tflite, as far as the model has operators there.

    The first output of before.tflite goes to the hardware. The first input of after.tflite is what
    the hardware makes. Then it takes what else it reads: values of before.tflite and inputs of the
    model, by their names. Sums are floats, which its first operators multiply and add the bias to,
    as the layer does.
    """
    model = schema.read(content)
    graph = model.graphs[0]
    before, after = graph.ops[: run.first], graph.ops[run.end :]
    source, target = ends_in(graph, run)
    made, scaled = target, list[Op]()
    if target.dtype == "FLOAT32":
        made, scaled = _scaled(graph.ops[run.end - 1], target)
    inside = {tensor for op in graph.ops[run.first : run.end] for tensor in op.outputs}
    later = {tensor for op in after for tensor in op.outputs}
    read = [tensor for op in after for tensor in op.inputs if tensor is not None]
    carried = [
        tensor
        for tensor in dict.fromkeys([*read, *graph.outputs])
        if not tensor.is_constant and tensor not in inside and tensor not in later
    ]
    found = {}
    if before:
        wanted = [source, *(tensor for tensor in carried if tensor is not source)]
        found["before.tflite"] = schema.write(schema.part(model, graph.inputs, before, wanted))
    if after or scaled:
        given, ops = [made, *carried], [*scaled, *after]
        found["after.tflite"] = schema.write(schema.part(model, given, ops, graph.outputs))
    return found


def _scaled(layer: Op, target: Tensor) -> tuple[Tensor, list[Op]]:
    """Returns a tensor of a layer's sums, and the operators that make its results of them."""
    sums, product = (
        Tensor(f"{target.name}/{name}", target.shape, "FLOAT32") for name in ("sums", "product")
    )
    multiplier, bias = (_constant(of_channels(layer, n)) for n in (2, 3))
    multiply, add = (schema.make_options(f"{kind}Options") for kind in ("Mul", "Add"))
    return sums, [
        Op("MUL", [sums, multiplier], [product], multiply),
        Op("ADD", [product, bias], [target], add),
    ]


def _constant(numbers: Array) -> Tensor:
    return lce_ops.constant(numbers.astype(np.float32))


def describe_around(run: Run, ops: Sequence[Op]) -> list[str]:
    """Returns a line for the operators before hardware, and one for those behind it."""
    lines = []
    for name, first, end in (("before", 0, run.first), ("after", run.end, len(ops))):
        if first < end:
            kinds = ", ".join(dict.fromkeys(op.kind for op in ops[first:end]))
            which = f"operator {first}" if end == first + 1 else f"operators {first} to {end - 1}"
            lines.append(f"{which}, for your program: {name}.tflite ({kinds})")
    if run.target.dtype == "FLOAT32":
        lines.append("the multiplier and bias of the last layer, for your program: after.tflite")
    return lines
