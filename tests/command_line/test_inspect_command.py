"""The facts of `larq-engine inspect` are the plug-in's own, and those counted by hand."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from larq_engine.command_line import main
from larq_engine.command_line.model_facts import collect_facts, find_claims
from larq_engine.python import units
from larq_engine.python.library import nodes_of
from larq_engine.python.session import Session
from larq_engine.python.tensors import random_data
from tests.command_line.models import float_model
from tests.model_builder import ABSENT, ModelBuilder, add_weights, bconv_model, bconv_options
from tests.oracle import Conv

_INTEROP = Path(__file__).parents[1] / "interop" / "data"
_MODELS = sorted(_INTEROP.glob("*.tflite"))


@pytest.mark.parametrize("path", _MODELS, ids=lambda path: path.stem)
def test_the_plug_in_agrees(path, rng):
    """The plug-in counts products of shapes that it found.

    Without fusing it runs the operators that only it has; otherwise those that it names before a
    run."""
    content = path.read_bytes()
    facts = collect_facts(content)
    fused = collect_facts(content, find_claims(content))
    session = Session(content, num_threads=1, host=None)
    arrays = [random_data(info, rng) for info in session.inputs()]
    steps, _, left = session.measure(arrays, 1)
    assert [op.kind for op in fused.operators if op.runs_in == "host"] == left
    assert {op.index for op in fused.operators if op.runs_in == "plug-in"} == nodes_of(steps)
    session = Session(content, num_threads=1, kernel="auto", fuse=False, host=None)
    steps, _, left = session.measure(arrays, 1)
    claimed = [op for op in facts.operators if op.runs_in == "plug-in"]
    assert [op.kind for op in claimed] == [step["op"] for step in steps]
    assert [op.name for op in claimed] == [step["name"] for step in steps]
    assert [op.layer for op in claimed] == [step["layer"] for step in steps]
    assert [op.macs for op in claimed] == [step["macs"] for step in steps]
    assert facts.binary_macs == sum(step["macs"] for step in steps) > 0
    assert [op.kind for op in facts.operators if op.runs_in == "unknown"] == left
    assert facts.file_bytes == len(content)


def _constant(builder, *shape, dtype=np.float32):
    return builder.constant(np.ones(shape, dtype))


def _one_op(kind, shapes, result, dtype=np.float32, **options):
    """Makes a model of one operator: shapes are variable inputs, lists are constants."""
    builder = ModelBuilder()
    numbers, variable = [], []
    for shape in shapes:
        if isinstance(shape, list):
            numbers.append(_constant(builder, *shape, dtype=dtype))
        else:
            variable.append(builder.tensor(shape, dtype))
            numbers.append(variable[-1])
    y = builder.tensor(result, dtype)
    builder.builtin(kind, numbers, [y], **options)
    return builder.finish(variable, [y])


# Kind, shapes of inputs (lists are constants), shape of the result, options, products by hand.
_LAYERS = [
    ("CONV_2D", [(2, 8, 8, 3), [5, 3, 3, 3]], (2, 6, 6, 5), {}, 2 * 6 * 6 * 5 * 3 * 3 * 3),
    # Two groups of two channels.
    ("CONV_2D", [(1, 8, 8, 4), [6, 3, 3, 2]], (1, 8, 8, 6), {}, 8 * 8 * 6 * 3 * 3 * 2),
    ("DEPTHWISE_CONV_2D", [(1, 8, 8, 4), [1, 3, 5, 8], [8]], (1, 8, 8, 8), {}, 8 * 8 * 8 * 15),
    ("FULLY_CONNECTED", [(2, 7), [9, 7]], (2, 9), {}, 2 * 9 * 7),
    ("BATCH_MATMUL", [(2, 4, 7), (2, 7, 3)], (2, 4, 3), {}, 2 * 4 * 3 * 7),
    ("BATCH_MATMUL", [(2, 7, 4), (2, 7, 3)], (2, 4, 3), {"adjX": True}, 2 * 4 * 3 * 7),
    ("TRANSPOSE_CONV", [[4], [5, 3, 3, 2], (1, 4, 4, 2)], (1, 8, 8, 5), {}, 4 * 4 * 2 * 5 * 3 * 3),
    ("CONV_3D", [(1, 4, 4, 4, 2), [3, 2, 1, 2, 5]], (1, 2, 3, 4, 5), {}, 2 * 3 * 4 * 5 * 12),
    (
        "CONV_3D_TRANSPOSE",
        [[5], [3, 2, 1, 5, 2], (1, 4, 4, 4, 2)],
        (1, 8, 8, 8, 5),
        {},
        4 * 4 * 4 * 2 * 5 * 6,
    ),
    ("BATCH_MATMUL", [(2, 4, 7), (2, 3, 7)], (2, 4, 3), {"adjY": True}, 2 * 4 * 3 * 7),
    ("ADD", [(1, 8), [8]], (1, 8), {}, 0),
]


@pytest.mark.parametrize(("kind", "shapes", "result", "options", "macs"), _LAYERS)
def test_products_of_float_layers(kind, shapes, result, options, macs):
    facts = collect_facts(_one_op(kind, shapes, result, **options))
    [op] = facts.operators
    assert (op.macs, facts.float_macs, facts.binary_macs, facts.integer_macs) == (macs, macs, 0, 0)
    assert op.weight_bits == (32 if macs else None)
    assert op.runs_in == "unknown"
    assert op.constant_bytes == sum(4 * np.prod(shape) for shape in shapes if type(shape) is list)


def test_products_of_integers_are_counted_apart():
    facts = collect_facts(_one_op("FULLY_CONNECTED", [(1, 7), [9, 7]], (1, 9), np.int8))
    assert (facts.integer_macs, facts.float_macs) == (63, 0)
    assert facts.operators[0].weight_bits == 8


def test_a_binary_convolution_with_groups():
    conv = Conv((2, 5, 5, 64), (3, 3), 40, groups=2, stride=(2, 2))
    filters = np.ones(conv.filter_shape, np.float32)
    ones = np.ones(40, np.float32)
    facts = collect_facts(bconv_model(conv, filters, ones, ones))
    quantize, convolution = facts.operators
    assert convolution.macs == facts.binary_macs == 2 * 3 * 3 * 40 * (3 * 3 * 32)
    assert facts.binary_weight_bytes == 40 * 3 * 3 * 4
    assert convolution.constant_bytes == facts.binary_weight_bytes + 2 * 40 * 4
    assert convolution.weight_bits == 1
    # Shapes count words, `bits` are those of a number.
    assert quantize.outputs[0].shape == convolution.inputs[0].shape == (2, 5, 5, 2)
    assert quantize.outputs[0].type == "int32"
    bits = [tensor.bits for tensor in (*quantize.inputs, *quantize.outputs, *convolution.outputs)]
    assert bits == [32, 1, 32]
    assert [tensor and tensor.bits for tensor in convolution.inputs] == [1, 1, 32, 32, None]


def test_weights_of_one_bit_with_float_values():
    builder = ModelBuilder()
    x, y = builder.tensor((1, 64), name="x"), builder.tensor((1, 32), name="y")
    scale = np.ones(32, np.float32)
    weights = add_weights(builder, np.ones((32, 64), np.float32), scale, 0)
    builder.builtin("FULLY_CONNECTED", [x, weights], [y])
    facts = collect_facts(builder.finish([x], [y]))
    unpack, dense = facts.operators
    assert (unpack.runs_in, dense.runs_in) == ("plug-in", "unknown")
    assert (unpack.inputs[0].bits, dense.weight_bits) == (1, 1)
    assert facts.binary_weight_bytes == 32 * 64 // 8
    assert (facts.binary_macs, facts.float_macs) == (0, 32 * 64)


def test_shapes_types_and_graphs():
    builder = ModelBuilder()
    x = builder.tensor((1, 4), name="x", signature=(-1, 4))
    y = builder.tensor((1, 4), np.bool_, name="y")
    builder.builtin("GREATER_EQUAL", [x, builder.constant(np.float32(0))], [y])
    other = builder.subgraph()
    z = other.tensor((), np.int64, name="z")
    other.builtin("NEG", [z], [z + 1])
    other.tensor((), np.int64, name="minus_z")
    other.interface([z], [z + 1])
    facts = collect_facts(builder.finish([x], [y]))
    compare, negate = facts.operators
    assert [(op.graph, op.index, op.kind) for op in facts.operators] == [
        (0, 0, "GREATER_EQUAL"),
        (1, 0, "NEG"),
    ]
    assert [tensor.constant for tensor in compare.inputs] == [False, True]
    assert facts.inputs == compare.inputs[:1]
    assert facts.outputs == compare.outputs
    assert (facts.inputs[0].shape, facts.inputs[0].type, facts.inputs[0].bits) == (
        (-1, 4),
        "float32",
        32,
    )
    assert (facts.outputs[0].type, facts.outputs[0].bits) == ("bool", 8)
    assert (negate.outputs[0].shape, negate.outputs[0].bits) == ((), 64)


def test_operators_without_inputs_or_outputs(tmp_path, capsys):
    builder = ModelBuilder()
    x = builder.tensor((1, 4), name="x")
    state = builder.tensor((), object, name="state")
    builder.builtin("VAR_HANDLE", [], [state], sharedName="state")
    builder.builtin("ASSIGN_VARIABLE", [state, x], [])
    path = tmp_path / "model.tflite"
    path.write_bytes(builder.finish([x], []))
    assert main(["inspect", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.search(r"VAR_HANDLE +state +none +scalar +none -> resource +0 +host$", lines[2])
    assert re.search(r"ASSIGN_VARIABLE .* scalar +none +resource -> none +0 +host$", lines[3])
    assert "outputs: none" in lines


def test_a_constant_that_tensors_share_counts_once():
    builder = ModelBuilder()
    x, y = builder.tensor((4, 4), name="x"), builder.tensor((4, 4), name="y")
    ones = _constant(builder, 4)
    again = builder.tensor((4,), name="again")
    builder.graph.tensors[again].buffer = builder.graph.tensors[ones].buffer
    builder.builtin("SELECT_V2", [x, ones, again], [y])
    assert collect_facts(builder.finish([x], [y])).operators[0].constant_bytes == 16


_TABLE = """\
#  operator     layer         first input  output      types                 bytes   MMAC  runs in
-  -----------  ------------  -----------  ----------  --------------------  -----  -----  -------
0  LceQuantize  signs         ?x50x50x40   1x50x50x2   float32 -> bit            0         plug-in
1  LceBconv2d   quant_conv2d  1x50x50x2    1x50x50x64  bit x bit -> float32   5120  57.60  plug-in
2  MEAN         z             1x50x50x64   1x64        float32 -> float32        8         host"""


def test_the_table(tmp_path, capsys):
    builder = ModelBuilder()
    conv = Conv((1, 50, 50, 40), (3, 3), 64)
    x = builder.tensor(conv.input_shape, name="x", signature=(-1, 50, 50, 40))
    bits = builder.tensor((1, 50, 50, 2), np.int32, name="net/signs/Sign")
    y = builder.tensor(conv.output_shape, name="net/quant_conv2d/BiasAdd;net/relu")
    z = builder.tensor((1, 64), name="z")
    filters = _constant(builder, 64, 3, 3, 2, dtype=np.int32)
    scales = [_constant(builder, 64), _constant(builder, 64)]
    builder.custom("LceQuantize", [x], [bits])
    builder.custom("LceBconv2d", [bits, filters, *scales, ABSENT], [y], bconv_options(conv))
    builder.builtin("MEAN", [y, builder.constant(np.array([1, 2], np.int32))], [z])
    path = tmp_path / "model.tflite"
    path.write_bytes(builder.finish([x], [z]))
    assert main(["inspect", str(path)]) == 0
    table, _, summary = capsys.readouterr().out.partition("\n\n")
    assert table == _TABLE
    assert summary.splitlines() == [
        "inputs: x ?x50x50x40 float32",
        "outputs: z 1x64 float32",
        "bits: the last size counts words of 32 channels",
        "in a host on this machine, the plug-in runs 2 operators: 1 LceQuantize, 1 LceBconv2d",
        "in a host on this machine, the host runs 1 operator: 1 MEAN",
        "  no operator that the plug-in takes reads its result: 2 MEAN",
        "without a host: the engine runs the model",
        "multiplications of one run: 57.6 M binary, 0 float",
        f"file: {units.size(path.stat().st_size)}, of which weights in bits take 4.61 kB",
    ]


def test_why_an_operator_stays_with_the_host():
    content = _one_op("SUB", [(1, 8), (1, 8)], (1, 8))
    [op] = collect_facts(content, find_claims(content)).operators
    assert (op.runs_in, op.reason) == (
        "host",
        "the plug-in does not compute this form: float32[1, 8], float32[1, 8] -> float32[1, 8]",
    )


def test_a_reason_names_some_of_its_operators(tmp_path, capsys):
    builder = ModelBuilder()
    x = y = builder.tensor((1, 4))
    for _ in range(11):
        source, y = y, builder.tensor((1, 4))
        builder.builtin("COS", [source], [y])
    path = tmp_path / "many.tflite"
    path.write_bytes(builder.finish([x], [y]))
    assert main(["inspect", str(path)]) == 0
    assert (
        "know the operator: 0 COS, 1 COS, 2 COS, 3 COS, 4 COS, 5 COS, 6 COS, 7 COS and 3 more\n"
        in (capsys.readouterr().out)
    )


def test_the_products_of_an_lcebmatmul():
    builder = ModelBuilder()
    x, y = builder.tensor((2, 5, 2), np.int32), builder.tensor((2, 6, 2), np.int32)
    values = builder.constant(np.ones((2, 2), np.float32))
    product = builder.tensor((2, 5, 6))
    builder.custom("LceBmatmul", [x, y, values], [product], {"depth": 40})
    facts = collect_facts(builder.finish([x, y], [product]))
    assert (facts.binary_macs, facts.float_macs) == (2 * 5 * 6 * 40, 0)


def test_why_a_model_needs_a_host(tmp_path, capsys):
    """The engine knows no CUMSUM, and no RESHAPE whose sizes are data."""
    builder = ModelBuilder()
    x, total, row = (builder.tensor((1, 8), name=name) for name in ("x", "total", "row"))
    sizes = builder.tensor((2,), np.int32, name="sizes")
    builder.builtin("CUMSUM", [x, builder.constant(np.array(1, np.int32))], [total])
    builder.builtin("RESHAPE", [x, sizes], [row])
    path = tmp_path / "model.tflite"
    path.write_bytes(builder.finish([x, sizes], [total, row]))
    assert main(["inspect", str(path)]) == 0
    [line] = re.findall("without a host: .*", capsys.readouterr().out)
    assert "got CUMSUM 'total' (#0), RESHAPE 'row' (#1: float32[1, 8], int32[2]); run " in line
    assert main(["inspect", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["needs_host"] == line.partition(": ")[2]


def test_weights_that_are_unpacked_run_in_the_plug_in():
    builder = ModelBuilder()
    x, y = builder.tensor((1, 64), name="x"), builder.tensor((1, 32), name="y")
    weights = add_weights(builder, np.ones((32, 64), np.float32), np.ones(32, np.float32), 0)
    builder.builtin("FULLY_CONNECTED", [x, weights], [y])
    content = builder.finish([x], [y])
    unpack, dense = collect_facts(content, find_claims(content)).operators
    assert (unpack.runs_in, dense.runs_in) == ("plug-in", "host")
    assert unpack.reason == "its weights are unpacked once, when the model is loaded"


def test_the_log_of_claims(capfd, monkeypatch):
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4), name="x"), builder.tensor((1, 4), name="swish\x1b[2J")
    builder.builtin("HARD_SWISH", [x], [y])
    content = builder.finish([x], [y])
    find_claims(content)
    assert "larq_engine:" not in capfd.readouterr().err
    monkeypatch.setenv("LARQ_ENGINE_LOG_CLAIMS", "on")
    find_claims(content)
    assert (
        "larq_engine: graph 0: takes over 0 of 1 operators\n"
        "larq_engine: #0 operator 117 'swish\ufffd[2J': host, because the plug-in does not know "
        "the operator\n"
    ) in capfd.readouterr().err
    monkeypatch.setenv("LARQ_ENGINE_LOG_CLAIMS", "yes\n")
    find_claims(content)
    message = capfd.readouterr().err
    assert "larq_engine: LARQ_ENGINE_LOG_CLAIMS: expected on or off, got 'yes\ufffd'" in message
    assert "takes over" not in message


def test_a_model_that_does_not_open(tmp_path, capsys):
    """The model's facts are shown, and who runs which operator is unknown."""
    builder = ModelBuilder()
    x, bits = builder.tensor((1, 64), name="x"), builder.tensor((1, 2), np.int32, name="bits")
    y = builder.tensor((1, 64), name="y")
    builder.custom("LceQuantize", [x], [bits])
    builder.custom("Foreign", [x], [y])
    path = tmp_path / "model.tflite"
    path.write_bytes(builder.finish([x], [bits, y]))
    assert main(["inspect", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition("  ")[2] for line in lines[2:4]] == ["plug-in", "unknown"]
    assert "in a host on this machine, the plug-in runs 1 operator: 1 LceQuantize" in lines
    [message] = [line for line in lines if line.startswith("who runs the others is unknown")]
    assert "unresolved custom op: Foreign" in message


def test_json(tmp_path, capsys):
    path, result = tmp_path / "model.tflite", tmp_path / "facts.json"
    path.write_bytes(float_model())
    assert main(["inspect", str(path), "--json", "-"]) == 0
    printed = capsys.readouterr().out
    assert main(["inspect", str(path), "--json"]) == 0
    assert capsys.readouterr().out == printed
    assert main(["inspect", str(path), "--json", str(result)]) == 0
    assert capsys.readouterr().out.startswith("#  operator")
    assert result.read_text() == printed.rstrip("\n")
    facts = json.loads(printed)
    assert facts["file_bytes"] == path.stat().st_size
    assert facts["float_macs"] == 16 * 32 * 9 * (4 + 32)
    assert [op["kind"] for op in facts["operators"]] == [
        "CONV_2D",
        "SIGN",
        "ADD",
        "SIGN",
        "CONV_2D",
    ]
    assert facts["operators"][0]["inputs"][1]["shape"] == [32, 3, 3, 4]


@pytest.mark.parametrize("name", ["model.h5", "saved"])
def test_other_models_must_be_converted_first(tmp_path, capsys, name):
    path = tmp_path / name
    if name == "saved":
        path.mkdir()
        path /= "saved_model.pb"
    path.write_bytes(b"")
    path = tmp_path / name
    assert main(["inspect", str(path)]) == 1
    assert f"`larq-engine convert {path} -o OUT.tflite`" in capsys.readouterr().err


def test_json_does_not_overwrite_the_model(tmp_path, capsys):
    path = tmp_path / "model.tflite"
    path.write_bytes(float_model())
    assert main(["inspect", str(path), "--json", str(path)]) == 1
    assert "json '" in capsys.readouterr().err
    assert path.read_bytes() == float_model()


def _broken_convolution(**options):
    builder = ModelBuilder()
    bits, y = builder.tensor((1, 4, 4, 3), np.int32), builder.tensor((1, 4, 4, 8), name="y")
    builder.custom("LceBconv2d", [bits, _constant(builder, 8, 1, 1, 2)], [y], options)
    return builder.finish([bits], [y])


def _no_outputs():
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 3), np.int32)
    builder.custom("LceBconv2d", [x, _constant(builder, 8, 1, 1, 2)], [], {"channels_in": 96})
    return builder.finish([x], [])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (_one_op("CONV_2D", [(1, 8, 8, 3), [3, 3]], (1, 8, 8, 3)), "got the shape (3, 3)"),
        (
            _one_op("BATCH_MATMUL", [(3, 3), (3,)], (3, 3)),
            "input 1: expected a tensor of 2 or more dimensions, got the shape (3,)",
        ),
        (_broken_convolution(channels_in=96), "divides the 3 words of a pixel, got 96 and 2 words"),
        (_broken_convolution(channels=96), "expected a number of channels_in"),
        (_broken_convolution(), "expected a number of channels_in"),
        (_no_outputs(), "expected an output, got none"),
    ],
)
def test_operators_that_cannot_be(content, words):
    with pytest.raises(ValueError, match=rf"^\w+.*: .*{re.escape(words)}.*; re-convert"):
        collect_facts(content)
