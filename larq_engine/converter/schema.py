"""Reads files as Models and writes them: the only module that uses flatbuffers.

Data of constants are views of the file that was read. They are copied once, into the file that is
written, so a conversion holds no more than two files in memory.
"""

import copy
import hashlib
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from larq_engine.converter.attached import Attached, attach, read_attached
from larq_engine.converter.graph import (
    NUMPY_TYPES,
    Array,
    Graph,
    Model,
    Op,
    Quantization,
    Tensor,
)
from larq_engine.python.extras import pip_install
from larq_engine.python.model_file import ModelSource, read_model
from larq_engine.python.operators import known_op

try:
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema
    from flatbuffers import flexbuffers
except ModuleNotFoundError as error:
    raise ImportError(
        f"reading and writing the operators of model files needs {error.name}, which is not "
        f"installed; {pip_install('litert')}"
    ) from error

_TYPE_NAMES = {code: name for name, code in vars(schema.TensorType).items() if name.isupper()}
_OP_NAMES = {code: name for name, code in vars(schema.BuiltinOperator).items() if name.isupper()}
_CUSTOM = schema.BuiltinOperator.CUSTOM

# Numbers of paddings and activations in options, by name.
PADDING = {"SAME": schema.Padding.SAME, "VALID": schema.Padding.VALID}
ACTIVATION = {
    "NONE": schema.ActivationFunctionType.NONE,
    "RELU": schema.ActivationFunctionType.RELU,
    "RELU_N1_TO_1": schema.ActivationFunctionType.RELU_N1_TO_1,
    "RELU6": schema.ActivationFunctionType.RELU6,
}

_SPARSE = "SPARSE_"

_VERSION = 3  # Version of the schema.

# Index of an optional input that is absent.
_ABSENT = -1

# The schema requires this alignment of constants; kernels read them in place.
_DATA_ALIGNMENT = 16


def make_options(name: str, **values: Any) -> Any:
    """Returns a builtin operator's options object, such as "ReshapeOptions"."""
    options = getattr(schema, name + "T")()
    for key, value in values.items():
        if not hasattr(options, key):
            raise AttributeError(f"{name} has no option {key}")
        setattr(options, key, value)
    return options


def type_number(name: str) -> int:
    """Returns the number of a type, by its name in the schema."""
    return int(getattr(schema.TensorType, name))


class File:
    """A file, checked and parsed once; each model made of it can be changed independently.

    Raises:
        ValueError: It is not a whole TensorFlow Lite model.
    """

    def __init__(self, source: ModelSource) -> None:
        content = read_model(source)
        self.size = len(content)
        try:
            self._packed = schema.ModelT.InitFromPackedBuf(content, 0)
        except Exception as error:  # `read_model` does not check all options.
            raise ValueError(
                f"model ({self.size} bytes): expected a whole TensorFlow Lite model, got one whose "
                f"parts do not fit ({error}); it is corrupted: copy or convert it again"
            ) from error
        for number, buffer in enumerate(self._packed.buffers or []):
            if buffer.offset > 1 or buffer.size > 1:
                raise ValueError(
                    f"buffer #{number}: expected data inside of the flatbuffer, got data behind "
                    "it, as files above 2 GB have them; convert a model with less than 2 GB of "
                    "weights"
                )
        self._attached = read_attached(content)

    def model(self) -> Model:
        """Returns the file's model; raises ValueError if its parts do not fit."""
        packed = self._packed
        graphs = [_read_graph(packed, subgraph) for subgraph in packed.subgraphs]
        model = Model([graph for graph, _ in graphs])
        model.extra = _Extra(packed, [tensors for _, tensors in graphs])
        model.extra.attached = self._attached
        return model


def read(source: ModelSource) -> Model:
    """Returns a file's model; raises ValueError if it is not a whole TensorFlow Lite model."""
    return File(source).model()


def make_model(graphs: list[Graph]) -> Model:
    """Returns a model that comes from no file."""
    model = Model(graphs)
    packed = schema.ModelT()
    packed.version = _VERSION
    model.extra = _Extra(packed, [])
    model.extra.attached = Attached()
    return model


def runnable_graphs(model: Model) -> list[int]:
    """Returns the numbers of graphs that callers can run: the main one and those of signatures."""
    return sorted({0, *(subgraph for _, subgraph, *_ in model.extra.signatures)})


