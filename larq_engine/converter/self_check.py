"""Runs a converted model and the model it came from on random inputs, and compares them.

A sign turns a rounding error into a difference of 2, and a network carries that on until nothing
agrees any more; so the two are not simply run side by side. The converted model runs as it is, from
end to end, and its bits are read out. Then the float model runs with every sign replaced by those
bits. What each stretch between signs computes must agree up to rounding (error_bounds.py), and each
bit must be the sign of the float model's value, unless that is as close to 0 as rounding reaches.
"""

import math
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.bits import values_before_sign
from larq_engine.converter.constants import fold_constants
from larq_engine.converter.error_bounds import ErrorBounds, Seen, real_values
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import NUMPY_TYPES, Array, Graph, Meaning, Model, Op, Tensor
from larq_engine.converter.signs import NotBinary, find_binary

# Their results jump, so a rounding error before them is no rounding error after them. Where both
# models have one, the float model takes the converted model's result.
_JUMPING = {
    "ARG_MAX",
    "ARG_MIN",
    "CAST",
    "CEIL",
    "EQUAL",
    "FLOOR",
    "GREATER",
    "GREATER_EQUAL",
    "LESS",
    "LESS_EQUAL",
    "NOT_EQUAL",
    "ROUND",
    "SIGN",
    "TOPK_V2",
}

_COMPARED_TYPES = ("FLOAT32", "INT8", "UINT8", "INT16")

_SEED = 0

# Of random inputs; the second for models that take logarithms or roots of theirs.
_RANGES = ((-1.0, 1.0), (0.0, 1.0))


def check_conversion(converted: Model, content: bytes) -> None:
    """Compares the main graphs of a converted model and of the file that it came from.

    Raises:
        ConversionError: They differ; the error names the first operator that does.
    """
    ours = converted.graphs[0]
    if not any(op.custom and op.kind.startswith("Lce") for op in ours.ops):
        return
    for low, high in _RANGES:
        inputs = _random_inputs(ours, low, high)
        run = _run_converted(converted, inputs)
        reference = _Reference(schema.read(content), run)
        reference.run(inputs)
        theirs = reference.graph
        broken = _find_nan(theirs, reference)
        if broken is None:
            break
    if broken is not None:
        raise ConversionError(
            f"self-check: {broken.kind} '{broken.name}' of the float model computes NaN from "
            "random inputs between -1 and 1 and between 0 and 1, so there is nothing to compare "
            "with; look at its weights and batch norms (a negative variance?), or convert without "
            "this check with check=False"
        )
    bounds = ErrorBounds({tensor: Seen.of(value) for tensor, value in reference.values.items()})
    for op in theirs.ops:
        bounds.add(op)
    for op in ours.ops:
        for tensor in op.outputs:
            _compare(op, ours, tensor, run, reference, bounds)


@dataclass
class _Run:
    """What the converted model computed."""

    values: dict[int, Array]  # by the number of the tensor in the original file
    bits: dict[int, "_Bits"]


@dataclass
class _Bits:
    """The bits that stand for one tensor of the float model."""

    tensor: Tensor
    meaning: Meaning
    words: Array

    def unpack(self, shape: tuple[int, ...]) -> Array:
        """The values of the float model's tensor."""
        signs = _signs(self.words, self.meaning.channels)
        values = (self.meaning.alpha * signs + self.meaning.beta).astype(np.float32)
        # Open shapes are not the file's when the model runs; bits of images then have the right
        # one.
        return values.reshape(shape) if values.size == math.prod(shape) else values


def _random_inputs(graph: Graph, low: float, high: float) -> list[Array]:
    generator = np.random.default_rng(_SEED)
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
            # Indices and the like: what is small is in range.
            inputs.append(generator.integers(0, 2, tensor.shape).astype(dtype))
    return inputs


def _run_converted(model: Model, inputs: Sequence[Array]) -> _Run:
    graph = model.graphs[0]
    wanted = [
        tensor
        for op in graph.ops
        for tensor in op.outputs
        if tensor.meanings
        or (tensor.origin is not None and tensor.dtype in NUMPY_TYPES and tensor.elements)
    ]
    values = _evaluate(model, graph.inputs, wanted, inputs)
    run = _Run({}, {})
    for tensor, value in zip(wanted, values, strict=True):
        for meaning in tensor.meanings:
            run.bits.setdefault(meaning.origin, _Bits(tensor, meaning, value))
        if tensor.origin is not None:
            run.values[tensor.origin] = value
    return run


class _Reference:
    """The float model, cut at its signs."""

    def __init__(self, model: Model, run: _Run) -> None:
        self._model = model
        self._run = run
        self.graph = model.graphs[0]
        self.values: dict[Tensor, Array] = {}
        self.before_sign: dict[int, Tensor] = {}
        self.tensors: dict[int, Tensor] = {}
        self._fed: list[tuple[Tensor, Array]] = []
        # Else LiteRT would keep each step of computing large weights.
        fold_constants(self.graph)
        for op in self.graph.ops.copy():
            for tensor in op.outputs:
                if tensor.origin is not None:
                    self.tensors[tensor.origin] = tensor
        # Before any cut, as signs that move others' bits are found through those.
        for origin in run.bits:
            self._show_before_sign(origin)
        for origin, bits in run.bits.items():
            tensor = self.tensors[origin]
            self._cut(tensor, bits.unpack(tensor.shape))
        for op in self.graph.ops.copy():
            if op.kind in _JUMPING and op.output.origin in run.values:
                self._cut(op.output, run.values[op.output.origin])
        self.graph.sort()

    def _show_before_sign(self, origin: int) -> None:
        found = find_binary(self.tensors[origin])
        assert not isinstance(found, NotBinary)
        value, ops = values_before_sign(found)
        self.graph.add(ops)
        if value.dtype == "FLOAT32":
            self.before_sign[origin] = value

    def _cut(self, tensor: Tensor, value: Array) -> None:
        """Gives the readers of a tensor a value from outside."""
        fed = tensor.like(f"{tensor.name}/fed", shape=value.shape, signature=None)
        self.graph.redirect(tensor, fed)
        self._fed.append((fed, value))

    def run(self, inputs: Sequence[Array]) -> None:
        wanted = [
            tensor
            for op in self.graph.ops
            for tensor in op.outputs
            if tensor.dtype in NUMPY_TYPES and tensor.elements
        ]
        given = [*self.graph.inputs, *(tensor for tensor, _ in self._fed)]
        fed = [value for _, value in self._fed]
        results = _evaluate(self._model, given, wanted, [*inputs, *fed])
        self.values = dict(zip([*wanted, *given], [*results, *inputs, *fed], strict=True))


