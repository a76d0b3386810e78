"""Reading and writing keeps all of a file, and converting leaves alone what it does not know."""

from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as tflite
from flatbuffers import flexbuffers

import larq_engine
from larq_engine.command_line.model_facts import collect_facts
from larq_engine.converter import schema
from tests.converter.graphs import (
    Net,
    Value,
    convert,
    convert_and_compare,
    edges,
    run_engine,
    run_stock,
    signs,
    steps,
)
from tests.model_builder import ModelBuilder, bconv_model
from tests.oracle import Conv

_FILES = sorted((Path(__file__).parents[1] / "interop" / "data").glob("*.tflite"))


def _fields(value: object) -> Any:
    """Returns everything that an object of the schema says, as plain values without defaults."""
    if isinstance(value, np.ndarray):
        return value.tolist() or None
    if isinstance(value, list):
        return [_fields(item) for item in value] or None
    if not hasattr(value, "__dict__"):
        return value
    return {name: _fields(item) for name, item in vars(value).items()}


def _describe(content: bytes, *, names_of_inner: bool = True) -> dict:
    """Describes a file's content with tensors in place of numbers, so that order is ignored."""
    model = tflite.ModelT.InitFromPackedBuf(content, 0)
    graphs = []
    for graph in model.subgraphs:
        tensors = []
        for number, tensor in enumerate(graph.tensors):
            fields = _fields(tensor)
            fields["buffer"] = _fields(model.buffers[tensor.buffer].data)
            fields["shapeSignature"] = tensor.shapeSignature is not None and (
                fields["shapeSignature"] if -1 in tensor.shapeSignature else None
            )
            if not any((fields["quantization"] or {}).values()):
                fields["quantization"] = None
            inner = number not in {*_fields(graph.inputs), *_fields(graph.outputs)}
            if inner and not names_of_inner:
                fields["name"] = None
            tensors.append(fields)

        def named(numbers, tensors=tensors):
            numbers = [] if numbers is None else numbers
            return [None if number < 0 else tensors[number] for number in numbers]

        ops = []
        for op in graph.operators:
            code = model.operatorCodes[op.opcodeIndex]
            fields = _fields(op)
            del fields["opcodeIndex"]
            fields["code"] = (
                max(code.builtinCode, code.deprecatedBuiltinCode), code.customCode, code.version
            )  # fmt: skip
            if code.customCode in (b"LceBconv2d", b"LceBMaxPool2d"):
                # LCE writes the keys of a map in any order.
                fields["customOptions"] = flexbuffers.Loads(bytes(op.customOptions))
            for key in ("inputs", "outputs", "intermediates"):
                fields[key] = named(getattr(op, key))
            ops.append(fields)
        graphs.append((graph.name, ops, named(graph.inputs), named(graph.outputs)))
    signatures = []
    for signature in model.signatureDefs or []:
        tensors = model.subgraphs[signature.subgraphIndex].tensors
        sides = [
            {entry.name: tensors[entry.tensorIndex].name for entry in side or []}
            for side in (signature.inputs, signature.outputs)
        ]
        signatures.append((signature.signatureKey, signature.subgraphIndex, sides))
    metadata = [
        (entry.name, _fields(model.buffers[entry.buffer].data)) for entry in model.metadata or []
    ]
    return {
        "version": model.version,
        "description": model.description,
        "graphs": graphs,
        "signatures": signatures,
        "metadata": metadata,
    }


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.stem)
def test_round_trip(path):
    content = path.read_bytes()
    written = schema.write(schema.read(content))
    assert _describe(written) == _describe(content)
    assert schema.write(schema.read(written)) == written
    assert len(written) <= 1.02 * len(content) + 1024


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.stem)
def test_files_of_lce_stay_as_they_are(path):
    """Converted files give the same results, and nothing is added to them."""
    converted = convert(path.read_bytes())
    kinds = [op.kind for op in schema.read(path.read_bytes()).graphs[0].ops]
    ours = [kind for kind in converted.kinds if kind != "LceUnpackWeights"]
    assert len(ours) <= len(kinds)
    with np.load(path.with_suffix(".npz")) as recorded:
        x = recorded["x"]
    want = larq_engine.Interpreter(path).predict(x)
    np.testing.assert_allclose(
        larq_engine.Interpreter(converted.content).predict(x), want, rtol=1e-5, atol=1e-5
    )


