"""What is in a .tflite file: operators, shapes, types, bits, sizes, work, and who runs what."""

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from larq_engine.command_line.quiet_host import quiet_host
from larq_engine.converter import schema
from larq_engine.converter.graph import Op, Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.lce_ops import bits_made, is_ours, layer_bits, unpacking
from larq_engine.converter.macs import count_macs
from larq_engine.placing.placed_file import option_of
from larq_engine.python.session import Session

PLUG_IN, HOST, UNKNOWN = "plug-in", "host", "unknown"


@dataclass(frozen=True)
class TensorFacts:
    """A value.

    Attributes:
        name: As in the file.
        shape: As in the file; -1 is an open dimension, and the last of bits counts words.
        type: As in the file.
        bits: Bits of one number, also where those are packed in words; None for texts and the like.
        constant: Whether the file holds it.
    """

    name: str
    shape: tuple[int, ...]
    type: str
    bits: int | None
    constant: bool


@dataclass(frozen=True)
class OperatorFacts:
    """An operator.

    Attributes:
        graph: Number of the subgraph.
        index: Number within that.
        kind: What it computes.
        name: That of its first output.
        layer: The layer in Keras, where the file tells; else the name.
        inputs: None is an optional one that is absent.
        outputs: What it makes.
        weight_bits: Bits of a weight in the file; None of operators without weights.
        constant_bytes: What its constants take of the file, shared ones too.
        macs: Products of one run.
        runs_in: "plug-in" or "host", as the plug-in says on this machine; "unknown" if it was not
            asked, but for operators that only the plug-in has.
    """

    graph: int
    index: int
    kind: str
    name: str
    layer: str
    inputs: tuple[TensorFacts | None, ...]
    outputs: tuple[TensorFacts, ...]
    weight_bits: int | None
    constant_bytes: int
    macs: int
    runs_in: str


@dataclass(frozen=True)
class ModelFacts:
    """A whole file.

    Attributes:
        file_bytes: Its size.
        inputs: Of the main graph.
        outputs: Likewise.
        operators: Of all graphs, in their order.
        binary_weight_bytes: What weights that are packed in words take of the file.
        binary_macs: Products of bits, if every graph runs once.
        float_macs: Those of floating point.
        integer_macs: Those of integers.
        placement: Where the file says that operators are computed, as the plug-in's option.
    """

    file_bytes: int
    inputs: tuple[TensorFacts, ...]
    outputs: tuple[TensorFacts, ...]
    operators: tuple[OperatorFacts, ...]
    binary_weight_bytes: int
    binary_macs: int
    float_macs: int
    integer_macs: int
    placement: str

    def count_kinds(self, runs_in: str) -> dict[str, int]:
        """How often which operators run in the plug-in or in the host, most frequent first."""
        return dict(
            Counter(op.kind for op in self.operators if op.runs_in == runs_in).most_common()
        )

    def to_json(self) -> str:
        """The facts as a JSON object with the attributes' names."""
        return json.dumps(dataclasses.asdict(self), indent=2)


def collect_facts(content: bytes, taken: Set[tuple[int, int]] | None = None) -> ModelFacts:
    """Reads a .tflite file.

    Args:
        content: The file's.
        taken: What the plug-in computes, as (subgraph, node), as `find_taken` tells; None if
            nobody knows.

    Raises:
        ValueError: It is none, or damaged.
    """
    model = schema.read(content)
    packed = {t: bits for graph in model.graphs for op in graph.ops for t, bits in _packed(op)}
    macs = Counter[str]()
    operators = []
    for number, graph in enumerate(model.graphs):
        for index, op in enumerate(graph.ops):
            if taken is None:
                runs_in = PLUG_IN if is_ours(op) else UNKNOWN
            else:
                runs_in = PLUG_IN if (number, index) in taken else HOST
            facts = _operator(op, number, index, packed, runs_in)
            operators.append(facts)
            if facts.macs:
                macs[_arithmetic(op)] += facts.macs
    main = model.graphs[0]
    return ModelFacts(
        file_bytes=len(content),
        inputs=tuple(_tensor(tensor, packed) for tensor in main.inputs),
        outputs=tuple(_tensor(tensor, packed) for tensor in main.outputs),
        operators=tuple(operators),
        binary_weight_bytes=_constant_bytes(packed),
        binary_macs=macs["binary"],
        float_macs=macs["float"],
        integer_macs=macs["integer"],
        placement=option_of(model),
    )


def find_taken(content: bytes) -> set[tuple[int, int]]:
    """Opens a model in the host and asks the plug-in what it computes, as (subgraph, node).

    Raises:
        ImportError: No host is installed.
        ValueError: The host does not open the model.
    """
    quiet_host()
    return Session(content, num_threads=1, runtime=None).taken()


def _packed(op: Op) -> list[tuple[Tensor, int]]:
    """The tensors of an operator that hold bits in words, and how many of each value."""
    if not is_ours(op):
        return []
    inputs = [op.input(position) for position in op.known.bits]
    read = layer_bits(op) if op.kind == "LceBconv2d" else [1] * len(inputs)
    made = [bits_made(op)] * len(op.outputs)
    tensors = [*zip(inputs, read, strict=True), *zip(op.outputs, made, strict=True)]
    return [(tensor, count) for tensor, count in tensors if tensor and tensor.dtype == "INT32"]


def _operator(
    op: Op, graph: int, index: int, packed: Mapping[Tensor, int], runs_in: str
) -> OperatorFacts:
    macs = count_macs(op)  # It refuses operators that lack what is asked of them below.
    return OperatorFacts(
        graph=graph,
        index=index,
        kind=op.kind,
        name=op.name,
        layer=name_layer(op),
        inputs=tuple(_tensor(tensor, packed) if tensor else None for tensor in op.inputs),
        outputs=tuple(_tensor(tensor, packed) for tensor in op.outputs),
        weight_bits=_weight_bits(op, packed),
        constant_bytes=_constant_bytes(tensor for tensor in op.inputs if tensor),
        macs=macs,
        runs_in=runs_in,
    )


def _tensor(tensor: Tensor, packed: Mapping[Tensor, int]) -> TensorFacts:
    return TensorFacts(
        name=tensor.name,
        shape=tensor.signature or tensor.shape,
        type=tensor.dtype.lower(),
        bits=_bits(tensor, packed),
        constant=tensor.is_constant,
    )


def _bits(tensor: Tensor, packed: Mapping[Tensor, int]) -> int | None:
    if tensor in packed:
        return packed[tensor]
    width = re.search(r"\d+$", tensor.dtype)
    if tensor.dtype == "BOOL":
        return 8
    return int(width.group()) if width else None


def _weight_bits(op: Op, packed: Mapping[Tensor, int]) -> int | None:
    weights = op.input(1) if op.known.weights is not None else None
    if weights is None:
        return None
    return 1 if unpacking(weights) else _bits(weights, packed)


def _arithmetic(op: Op) -> str:
    if is_ours(op):
        return "binary"
    return "float" if "FLOAT" in op.output.dtype else "integer"


def _constant_bytes(tensors: Iterable[Tensor]) -> int:
    """What tensors take of a file, in which those of equal content can share it."""
    places = {
        tensor.data.__array_interface__["data"][0]: tensor.data.nbytes
        for tensor in tensors
        if tensor.data is not None
    }
    return sum(places.values())
