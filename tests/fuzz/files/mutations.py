"""Mutations of a model, by kinds: each changes a tree in place and names an operator.

A mutation takes the tree and a random generator, and returns the name of the operator that it
touched, or "model" if it belongs to none. It returns "" if the model has nothing of the kind, and
has then changed nothing.
"""

import struct
from collections.abc import Callable
from random import Random
from typing import Any

from ai_edge_litert import schema_py_generated as schema

from tests.fuzz.files import flexbuffers
from tests.fuzz.files.model_tree import (
    Buffer,
    Dimension,
    Graph,
    Metadata,
    Model,
    Opaque,
    Operator,
    OperatorCode,
    Quantization,
    Signature,
    Sparsity,
    Tables,
    Tensor,
    TensorMap,
    Vector,
    pack_numbers,
)

Mutation = Callable[[Model, Random], str]

OP_NAMES = {code: name for name, code in vars(schema.BuiltinOperator).items() if name.isupper()}
_CUSTOM = schema.BuiltinOperator.CUSTOM
_NO_OPERATOR = "model"  # parts that belong to no operator
_WORDS = (0, 1, 2, -1, 3, 4, 7, 8, 16, 127, 128, 255, 256, 65535, 65536, 46341, 2**31 - 1, -(2**31))
_LONGS = (*_WORDS, 2**31, 2**32 - 1, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63))
_SIZES = (0, 1, 2, 3, 5, 31, 32, 33, 64, 1000, 65536, 2**20, 46341, 2**30, 2**31 - 1, -1, -2)
_SCALES = (0.0, -0.0, -1.0, 1.0, 1e-45, 1e-39, 1e30, 3.4e38, float("inf"), float("nan"), 0.5)
_OUR_NAMES = (
    b"LceQuantize", b"LceDequantize", b"LceBconv2d", b"LceBConv2d", b"LceBMaxPool2d", b"LceBmatmul",
    b"LceUnpackWeights", b"Lce", b"", b"larq_engine", b"DELEGATE", b"TFLite_Detection_PostProcess",
    b"Convolution2DTransposeBias", b"MaxPoolingWithArgmax2D", b"FlexRelu",
)  # fmt: skip
_NAMES = (b"", b"x", b"\xff\xfe", b"a\0b", b"\xc3", "é".encode(), b"n" * 70000, b"%s%n", b"t0")
# Numbers of BuiltinOptions with subgraphs, by operator.
_CALLS = {"IF": 2, "WHILE": 2, "CALL_ONCE": 1, "STABLEHLO_COMPOSITE": 1}


# ---- Finding parts -------------------------------------------------------------------------------


def _graph(model: Model, r: Random) -> Graph:
    """Picks a graph to change, the main one in half of all cases."""
    number = 0 if r.random() < 0.5 else r.randrange(len(model.subgraphs))
    return model.edit("subgraphs", number)


def op_name(model: Model, operator: Operator) -> str:
    if not operator.opcodeIndex < len(model.operatorCodes or ()):
        return "no operator"
    code = model.operatorCodes[operator.opcodeIndex]
    number = max(code.builtinCode, code.deprecatedBuiltinCode)
    if number == _CUSTOM:
        return (code.customCode or b"custom").decode("utf-8", "replace")
    return OP_NAMES.get(number, f"operator {number}")


def _operator(model: Model, graph: Graph, r: Random) -> Any:
    """Picks an operator to change; returns None if there is none."""
    if not graph.operators:
        return None
    return graph.edit("operators", r.randrange(len(graph.operators)))


def _name_of_user(model: Model, graph: Graph, tensor: int) -> str:
    """Returns the name of the first operator that reads or writes a tensor."""
    for operator in graph.operators or ():
        if tensor in (operator.inputs or ()) or tensor in (operator.outputs or ()):
            return op_name(model, operator)
    return _NO_OPERATOR


def _tensor(model: Model, graph: Graph, r: Random) -> tuple[Any, str]:
    if not graph.tensors:
        return None, ""
    number = r.randrange(len(graph.tensors))
    return graph.edit("tensors", number), _name_of_user(model, graph, number)


def _of_operator(change: Callable[[Model, Graph, Any, Random], None]) -> Mutation:
    """Makes a mutation of what changes an operator of a graph."""

    def mutate(model: Model, r: Random) -> str:
        graph = _graph(model, r)
        operator = _operator(model, graph, r)
        if operator is None:
            return ""
        change(model, graph, operator, r)
        return op_name(model, operator)

    return mutate


def _of_tensor(change: Callable[[Model, Any, Random], None]) -> Mutation:
    """Makes a mutation of what changes a tensor."""

    def mutate(model: Model, r: Random) -> str:
        tensor, name = _tensor(model, _graph(model, r), r)
        if name:
            change(model, tensor, r)
        return name

    return mutate


