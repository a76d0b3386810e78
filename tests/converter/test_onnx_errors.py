"""ONNX models that are refused: each with an error that says why, and never a crash."""

import builtins
import random
import tracemalloc

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import larq_engine
from larq_engine.converter.onnx_reader import file
from larq_engine.converter.onnx_reader.table import known_kinds
from tests.converter.graphs import signs, steps
from tests.converter.onnx_models import OPSET, OnnxNet


@pytest.fixture
def net():
    return OnnxNet()


@pytest.fixture
def model(net, rng):
    x = net.bipolar(net.conv(net.input(1, 3, 8, 8), steps(rng, 32, 3, 3, 3)))
    return net.proto(net.conv(x, signs(rng, 8, 32, 3, 3), name="second"))


def _refused(model, words, **options):
    content = model if isinstance(model, bytes) else model.SerializeToString()
    with pytest.raises(ValueError, match=words):
        larq_engine.convert_onnx(content, **options)


def test_cut_files(model):
    content = model.SerializeToString()
    for length in [0, 1, 7, 20, *range(50, len(content) - 1, len(content) // 20)]:
        _refused(content[:length], r"expected (a whole|an) ONNX model|damaged|export it again")


def test_mutated_files(model):
    """Mutated files are read, or refused with a ValueError."""
    content = model.SerializeToString()
    chance = random.Random(7)
    refused = 0
    for _ in range(100):
        changed = bytearray(content)
        for _ in range(chance.randrange(1, 4)):
            changed[chance.choice([chance.randrange(len(changed)), chance.randrange(300)])] = (
                chance.randrange(256)
            )
        try:
            larq_engine.convert_onnx(bytes(changed), check=False)
        except ValueError:
            refused += 1
    assert refused > 10


@pytest.mark.parametrize("content", [b"TFL3 is in no ONNX model", b"\x08\x08", b"PK\x03\x04zip"])
def test_other_files(content):
    _refused(content, "ONNX model, got (something else|a file without operators)")


def test_a_circle(model):
    first, *_ = model.graph.node
    first.input[0] = model.graph.node[-1].output[0]
    _refused(model, r"Conv .* what an earlier operator makes, got .* go round in a circle")


def test_a_value_made_twice(model):
    model.graph.node[1].output[0] = model.graph.node[0].output[0]
    _refused(model, "a value of its own")


def test_a_missing_tensor(model):
    del model.graph.initializer[0]
    _refused(model, r"got 'constant_0', which none does")


def test_missing_outputs(model):
    model.graph.output[0].name = "nothing"
    _refused(model, r"outputs that operators make, got \['nothing'\]")


@pytest.mark.parametrize("part", ["input", "initializer", "output"])
def test_the_same_name_twice(model, part):
    entries = getattr(model.graph, part)
    entries.append(entries[0])
    _refused(model, "each input and initializer to have a name|outputs of different names")


def test_an_input_without_a_name(model):
    model.graph.input[0].name = model.graph.node[0].input[0] = ""
    _refused(model, "each input and initializer to have a name of its own, got ''")


def test_weights_without_values(net):
    y = net.conv(net.input(1, 3, 8, 8), np.zeros((0, 3, 3, 3), np.float32))
    _refused(net.proto(y), r"expected a tensor with values, got the shape \[1, 6, 6, 0\]")


def test_data_of_another_size(model):
    model.graph.initializer[0].dims[0] = 33
    _refused(model, r"'constant_0' to hold values for the shape \[33, 3, 3, 3\]")


@pytest.mark.parametrize("size", [-1, 1 << 40, (1 << 63) - 1])
def test_impossible_sizes(model, size):
    model.graph.initializer[0].dims[0] = size
    _refused(model, "'constant_0' to have")


def test_a_constant_of_huge_shape(net):
    huge = net.op("ConstantOfShape", np.array([1 << 30, 1 << 30], np.int64))
    _refused(net.finish(net.op("Add", net.input(1, 2), huge)), "constants of less than 2 GB")


_HUGE = np.array(1 << 28, np.int64)


@pytest.mark.parametrize(
    ("kind", "inputs", "attributes"),
    [
        ("Tile", (np.float32([1]), _HUGE.reshape(1)), {}),
        ("Range", (np.int64(0), _HUGE, np.int64(1)), {}),
        ("OneHot", (np.int64([1, 2]), _HUGE, np.float32([0, 1])), {}),
        ("Pad", (np.float32([1]), np.array([0, _HUGE])), {}),
        ("MatMul", (np.ones((1 << 14, 1), np.float32), np.ones((1, 1 << 14), np.float32)), {}),
        ("HannWindow", (_HUGE,), {}),
    ],
)
def test_constants_that_would_take_the_memory(net, kind, inputs, attributes):
    """The constants are refused before anything of that size is made."""
    huge = net.op(kind, *inputs, name="huge", **attributes)
    tracemalloc.start()
    try:
        words = rf"{kind} 'huge': expected constants of less than \d+ bytes.*; compute them before"
        _refused(net.finish(net.op("Add", net.input(1, 1), huge)), words)
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()


_ROW = np.zeros(1 << 15, np.float32)
_COLUMN = _ROW.reshape(-1, 1)


@pytest.mark.parametrize(
    ("kind", "inputs", "words"),
    [
        ("Attention", (_ROW.reshape(1, 1, -1, 1),) * 3, "an operator that the converter reads"),
        ("PRelu", (_ROW, _COLUMN), "inputs that fit"),
        ("Clip", (_ROW, _COLUMN), "inputs that fit"),
        ("Gemm", (_COLUMN, np.ones((1, 1), np.float32), _ROW), "inputs that fit"),
        ("DequantizeLinear", (_COLUMN.astype(np.int8), _ROW), "inputs that fit"),
        ("QuantizeLinear", (_COLUMN, _ROW), "inputs that fit"),
    ],
)
def test_constants_that_take_the_square_of_their_memory(kind, inputs, words):
    """Inputs and outputs are small, but the values between them would take 4 GB."""
    net = OnnxNet(opset=23)
    x = net.op(kind, *inputs, name="square")
    x = net.op("Cast", net.op("Reshape", x, np.array([1, -1])), to=TensorProto.FLOAT)
    x = net.op("ReduceMax", x, np.array([1]))
    tracemalloc.start()
    try:
        _refused(
            net.finish(net.op("Add", net.input(1, 1), x)), f"{kind} 'square': expected {words}"
        )
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()


def test_constants_that_would_take_years(net):
    rows = [np.ones(1 << 12, np.float32) for _ in range(4)]
    x = net.op("Einsum", *rows, equation="a,b,c,d->", name="long")
    _refused(net.finish(net.op("Add", net.input(1, 1), x)), "Einsum 'long': .* products")


def test_many_constants_that_would_take_the_memory_together(net):
    x = net.op("Tile", np.float32([[1]]), np.array([1 << 12, 1 << 12], np.int64))
    for _ in range(9):
        x = net.op("Neg", x)
    x = net.op("ReduceSum", x, np.array([0, 1], np.int64))
    _refused(net.finish(net.op("Add", net.input(1, 1), x)), "Neg .*: expected constants of less")


def test_constants_that_differ_from_run_to_run(net):
    noise = net.op("RandomNormal", shape=[2, 3], name="noise")
    words = "RandomNormal 'noise': expected an operator that the converter reads"
    _refused(net.finish(net.op("Add", net.input(2, 3), noise)), words)


def test_a_subgraph_of_constants(net):
    """A loop in a file could run for ever, so it is refused."""
    body = helper.make_graph([], "body", [], [])
    x = net.op("Loop", np.int64(1 << 60), None, np.float32([1]), name="odd", body=body)
    _refused(net.finish(net.op("Add", net.input(1, 1), x)), "Loop 'odd': expected an operator that")


@pytest.mark.parametrize("kind", ["Div", "Mod"])
def test_divisors_of_zero(net, kind):
    x = net.op(kind, np.array([6, 6]), np.array([1, 0]), name="odd")
    _refused(net.finish(net.op("Reshape", net.input(1, 36), x)), f"{kind} 'odd': .* a divisor")


def test_a_tensor_elsewhere_in_a_constant(net, tmp_path, monkeypatch):
    """A file that an attribute names is read from the model's folder or not at all."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_bytes(bytes(8))
    value = helper.make_tensor("value", TensorProto.FLOAT, [2], [0, 0])
    _move_out(value, "secret")
    x = net.op("ConstantOfShape", np.array([2], np.int64), value=value)
    _refused(net.finish(net.op("Add", net.input(1, 2), x)), "give the path of the file")


def test_a_value_of_huge_shape(net):
    a, b = net.input(1 << 20, 1), net.input(1, 1 << 20)
    _refused(net.finish(net.op("Add", a, b)), "a tensor of less than 2 GB")


@pytest.mark.parametrize(
    "location",
    [
        "../weights.bin",
        "/etc/hostname",
        "",
        "link.bin",
        "absent.bin",
        "short.bin",
        "a\0b",
        "a" * 300,
    ],
)
def test_data_elsewhere(model, tmp_path, location):
    folder = tmp_path / "model"
    folder.mkdir()
    content = np.ones((32, 3, 3, 3), np.float32).tobytes()
    (tmp_path / "weights.bin").write_bytes(content)
    (folder / "link.bin").symlink_to(tmp_path / "weights.bin")
    (folder / "short.bin").write_bytes(content[:-1])
    _move_out(model.graph.initializer[0], location)
    (folder / "net.onnx").write_bytes(model.SerializeToString())
    words = {"absent.bin": "got no such file", "short.bin": "to have 3456 bytes"}
    with pytest.raises(ValueError, match=words.get(location, "a file in the folder of the model")):
        larq_engine.convert_onnx(folder / "net.onnx")
    _refused(model, "give the path of the file")


def _move_out(tensor, location, **fields):
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **fields}.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, str(value)


def test_data_beside_the_model(model, tmp_path):
    whole = larq_engine.convert_onnx(model.SerializeToString())
    first = model.graph.initializer[0]
    (tmp_path / "weights.bin").write_bytes(b"12345678" + first.raw_data)
    _move_out(first, "weights.bin", offset=8, length=len(first.raw_data))
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    assert larq_engine.convert_onnx(tmp_path / "net.onnx") == whole


@pytest.mark.parametrize(
    ("version", "words"),
    [(8, "got opset 8; .*version_converter"), (99, "got opset 99; .* upgrade")],
)
def test_versions(model, version, words):
    model.opset_import[0].version = version
    _refused(model, words)


@pytest.mark.parametrize(
    ("kind", "attributes", "words"),
    [
        ("LSTM", {}, r"LSTM 'odd': expected an operator that the converter reads .*, got LSTM of"),
        ("Hexagon", {}, r"got Hexagon of values that .*; export the model without it"),
        ("Quant", {"rounding_mode": "UP", "signed": 0}, r"Quant 'odd': .* rounded by one of ROUND"),
        ("Quant", {"signed": 1}, r"Quant 'odd': expected 2 bits or more .*, got 1 bits"),
        ("MaxPool", {"kernel_shape": [2, 2], "dilations": [2, 2]}, "'odd': .* no dilations"),
        ("MaxPool", {"kernel_shape": "two"}, "its kernel_shape to be whole numbers, got 'two'"),
        ("MaxPool", {"kernel_shape": [99, 99]}, "a window in the padded image"),
        ("MaxPool", {"kernel_shape": [1, 1], "strides": [1, 1 << 40]}, "2 strides of 1 or more"),
        ("Pad", {}, "'odd': expected 8 pads, got None"),
        ("Cast", {"to": 11}, "a cast to float32.*, got type 11"),
        ("Transpose", {"perm": [0, 0, 1, 2]}, "an order of 4 dimensions"),
        ("Flatten", {"axis": 9}, "Flatten 'odd'"),
        ("Concat", {"axis": 7}, "an axis of 4 dimensions, got 7"),
        ("Gemm", {}, "an input of 2 dimensions"),
        ("DepthToSpace", {"blocksize": 2}, "channels for blocks of 2, got 3"),
        ("SpaceToDepth", {"blocksize": 3}, r"blocks of 3 in the image, got \[8, 8\]"),
        ("Einsum", {"equation": "...ij->...ji"}, "a letter for each dimension, got"),
        ("ArgMax", {"select_last_index": 1}, "the first of equal values"),
        ("Gelu", {"approximate": "other"}, "its approximate to be none or tanh"),
        ("LpNormalization", {"p": 3}, "its p to be 1 or 2, got 3"),
        ("Celu", {"alpha": 0.0}, "its alpha not to be 0"),
        ("Tile", {}, r"repeats of \[1, 3, 8, 8\], got \[1, 2\]"),
        ("Expand", {}, "shapes that fit, got"),
        ("Gather", {"axis": 1}, "places of 3, got"),
        ("GatherND", {}, r"places of \[1, 3\], got others"),
    ],
)
def test_operators(net, kind, attributes, words):
    x = net.input(1, 3, 8, 8)
    more = [np.float32(1)] * {"Quant": 3, "Gemm": 1}.get(kind, 0)
    places = {"Tile": [1, 2], "Expand": [5, 1, 1], "Gather": [7], "GatherND": [0, 3]}
    more += [np.array(places[kind])] if kind in places else []
    _refused(net.finish(net.op(kind, x, *more, name="odd", **attributes)), words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "cubic"}, "the nearest pixel, or linear interpolation"),
        ({"mode": "linear", "antialias": 1}, "antialias=1"),
        ({"nearest_mode": "odd"}, "rounded by one of round_prefer_floor"),
        ({"coordinate_transformation_mode": "tf_crop_and_resize"}, "one of half_pixel"),
        ({"keep_aspect_ratio_policy": "not_larger"}, "an aspect ratio to keep"),
        ({"axes": [1, 2]}, r"batch and channels of \[1, 3, 8, 8\] as they are"),
        ({"axes": [2]}, "1 scales or sizes"),
    ],
)
def test_images_of_other_sizes(net, options, words):
    x = net.input(1, 3, 8, 8)
    sizes = {"axes": [2, 3], **options}
    made = net.op("Resize", x, None, None, np.array([16, 12]), name="odd", **sizes)
    _refused(net.finish(made), f"Resize 'odd': .*{words}")


@pytest.mark.parametrize(
    "options",
    [
        {"dilations": [2, 2]},
        {"output_shape": [9, 9]},
        {"auto_pad": "SAME_UPPER"},
        {"strides": [2, 2], "output_padding": [2, 0]},
        {"pads": [9, 9, 9, 9]},
        {"group": 2},
    ],
)
def test_transposed_convolutions(net, options):
    x = net.input(1, 3, 8, 8)
    weights = np.ones((3, 2, 3, 3), np.float32)
    made = net.op("ConvTranspose", x, weights, name="odd", **options)
    _refused(net.finish(made), "ConvTranspose 'odd': expected (pads|weights)")


def test_shapes_and_types_that_do_not_fit():
    net = OnnxNet()
    made = net.op("Add", net.input(2, 3), net.input(2, 4), name="odd")
    _refused(net.finish(made), r"Add 'odd': expected shapes that fit, got \[2, 3\] and \[2, 4\]")
    net = OnnxNet()
    truth = net.op("Less", net.input(2, 3), np.array(1, np.int64), name="odd")
    _refused(net.finish(net.op("Cast", truth, to=1)), "Less 'odd': .* got float32 and int64")


# Operators that take none of their inputs if the optional ones are missing.
_ALONE = {"Pad", "ReduceSum", "Slice", "Unsqueeze"}


@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("kind", sorted(set(known_kinds()) - {"Constant", "Shape"}))
def test_absent_inputs(kind, computed):
    """Each required input is left out in turn; the others are constants or the model's input."""
    counts = {"BipolarQuant": 2, "Quant": 4}
    opset = {"RMSNormalization": 23, "Swish": 24, "Upsample": 9}.get(kind, OPSET)
    count = counts.get(kind) or onnx.defs.get_schema(kind, opset).min_input
    for absent in range(1 if kind in _ALONE else count):
        net = OnnxNet(opset)
        x = net.input(1, 2, 4, 4)
        given = [x if computed else np.ones((1, 2, 4, 4), np.float32) for _ in range(count)]
        given[absent] = None
        node = net.op(kind, *given, name="/the/node")
        _refused(net.proto(node), rf"{kind} '/the/node': expected an input #{absent}, got none")


def test_an_operator_without_inputs(net):
    _refused(net.proto(net.op("Clip")), "Clip .*: expected an input #0, got none")


def test_sizes_of_dimensions_that_are_not_there():
    for x, words in (
        (np.ones((2, 3), np.float32), r"reading it failed \(InferenceError"),
        (None, r".* got \[0, 0, 0\] takes sizes of dimensions that \[2, 3\]"),
    ):
        net = OnnxNet()
        x = net.input(2, 3) if x is None else x
        y = net.op("Reshape", x, np.array([0, 0, 0], np.int64), name="/the/node")
        _refused(net.proto(y), rf"Reshape '/the/node': {words}")


def test_another_domain(model):
    model.graph.node[0].domain = "com.example"
    _refused(model, "one of the domain 'com.example'")


def test_a_second_result_that_is_not_there(net):
    made, mask = net.op("Dropout", net.input(1, 4), outputs=2)
    _refused(net.finish(net.op("Where", mask, made, np.float32(0))), "a second output")


def test_training(net):
    x = net.op("Dropout", net.input(1, 4), np.float32(0.5), np.array(True))
    _refused(net.finish(x), r"expected inference, got training; .*model\.eval")


def test_open_sizes(net, rng):
    x = net.conv(net.input(1, 3, "height", "width"), steps(rng, 4, 3, 3, 3))
    _refused(net.finish(x), r"fixed sizes but for the first.*, got \[1, 3, 'open', 'open'\]")


@pytest.mark.parametrize("perm", [[1, 0, 2], None])
def test_samples_that_the_output_does_not_have_first(net, perm):
    """Callers would take other things for samples."""
    x = net.input("batch", 3, 4)
    y = net.op("Transpose", x, perm=perm) if perm else net.op("ReduceSum", x, keepdims=0)
    shape = r"\[3, 'open', 4\]" if perm else r"\[\]"
    _refused(net.finish(y), rf"output '.*': expected the samples .*, got the shape {shape}; export")


def test_other_types():
    net = OnnxNet()
    _refused(net.finish(net.op("Relu", net.input(1, 2, dtype=TensorProto.DOUBLE))), "float32, got")
    net = OnnxNet()
    text = net.input(1, 2, dtype=TensorProto.STRING)
    _refused(net.finish(net.op("Identity", text)), "'input_0' to be of floats.* got STRING")


def test_computing_with_an_open_batch(net):
    x = net.input("batch", 6)
    size = net.op("Mul", net.op("Shape", x), np.array([2, 1], np.int64))
    _refused(net.finish(net.op("Reshape", x, size)), "sizes that are known, got the open batch")


def test_arguments(model):
    _refused(model, 'sign_of_zero: expected "error"', sign_of_zero="0")
    with pytest.raises(TypeError, match=r"got ModelProto; .* pass model\.SerializeToString"):
        larq_engine.convert_onnx(model)
    with pytest.raises(FileNotFoundError, match=r"'absent\.onnx': expected a file, .*; check"):
        larq_engine.convert_onnx("absent.onnx")
    with pytest.raises(ValueError, match="got an empty one"):
        larq_engine.convert_onnx("")


def test_without_the_package(monkeypatch):
    load = builtins.__import__

    def no_onnx(name, *rest, **more):
        if name.split(".")[0] == "onnx":
            raise ModuleNotFoundError(f"No module named {name!r}", name="onnx")
        return load(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", no_onnx)
    with pytest.raises(ImportError, match=r"pip install 'PATH\[onnx\]'"):
        file.read_onnx(b"")


def test_the_newest_operators_are_read(model):
    model.opset_import[0].version = onnx.defs.onnx_opset_version()
    assert larq_engine.convert_onnx(model.SerializeToString()).report.count("binary") == 1


def test_a_subgraph(net):
    branch = helper.make_graph([], "branch", [], [])
    x = net.op("If", net.input(1, dtype=TensorProto.BOOL), name="odd", then_branch=branch)
    _refused(net.finish(x), "If 'odd': expected an operator that the converter reads")