def signature_graphs(model: Model) -> list[tuple[str, int]]:
    """Returns the names of all signatures, with the number of the graph that each runs."""
    return [(_text(key), subgraph) for key, subgraph, *_ in model.extra.signatures]


def signature_inputs(model: Model, number: int) -> dict[Tensor, str]:
    """Returns the inputs of a graph that a signature names, with their names for callers."""
    return {
        tensor: _text(name)
        for _, subgraph, inputs, _ in model.extra.signatures
        if subgraph == number
        for name, tensor in inputs
    }


def signature_outputs(model: Model) -> list[tuple[str, Tensor]]:
    """Returns the outputs of all signatures, with their names for callers."""
    signatures = model.extra.signatures
    return [(_text(name), tensor) for *_, outputs in signatures for name, tensor in outputs]


def part(
    model: Model, given: Sequence[Tensor], ops: Sequence[Op], wanted: Sequence[Tensor]
) -> Model:
    """Returns a model to be written whose main graph is some operators of a graph of `model`.

    The operators keep their links to operators outside; graphs that they call keep their numbers.
    """
    main = Graph(model.graphs[0].name, given, wanted, [])
    main.ops = list(ops)
    extra = copy.copy(model.extra)
    extra.signatures, extra.metadata = [], []
    return Model([main, *model.graphs[1:]], extra)


def write(model: Model) -> bytes:
    """Returns the content of the file."""
    return attach(bytes(write_view(model)), model.extra.attached)


def write_view(model: Model) -> memoryview:
    """Returns the flatbuffer in its own memory, for callers that copy it anyway."""
    return _Writer(model).write()


class _Extra:
    """The parts of a file that are not in a Model's graphs."""

    def __init__(self, packed: Any, tensors: list[list[Tensor]]) -> None:
        self.version = packed.version
        self.description = packed.description
        self.metadata = [
            (entry.name, _pick(packed.buffers, entry.buffer, "buffers", "metadata").data)
            for entry in packed.metadata or []
        ]
        self.signatures = []
        for signature in packed.signatureDefs or []:
            own = _pick(tensors, signature.subgraphIndex, "subgraphs", "signature")
            self.signatures.append(
                (
                    signature.signatureKey,
                    signature.subgraphIndex,
                    _read_names(own, signature.inputs),
                    _read_names(own, signature.outputs),
                )
            )


def _read_names(tensors: list[Tensor], entries: Any) -> list[tuple[Any, Tensor]]:
    return [
        (entry.name, _pick(tensors, entry.tensorIndex, "tensors", "signature"))
        for entry in entries or []
    ]


def _list(vector: Any) -> list[int]:
    return [] if vector is None else [int(value) for value in vector]


def _pick(items: Any, index: int, what: str, of: str) -> Any:
    """Returns the item of this number; raises ValueError if a corrupted file has none."""
    count = 0 if items is None else len(items)
    if not 0 <= index < count:
        raise ValueError(
            f"{of}: expected the number of one of {count} {what}, got {index}; "
            "it is corrupted: copy or convert it again"
        )
    return items[index]


def _pick_all(tensors: list[Tensor], indices: Any, of: str) -> list[Tensor]:
    return [_pick(tensors, index, "tensors", of) for index in _list(indices)]


def _read_map(kind: str, content: bytes) -> Any:
    """Reads the options of an operator of ours."""
    try:
        options = flexbuffers.Loads(content)
    except Exception as error:  # A reader of corrupted bytes may raise anything.
        raise ValueError(
            f"{kind}: expected a FlexBuffer map as options, got {len(content)} other bytes "
            f"({error}); the file is corrupted: copy or convert it again"
        ) from error
    if not isinstance(options, dict):
        raise ValueError(
            f"{kind}: expected a FlexBuffer map as options, got {type(options).__name__}; "
            "re-convert the model"
        )
    return options


def _text(name: Any) -> str:
    return name.decode(errors="replace") if isinstance(name, bytes) else name or ""


def _read_graph(packed: Any, subgraph: Any) -> tuple[Graph, list[Tensor]]:
    tensors = [
        _read_tensor(packed, tensor, number) for number, tensor in enumerate(subgraph.tensors or [])
    ]
    ops = [_read_op(packed, operator, tensors) for operator in subgraph.operators or []]
    graph = Graph(
        _text(subgraph.name),
        _pick_all(tensors, subgraph.inputs, "inputs of the subgraph"),
        _pick_all(tensors, subgraph.outputs, "outputs of the subgraph"),
        ops,
    )
    return graph, tensors