def _constants(model: Model, graph: Graph) -> list[int]:
    buffers = model.buffers or ()
    return [
        number
        for number, tensor in enumerate(graph.tensors or ())
        if 0 < tensor.buffer < len(buffers) and buffers[tensor.buffer].data
    ]


def _replaced(values: Any, index: int, value: Any) -> tuple[Any, ...]:
    return (*values[:index], value, *values[index + 1 :])


def _with(values: Any, r: Random, choices: Any) -> tuple[Any, ...]:
    """Returns numbers with one replaced, added, dropped or repeated."""
    values = tuple(values or ())
    at = r.randrange(len(values) + 1)
    way = r.randrange(5)
    if way == 0:
        return (*values[:at], r.choice(choices), *values[at:])
    if not values:
        return (r.choice(choices),)
    at = r.randrange(len(values))
    if way == 1:
        return (*values[:at], *values[at + 1 :])
    if way == 2:
        return (*values, values[at])
    return _replaced(values, at, r.choice(choices))


# ---- Readers and writers -------------------------------------------------------------------------


def _constant_written(model: Model, r: Random) -> str:
    graph = _graph(model, r)
    operator = _operator(model, graph, r)
    if operator is None or not operator.outputs:
        return ""
    at = r.randrange(len(operator.outputs))
    constants = _constants(model, graph)
    tensor = operator.outputs[at]
    if constants and r.random() < 0.5:
        operator.outputs = _replaced(operator.outputs, at, r.choice(constants))
    elif constants and 0 <= tensor < len(graph.tensors) and r.random() < 0.5:
        graph.edit("tensors", tensor).buffer = graph.tensors[r.choice(constants)].buffer
    elif 0 <= tensor < len(graph.tensors):
        model.buffers = Tables(
            [*(model.buffers or ()), Buffer(data=r.randbytes(r.choice(_SMALL_SIZES)))]
        )
        graph.edit("tensors", tensor).buffer = len(model.buffers) - 1
    return op_name(model, operator)


_SMALL_SIZES = (1, 4, 16, 64, 512, 2048)


def _constant_as_input(model: Model, r: Random) -> str:
    graph = _graph(model, r)
    constants = _constants(model, graph)
    if not constants:
        return ""
    constant = r.choice(constants)
    inputs = tuple(graph.inputs or ())
    if inputs and r.random() < 0.5:
        graph.inputs = _replaced(inputs, r.randrange(len(inputs)), constant)
    else:
        graph.inputs = (*inputs, constant)
    return _name_of_user(model, graph, constant)


def _constant_as_state(model: Model, r: Random) -> str:
    graph = _graph(model, r)
    constants = _constants(model, graph)
    if not constants:
        return ""
    constant = r.choice(constants)
    graph.edit("tensors", constant).isVariable = 1
    return _name_of_user(model, graph, constant)


def _absent(side: str) -> Mutation:
    def mutate(model: Model, r: Random) -> str:
        operator = _operator(model, _graph(model, r), r)
        if operator is None or not getattr(operator, side):
            return ""
        values = getattr(operator, side)
        setattr(operator, side, _replaced(values, r.randrange(len(values)), -1))
        return op_name(model, operator)

    return mutate


def _written_twice(model: Model, r: Random) -> str:
    graph = _graph(model, r)
    operator = _operator(model, graph, r)
    if operator is None or not operator.outputs:
        return ""
    written = [t for other in graph.operators for t in other.outputs or ()]
    written += graph.inputs or ()
    at = r.randrange(len(operator.outputs))
    operator.outputs = _replaced(operator.outputs, at, r.choice(written))
    return op_name(model, operator)


def _read_before_written(model: Model, r: Random) -> str:
    graph = _graph(model, r)
    if not graph.operators:
        return ""
    at = r.randrange(len(graph.operators))
    operator = graph.edit("operators", at)
    later = [t for other in graph.operators[at:] for t in other.outputs or ()]
    if not operator.inputs or not later:
        return ""
    place = r.randrange(len(operator.inputs))
    operator.inputs = _replaced(operator.inputs, place, r.choice(later))
    return op_name(model, operator)


@_of_operator
def _tensor_numbers(model: Model, graph: Graph, operator: Any, r: Random) -> None:
    tensors = len(graph.tensors or ())
    choices = (*range(tensors), *range(tensors), tensors, tensors + 1, *_WORDS)
    side = r.choice(("inputs", "inputs", "outputs", "intermediates"))
    setattr(operator, side, _with(getattr(operator, side), r, choices))