def _everything() -> bytes:
    """Builds a model with what a file can hold beside operators on float tensors."""
    builder = ModelBuilder()
    x = builder.tensor((1, 4), name="x", signature=(-1, 4))
    y, z = builder.tensor((1, 4), name="y", signature=(-1, 4)), builder.tensor((1, 4), name="z")
    builder.builtin("ABS", [x], [y])
    builder.custom("TheirOwn", [y, -1], [z], b"\x01\x02\x03")
    q = builder.tensor((1, 4), np.int8, name="q", scale=0.5, zero_point=3)
    builder.builtin("QUANTIZE", [z], [q])
    channels = builder.tensor(
        (2, 4), np.int8, scale=[0.5, 0.25], zero_point=[0, 0], quantized_dimension=0,
        data=np.arange(8, dtype=np.int8),
    )  # fmt: skip
    halves = builder.constant(np.array([1.5, 2.5], np.float16))
    state = builder.tensor((1, 4), name="state")
    builder.graph.tensors[state].isVariable = True
    builder.custom("TheirState", [q, channels, halves, state], [builder.tensor((3,), name="w")])
    builder.graph.name = b"main"
    builder.graph.operators[1].intermediates = np.array([state], np.int32)
    builder.model.description = b"made by hand"
    data = tflite.BufferT()
    data.data = np.frombuffer(b"the version", np.uint8)
    builder.model.buffers.append(data)
    entry = tflite.MetadataT()
    entry.name, entry.buffer = b"min_runtime_version", len(builder.model.buffers) - 1
    builder.model.metadata = [entry]
    builder.signature({"image": x}, {"class": z, "again": q})
    other = builder.subgraph()
    a, b = other.tensor((2,), name="a"), other.tensor((2,), name="b")
    other.builtin("ABS", [a], [b])
    other.interface([a], [b])
    return builder.finish([x], [z, q, len(builder.graph.tensors) - 1])


def test_round_trip_of_everything():
    content = _everything()
    assert _describe(schema.write(schema.read(content))) == _describe(content)


def test_conversion_leaves_alone_what_it_does_not_know():
    """Only the names of tensors inside of the graph change: they become those of their layers."""
    content = _everything()
    described = _describe(content, names_of_inner=False)
    assert _describe(convert(content).content, names_of_inner=False) == described


# Operators on an image that hosts run without options.
_WITHOUT_OPTIONS = {
    "ADD": lambda net, x: net.op("ADD", x, steps(np.random.default_rng(1), 32)),
    "SUB": lambda net, x: net.op("SUB", x, steps(np.random.default_rng(1), 32)),
    "MUL": lambda net, x: net.op("MUL", x, 2.0),
    "DIV": lambda net, x: net.op("DIV", x, 2.0),
    "CONCATENATION": lambda net, x: net.concatenate([x, x], 0),
    "LEAKY_RELU": lambda net, x: net.op("LEAKY_RELU", x),
    "MEAN": lambda net, x: net.op("MEAN", x, np.array([2, 3], np.int32), shape=x.shape[:2]),
    "SUM": lambda net, x: net.op("SUM", x, np.array([2, 3], np.int32), shape=x.shape[:2]),
    "FULLY_CONNECTED": lambda net, x: net.dense(x, signs(np.random.default_rng(1), 8, x.shape[3])),
    "BATCH_MATMUL": lambda net, x: net.op(
        "BATCH_MATMUL", x, signs(np.random.default_rng(1), x.shape[3], 8), shape=(*x.shape[:3], 8)
    ),
    "constants": lambda net, x: net.op(
        "MUL",
        x,
        net.op(
            "STRIDED_SLICE",
            net.op("ADD", np.arange(64, dtype=np.float32), 1.0),
            *(np.array([number], np.int32) for number in (0, 64, 2)),
            shape=(32,),
        ),
    ),
    "prelu": lambda net, x: net.op(
        "SUB", net.op("RELU", x), net.op("MUL", net.op("RELU", net.op("NEG", x)), 0.25)
    ),
}


def _without_options(content: bytes) -> bytes:
    model = tflite.ModelT.InitFromPackedBuf(content, 0)
    for op in model.subgraphs[0].operators:
        code = model.operatorCodes[op.opcodeIndex].builtinCode
        if code not in (tflite.BuiltinOperator.CONV_2D, tflite.BuiltinOperator.CUSTOM):
            op.builtinOptions, op.builtinOptionsType = None, tflite.BuiltinOptions.NONE
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


@pytest.mark.parametrize("binary", [False, True], ids=["image", "binary layer"])
@pytest.mark.parametrize("kind", _WITHOUT_OPTIONS)
def test_operators_without_options(net, kind, binary, rng):
    """The image is a transposed one or a binary layer's, as rules look at both."""
    x = net.input(1, 4, 4, 32)
    y = net.conv(net.sign(x), signs(rng, 32, 1, 1, 32)) if binary else net.transpose(x, 0, 2, 1, 3)
    y = net.op("ABS", _WITHOUT_OPTIONS[kind](net, y))
    content = _without_options(net.finish(y))
    data = [steps(rng, *x.shape)]
    for want, have in zip(
        run_stock(content, data), run_engine(convert(content).content, data), strict=True
    ):
        np.testing.assert_array_equal(have, want)
    written = schema.write(schema.read(content))
    assert schema.write(schema.read(written)) == written