def _read_tensor(packed: Any, tensor: Any, number: int) -> Tensor:
    dtype = _TYPE_NAMES.get(tensor.type, str(tensor.type))
    if tensor.sparsity is not None:
        dtype = _SPARSE + dtype  # Rules that look for a type must not read these bytes.
    name = _text(tensor.name)
    data = _pick(packed.buffers, tensor.buffer, "buffers", f"tensor '{name}' (#{number})").data
    if data is not None and len(data) and dtype in NUMPY_TYPES:
        shape = _list(tensor.shape)
        expected = math.prod(shape) * np.dtype(NUMPY_TYPES[dtype]).itemsize
        if len(data) != expected:
            raise ValueError(
                f"tensor '{name}' (#{number}): expected {expected} bytes for the shape {shape}, "
                f"got {len(data)}; it is corrupted: copy or convert it again"
            )
        data = data.view(NUMPY_TYPES[dtype]).reshape(shape)
    elif data is not None and not len(data):
        data = None
    signature = tuple(_list(tensor.shapeSignature))
    return Tensor(
        name=name,
        shape=tuple(_list(tensor.shape)),
        dtype=dtype,
        data=data,
        quantization=_read_quantization(tensor.quantization),
        signature=signature if -1 in signature else None,
        origin=number,
        extra=tensor,
    )


def _read_quantization(packed: Any) -> Quantization | None:
    if packed is None or packed.scale is None or packed.details is not None:
        return None
    return Quantization(
        tuple(float(scale) for scale in packed.scale),
        tuple(_list(packed.zeroPoint)),
        packed.quantizedDimension,
    )


def _read_op(packed: Any, operator: Any, tensors: list[Tensor]) -> Op:
    code = _pick(packed.operatorCodes, operator.opcodeIndex, "operator codes", "operator")
    number = max(code.builtinCode, code.deprecatedBuiltinCode)
    custom = number == _CUSTOM
    kind = _text(code.customCode) if custom else _OP_NAMES.get(number, str(number))
    known = known_op(kind)
    options: Any = operator.builtinOptions
    if custom:
        options = b"" if operator.customOptions is None else bytes(operator.customOptions)
        if known.is_ours:
            kind = known.name
            options = _read_map(kind, options) if options else options
    elif options is None and known.default_options:
        # Rules need not know that a file may leave the options out.
        options = make_options(known.default_options)
    return Op(
        kind=kind,
        inputs=[
            None if index == _ABSENT else _pick(tensors, index, "tensors", f"input of {kind}")
            for index in _list(operator.inputs)
        ],
        outputs=_pick_all(tensors, operator.outputs, f"output of {kind}"),
        options=options,
        custom=custom,
        version=code.version,
        extra=(operator, _pick_all(tensors, operator.intermediates, f"intermediate of {kind}")),
    )


class _AlignedBuffer:
    """Writes a buffer's bytes with one copy, at the alignment that the schema requires."""

    def __init__(self, data: Array | None) -> None:
        self._data = data

    def Pack(self, builder: Any) -> int:  # noqa: N802, the schema module calls it so
        content = None if self._data is None else np.ascontiguousarray(self._data)
        if content is not None:
            builder.StartVector(1, content.nbytes, _DATA_ALIGNMENT)
            builder.head -= content.nbytes
            end = builder.head + content.nbytes
            # Assigning to a bytearray would copy the data twice.
            with memoryview(builder.Bytes) as room:
                room[builder.head : end] = content.reshape(-1).view(np.uint8).data
            vector = builder.EndVector()
        schema.BufferStart(builder)
        if content is not None:
            schema.BufferAddData(builder, vector)
        return int(schema.BufferEnd(builder))


class _Builder(flatbuffers.Builder):  # type: ignore[misc]
    """Writes equal vectors once; of many similar operators they took half of a file."""

    def __init__(self, room: int) -> None:
        super().__init__(room)
        self._known: dict[Hashable, int] = {}

    def CreateNumpyVector(self, x: Array) -> int:  # noqa: N802, the base class calls it so
        key = (x.dtype.str, x.tobytes())
        if key not in self._known:
            self._known[key] = int(super().CreateNumpyVector(x))
        return self._known[key]