def _graph_interface(model: Model, r: Random) -> str:
    graph = _graph(model, r)
    tensors = len(graph.tensors or ())
    choices = (*range(tensors), *range(tensors), tensors, -1, -2, 2**31 - 1)
    side = r.choice(("inputs", "outputs"))
    setattr(graph, side, _with(getattr(graph, side), r, choices))
    return _NO_OPERATOR


def _operators_moved(model: Model, r: Random) -> str:
    graph = _graph(model, r)
    if not graph.operators:
        return ""
    operators = list(graph.operators)
    at, to = r.randrange(len(operators)), r.randrange(len(operators))
    name = op_name(model, operators[at])
    way = r.randrange(3)
    if way == 0:
        operators.insert(to, operators[at])
    elif way == 1:
        del operators[at]
    else:
        operators[at], operators[to] = operators[to], operators[at]
    graph.operators = Tables(operators)
    return name


@_of_operator
def _variable_inputs(model: Model, graph: Graph, operator: Any, r: Random) -> None:
    operator.mutatingVariableInputs = r.randbytes(r.randrange(5))


# ---- Subgraphs -----------------------------------------------------------------------------------


def _calls(model: Model, r: Random) -> str:
    """Makes graphs call themselves, each other, the main graph, or one that does not exist."""
    found = [
        (number, at)
        for number, graph in enumerate(model.subgraphs)
        for at, operator in enumerate(graph.operators or ())
        if op_name(model, operator) in _CALLS and isinstance(operator.builtinOptions, Opaque)
    ]
    if not found:
        return ""
    number, at = r.choice(found)
    operator = model.edit("subgraphs", number).edit("operators", at)
    slots = operator.builtinOptions.slots()
    if not slots:
        return ""
    target = r.choice((*range(len(model.subgraphs)), number, len(model.subgraphs), *_WORDS))
    operator.builtinOptions = operator.builtinOptions.with_bytes(
        r.choice(slots), pack_numbers("i", [target])
    )
    return op_name(model, operator)


def _new_call(model: Model, r: Random) -> str:
    """Adds another WHILE, IF or CALL_ONCE of any subgraphs."""
    number = r.randrange(len(model.subgraphs))
    graph = model.edit("subgraphs", number)
    operators = list(graph.operators or ())
    table, code, fields = r.choice(_CALL_TABLES)
    options = getattr(schema, table + "T")()
    for field in fields:
        setattr(options, field, r.randrange(len(model.subgraphs) + 1))
    name = OP_NAMES[code]
    like = r.choice(operators) if operators else Operator()
    inputs, outputs = tuple(like.inputs or ()), tuple(like.outputs or ())
    if name == "CALL_ONCE":
        inputs = outputs = ()
    elif name == "WHILE" and r.random() < 0.5:
        outputs = inputs
    new = _new_operator(model, code, inputs, outputs)
    new.builtinOptionsType = getattr(schema.BuiltinOptions, table)
    new.builtinOptions = Opaque.pack(options)
    operators.insert(r.randrange(len(operators) + 1), new)
    graph.operators = Tables(operators)
    return name


_CALL_TABLES = (
    ("IfOptions", schema.BuiltinOperator.IF, ("thenSubgraphIndex", "elseSubgraphIndex")),
    ("WhileOptions", schema.BuiltinOperator.WHILE, ("condSubgraphIndex", "bodySubgraphIndex")),
    ("CallOnceOptions", schema.BuiltinOperator.CALL_ONCE, ("initSubgraphIndex",)),
)


def _new_operator(model: Model, code: int, inputs: Any, outputs: Any) -> Operator:
    new_code = OperatorCode(builtinCode=code, deprecatedBuiltinCode=min(code, 127))
    model.operatorCodes = Tables([*(model.operatorCodes or ()), new_code])
    return Operator(opcodeIndex=len(model.operatorCodes) - 1, inputs=inputs, outputs=outputs)


def _subgraphs(model: Model, r: Random) -> str:
    graphs = list(model.subgraphs)
    at = r.randrange(len(graphs))
    way = r.randrange(4)
    if way == 0:
        graphs.insert(at, r.choice(graphs))
    elif way == 1 and len(graphs) > 1:
        del graphs[at]
    elif way == 2:
        graphs[at] = Graph(tensors=Tables(), operators=Tables())
    else:
        graphs.append(r.choice(graphs))
        r.shuffle(graphs)
    model.subgraphs = Tables(graphs)
    return _NO_OPERATOR


# ---- Tensors -------------------------------------------------------------------------------------


