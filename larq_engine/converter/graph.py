"""A model as objects: tensors know who makes and who reads them, so no rule counts list indices.

Rules build new `Op`s freely; only `Graph.replace` changes a graph, and it keeps the links right.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from larq_engine.python.operators import KnownOp, known_op

Array = npt.NDArray[Any]

# The types that rules compute with, by their names in the schema. Tensors of all other types pass
# through the converter untouched.
NUMPY_TYPES: dict[str, Any] = {
    "FLOAT32": np.float32,
    "FLOAT16": np.float16,
    "FLOAT64": np.float64,
    "INT8": np.int8,
    "UINT8": np.uint8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "BOOL": np.bool_,
}


@dataclass(frozen=True)
class Quantization:
    """real = scale * (integer - zero_point), of a whole tensor or per index of `axis`."""

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int = 0


@dataclass(frozen=True)
class Meaning:
    """What a tensor of bits says of the float model: tensor #`origin` = alpha * (+1 or -1) + beta.

    The bits of `channels` values each, in this order, are the tensor's values. If there are
    `pads`, the tensor's values are those of the bits' image with so many pixels of `pad_sign`
    before and after its height and width. If there is an `order`, the tensor's values are in that
    order of dimensions. Values of more than one bit are `levels`, one for each number that the bits
    add up to.
    """

    origin: int
    channels: int
    alpha: float = 1.0
    beta: float = 0.0
    pads: tuple[tuple[int, int], ...] = ()
    pad_sign: int = 0
    order: tuple[int, ...] = ()
    levels: tuple[float, ...] = ()

    @property
    def bits(self) -> int:
        return max(1, (len(self.levels) - 1).bit_length())

    @property
    def two_values(self) -> list[float]:
        """What the tensor can have."""
        return [float(np.float32(self.beta + self.alpha * sign)) for sign in (-1, 1)]

    def values(self, signs: Array) -> Array:
        """The float model's values of +-1 values, or of the odd numbers of more bits."""
        if self.levels:
            counts = (signs.astype(np.int16) + len(self.levels) - 1) // 2
            return np.take(np.array(self.levels, np.float32), counts)
        if self.pads:
            pads = [(0, 0), *self.pads, (0, 0)]
            signs = np.pad(signs, pads, constant_values=self.pad_sign)
        low, high = np.array(self.two_values, np.float32)
        return np.where(signs > 0, high, low)


@dataclass(frozen=True)
class Counterpart:
    """Which tensor of the float model a tensor is: #`origin`, or that before `order` turned it."""

    origin: int
    order: tuple[int, ...] = ()


@dataclass(frozen=True)
class FloatLayer:
    """What the float model had in the place of an operator with weights, for the report."""

    kind: str
    float_bytes: int
    # Why it is not binary, if only its weights are.
    reason: str = ""
    remedy: str = ""
    # Whether another operator stands for the same layer, and is what the report shows of it.
    is_part: bool = False