class _Writer:
    def __init__(self, model: Model) -> None:
        self._model = model
        self._buffers: list[Array | None] = [None]  # Number 0 means no data.
        self._known_buffers: dict[Hashable, int] = {}
        self._codes: dict[tuple[int, str | None, int], int] = {}

    def write(self) -> memoryview:
        extra = self._model.extra
        packed = schema.ModelT()
        packed.version = extra.version
        packed.description = extra.description
        numbers = []
        packed.subgraphs = []
        for index, graph in enumerate(self._model.graphs):
            named = [
                tensor
                for _, subgraph, inputs, outputs in extra.signatures
                for _, tensor in [*inputs, *outputs]
                if subgraph == index
            ]
            numbers.append(self._number(_all_tensors(graph, named), [*graph.outputs, *named]))
            packed.subgraphs.append(self._graph(graph, numbers[-1]))
        packed.signatureDefs = [self._signature(numbers, entry) for entry in extra.signatures]
        packed.metadata = []
        for name, data in extra.metadata:
            entry = schema.MetadataT()
            entry.name = name
            entry.buffer = self._buffer(data)
            packed.metadata.append(entry)
        packed.operatorCodes = [self._operator_code(*code) for code in self._codes]
        packed.buffers = [_AlignedBuffer(data) for data in self._buffers]
        size = sum(data.nbytes for data in self._buffers if data is not None)
        # The builder would copy everything if it grew; all but data is well below 1 KB for each
        # tensor.
        room = size + (1 << 16) + 1024 * sum(map(len, numbers))
        builder = _Builder(room)
        builder.Finish(packed.Pack(builder), b"TFL3")
        return memoryview(builder.Bytes)[builder.head :]

    def _number(self, tensors: Iterable[Tensor], ends: list[Tensor]) -> dict[Tensor, int]:
        """Numbers tensors; constants that are equal in all respects get the same number."""
        numbers: dict[Tensor, int] = {}
        known: dict[Hashable, int] = {}
        for tensor in tensors:
            key: Hashable = tensor
            if tensor.is_constant and tensor not in ends and not _has_extra(tensor):
                buffer = self._buffer(tensor.data)
                key = (tensor.name, tensor.shape, tensor.dtype, tensor.signature, buffer)
            numbers[tensor] = known.setdefault(key, len(known))
        return numbers

    def _graph(self, graph: Graph, numbers: dict[Tensor, int]) -> Any:
        packed = schema.SubGraphT()
        packed.name = graph.name or None
        written = {number: tensor for tensor, number in numbers.items()}
        packed.tensors = [self._tensor(written[number]) for number in range(len(written))]
        packed.inputs = np.array([numbers[tensor] for tensor in graph.inputs], np.int32)
        packed.outputs = np.array([numbers[tensor] for tensor in graph.outputs], np.int32)
        packed.operators = [self._op(op, numbers) for op in graph.ops]
        return packed

    def _tensor(self, tensor: Tensor) -> Any:
        packed = schema.TensorT()
        if tensor.extra is not None:
            packed.isVariable = tensor.extra.isVariable
            packed.sparsity = tensor.extra.sparsity
            packed.variantTensors = tensor.extra.variantTensors
        packed.hasRank = True if tensor.extra is None else tensor.extra.hasRank
        packed.name = tensor.name or None
        packed.shape = np.array(tensor.shape, np.int32)
        dtype = tensor.dtype.removeprefix(_SPARSE)
        packed.type = getattr(schema.TensorType, dtype, None)
        if packed.type is None:
            packed.type = int(dtype)
        if tensor.signature is not None:
            packed.shapeSignature = np.array(tensor.signature, np.int32)
        packed.buffer = self._buffer(tensor.data)
        packed.quantization = _write_quantization(tensor)
        return packed

    def _buffer(self, data: Array | None) -> int:
        if data is None:
            return 0
        # Zeros, ones and shapes occur often, and layers may share weights.
        key = hashlib.sha256(np.ascontiguousarray(data).reshape(-1).view(np.uint8).data).digest()
        if key not in self._known_buffers:
            self._known_buffers[key] = len(self._buffers)
            self._buffers.append(data)
        return self._known_buffers[key]

    def _op(self, op: Op, numbers: dict[Tensor, int]) -> Any:
        packed = schema.OperatorT()
        if op.extra is not None:
            source, intermediates = op.extra
            packed.mutatingVariableInputs = source.mutatingVariableInputs
            packed.builtinOptions2Type = source.builtinOptions2Type
            packed.builtinOptions2 = source.builtinOptions2
            packed.debugMetadataIndex = source.debugMetadataIndex
            if intermediates:
                packed.intermediates = np.array([numbers[t] for t in intermediates], np.int32)
        inputs = [-1 if tensor is None else numbers[tensor] for tensor in op.inputs]
        packed.inputs = np.array(inputs, np.int32)
        packed.outputs = np.array([numbers[tensor] for tensor in op.outputs], np.int32)
        if op.custom:
            code: tuple[int, str | None, int] = (_CUSTOM, op.kind, op.version)
            content = _flexbuffer_map(op.options) if isinstance(op.options, dict) else op.options
            packed.customOptions = np.frombuffer(content, np.uint8) if content else None
        else:
            number = getattr(schema.BuiltinOperator, op.kind, None)
            code = (int(op.kind) if number is None else number, None, op.version)
            if op.options is not None:
                kind = type(op.options).__name__.removesuffix("T")
                packed.builtinOptionsType = getattr(schema.BuiltinOptions, kind)
                packed.builtinOptions = op.options
        packed.opcodeIndex = self._codes.setdefault(code, len(self._codes))
        return packed

    @staticmethod
    def _operator_code(number: int, custom: str | None, version: int) -> Any:
        packed = schema.OperatorCodeT()
        packed.builtinCode = number
        # Readers from before 2020 know only this field; 127 tells other readers to use builtinCode.
        packed.deprecatedBuiltinCode = min(number, 127)
        packed.customCode = custom
        packed.version = version
        return packed

    @staticmethod
    def _signature(numbers: list[dict[Tensor, int]], entry: Any) -> Any:
        key, subgraph, inputs, outputs = entry

        def maps(names: Iterable[tuple[Any, Tensor]]) -> list[Any]:
            result = []
            for name, tensor in names:
                packed = schema.TensorMapT()
                packed.name = name
                packed.tensorIndex = numbers[subgraph][tensor]
                result.append(packed)
            return result

        packed = schema.SignatureDefT()
        packed.signatureKey = key
        packed.subgraphIndex = subgraph
        packed.inputs = maps(inputs)
        packed.outputs = maps(outputs)
        return packed