def _quantization(graph: Graph, model: Model, r: Random) -> tuple[Any, str]:
    """Returns a tensor's quantization to be changed, mostly of a tensor that has some."""
    have = [n for n, t in enumerate(graph.tensors or ()) if t.quantization is not None]
    if not graph.tensors:
        return None, ""
    number = r.choice(have) if have and r.random() < 0.8 else r.randrange(len(graph.tensors))
    tensor = graph.edit("tensors", number)
    if tensor.quantization is None:
        tensor.quantization = Quantization(scale=(0.5,), zeroPoint=(0,))
    return tensor.edit("quantization"), _name_of_user(model, graph, number)


def _quantized(field: str, choose: Callable[[Any, Random], Any]) -> Mutation:
    """Returns the mutation that gives a field of a quantization another value."""

    def mutate(model: Model, r: Random) -> str:
        quantization, name = _quantization(_graph(model, r), model, r)
        if name:
            setattr(quantization, field, choose(getattr(quantization, field), r))
        return name

    return mutate


def _quantization_table(model: Model, r: Random) -> str:
    graph = _graph(model, r)
    if r.random() < 0.5:
        tensor, name = _tensor(model, graph, r)
        if name:
            tensor.quantization = r.choice((None, Quantization()))
        return name
    quantization, name = _quantization(graph, model, r)
    if name:
        quantization.detailsType = r.randrange(5)
        quantization.details = r.choice((None, Vector(values=(r.choice(_WORDS),)), Vector()))
    return name


def _sparsity(model: Model, r: Random) -> str:
    graph = _graph(model, r)
    have = [n for n, t in enumerate(graph.tensors or ()) if t.sparsity is not None]
    constants = _constants(model, graph)
    if have and r.random() < 0.8:
        number = r.choice(have)
    elif constants and r.random() < 0.8:
        number = r.choice(constants)
    elif graph.tensors:
        number = r.randrange(len(graph.tensors))
    else:
        return ""
    tensor = graph.edit("tensors", number)
    if tensor.sparsity is None:
        rank = len(tensor.shape or ())
        tensor.sparsity = Sparsity(
            traversalOrder=tuple(range(rank)),
            dimMetadata=Tables([_dimension(r) for _ in range(rank)]),
        )
    sparsity = tensor.edit("sparsity")
    way = r.randrange(5)
    if way == 0:
        sparsity.traversalOrder = _with(sparsity.traversalOrder, r, _WORDS)
    elif way == 1:
        sparsity.blockMap = _with(sparsity.blockMap, r, _WORDS)
    elif way == 2:
        sparsity.dimMetadata = r.choice((None, Tables()))
    elif sparsity.dimMetadata:
        dimensions = list(sparsity.dimMetadata)
        at = r.randrange(len(dimensions))
        if way == 3:
            dimensions[at] = _dimension(r)
        elif r.random() < 0.5:
            dimensions.append(_dimension(r))
        else:
            dimensions[at] = dimensions[at].copy()
            dimensions[at].denseSize = r.choice(_WORDS)
        sparsity.dimMetadata = Tables(dimensions)
    return _name_of_user(model, graph, number)


def _dimension(r: Random) -> Dimension:
    def numbers() -> Any:
        choices = (None, (), (0, 1), (0, 2, 4), (0, 1, 2, 3, 4), (0, 2**30), (-1, 5), (4, 0))
        values = r.choice(choices)
        return None if values is None else Vector(values=values)

    return Dimension(
        format=r.choice((0, 1, 1, 2)),
        denseSize=r.choice((0, 1, 2, 4, -1, 2**31 - 1)),
        arraySegmentsType=r.randrange(5),
        arraySegments=numbers(),
        arrayIndicesType=r.randrange(5),
        arrayIndices=numbers(),
    )