def test_shared_buffers_stay_shared(net):
    weights = np.arange(4000, dtype=np.float32)
    x = net.input(4000)
    first, second = net.constant(weights), net.constant(weights)
    tensors = net.builder.graph.tensors
    tensors[second.number].buffer = tensors[first.number].buffer
    y = net.op("ADD", net.op("MUL", x, first), second)
    content = schema.write(schema.read(net.finish(y)))
    assert len(content) < 2 * weights.nbytes


def test_equal_constants_of_any_size_are_stored_once(net, rng):
    """Two layers share weights if they are one layer used twice, or belong to two signatures."""
    x, y = (net.sign(net.input(1, 8, 8, 256)) for _ in range(2))
    filters = signs(rng, 256, 3, 3, 256)
    two = convert(net.finish(net.conv(x, filters), net.conv(y, filters.copy())))
    bits = filters.nbytes // 32
    assert bits < len(two.content) < bits + 8000


def test_equal_bytes_of_other_types_and_shapes_stay_other_constants(net, rng):
    """Two numbers 0.0 along the channels, the same along the rows, and the integers 0, 0 differ."""
    x = net.input(1, 2, 3, 2)
    y = net.op("ADD", x, np.zeros(2, np.float32))
    y = net.op("ADD", y, np.zeros((2, 1, 1), np.float32))
    y = net.op("SUM", y, np.zeros(2, np.int32), shape=(2, 3, 2))
    converted = convert_and_compare(net, y, inputs=[edges(rng, 1, 2, 3, 2)])
    assert len({op.inputs[1] for op in converted.graph.ops}) == 3


def test_many_equal_layers_share_what_they_can(net, rng):
    """Constants that 100 steps of an unrolled recurrent layer share are in the file once."""
    state = net.input(1, 64)
    weights = net.constant(signs(rng, 64, 64))
    for _ in range(100):
        state = net.op("ADD", net.dense(net.sign(state), weights), 0.5)
    converted = convert(net.finish(state))
    layers = converted.ops("LceBconv2d")
    assert len(layers) == 100
    constants = {tensor for op in layers for tensor in op.inputs[1:] if tensor is not None}
    assert len(constants) == 4  # filters, thresholds, and the last layer's multiplier and bias
    assert converted.content.count(b"channels_in") == 1


def test_constants_are_aligned(net):
    """Hosts read them in place."""
    x = net.input(2, 3)
    y = net.op("ADD", net.op("MUL", x, np.arange(3, dtype=np.float32)), 2.0)
    content = schema.write(schema.read(net.finish(y)))
    packed = tflite.Model.GetRootAs(content, 0)
    base = np.frombuffer(content, np.uint8).__array_interface__["data"][0]
    offsets = [
        packed.Buffers(number).DataAsNumpy().__array_interface__["data"][0] - base
        for number in range(packed.BuffersLength())
        if packed.Buffers(number).DataLength()
    ]
    assert len(offsets) == 2
    assert all(offset % 16 == 0 for offset in offsets)


def test_bytes_that_are_no_model():
    for content in (b"", b"TFL3", b"no model at all" * 10, _everything()[:-40]):
        with pytest.raises(ValueError, match=r"model"):
            schema.read(content)


def test_data_behind_the_flatbuffer(builder):
    """Files above 2 GB have such data."""
    x = builder.constant(np.ones(4, np.float32))
    buffer = builder.model.buffers[1]
    buffer.data, buffer.offset, buffer.size = None, 4096, 16
    content = builder.finish([], [x]) + bytes(8192)
    with pytest.raises(ValueError, match=r"buffer #1: .* behind"):
        schema.read(content)


def test_unknown_option():
    with pytest.raises(AttributeError, match="ReshapeOptions has no option shape"):
        schema.make_options("ReshapeOptions", shape=(1, 2))


def _conditional(rng: np.random.Generator) -> bytes:
    """Builds x -> a layer, then one layer or another, depending on a condition."""
    net = Net()
    x, condition = net.input(1, 4, 4, 32), net.input(dtype=np.bool_)
    y = net.conv(net.sign(x), signs(rng, 8, 3, 3, 32))
    for number, scale in enumerate((2.0, -4.0), start=1):
        branch = Net()
        branch.builder = net.builder.subgraph()
        a = branch.input(*y.shape)
        b = branch.op("MUL", branch.conv(branch.sign(a), signs(rng, 8, 1, 1, 8)), scale)
        branch.builder.interface([a.number], [b.number])
        assert len(net.builder.model.subgraphs) == number + 1
    z = net.op("IF", condition, y, shape=y.shape, thenSubgraphIndex=1, elseSubgraphIndex=2)
    return net.finish(z)