def _all_tensors(graph: Graph, named: list[Tensor]) -> dict[Tensor, None]:
    """Returns the tensors in use, each once: inputs first, then those of each operator."""
    found = dict.fromkeys([*graph.inputs, *named])
    for op in graph.ops:
        found.update(dict.fromkeys(tensor for tensor in op.inputs if tensor is not None))
        if op.extra is not None:
            found.update(dict.fromkeys(op.extra[1]))
        found.update(dict.fromkeys(op.outputs))
    found.update(dict.fromkeys(graph.outputs))
    return found


def _has_extra(tensor: Tensor) -> bool:
    """Tells whether a constant has more than its name, type, shape and data."""
    source = tensor.extra
    if _write_quantization(tensor) is not None:
        return True
    return source is not None and bool(
        source.isVariable or source.sparsity is not None or source.variantTensors
    )


def _write_quantization(tensor: Tensor) -> Any:
    source = tensor.extra.quantization if tensor.extra is not None else None
    if tensor.quantization is None or tensor.quantization == _read_quantization(source):
        # The official converter writes an empty table for every float tensor.
        fields = () if source is None else (source.scale, source.min, source.max, source.details)
        return source if any(_is_filled(field) for field in fields) else None
    packed = schema.QuantizationParametersT()
    packed.scale = np.array(tensor.quantization.scale, np.float32)
    packed.zeroPoint = np.array(tensor.quantization.zero_point, np.int64)
    packed.quantizedDimension = tensor.quantization.axis
    return packed


def _is_filled(field: Any) -> bool:
    return field is not None and (not hasattr(field, "__len__") or len(field) > 0)


def _flexbuffer_map(options: dict[str, int]) -> bytes:
    builder = flexbuffers.Builder()
    builder.MapFromElements(dict(sorted(options.items())))
    return bytes(builder.Finish())
