"""Cuts a converted model and its float model into stretches that the self-check runs in turn.

A stretch has consecutive operators of the converted model, and the operators of the float model
that compute the same values. In each stretch both begin with values that the converted model
computed in earlier stretches. So errors do not add up from one stretch to the next, and only what a
later stretch reads has to be kept.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from larq_engine.converter.bits import values_before_sign
from larq_engine.converter.calls import called_graphs
from larq_engine.converter.constants import fold_constants
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import NUMPY_TYPES, Graph, Meaning, Model, Op, Tensor
from larq_engine.converter.lce_ops import WORD, is_ours
from larq_engine.converter.levels import Levels, find_data, find_levels
from larq_engine.converter.signs import NotBinary

# Most bytes of values in one stretch. An operator that makes more is a stretch by itself.
STRETCH_BYTES = 32 << 20


@dataclass(frozen=True)
class Source:
    """The tensor of the converted model that gives a value of the float model.

    If the tensor holds bits, `meaning` says which number each of them stands for. If there is an
    `order`, the value has its dimensions in that order.
    """

    tensor: Tensor
    meaning: Meaning | None = None
    order: tuple[int, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """A value that both models have, to be compared."""

    op: Op
    ours: Source
    theirs: Tensor
    # Set if `theirs` comes from numbers: the tensor before its sign or its levels, and the levels.
    before_sign: Tensor | None = None
    levels: Levels | None = None

    @property
    def is_exact(self) -> bool:
        """Tells whether the values must be equal, because nothing before them rounds."""
        return self.ours.meaning is not None and self.before_sign is None


def read_out(op: Op) -> list[Tensor]:
    """Returns those outputs of an operator whose values the self-check can read."""
    return [tensor for tensor in op.outputs if tensor.dtype in NUMPY_TYPES]


@dataclass
class Stretch:
    """Operators that are run together, and what is compared when they have run."""

    ops: list[Op]
    given: list[Tensor] = field(default_factory=list)
    wanted: list[Tensor] = field(default_factory=list)
    their_ops: list[Op] = field(default_factory=list)
    # Inputs of the float model's operators, with the converted model's tensors that give them.
    their_given: dict[Tensor, Source] = field(default_factory=dict)
    their_wanted: list[Tensor] = field(default_factory=list)
    # Operators of the float model whose rounding affects what is compared.
    rounding: list[Op] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    # Tensors of the converted model that no later stretch reads.
    last_read: list[Tensor] = field(default_factory=list)

    def read(self) -> set[Tensor]:
        """Returns the tensors of the converted model that the stretch reads."""
        return {*self.given, *(source.tensor for source in self.their_given.values())}


@dataclass
class Plan:
    """The parts that the self-check runs and compares."""

    stretches: list[Stretch]
    # True if the results of a run may depend on the runs before it.
    keeps_state: bool
    # Operators with random results, which are not compared.
    random: list[Op]


def make_plan(converted: Model, original: Model, number: int) -> Plan:
    """Plans the comparison of one graph; adds operators for values before signs to the original."""
    ours, theirs = converted.graphs[number], original.graphs[number]
    # Without this, LiteRT would keep every intermediate result of computing large weights.
    fold_constants(theirs)
    random = [op for op in ours.ops if _any_in(op, converted, _is_random)]
    # If a called graph contains signs, rounding may decide its result. Called graphs are compared
    # by themselves.
    opaque = {op for op in ours.ops if not is_ours(op) and _any_in(op, converted, is_ours)}
    keeps_state = any(map(has_state, [*converted.graphs, *original.graphs]))
    counterparts = _Counterparts(ours, theirs)
    stretches = [Stretch(ours.ops)] if keeps_state else _cut(ours)
    for stretch in stretches:
        stretch.comparisons = [
            comparison
            for op in stretch.ops
            if op not in random and op not in opaque
            for tensor in op.outputs
            for comparison in counterparts.comparisons(op, tensor)
        ]
    theirs.sort()
    known = dict(counterparts.inputs)
    for stretch in stretches:
        for op in stretch.ops:
            for tensor in op.outputs:
                for their, source in counterparts.sources(tensor):
                    known.setdefault(their, source)
        stretch.comparisons = [_exact_of_known(c, known) for c in stretch.comparisons]
        _plan_theirs(stretch, theirs, known, takes_all=keeps_state)
        stretch.given = _given(stretch.ops, ours)
    _choose_wanted(stretches)
    return Plan(stretches, keeps_state, random)


def has_state(graph: Graph) -> bool:
    """Tells whether operators do more than compute numbers from numbers; these run all together."""
    return any(
        not op.outputs
        or any(tensor.dtype not in NUMPY_TYPES for tensor in op.outputs)
        or any(tensor is not None and _is_variable(tensor, graph) for tensor in op.inputs)
        for op in graph.ops
    )


def _is_variable(tensor: Tensor, graph: Graph) -> bool:
    """Tells whether a tensor keeps its value between runs; an empty tensor has no data either."""
    unmade = not tensor.is_constant and not graph.is_variable(tensor)
    return unmade and tensor.elements > 0


def _is_random(op: Op) -> bool:
    return op.known.is_random


def _any_in(op: Op, model: Model, holds: Callable[[Op], bool]) -> bool:
    """Tells whether `holds` is true for an operator, or for one in the graphs that it calls."""
    called = [inner for graph in called_graphs(op, model) for inner in graph.ops]
    return holds(op) or any(_any_in(inner, model, holds) for inner in called)


class _Counterparts:
    """Finds the tensors of the two models that hold the same value."""

    def __init__(self, ours: Graph, theirs: Graph) -> None:
        self._theirs = theirs
        self._by_origin = {tensor.origin: tensor for op in theirs.ops for tensor in op.outputs}
        self._before_sign: dict[Tensor, Tensor | None] = {}
        pairs = zip(theirs.inputs, ours.inputs, strict=True)
        self.inputs = {their: Source(our) for their, our in pairs}

    def sources(self, tensor: Tensor) -> list[tuple[Tensor, Source]]:
        """Returns the float model's values that a tensor of the converted model gives."""
        sources = [
            (meaning.origin, Source(tensor, meaning, meaning.order)) for meaning in tensor.meanings
        ]
        found = tensor.counterpart
        if found is not None and tensor.dtype in NUMPY_TYPES:
            sources.append((found.origin, Source(tensor, order=found.order)))
        return [(self._by_origin[n], source) for n, source in sources if n in self._by_origin]

    def comparisons(self, op: Op, tensor: Tensor) -> list[Comparison]:
        return [self._comparison(op, source, their) for their, source in self.sources(tensor)]

    def _comparison(self, op: Op, source: Source, their: Tensor) -> Comparison:
        if source.meaning is None:
            return Comparison(op, source, their)
        if source.meaning.levels:
            levels = find_levels(their)
            if levels is None:
                raise _not_found(their, "it is not one of few numbers")
            self._theirs.add(levels.ops)
            return Comparison(op, source, their, levels.x, levels)
        return Comparison(op, source, their, self._show_before_sign(their))

    def _show_before_sign(self, binary: Tensor) -> Tensor | None:
        if binary not in self._before_sign:
            found = find_data(binary)
            if isinstance(found, NotBinary):
                raise _not_found(binary, found.reason)
            if isinstance(found, Levels):
                raise _not_found(binary, f"it is {found.describe()}")
            value, ops = values_before_sign(found)
            self._theirs.add(ops)
            self._before_sign[binary] = value if value.dtype == "FLOAT32" else None
        return self._before_sign[binary]


