"""Runs a converted model and its float model on random inputs, and compares them.

A sign turns a rounding error into a difference of 2, which spreads through a network until nothing
agrees any more. So the two are not simply run side by side. The converted model runs from end to
end. The float model computes each value that both have from what the converted model computed
before it, bits included. So both must agree up to the rounding of the few operators in between
(error_bounds.py). Each bit must be the sign of the float model's value, unless that value is so
close to 0 that rounding can change its sign.
"""

import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.bits import has_same_options
from larq_engine.converter.calls import pass_constants
from larq_engine.converter.check_inputs import (
    close_shapes,
    other_shapes,
    random_inputs,
    runs_alone,
    take_shapes,
)
from larq_engine.converter.check_plan import Comparison, Plan, Source, Stretch, make_plan, read_out
from larq_engine.converter.check_run import PartRun
from larq_engine.converter.error_bounds import ErrorBounds, chunks, real_values
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Array, Graph, Model, Op, Tensor
from larq_engine.converter.lce_ops import is_ours, unpack_odd
from larq_engine.converter.signs import find_straight_through
from larq_engine.python.errors import host_errors
from larq_engine.python.text_table import counted

_SEED = 0

# Ranges of random inputs; the second is for models that take logarithms or roots of inputs.
_RANGES = ((-1.0, 1.0), (0.0, 1.0))

# Runs of a model that has a state, which is 0 at first and may hold the input of two runs ago.
_RUNS_WITH_STATE = 3


def check_conversion(
    converted: Model, file: schema.File, progress: Callable[[str], None] = lambda step: None
) -> str:
    """Compares a converted model with the file that it came from, graph by graph.

    Args:
        converted: The converted model, which is not changed.
        file: The file that the model came from.
        progress: Called with the name of each step as it begins.

    Returns:
        What was compared, in words; empty for a model that was not changed.

    Raises:
        ConversionError: They differ; the error names the first operator whose result differs.
    """
    found = [
        _check_graph(converted, file, number, progress) for number in range(len(converted.graphs))
    ]
    return " ".join(text for text in found if text)


def _check_graph(
    converted: Model, file: schema.File, number: int, progress: Callable[[str], None]
) -> str:
    generator = np.random.default_rng(_SEED)
    original = file.model()
    pass_constants(original)
    ours, theirs = converted.graphs[number], original.graphs[number]
    is_float = not any(map(is_ours, ours.ops))
    if is_float and _is_unchanged(ours, theirs):
        return ""
    called = number not in schema.runnable_graphs(original)
    not_compared = f"The subgraph '{theirs.name}' does not run by itself and was not compared."
    if (called or is_float) and not runs_alone(original, theirs, generator):
        return not_compared
    signatures = [tensor.signature for tensor in theirs.inputs]
    close_shapes(original, theirs, generator)
    plan = make_plan(converted, original, number)
    check = _Check(converted, original, number, plan, progress)
    broken: Op | None = None
    for low, high in _RANGES:
        runs = _RUNS_WITH_STATE if plan.keeps_state else 1
        broken = check.run([random_inputs(theirs, low, high, generator) for _ in range(runs)])
        if broken is None:
            break
    if broken is not None and is_float:
        return not_compared
    if broken is not None:
        raise ConversionError(
            f"self-check: {broken.kind} '{broken.name}' of the float model computes NaN from "
            "random inputs between -1 and 1 and between 0 and 1, so there is nothing to compare "
            "with; look at its weights and batch norms (a negative variance?), or convert without "
            "this check with check=False"
        )
    text = _describe(plan, theirs)
    if plan.keeps_state or called:
        return text
    for tensor, signature in zip(theirs.inputs, signatures, strict=True):
        tensor.signature = signature
    refused = []
    for shapes in other_shapes(theirs):
        named = ", ".join(map(str, shapes))
        if agrees_at(shapes, converted, file, number, progress):
            text += f" They agree for inputs of the shapes {named}, too."
        else:
            refused.append(named)
    if refused:
        text += f" The float model has no results for the shapes {'; '.join(refused)}."
    return text


def agrees_at(
    shapes: Sequence[tuple[int, ...]],
    converted: Model,
    file: schema.File,
    number: int,
    progress: Callable[[str], None],
) -> bool:
    """Compares the two once for these shapes; False if the float model does not compute them."""
    generator = np.random.default_rng(_SEED)
    original = file.model()
    pass_constants(original)
    theirs = original.graphs[number]
    if not take_shapes(original, theirs, shapes, generator):
        return False
    plan = make_plan(converted, original, number)
    check = _Check(converted, original, number, plan, progress)
    return any(check.run([random_inputs(theirs, *ends, generator)]) is None for ends in _RANGES)


def is_changed(converted: Model, original: Model) -> bool:
    """Tells whether a graph's operators differ from those in the file that it came from."""
    pairs = zip(converted.graphs, original.graphs, strict=True)
    return any(any(map(is_ours, us.ops)) or not _is_unchanged(us, them) for us, them in pairs)


