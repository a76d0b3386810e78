"""A model as objects: each tensor knows its producer and its consumers, so rules need no indices.

Rules may build `Op`s freely, but only `Graph.replace` changes a graph, and it keeps the links
right.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from larq_engine.python.operators import KnownOp, known_op

Array = npt.NDArray[Any]

# NumPy types of those types of the schema that rules compute with. Tensors of other types pass
# through the converter unchanged.
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
    """real = scale * (integer - zero_point), for a whole tensor or for each index of `axis`."""

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int = 0


@dataclass(frozen=True)
class Meaning:
    """Bits stand for tensor #`origin` of the float model, which is alpha * (+1 or -1) + beta.

    Each pixel of the bits holds `channels` values, which are the tensor's values in the same order.
    If there are `pads`, the tensor's values also have these numbers of pixels of `pad_sign` before
    and after their height and width. If there is an `order`, the tensor's dimensions are in that
    order. Values of more than one bit are `levels`, one for each number that the bits add up to.
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
        """The two values that the tensor can have."""
        return [float(np.float32(self.beta + self.alpha * sign)) for sign in (-1, 1)]

    def values(self, signs: Array) -> Array:
        """Returns the float model's values of +-1 values, or of odd numbers of several bits."""
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
    """Tensor #`origin` of the float model, whose dimensions in `order` are a tensor's."""

    origin: int
    order: tuple[int, ...] = ()


@dataclass(frozen=True)
class FloatLayer:
    """Facts for the report on the float layer that an operator replaces."""

    kind: str
    float_bytes: int
    # The reason why the layer is not binary, if only its weights are.
    reason: str = ""
    remedy: str = ""
    # True if another operator stands for the same layer, and is the one that the report shows.
    is_part: bool = False


@dataclass(eq=False)
class Tensor:
    """A value: an input, a constant (with `data`), or an output of one operator."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    data: Array | None = None
    quantization: Quantization | None = None
    # The shape with -1 for dimensions that the file leaves open; None if it leaves none open.
    signature: tuple[int, ...] | None = None
    # Meanings of a tensor of bits: several signs of the float model can have the same bits.
    meanings: list[Meaning] = field(default_factory=list)
    # Name of the layer after which an output of the model is named.
    layer: str = ""
    # Number of the tensor in the file that was read; tensors that rules make have none.
    origin: int | None = None
    # For a tensor that a rule made: its counterpart in the file, in another order of dimensions.
    turned: Counterpart | None = None
    # For a constant: the operator that makes it in the file, from less data than it has.
    recipe: "Op | None" = field(default=None, repr=False)
    # Everything else that the file says of the tensor (sparsity, variables...), kept as it is.
    extra: Any = None
    producer: "Op | None" = field(default=None, repr=False)
    consumers: list["Op"] = field(default_factory=list, repr=False)

    @property
    def elements(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def counterpart(self) -> Counterpart | None:
        """The tensor of the file that has the same values."""
        return self.turned if self.origin is None else Counterpart(self.origin)

    @property
    def is_constant(self) -> bool:
        return self.data is not None

    @property
    def stored_bytes(self) -> int:
        """Number of bytes that a constant takes in the file."""
        if self.recipe is not None:
            return sum(tensor.stored_bytes for tensor in self.recipe.inputs if tensor is not None)
        return 0 if self.data is None else self.data.nbytes

    def like(self, name: str, **changed: Any) -> "Tensor":
        """Returns a new tensor of the same shape and type."""
        fields: dict[str, Any] = {
            "shape": self.shape,
            "dtype": self.dtype,
            "quantization": self.quantization,
            "signature": self.signature,
        }
        return Tensor(name, **(fields | changed))


@dataclass(eq=False)
class Op:
    """An operator. `kind` is its name in the schema, or its custom name.

    `options` is the schema's options object for a builtin operator, a dictionary for operators of
    ours, and bytes for other custom operators. An absent optional input is None.
    """

    kind: str
    inputs: list[Tensor | None]
    outputs: list[Tensor]
    options: Any = None
    custom: bool = False
    version: int = 1
    # Name of the float model's layer that the operator belongs to (layer_names.py).
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
        """All that operators.py says of operators of this kind."""
        known = known_op(self.kind)
        # Custom operators of others can have any name, also one of a known operator.
        return known if known.is_ours == self.custom else KnownOp(self.kind)

    def input(self, index: int) -> Tensor | None:
        """Returns the input, or None if it is absent."""
        return self.inputs[index] if index < len(self.inputs) else None


class Graph:
    """One subgraph, with its operators in an order in which they can run.

    Attributes:
        held_size: The reason why the graph is right for images of the model's size only, if a rule
            computed constants for that size. Other dependences on a size show in its operators.
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
        """Returns how often the value is read; being an output of the graph counts as one."""
        return len(tensor.consumers) + sum(output is tensor for output in self.outputs)

    def only_use(self, tensor: Tensor) -> bool:
        return self.uses(tensor) == 1

    def is_variable(self, tensor: Tensor) -> bool:
        """Tells whether the value is known only when the model runs."""
        return tensor.producer is not None or any(tensor is given for given in self.inputs)

    def is_internal(self, tensor: Tensor) -> bool:
        """Tells whether the value is made and read inside the graph only."""
        return tensor.producer is not None and not any(tensor is out for out in self.outputs)

    def replace(self, op: Op, replacement: "Sequence[Op] | Tensor") -> None:
        """Replaces one operator by others, which together make its outputs.

        If the replacement is a tensor, all readers of the operator's only output read that tensor
        instead. If that output is an output of the graph, the tensor must be internal, and its
        producer then makes the graph's output. Operators that only the replaced one needed are
        removed with it.
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
        """Makes the producer of an internal tensor produce an output of the graph instead."""
        producer = tensor.producer
        assert producer is not None and self.is_internal(tensor)
        producer.outputs = [output if made is tensor else made for made in producer.outputs]
        output.producer, tensor.producer = producer, None
        self.redirect(tensor, output)

    @staticmethod
    def redirect(old: Tensor, new: Tensor) -> None:
        """Makes the readers of `old` read `new`."""
        for reader in dict.fromkeys(old.consumers):
            for index, tensor in enumerate(reader.inputs):
                if tensor is old:
                    reader.inputs[index] = new
                    new.consumers.append(reader)
        old.consumers.clear()
        new.meanings.extend(meaning for meaning in old.meanings if meaning not in new.meanings)

    def sort(self) -> None:
        """Orders the operators so that they can run, and keeps close to the order that they had."""
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
        """Adds operators at the end; `sort` moves them to their places."""
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
    """The content of a whole file."""

    graphs: list[Graph]
    # Signatures, metadata and the like, kept as they are.
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