def _signs(words: Array, channels: int) -> Array:
    content = np.ascontiguousarray(words, "<i4").view(np.uint8)
    unpacked = np.unpackbits(content, axis=-1, bitorder="little", count=channels)
    return np.float32(1) - np.float32(2) * unpacked


def _evaluate(
    model: Model, given: Sequence[Tensor], wanted: Sequence[Tensor], inputs: Sequence[Array]
) -> list[Array]:
    """Runs the main graph from the given to the wanted tensors, in LiteRT's own kernels."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    from larq_engine.python.errors import host_errors
    from larq_engine.python.host import load_delegate

    graph = model.graphs[0]
    outputs = list(dict.fromkeys(wanted))
    kept = graph.inputs, graph.outputs, model.extra.signatures
    graph.inputs, graph.outputs, model.extra.signatures = list(given), outputs, []
    with (
        tempfile.TemporaryDirectory() as folder,
        host_errors("self-check (check=False leaves it out)"),
    ):
        # The host maps a file, where bytes would be one more copy of all weights.
        file = Path(folder) / "model.tflite"
        try:
            file.write_bytes(schema.write_view(model))
        finally:
            graph.inputs, graph.outputs, model.extra.signatures = kept
        # Without XNNPACK: it would copy all weights for a single run.
        interpreter = Interpreter(
            model_path=os.fspath(file),
            experimental_delegates=[load_delegate("ai_edge_litert")],
            experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        )
        interpreter.allocate_tensors()
        for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        details = interpreter.get_output_details()
        return [interpreter.get_tensor(detail["index"]) for detail in details]


def _find_nan(graph: Graph, reference: _Reference) -> Op | None:
    """The first operator of the float model that computes NaN, which has no sign to compare."""
    for op in graph.ops:
        values = [reference.values[t] for t in op.outputs if t in reference.values]
        if any(value.dtype.kind == "f" and bool(np.isnan(value).any()) for value in values):
            return op
    return None


def _compare(
    op: Op,
    graph: Graph,
    tensor: Tensor,
    run: _Run,
    reference: _Reference,
    bounds: ErrorBounds,
) -> None:
    for meaning in tensor.meanings:
        bits = run.bits[meaning.origin]
        if bits.tensor is tensor:
            _compare_bits(op, graph, bits, reference, bounds)
    origin = tensor.origin
    if origin is None or tensor.dtype not in _COMPARED_TYPES or op.kind in _JUMPING:
        return
    other = reference.tensors.get(origin)
    if origin in run.bits or other is None or other not in reference.values:
        return
    got = real_values(tensor, run.values[origin]).astype(np.float64)
    expected = real_values(other, reference.values[other])
    bound = bounds.of(other)
    off = np.abs(got - expected)
    # NaN where the float model has NaN too is agreement.
    wrong = ~((off <= bound) | (np.isnan(got) & np.isnan(expected)) | (got == expected))
    if wrong.any():
        worst = np.unravel_index(int(np.argmax(np.where(wrong, off, -1))), off.shape)
        raise _difference(
            op,
            graph,
            f"{float(expected[worst]):g} within {bound:.2g} at {_place(worst)} of '{tensor.name}'",
            f"{float(got[worst]):g}, and {int(wrong.sum())} of {wrong.size} values are off",
        )


def _compare_bits(
    op: Op,
    graph: Graph,
    bits: _Bits,
    reference: _Reference,
    bounds: ErrorBounds,
) -> None:
    origin = bits.meaning.origin
    binary = reference.tensors[origin]
    got = bits.unpack(binary.shape)
    different = got != reference.values[binary]
    before = reference.before_sign.get(origin)
    if before is not None:
        values = reference.values[before].reshape(got.shape)
        different &= ~(np.abs(values) <= bounds.of(before))
    if different.any():
        worst = np.unravel_index(int(np.argmax(different)), different.shape)
        raise _difference(
            op,
            graph,
            f"{float(reference.values[binary][worst]):g} at {_place(worst)} of '{binary.name}'",
            f"{float(got[worst]):g}, and {int(different.sum())} of {different.size} are different",
        )


def _place(index: Sequence[np.intp]) -> str:
    return str([int(i) for i in index])


def _difference(op: Op, graph: Graph, expected: str, got: str) -> ConversionError:
    while op.kind == "RESHAPE" and op.inputs[0] is not None and op.inputs[0].producer is not None:
        op = op.inputs[0].producer  # A reshape shows the fault first and cannot be at fault.
    return ConversionError(
        f"self-check: {op.kind} '{op.name}' (#{graph.ops.index(op)}) is the first operator that "
        f"differs from the float model: expected {expected}, got {got}. The converter is at fault: "
        "please report it with the model; check=False converts without this check"
    )