@pytest.mark.parametrize("condition", [True, False])
def test_subgraphs_are_converted_too(condition, rng):
    content = _conditional(rng)
    converted = convert(content)
    kinds = [[op.kind for op in graph.ops] for graph in schema.read(converted.content).graphs]
    binary = ["LceQuantize", "LceBconv2d"]
    assert kinds == [[*binary, "IF"], binary, binary]
    data = [edges(rng, 1, 4, 4, 32), np.array(condition)]
    assert len(converted.layers) == 3
    (want,) = run_stock(content, data)
    np.testing.assert_array_equal(_run_once(converted.content, data), want)


def _run_once(content: bytes, data: list[np.ndarray]) -> np.ndarray:
    """Runs LiteRT with the plug-in, without `predict`, whose inputs need a batch."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(
        model_content=content, experimental_delegates=[larq_engine.load_delegate()]
    )
    interpreter.allocate_tensors()
    for info, array in zip(interpreter.get_input_details(), data, strict=True):
        interpreter.set_tensor(info["index"], array)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def test_loop_is_converted_inside(net, rng):
    """A WHILE repeats a binary layer three times."""
    count, x = net.input(1, dtype=np.int32), net.input(1, 4, 4, 32)
    test = Net()
    test.builder = net.builder.subgraph()
    n, value = test.input(1, dtype=np.int32), test.input(*x.shape)
    less = test.op("LESS", n, np.array([3], np.int32), dtype=np.bool_)
    test.builder.interface([n.number, value.number], [less.number])
    body = Net()
    body.builder = net.builder.subgraph()
    n, value = body.input(1, dtype=np.int32), body.input(*x.shape)
    more = body.op("ADD", n, np.array([1], np.int32), dtype=np.int32)
    layer = body.conv(body.sign(value), signs(rng, 32, 3, 3, 32), steps(rng, 32), padding="SAME")
    body.builder.interface([n.number, value.number], [more.number, layer.number])
    ends = [
        Value(net.builder.tensor(v.shape, dtype), v.shape)
        for v, dtype in ((count, np.int32), (x, np.float32))
    ]
    net.builder.builtin(
        "WHILE", [count.number, x.number], [end.number for end in ends],
        condSubgraphIndex=1, bodySubgraphIndex=2,
    )  # fmt: skip
    content = net.finish(*ends)
    data = [np.zeros(1, np.int32), edges(rng, *x.shape)]
    converted = convert(content)
    kinds = [op.kind for op in schema.read(converted.content).graphs[2].ops]
    assert "LceBconv2d" in kinds
    for want, have in zip(
        run_stock(content, data), run_engine(converted.content, data), strict=True
    ):
        np.testing.assert_array_equal(have, want)


def test_converting_twice_is_converting_once(net, rng):
    """This holds for binary layers with bits in between, pooling, dense and weight-only layers."""
    x = net.input(2, 8, 8, 3)
    y = net.conv(x, signs(rng, 32, 3, 3, 3))
    y = net.conv(net.sign(y), signs(rng, 40, 3, 3, 32), padding="SAME", activation="RELU")
    y = net.sign(net.op("ADD", net.max_pool(y), steps(rng, 40)))
    y = net.conv(net.pad(y, ((1, 1), (1, 1)), -1.0), signs(rng, 32, 3, 3, 40))
    y = net.dense(net.sign(net.reshape(y, 2, 9 * 32)), signs(rng, 5, 9 * 32))
    data = [steps(rng, *x.shape)]
    once = convert_and_compare(net, y, inputs=data)
    twice = convert(once.content)
    assert twice.content == once.content
    assert [layer.became for layer in twice.layers] == [layer.became for layer in once.layers]


def test_both_spellings_of_the_convolution_are_one_operator(rng):
    """Reports, checks and rules treat both alike; files get the spelling of LCE's converter."""
    conv = Conv((1, 4, 4, 32), (3, 3), 4)
    filters = np.sign(rng.standard_normal(conv.filter_shape)).astype(np.float32)
    ones, zeros = np.ones(4, np.float32), np.zeros(4, np.float32)
    content = bconv_model(conv, filters, ones, zeros, op="LceBConv2d")
    converted = convert(content)
    assert converted.kinds == ["LceQuantize", "LceBconv2d"]
    assert [layer.became for layer in converted.layers] == ["binary"]
    facts = collect_facts(content)
    assert (facts.binary_macs, facts.count_kinds("plug-in")["LceBconv2d"]) == (
        4 * 4 * 4 * 9 * 32,
        1,
    )
