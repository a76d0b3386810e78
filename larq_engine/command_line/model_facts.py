"""Collects facts of a .tflite file: operators, shapes, types, bits, sizes, work, who runs what."""

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from larq_engine.command_line.quiet_host import quiet_host
from larq_engine.converter import schema
from larq_engine.converter.graph import Op, Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.lce_ops import bits_made, is_ours, layer_bits, unpacking
from larq_engine.converter.macs import count_macs
from larq_engine.placing.placed_file import option_of
from larq_engine.python.hosts import NO_HOST
from larq_engine.python.session import Session

PLUG_IN, HOST, UNKNOWN = "plug-in", "host", "unknown"


@dataclass(frozen=True)
class TensorFacts:
    """A tensor of the file.

    Attributes:
        name: The name in the file.
        shape: The shape in the file; -1 is an open dimension, and the last one of bits counts
            words.
        type: The type in the file.
        bits: Bits of one number, also if numbers are packed in words; None for texts and the like.
        constant: Whether the file holds its values.
    """

    name: str
    shape: tuple[int, ...]
    type: str
    bits: int | None
    constant: bool


@dataclass(frozen=True)
class OperatorFacts:
    """An operator of the file.

    Attributes:
        graph: The number of the subgraph.
        index: The operator's number within the subgraph.
        kind: The kind of operator.
        name: The name of its first output.
        layer: The layer in Keras, if the file tells it; else the name.
        inputs: The inputs; an optional one that is absent is None.
        outputs: The outputs.
        weight_bits: Bits of a weight in the file; None for operators without weights.
        constant_bytes: The size of its constants in the file, including shared ones.
        macs: The products of one run.
        runs_in: "plug-in" or "host", as the plug-in says on this machine. If it was not asked,
            "plug-in" for operators that only it has, else "unknown".
        reason: The plug-in's reason for it; "" if it was not asked.
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
    reason: str


@dataclass(frozen=True)
class ModelFacts:
    """The facts of a whole file.

    Attributes:
        file_bytes: The size of the file.
        inputs: The inputs of the main graph.
        outputs: The outputs of the main graph.
        operators: The operators of all graphs, in their order.
        binary_weight_bytes: The size in the file of weights that are packed in words.
        binary_macs: Products of bits, if every graph runs once.
        float_macs: Products of floating point likewise.
        integer_macs: Products of integers likewise.
        placement: The plug-in's option `placement` in the file: the devices of its operators.
        needs_host: The reason why the model needs a host; "" if it runs without one, None if that
            was not tried.
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
    needs_host: str | None

    def count_kinds(self, runs_in: str) -> dict[str, int]:
        """Counts operators by kind that run in the plug-in or in the host, in falling order."""
        return dict(
            Counter(op.kind for op in self.operators if op.runs_in == runs_in).most_common()
        )

    def to_json(self) -> str:
        """Returns the facts as a JSON object, whose keys are the attributes' names."""
        return json.dumps(dataclasses.asdict(self), indent=2)


@dataclass(frozen=True)
class Claim:
    """The plug-in's decision about an operator: whether it takes it over, and why."""

    taken: bool
    reason: str


Claims = Mapping[tuple[int, int], Claim]  # by subgraph and node


def collect_facts(
    content: bytes, claims: Claims | None = None, needs_host: str | None = None
) -> ModelFacts:
    """Reads a .tflite file.

    Args:
        content: The bytes of the file.
        claims: The plug-in's decisions, from `find_claims`; None if it was not asked.
        needs_host: What `why_host` returned; None if it was not asked.

    Raises:
        ValueError: It is no .tflite file, or a damaged one.
    """
    model = schema.read(content)
    packed = {t: bits for graph in model.graphs for op in graph.ops for t, bits in _packed(op)}
    macs = Counter[str]()
    operators = []
    for number, graph in enumerate(model.graphs):
        for index, op in enumerate(graph.ops):
            if claims is None:
                claim = Claim(is_ours(op), "")
                runs_in = PLUG_IN if claim.taken else UNKNOWN
            else:
                claim = claims.get((number, index), Claim(False, ""))
                runs_in = PLUG_IN if claim.taken else HOST
            facts = _operator(op, number, index, packed, runs_in, claim.reason)
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
        needs_host=needs_host,
    )


def find_claims(content: bytes) -> Claims:
    """Opens a model in the host and asks the plug-in what it computes.

    Raises:
        ImportError: No host is installed.
        ValueError: The host does not open the model.
    """
    quiet_host()
    claims = Session(content, num_threads=1, host=None).claims()
    return {
        (claim["subgraph"], claim["node"]): Claim(claim["claimed"], claim["reason"])
        for claim in claims
    }


def why_host(content: bytes) -> str:
    """Returns the reason why a model needs a host; "" if the engine runs it without one."""
    try:
        Session(content, num_threads=1, host=NO_HOST).close()
    except ValueError as error:
        return str(error)
    return ""


def _packed(op: Op) -> list[tuple[Tensor, int]]:
    """Returns the tensors of an operator that hold bits in words, and the bits of each value."""
    if not is_ours(op):
        return []
    inputs = [op.input(position) for position in op.known.bits]
    read = layer_bits(op) if op.kind == "LceBconv2d" else [1] * len(inputs)
    made = [bits_made(op)] * len(op.outputs)
    tensors = [*zip(inputs, read, strict=True), *zip(op.outputs, made, strict=True)]
    return [(tensor, count) for tensor, count in tensors if tensor and tensor.dtype == "INT32"]


def _operator(
    op: Op, graph: int, index: int, packed: Mapping[Tensor, int], runs_in: str, reason: str
) -> OperatorFacts:
    macs = count_macs(op)  # It refuses operators without the inputs that are read below.
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
        reason=reason,
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
    """Returns the size of tensors in a file, in which tensors of equal content can share it."""
    places = {
        tensor.data.__array_interface__["data"][0]: tensor.data.nbytes
        for tensor in tensors
        if tensor.data is not None
    }
    return sum(places.values())