def _not_found(tensor: Tensor, reason: str) -> ConversionError:
    return ConversionError(
        f"self-check: '{tensor.name}' became bits, and in the float model {reason}. The converter "
        "is at fault: please report it with the model; check=False converts without this check"
    )


def _cut(graph: Graph) -> list[Stretch]:
    stretches: list[Stretch] = []
    room = 0
    for op in graph.ops:
        size = sum(map(_float_bytes, op.outputs))
        if size > room or not stretches:
            stretches.append(Stretch([]))
            room = STRETCH_BYTES
        stretches[-1].ops.append(op)
        room -= size
    return stretches


def _float_bytes(tensor: Tensor) -> int:
    """Returns the bytes of a tensor in the float model, where bits are numbers."""
    values = tensor.elements * (WORD if tensor.meanings else 1)
    return values * np.dtype(NUMPY_TYPES[tensor.dtype]).itemsize


def _plan_theirs(
    stretch: Stretch, graph: Graph, known: Mapping[Tensor, Source], *, takes_all: bool
) -> None:
    """Chooses the float model's operators for a stretch, and feeds them values that are known."""
    compared = [comparison.theirs for comparison in stretch.comparisons]
    # A comparison of signs allows for the rounding of the values before the sign only.
    rounded = [c.before_sign or c.theirs for c in stretch.comparisons if not c.is_exact]
    ops = set(graph.ops) if takes_all else _needed([*compared, *rounded], known)
    rounding = _needed(rounded, known)
    read = dict.fromkeys(t for op in graph.ops if op in ops for t in op.inputs if t in known)
    fed = {t: t.like(f"{t.name}/fed", signature=None) for t in read if t is not None}
    stretch.their_given = {fed[tensor]: known[tensor] for tensor in fed}
    for op in graph.ops:
        if op in ops:
            inputs = [None if t is None else fed.get(t, t) for t in op.inputs]
            stretch.their_ops.append(replace(op, inputs=inputs))
            if op in rounding:
                stretch.rounding.append(stretch.their_ops[-1])
    measured = [tensor for op in stretch.rounding for tensor in read_out(op)]
    stretch.their_wanted = list(dict.fromkeys([*measured, *compared]))


def _needed(wanted: Iterable[Tensor], known: Mapping[Tensor, Source]) -> set[Op]:
    """Returns the operators that compute `wanted` from known tensors."""
    waiting = [tensor.producer for tensor in wanted]
    needed: set[Op] = set()
    while waiting:
        op = waiting.pop()
        if op is not None and op not in needed:
            needed.add(op)
            waiting += [t.producer for t in op.inputs if t is not None and t not in known]
    return needed


def _exact_of_known(comparison: Comparison, known: Mapping[Tensor, Source]) -> Comparison:
    """Makes a comparison exact if both models take the sign of the same known value."""
    return replace(comparison, before_sign=None) if comparison.before_sign in known else comparison


def _given(ops: Sequence[Op], graph: Graph) -> list[Tensor]:
    made = {tensor for op in ops for tensor in op.outputs}
    read = dict.fromkeys(t for op in ops for t in op.inputs if t is not None)
    return [tensor for tensor in read if graph.is_variable(tensor) and tensor not in made]


def _choose_wanted(stretches: Sequence[Stretch]) -> None:
    """Chooses what is read out of each stretch, and after which stretch a value can be dropped."""
    read_later: set[Tensor] = set()
    for stretch in reversed(stretches):
        made = [tensor for op in stretch.ops for tensor in op.outputs]
        compared = {comparison.ours.tensor for comparison in stretch.comparisons}
        read = stretch.read()
        wanted = compared | read | read_later
        stretch.wanted = [tensor for tensor in made if tensor in wanted]
        stretch.last_read = [t for t in read | compared if t not in read_later]
        read_later |= read
