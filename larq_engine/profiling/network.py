"""Cuts operators out of a model, so that they run by themselves."""

from collections.abc import Sequence
from dataclasses import dataclass

from larq_engine.converter import schema
from larq_engine.converter.graph import NUMPY_TYPES, Op, Tensor
from larq_engine.converter.lce_ops import is_ours

# These operators run the graphs that they call. All other operators with effects change more than
# their outputs.
_CALLS = ("IF", "WHILE")


@dataclass(frozen=True)
class Cut:
    """Some operators as a model of their own.

    Attributes:
        content: The bytes of the file.
        ops: The operators' positions in the network.
        nodes: The operators' numbers in the file.
        given: The file's inputs: tensors that the operators read and do not make.
        wanted: The file's outputs: tensors that the operators make and that are read elsewhere.
        is_ours: For each operator, whether only the engine computes it.
        needs_engine: Whether any operator is the engine's, also in graphs that these operators
            call.
    """

    content: bytes
    ops: tuple[int, ...]
    nodes: tuple[int, ...]
    given: tuple[Tensor, ...]
    wanted: tuple[Tensor, ...]
    is_ours: tuple[bool, ...]
    needs_engine: bool


class Network:
    """The main graph of a model, without operators that only depend on constants.

    Raises:
        ValueError: It is no model, or no operator depends on its inputs.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._model = schema.read(content)
        graph = self._model.graphs[0]
        self._fixed = _find_fixed(graph.ops)
        self.inputs = tuple(graph.inputs)
        self.outputs = tuple(graph.outputs)
        self.ops = [op for op in graph.ops if not self._is_fixed(op)]
        self.nodes = [node for node, op in enumerate(graph.ops) if not self._is_fixed(op)]
        if not self.ops:
            raise ValueError("model: expected operators that depend on its inputs, got none")

    @property
    def operators(self) -> int:
        """Returns the number of all operators in the main graph of the file."""
        return len(self._model.graphs[0].ops)

    def check_parts_can_run(self) -> None:
        """Raises a ValueError if an operator cannot run by itself."""
        for node, op in zip(self.nodes, self.ops, strict=True):
            _check(op, node, self._has_state(op))

    @property
    def constant_bytes(self) -> int:
        """Returns the bytes that weights and other constants take."""
        tensors = {tensor for op in self._model.graphs[0].ops for tensor in op.inputs if tensor}
        return sum(tensor.stored_bytes for tensor in tensors)

    def _has_state(self, op: Op) -> bool:
        """Tells whether an operator keeps values in tensors that nobody makes, as an LSTM does."""
        present = [tensor for tensor in op.inputs if tensor is not None]
        return any(
            not (tensor.is_constant or tensor.producer is not None or tensor in self.inputs)
            for tensor in present
        )

    def _is_fixed(self, op: Op) -> bool:
        return bool(op.outputs) and op.outputs[0] in self._fixed

    def reads(self, op: Op) -> list[Tensor]:
        """Returns the inputs of an operator that are no constants, each once."""
        present = [tensor for tensor in op.inputs if tensor is not None]
        return list(dict.fromkeys(tensor for tensor in present if self._is_value(tensor)))

    def values(self) -> list[Tensor]:
        """Returns all tensors that are no constants, in the order in which they are made."""
        made = [tensor for op in self.ops for tensor in op.outputs]
        return list(dict.fromkeys([*self.inputs, *made]))

    def _is_value(self, tensor: Tensor) -> bool:
        if tensor in self._fixed:
            return False
        return tensor.producer is not None or tensor in self.inputs

    def cut(self, positions: Sequence[int]) -> Cut:
        """Makes a model of the operators at these positions, which are in order."""
        ops = [self.ops[position] for position in positions]
        inside = {tensor for op in ops for tensor in op.outputs}
        given = [t for op in ops for t in self.reads(op) if t not in inside]
        wanted = [tensor for op in ops for tensor in op.outputs if self.is_read(tensor, ops)]
        return self._make_cut(tuple(positions), list(dict.fromkeys(given)), wanted)

    def whole(self, *, keep_all: bool = False) -> Cut:
        """Makes a model of all operators, with all values as outputs if `keep_all`."""
        positions = tuple(range(len(self.ops)))
        made = [tensor for op in self.ops for tensor in op.outputs]
        # An output that is also an input is made by no operator.
        outputs = [tensor for tensor in dict.fromkeys(self.outputs) if tensor in set(made)]
        return self._make_cut(positions, list(self.inputs), made if keep_all else outputs)

    def _make_cut(
        self, positions: tuple[int, ...], given: list[Tensor], wanted: list[Tensor]
    ) -> Cut:
        ops = [self.ops[position] for position in positions]
        before = self._makers_of_constants(ops)
        part = schema.part(self._model, given, [*before, *ops], wanted)
        return Cut(
            content=bytes(schema.write_view(part)),
            ops=positions,
            nodes=tuple(range(len(before), len(before) + len(ops))),
            given=tuple(given),
            wanted=tuple(wanted),
            is_ours=tuple(map(is_ours, ops)),
            needs_engine=any(is_ours(op) for graph in part.graphs for op in graph.ops),
        )

    def is_read(self, tensor: Tensor, inside: Sequence[Op]) -> bool:
        """Tells whether a value is read outside of these operators, or by nobody."""
        if tensor in self.outputs or not tensor.consumers:
            return True
        return any(reader not in inside for reader in tensor.consumers)

    def _makers_of_constants(self, ops: Sequence[Op]) -> list[Op]:
        """Returns the operators that make the constants of `ops`, in the order of the file."""
        needed: set[Op] = set()
        waiting = list(ops)
        while waiting:
            for tensor in waiting.pop().inputs:
                if tensor is not None and tensor in self._fixed:
                    producer = tensor.producer
                    if producer is not None and producer not in needed:
                        needed.add(producer)
                        waiting.append(producer)
        return [op for op in self._model.graphs[0].ops if op in needed]


def _find_fixed(ops: Sequence[Op]) -> set[Tensor]:
    """Returns the tensors that are computed from constants only."""
    fixed: set[Tensor] = set()
    for op in ops:
        inputs = [tensor for tensor in op.inputs if tensor is not None]
        free = op.known.has_effects or op.known.is_random or not inputs
        if not free and all(tensor.is_constant or tensor in fixed for tensor in inputs):
            fixed.update(op.outputs)
    return fixed


def _check(op: Op, node: int, has_state: bool) -> None:
    tensors = [tensor for tensor in (*op.inputs, *op.outputs) if tensor is not None]
    strange = [tensor.dtype for tensor in tensors if tensor.dtype not in NUMPY_TYPES]
    strange = [dtype for dtype in strange if not dtype.startswith("SPARSE_")]
    changes = (op.known.has_effects and op.kind not in _CALLS) or has_state
    if changes or strange or not op.outputs:
        why = f"has values of the type {strange[0]}" if strange else "does more than make outputs"
        raise ValueError(
            f"profile: expected operators that can run alone, got {op.kind} '{op.name}' (node "
            f"{node}), which {why}; Interpreter.profile measures such a model as a whole"
        )