@dataclass(eq=False)
class Tensor:
    """A value: an input, a constant (`data`), or what one operator makes."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    data: Array | None = None
    quantization: Quantization | None = None
    # -1 where the file leaves a dimension open; none if it leaves none open.
    signature: tuple[int, ...] | None = None
    # Of bits: several signs of the float model can have the same.
    meanings: list[Meaning] = field(default_factory=list)
    # Of an output of the model that is named after its layer: which that is.
    layer: str = ""
    # Its number in the file that was read; tensors that rules make have none.
    origin: int | None = None
    # Of one that a rule made: what it is in the file, in another order of dimensions.
    turned: Counterpart | None = None
    # Of a constant: the operator that the file makes it with, of less data than it has.
    recipe: "Op | None" = field(default=None, repr=False)
    # What else the file says of it (sparsity, variables...), opaque here.
    extra: Any = None
    producer: "Op | None" = field(default=None, repr=False)
    consumers: list["Op"] = field(default_factory=list, repr=False)

    @property
    def elements(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def counterpart(self) -> Counterpart | None:
        """The tensor of the file that has its values."""
        return self.turned if self.origin is None else Counterpart(self.origin)

    @property
    def is_constant(self) -> bool:
        return self.data is not None

    @property
    def stored_bytes(self) -> int:
        """How much of the file a constant takes."""
        if self.recipe is not None:
            return sum(tensor.stored_bytes for tensor in self.recipe.inputs if tensor is not None)
        return 0 if self.data is None else self.data.nbytes

    def like(self, name: str, **changed: Any) -> "Tensor":
        """A new tensor of the same shape and type."""
        fields: dict[str, Any] = {
            "shape": self.shape,
            "dtype": self.dtype,
            "quantization": self.quantization,
            "signature": self.signature,
        }
        return Tensor(name, **(fields | changed))


@dataclass(eq=False)
class Op:
    """An operator. `kind` is its name in the schema, or the custom name if it is custom.

    `options` is the schema's options object of a builtin operator, a dictionary for ours, and bytes
    for custom operators of others. An absent optional input is None.
    """

    kind: str
    inputs: list[Tensor | None]
    outputs: list[Tensor]
    options: Any = None
    custom: bool = False
    version: int = 1
    # The name of the layer of the float model that it belongs to (layer_names.py).
    layer: str = ""
    float_layer: FloatLayer | None = None
    extra: Any = None

    @property
    def output(self) -> Tensor:
        return self.outputs[0]

    @property
    def name(self) -> str:
        return self.outputs[0].name if self.outputs else self.kind

    @property
    def known(self) -> KnownOp:
        """What is known of operators of this kind."""
        known = known_op(self.kind)
        # Custom operators of others can have any name.
        return known if known.is_ours == self.custom else KnownOp(self.kind)

    def input(self, index: int) -> Tensor | None:
        """The input, or None where it is absent."""
        return self.inputs[index] if index < len(self.inputs) else None


class Graph:
    """One subgraph: operators in an order in which they can run.

    Attributes:
        held_size: Why it is right for images of the model's size alone, if a rule computed
            constants for that size. What else a file holds of a size shows in its operators.
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        ops: Iterable[Op],
    ) -> None:
        self.name = name
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.ops = list(ops)
        self.held_size = ""
        for op in self.ops:
            _link(op)

    def uses(self, tensor: Tensor) -> int:
        """How often the value is read, outputs of the graph included."""
        return len(tensor.consumers) + sum(output is tensor for output in self.outputs)

    def only_use(self, tensor: Tensor) -> bool:
        return self.uses(tensor) == 1

    def is_variable(self, tensor: Tensor) -> bool:
        """Whether the value is known only when the model runs."""
        return tensor.producer is not None or any(tensor is given for given in self.inputs)

    def is_internal(self, tensor: Tensor) -> bool:
        """Whether the value is made and read inside of the graph only."""
        return tensor.producer is not None and not any(tensor is out for out in self.outputs)

    def replace(self, op: Op, replacement: "Sequence[Op] | Tensor") -> None:
        """Puts operators in the place of one; together they make its outputs.

        A tensor instead of operators is read from now on by those who read the (only) output; in
        the place of an output of the graph it must be internal, and is made as that output. What
        only the old operator needed is removed with it.
        """
        if isinstance(replacement, Tensor):
            if self.is_internal(op.output):
                self.redirect(op.output, replacement)
            else:
                self._make_as(op.output, replacement)
            replacement = []
        made = {id(tensor) for new in replacement for tensor in new.outputs}
        lost = [
            tensor.name
            for tensor in op.outputs
            if tensor.producer is op and id(tensor) not in made and self.uses(tensor) > 0
        ]
        if lost:
            raise AssertionError(f"the replacement of {op.kind} '{op.name}' leaves out {lost}")
        position = self.ops.index(op)
        _unlink(op)
        self.ops[position : position + 1] = replacement
        for new in replacement:
            _link(new)
        self._remove_unused([tensor for tensor in op.inputs if tensor is not None])

    def _make_as(self, output: Tensor, tensor: Tensor) -> None:
        """Lets what makes an internal tensor make an output of the graph in its place."""
        maker = tensor.producer
        assert maker is not None and self.is_internal(tensor)
        maker.outputs = [output if made is tensor else made for made in maker.outputs]
        output.producer, tensor.producer = maker, None
        self.redirect(tensor, output)

    @staticmethod
    def redirect(old: Tensor, new: Tensor) -> None:
        """Lets the readers of one tensor read another."""
        for reader in dict.fromkeys(old.consumers):
            for index, tensor in enumerate(reader.inputs):
                if tensor is old:
                    reader.inputs[index] = new
                    new.consumers.append(reader)
        old.consumers.clear()
        new.meanings.extend(meaning for meaning in old.meanings if meaning not in new.meanings)

    def sort(self) -> None:
        """Brings the operators into an order in which they can run, close to the one they had."""
        done: set[int] = set()
        ordered: list[Op] = []
        for op in self.ops:
            waiting = [op]
            while waiting:
                last = waiting[-1]
                before = [
                    tensor.producer
                    for tensor in last.inputs
                    if tensor is not None
                    and tensor.producer is not None
                    and id(tensor.producer) not in done
                ]
                if before:
                    waiting.extend(before)
                    continue
                waiting.pop()
                if id(last) not in done:
                    done.add(id(last))
                    ordered.append(last)
        self.ops = ordered

    def add(self, ops: Iterable[Op]) -> None:
        """Adds operators at the end; `sort` brings them to their places."""
        for op in ops:
            self.ops.append(op)
            _link(op)

    def discard(self, op: Op) -> None:
        """Removes an operator whose outputs have become constants."""
        self.ops.remove(op)
        _unlink(op)
        self._remove_unused([tensor for tensor in op.inputs if tensor is not None])

    def _remove_unused(self, candidates: list[Tensor]) -> None:
        while candidates:
            op = candidates.pop().producer
            if op is None or op.known.has_effects or any(map(self.uses, op.outputs)):
                continue
            self.ops.remove(op)
            _unlink(op)
            candidates.extend(tensor for tensor in op.inputs if tensor is not None)


@dataclass
class Model:
    """A whole file."""

    graphs: list[Graph]
    # Signatures, metadata and the like: opaque here.
    extra: Any = None


def _link(op: Op) -> None:
    for tensor in op.inputs:
        if tensor is not None:
            tensor.consumers.append(op)
    for tensor in op.outputs:
        tensor.producer = op


def _unlink(op: Op) -> None:
    for tensor in op.inputs:
        if tensor is not None:
            tensor.consumers.remove(op)
    for tensor in op.outputs:
        if tensor.producer is op:
            tensor.producer = None