def _is_unchanged(ours: Graph, theirs: Graph) -> bool:
    """Tells whether a graph has the file's operators, each with the same inputs and outputs."""
    return len(ours.ops) == len(theirs.ops) and all(map(_is_same, ours.ops, theirs.ops))


def _is_same(ours: Op, theirs: Op) -> bool:
    """Tells whether an operator is unchanged: rules make new tensors and options to change one."""
    sides = [
        (op.kind, [None if t is None else t.origin for t in (*op.inputs, *op.outputs)])
        for op in (ours, theirs)
    ]
    return sides[0] == sides[1] and has_same_options(ours, theirs)


def _describe(plan: Plan, theirs: Graph) -> str:
    count = sum(len(stretch.comparisons) for stretch in plan.stretches)
    shapes = ", ".join(str(tensor.shape) for tensor in theirs.inputs)
    compared = counted(count, "tensor")
    text = f"{compared} agree with the float model, for inputs of the shapes {shapes}."
    if plan.random:
        names = ", ".join(f"{op.kind} '{op.name}'" for op in plan.random)
        text += f" Not compared, as they are random: {names}."
    return text


class _Check:
    def __init__(
        self,
        converted: Model,
        original: Model,
        number: int,
        plan: Plan,
        progress: Callable[[str], None],
    ) -> None:
        self._converted = converted
        self._original = original
        self._plan = plan
        self._progress = progress
        self._graph = converted.graphs[number]

    def run(self, inputs: Sequence[Sequence[Array]]) -> Op | None:
        """Runs both models, once for each of the inputs.

        Returns:
            The operator of the float model that computes NaN, if any; then nothing can be compared.
        """
        stretches = self._plan.stretches
        kept = [dict(zip(self._graph.inputs, arrays, strict=True)) for arrays in inputs]
        for number, stretch in enumerate(stretches, 1):
            self._progress(f"checking, part {number} of {len(stretches)}")
            self._run_ours(stretch, kept)
            broken = self._run_theirs(stretch, kept)
            if broken is not None:
                return broken
            for values in kept:
                for tensor in stretch.last_read:
                    values.pop(tensor, None)
        return None

    def _run_ours(self, stretch: Stretch, kept: Sequence[dict[Tensor, Array]]) -> None:
        run = PartRun(self._converted, stretch.given, stretch.ops, stretch.wanted)
        for values in kept:
            with _host_errors():
                run.run(values)
                values.update((tensor, run.value(tensor)) for tensor in stretch.wanted)

    def _run_theirs(self, stretch: Stretch, kept: Sequence[dict[Tensor, Array]]) -> Op | None:
        given = stretch.their_given
        run = PartRun(self._original, [*given], stretch.their_ops, stretch.their_wanted)
        for values in kept:
            fed = {t: _their_value(given[t], values[given[t].tensor], t.shape) for t in given}
            with _host_errors():
                run.run(fed)
            bounds = ErrorBounds()
            for op in stretch.rounding:
                for tensor in op.inputs:
                    if tensor in fed:
                        meaning = given[tensor].meaning
                        levels = () if meaning is None else meaning.levels
                        bounds.show(tensor, fed.pop(tensor), levels)
                for tensor in read_out(op):
                    if bounds.show(tensor, run.value(tensor)).has_nan:
                        return op
                bounds.add(op)
            for comparison in stretch.comparisons:
                self._compare(comparison, values[comparison.ours.tensor], run, bounds)
        return None

    def _compare(
        self, comparison: Comparison, value: Array, theirs: PartRun, bounds: ErrorBounds
    ) -> None:
        tensor, before_sign = comparison.theirs, comparison.before_sign
        expected = theirs.value(tensor)
        got = _their_value(comparison.ours, value, expected.shape)
        if got.shape != expected.shape:
            raise self._difference(comparison, f"the shape {expected.shape}", f"{got.shape}")
        if comparison.is_exact:
            wrong = _find_wrong(got, expected, np.zeros(()))
            within = ""
        elif before_sign is not None and comparison.levels is not None:
            before, bound = theirs.value(before_sign), bounds.of(before_sign)
            low, high = (comparison.levels.of(before + side) for side in (-bound, bound))
            wrong = _find_wrong_levels(got, expected, low, high)
            within = ""
        elif before_sign is not None:
            before = theirs.value(before_sign).reshape(expected.shape)
            wrong = _find_wrong_signs(got, expected, before, bounds.of(before_sign))
            within = ""
        else:
            expected, got = real_values(tensor, expected), real_values(tensor, got)
            bound = bounds.of(tensor)
            wrong = _find_wrong(got, expected, bound)
            within = f" within {bound.max():.2g}"
        if wrong is not None:
            _check_sums(comparison.op, before_sign or tensor, bounds)
            index = np.unravel_index(wrong.worst, expected.shape)
            place = f"{[int(i) for i in index]} of '{tensor.name}'"
            meaning = comparison.ours.meaning
            if meaning is not None and expected[index] not in meaning.two_values:
                _check_straight_through(tensor, f"{float(expected[index]):g} at {place}")
            raise self._difference(
                comparison,
                f"{float(expected[index]):g}{within} at {place}",
                f"{float(got[index]):g}, and {wrong.count} of {expected.size} values are off",
            )

    def _difference(self, comparison: Comparison, expected: str, got: str) -> ConversionError:
        op = comparison.op
        while op.kind == "RESHAPE" and op.inputs[0] is not None and op.inputs[0].producer:
            op = op.inputs[0].producer  # A reshape is the first to differ, but cannot be the cause.
        return ConversionError(
            f"self-check: {op.kind} '{op.name}' (#{self._graph.ops.index(op)}) is the first "
            f"operator that differs from the float model: expected {expected}, got {got}. The "
            "converter is at fault: please report it with the model; check=False converts without "
            "this check"
        )