@_of_tensor
def _shape(model: Model, tensor: Any, r: Random) -> None:
    shape = tuple(tensor.shape or ())
    if not shape:
        tensor.shape = (r.choice(_SIZES),)
        return
    at = r.randrange(len(shape))
    size = shape[at]
    close = (size - 1, size + 1, 2 * size, size // 2)
    tensor.shape = _replaced(shape, at, r.choice((*_SIZES, *close, *close)))


@_of_tensor
def _rank(model: Model, tensor: Any, r: Random) -> None:
    shape = tuple(tensor.shape or ())
    at = r.randrange(len(shape) + 1)
    way = r.randrange(5)
    if way == 0:
        tensor.shape = (*shape[:at], 1, *shape[at:])
    elif way == 1:
        tensor.shape = shape[:-1]
    elif way == 2:
        tensor.shape = r.choice((None, (), shape[::-1]))
    elif way == 3:
        tensor.shape = (1,) * r.choice((5, 6, 7, 8, 9, 17, 300)) + shape
    else:
        tensor.hasRank = 1 - (tensor.hasRank or 0)


@_of_tensor
def _shape_signature(model: Model, tensor: Any, r: Random) -> None:
    shape = tuple(tensor.shape or ())
    start = tensor.shapeSignature or shape
    tensor.shapeSignature = r.choice((_with(start, r, _SIZES), (-1,) * len(shape), ()))


@_of_tensor
def _type(model: Model, tensor: Any, r: Random) -> None:
    tensor.type = r.choice((*range(21), *range(21), 63, 127, -1, -128))


def _type_everywhere(model: Model, r: Random) -> str:
    """Changes all tensors of one type to another."""
    graph = _graph(model, r)
    if not graph.tensors:
        return ""
    before, after = r.choice(graph.tensors).type, r.randrange(20)
    tensors = []
    for tensor in graph.tensors:
        if tensor.type == before:
            tensor = tensor.copy()
            tensor.type = after
        tensors.append(tensor)
    graph.tensors = Tables(tensors)
    return op_name(model, graph.operators[0]) if graph.operators else _NO_OPERATOR


@_of_tensor
def _state(model: Model, tensor: Any, r: Random) -> None:
    tensor.isVariable = 1 - (tensor.isVariable or 0)


def _tensors_moved(model: Model, r: Random) -> str:
    graph = _graph(model, r)
    if not graph.tensors:
        return ""
    tensors = list(graph.tensors)
    at, to = r.randrange(len(tensors)), r.randrange(len(tensors))
    name = _name_of_user(model, graph, at)
    way = r.randrange(4)
    if way == 0:
        del tensors[at]
    elif way == 1:
        tensors.insert(at, Tensor())
    elif way == 2:
        tensors[at], tensors[to] = tensors[to], tensors[at]
    else:
        tensors[at] = tensors[to]
    graph.tensors = Tables(tensors)
    return name


# ---- Data ----------------------------------------------------------------------------------------


def _constant(model: Model, r: Random) -> tuple[Any, str]:
    """Returns the buffer of a constant, to be changed."""
    graph = _graph(model, r)
    constants = _constants(model, graph)
    if not constants:
        return None, ""
    number = r.choice(constants)
    buffer = model.edit("buffers", graph.tensors[number].buffer)
    return buffer, _name_of_user(model, graph, number)


def _buffer_size(model: Model, r: Random) -> str:
    buffer, name = _constant(model, r)
    if not name:
        return ""
    size = len(buffer.data)
    new = r.choice((0, 1, size - 1, size - 4, size // 2, size + 1, size + 4, 2 * size))
    buffer.data = (buffer.data * 2 + b"\0" * 4)[: max(new, 0)]
    return name


@_of_tensor
def _buffer_numbers(model: Model, tensor: Any, r: Random) -> None:
    count = len(model.buffers or ())
    tensor.buffer = r.choice((*range(count), count, count + 1, 2**31 - 1, 2**31, 2**32 - 1))


def _buffer_values(model: Model, r: Random) -> str:
    """Changes the values of a constant, which may be sizes, axes or places."""
    buffer, name = _constant(model, r)
    if not name:
        return ""
    if len(buffer.data) < 4 or r.random() < 0.2:
        buffer.data = r.randbytes(len(buffer.data))
    else:
        at = 4 * r.randrange(len(buffer.data) // 4)
        word = pack_numbers("i", [r.choice(_WORDS)])
        buffer.data = buffer.data[:at] + word + buffer.data[at + 4 :]
    return name


def _outside(model: Model, r: Random) -> str:
    """Places data anywhere in the file or beyond it."""
    size = r.choice((0, 1, 2, 4, 64, 2**20, 2**40, 2**63, 2**64 - 1))
    place = r.choice((0, 1, 2, 3, 9, 64, 101, r.randrange(4096), 2**20, 2**63, 2**64 - 8))
    if r.random() < 0.3:
        operator = _operator(model, _graph(model, r), r)
        if operator is None:
            return ""
        operator.largeCustomOptionsOffset, operator.largeCustomOptionsSize = place, size
        if r.random() < 0.5:
            operator.customOptions = None
        return op_name(model, operator)
    buffer, name = _constant(model, r)
    if name:
        length = len(buffer.data)
        buffer.offset, buffer.size = place, r.choice((size, length, length))
        if r.random() < 0.7:
            buffer.data = None
    return name


def _moved_outside(model: Model, r: Random) -> str:
    """Moves all data of a constant behind the flatbuffer, where nothing aligns them."""
    graph = _graph(model, r)
    constants = _constants(model, graph)
    if not constants or model.moved_out:
        return ""
    constant = r.choice(constants)
    number = graph.tensors[constant].buffer
    model.moved_out = number, bytes(model.buffers[number].data), r.randrange(16)
    return _name_of_user(model, graph, constant)


@_of_tensor
def _external(model: Model, tensor: Any, r: Random) -> None:
    tensor.externalBuffer = r.choice((1, 2, 2**31, 2**32 - 1))


def _buffers(model: Model, r: Random) -> str:
    buffers = list(model.buffers or ())
    if not buffers:
        return ""
    at = r.randrange(len(buffers))
    way = r.randrange(4)
    if way == 0:
        del buffers[at]
    elif way == 1:
        buffers[at] = Buffer()
    elif way == 2:
        buffers[0] = Buffer(data=r.randbytes(16))
    else:
        r.shuffle(buffers)
    model.buffers = Tables(buffers)
    return _NO_OPERATOR


# ---- Operators -----------------------------------------------------------------------------------


def _code(model: Model, r: Random) -> str:
    if not model.operatorCodes:
        return ""
    code = model.edit("operatorCodes", r.randrange(len(model.operatorCodes)))
    way = r.randrange(6)
    if way == 0:
        code.builtinCode = code.deprecatedBuiltinCode = _CUSTOM
        code.customCode = r.choice(_OUR_NAMES)
    elif way == 1:
        code.deprecatedBuiltinCode = r.choice((*range(128), -1, -128))
    elif way == 2:
        code.builtinCode = r.choice((250, 2**31 - 1, -1, -(2**31), 127))
    else:
        code.builtinCode = r.randrange(210)
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        code.version = r.choice((1, 1, 2, 3, 4, 5))
    number = max(code.builtinCode, code.deprecatedBuiltinCode)
    return OP_NAMES.get(number, f"operator {number}")


def _custom_name(model: Model, r: Random) -> str:
    found = [n for n, code in enumerate(model.operatorCodes or ()) if code.customCode is not None]
    if not found:
        return ""
    code = model.edit("operatorCodes", r.choice(found))
    before = code.customCode
    code.customCode = r.choice((*_OUR_NAMES, *_NAMES, None))
    return before.decode("utf-8", "replace")


def _version(model: Model, r: Random) -> str:
    if not model.operatorCodes:
        return ""
    at = r.randrange(len(model.operatorCodes))
    code = model.edit("operatorCodes", at)
    code.version = r.choice((*range(15), *_WORDS))
    return OP_NAMES.get(max(code.builtinCode, code.deprecatedBuiltinCode), "no operator")


@_of_operator
def _code_numbers(model: Model, graph: Graph, operator: Any, r: Random) -> None:
    codes = len(model.operatorCodes or ())
    operator.opcodeIndex = r.choice((*range(codes), *range(codes), codes, 2**31 - 1, 2**32 - 1))


@_of_operator
def _options_type(model: Model, graph: Graph, operator: Any, r: Random) -> None:
    way = r.randrange(4)
    if way == 0:
        operator.builtinOptionsType = r.randrange(130)
    elif way == 1:
        operator.builtinOptions = None
        operator.builtinOptionsType = r.choice((0, operator.builtinOptionsType))
    else:
        table, number = r.choice(_TABLES)
        operator.builtinOptions = table
        if way == 2:
            operator.builtinOptionsType = number


def _all_tables() -> list[tuple[Opaque, int]]:
    tables = []
    for name, number in vars(schema.BuiltinOptions).items():
        if name.endswith("Options") and hasattr(schema, name + "T"):
            tables.append((Opaque.pack(getattr(schema, name + "T")()), number))
    return tables


_TABLES = _all_tables()


@_of_operator
def _options2(model: Model, graph: Graph, operator: Any, r: Random) -> None:
    operator.builtinOptions2 = r.choice((Vector(), Vector(values=_WORDS), None))
    operator.builtinOptions2Type = r.randrange(26)


def _option_bytes(model: Model, r: Random) -> str:
    """Changes a number in the options of a builtin operator: stride, axis, activation, count."""
    graph = _graph(model, r)
    have = [n for n, o in enumerate(graph.operators or ()) if isinstance(o.builtinOptions, Opaque)]
    if not have:
        return ""
    operator = graph.edit("operators", r.choice(have))
    slots = operator.builtinOptions.slots()
    if not slots:  # all options are the defaults, and not written
        table = [t for t, number in _TABLES if number == operator.builtinOptionsType]
        operator.builtinOptions = r.choice(table or [Opaque.pack(schema.AddOptionsT())])
        return op_name(model, operator)
    slot = r.choice(slots)
    if r.random() < 0.5:
        content = bytes([r.choice((0, 1, 2, 3, 4, 5, 6, 127, 128, 255))])
    else:
        content = pack_numbers("i", [r.choice(_WORDS)])
    operator.builtinOptions = operator.builtinOptions.with_bytes(slot, content)
    return op_name(model, operator)


def _graft(model: Model, r: Random) -> str:
    """Adds another operator of the host, on tensors of the graph."""
    graph = _graph(model, r)
    if not graph.tensors:
        return ""
    tensors = len(graph.tensors)
    code = r.randrange(210)
    inputs = tuple(r.randrange(tensors) for _ in range(r.randrange(5)))
    outputs = []
    for _ in range(r.choice((0, 1, 1, 1, 2, 3))):
        new = graph.tensors[r.randrange(tensors)].copy()
        new.buffer = 0
        graph.tensors = Tables([*graph.tensors, new])
        outputs.append(len(graph.tensors) - 1)
    new = _new_operator(model, code, inputs, tuple(outputs))
    new.builtinOptions, new.builtinOptionsType = r.choice(_TABLES)
    operators = list(graph.operators or ())
    operators.insert(r.randrange(len(operators) + 1), new)
    graph.operators = Tables(operators)
    if outputs:
        graph.outputs = (*(graph.outputs or ()), outputs[0])
    return OP_NAMES.get(code, "no operator")


# ---- Custom options ------------------------------------------------------------------------------


def _custom(model: Model, r: Random) -> Any:
    """Picks an operator of ours with options, to be changed."""
    found = [
        (number, at)
        for number, graph in enumerate(model.subgraphs)
        for at, operator in enumerate(graph.operators or ())
        if operator.customOptions
    ]
    if not found:
        return None
    number, at = r.choice(found)
    return model.edit("subgraphs", number).edit("operators", at)


def _custom_values(model: Model, r: Random) -> str:
    operator = _custom(model, r)
    if operator is None:
        return ""
    operator.customOptions = flexbuffers.with_other_value(operator.customOptions, r)
    return op_name(model, operator)


def _custom_structure(model: Model, r: Random) -> str:
    operator = _custom(model, r)
    if operator is None:
        return ""
    operator.customOptions = flexbuffers.with_other_structure(operator.customOptions, r)
    operator.customOptionsFormat = r.choice((0, 0, 0, 1, 127))
    return op_name(model, operator)


# ---- The rest ------------------------------------------------------------------------------------


def _signatures(model: Model, r: Random) -> str:
    signatures = list(model.signatureDefs or ())
    if not signatures:
        graph = model.subgraphs[0]
        names = [
            Tables(TensorMap(name=b"n%d" % t, tensorIndex=t) for t in side or ())
            for side in (graph.inputs, graph.outputs)
        ]
        signatures = [Signature(inputs=names[0], outputs=names[1], signatureKey=b"k")]
    at = r.randrange(len(signatures))
    signature = signatures[at] = signatures[at].copy()
    way = r.randrange(6)
    if way == 0:
        signature.subgraphIndex = r.choice((*range(len(model.subgraphs) + 1), 2**31 - 1, 2**32 - 1))
    elif way == 1:
        signature.signatureKey = r.choice((*_NAMES, None))
    elif way == 2:
        signatures.append(signature)
    elif way == 3:
        setattr(signature, r.choice(("inputs", "outputs")), r.choice((None, Tables())))
    else:
        side = r.choice(("inputs", "outputs"))
        maps = list(getattr(signature, side) or ())
        if maps:
            place = r.randrange(len(maps))
            entry = maps[place].copy()
            if way == 4:
                entry.name = r.choice((*_NAMES, None, maps[0].name))
            else:
                entry.tensorIndex = r.choice((0, 1, 2, 3, 99, 2**31 - 1, 2**32 - 1))
            maps[place] = entry
            if r.random() < 0.2:
                maps.append(entry)
        setattr(signature, side, Tables(maps))
    model.signatureDefs = Tables(signatures)
    return _NO_OPERATOR


def _metadata(model: Model, r: Random) -> str:
    name = r.choice((b"min_runtime_version", b"CONVERSION_METADATA", b"TFLITE_METADATA", *_NAMES))
    buffer = r.choice((*range(len(model.buffers or ()) + 2), 2**31, 2**32 - 1))
    model.metadata = Tables([*(model.metadata or ()), Metadata(name=name, buffer=buffer)])
    if r.random() < 0.2:
        model.metadataBuffer = (buffer, r.choice(_WORDS))
    return _NO_OPERATOR


def _names(model: Model, r: Random) -> str:
    graph = _graph(model, r)
    if r.random() < 0.1:
        graph.name = r.choice((*_NAMES, None))
        return _NO_OPERATOR
    tensor, name = _tensor(model, graph, r)
    if name:
        tensor.name = r.choice((*_NAMES, None))
    return name


def _header(model: Model, r: Random) -> str:
    way = r.randrange(4)
    if way == 0:
        model.version = r.choice((0, 1, 2, 4, 2**32 - 1))
    elif way == 1:
        model.description = r.choice(_NAMES)
    else:
        field = r.choice(("operatorCodes", "subgraphs", "buffers", "signatureDefs"))
        setattr(model, field, r.choice((None, Tables())))
    return _NO_OPERATOR


def _field_dropped(model: Model, r: Random) -> str:
    """Drops a field of some table that may be absent."""
    graph = _graph(model, r)
    way = r.randrange(3)
    if way == 0:
        field = r.choice(("tensors", "inputs", "outputs", "operators", "name"))
        setattr(graph, field, None)
        return _NO_OPERATOR
    if way == 1:
        operator = _operator(model, graph, r)
        if operator is None:
            return ""
        setattr(operator, r.choice(("inputs", "outputs", "builtinOptions", "customOptions")), None)
        return op_name(model, operator)
    tensor, name = _tensor(model, graph, r)
    if name:
        setattr(tensor, r.choice(("shape", "name", "quantization", "sparsity")), None)
    return name


# After these there may be no parts left to change.
LAST = {"header", "field dropped"}

# These change the model's parts; `BYTES` change the finished file.
MUTATIONS: dict[str, Mutation] = {
    "constant written": _constant_written,
    "constant as input": _constant_as_input,
    "constant as state": _constant_as_state,
    "input absent": _absent("inputs"),
    "output absent": _absent("outputs"),
    "written twice": _written_twice,
    "read before written": _read_before_written,
    "tensor numbers": _tensor_numbers,
    "graph's interface": _graph_interface,
    "operators moved": _operators_moved,
    "mutating variable inputs": _variable_inputs,
    "calls of subgraphs": _calls,
    "new call": _new_call,
    "subgraphs": _subgraphs,
    "zero points": _quantized("zeroPoint", lambda old, r: _with(old, r, _LONGS)),
    "no zero points": _quantized("zeroPoint", lambda _, r: r.choice((None, (), (0,)))),
    "scales": _quantized("scale", lambda old, r: _with(old, r, _SCALES)),
    "no scales": _quantized("scale", lambda _, r: r.choice((None, (), (0.5,)))),
    "quantized dimension": _quantized("quantizedDimension", lambda _, r: r.choice(_WORDS)),
    "quantization's table": _quantization_table,
    "sparsity": _sparsity,
    "shape": _shape,
    "rank": _rank,
    "shape signature": _shape_signature,
    "type": _type,
    "type everywhere": _type_everywhere,
    "state": _state,
    "tensors moved": _tensors_moved,
    "buffer's size": _buffer_size,
    "buffer numbers": _buffer_numbers,
    "constant's values": _buffer_values,
    "data outside": _outside,
    "data moved outside": _moved_outside,
    "external buffer": _external,
    "buffers moved": _buffers,
    "operator code": _code,
    "custom name": _custom_name,
    "version": _version,
    "operator code numbers": _code_numbers,
    "options of another operator": _options_type,
    "options of the second kind": _options2,
    "options' values": _option_bytes,
    "grafted operator": _graft,
    "custom options' values": _custom_values,
    "custom options' structure": _custom_structure,
    "signatures": _signatures,
    "metadata": _metadata,
    "names": _names,
    "header": _header,
    "field dropped": _field_dropped,
}


def _flips(content: bytearray, r: Random) -> None:
    for _ in range(r.randrange(1, 5)):
        content[r.randrange(len(content))] = r.randrange(256)


def _words(content: bytearray, r: Random) -> None:
    """Changes a word, which may be an offset, a length or a number."""
    at = 4 * r.randrange(len(content) // 4)
    before = struct.unpack_from("<i", content, at)[0]
    word = r.choice((*_WORDS, before + 4, before - 4, before + 16, before * 2, -before))
    struct.pack_into("<I", content, at, word & 0xFFFFFFFF)


def _layouts(content: bytearray, r: Random) -> None:
    """Changes a half word, of which the layouts of tables consist."""
    at = 2 * r.randrange(len(content) // 2)
    struct.pack_into("<H", content, at, r.choice((0, 2, 4, 6, 8, 12, 16, 0xFFFF, 0xFFFE)))


def _truncation(content: bytearray, r: Random) -> None:
    del content[r.randrange(len(content)) :]


def _copied_part(content: bytearray, r: Random) -> None:
    length = r.choice((4, 8, 16, 64))
    source, target = r.randrange(len(content)), r.randrange(len(content))
    part = content[source : source + length]
    content[target : target + len(part)] = part


BYTES: dict[str, Callable[[bytearray, Random], None]] = {
    "bytes": _flips,
    "words": _words,
    "layouts": _layouts,
    "truncation": _truncation,
    "copied part": _copied_part,
}