def _check_sums(op: Op, tensor: Tensor, bounds: ErrorBounds) -> None:
    """Raises ConversionError if the order of sums decides whether they are infinite."""
    parts = bounds.parts(tensor)
    if not parts <= float(np.finfo(np.float32).max):
        raise ConversionError(
            f"self-check: {op.kind} '{op.name}': expected sums that float32 holds, got up to "
            f"{parts:.2g}: whether they are infinite depends on their order, so there is nothing "
            "to compare with. Make the weights smaller; check=False converts without this check"
        )


def _check_straight_through(tensor: Tensor, got: str) -> None:
    """Raises ConversionError if the float model itself loses a sign by rounding."""
    op = find_straight_through(tensor)
    if op is not None:
        raise ConversionError(
            f"self-check: {op.kind} '{op.name}': expected a sign of the float model, got {got}: "
            "its straight-through form, x + (s - x), loses the sign s by rounding where x is "
            "larger than 16,777,216 (2**24). Make x smaller, by a batch norm before it, or give "
            "the layer s itself; check=False converts to a model that has s there"
        )


def _host_errors() -> contextlib.AbstractContextManager[None]:
    return host_errors("self-check (check=False leaves it out)")


def _their_value(source: Source, value: Array, shape: tuple[int, ...]) -> Array:
    """Returns the value that a tensor of the float model has by its source."""
    if source.meaning is not None:
        values = unpack_odd(value, source.meaning.channels, source.meaning.bits)
        value = source.meaning.values(values)
    elif not source.order:
        return value
    if value.size != math.prod(shape):
        return value
    # Rules may have reshaped an image to rows, or rows to an image.
    if source.order:
        if value.ndim != len(source.order):
            value = value.reshape([shape[source.order.index(axis)] for axis in range(len(shape))])
        value = value.transpose(source.order)
    return value.reshape(shape)


@dataclass
class _Wrong:
    """Values that are wrong: their count, and the index of the one that is furthest off."""

    count: int
    worst: int


def _find_wrong(got: Array, expected: Array, bound: Array) -> _Wrong | None:
    """Finds values further apart than the bound, which is one for all or one for each channel."""
    parts = zip(chunks(got), chunks(expected), strict=True)
    # The difference of equal infinities counts as 0, and that with NaN as wrong.
    with np.errstate(invalid="ignore"):
        offs = (np.where(g == e, 0, np.abs(g - e.astype(np.float64))) for g, e in parts)
        return _count((off, ~(off <= bound)) for off in offs)


def _find_wrong_signs(got: Array, expected: Array, before: Array, bound: Array) -> _Wrong | None:
    """Finds signs that differ although the value before them is further from 0 than the bound."""
    parts = zip(chunks(got), chunks(expected), chunks(before), strict=True)
    sizes = ((g != e, np.abs(b)) for g, e, b in parts)
    return _count((size, differs & ~(size <= bound)) for differs, size in sizes)


def _find_wrong_levels(got: Array, expected: Array, low: Array, high: Array) -> _Wrong | None:
    """Finds numbers that rounding does not explain.

    They are not the expected ones, and not between those of the least and the largest value that
    rounding allows.
    """
    ends = [end.reshape(expected.shape) for end in (np.minimum(low, high), np.maximum(low, high))]
    within = (got >= ends[0]) & (got <= ends[1])
    return _count([(np.abs(got - expected), (got != expected) & ~within)])


def _count(parts: Iterable[tuple[Array, Array]]) -> _Wrong | None:
    """Counts wrong values in pieces, each with the sizes of errors and which of these are wrong."""
    count, worst, largest, start = 0, 0, -1.0, 0
    for sizes, wrong in parts:
        if wrong.any():
            count += int(np.count_nonzero(wrong))
            off = np.where(wrong, np.nan_to_num(sizes, nan=np.inf), -1)
            index = int(np.argmax(off))
            if off.flat[index] > largest:
                worst, largest = start + index, float(off.flat[index])
        start += sizes.size
    return _Wrong(count, worst) if count else None
