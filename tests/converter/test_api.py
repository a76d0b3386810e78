"""The functions that users call: what they return, and what they refuse."""

import json
import pickle

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as tflite

import larq_engine
from larq_engine.converter import conversion
from larq_engine.converter.options import check_int8_range
from larq_engine.python import library
from tests.converter.graphs import Net, signs


@pytest.fixture
def content(rng):
    net = Net()
    y = net.conv(net.sign(net.input(1, 5, 5, 8)), signs(rng, 4, 3, 3, 8))
    return net.finish(y)


def test_result_is_bytes_with_a_report(content):
    converted = larq_engine.convert_tflite(content)
    assert isinstance(converted, bytes)
    report = converted.report
    assert (report.size_before, report.size_after) == (len(content), len(converted))
    assert report.count("binary") == 1
    assert report.operators == {"LceQuantize": 1, "LceBconv2d": 1}
    assert json.loads(report.to_json())["layers"][0]["became"] == "binary"
    assert "1 layer: 1 binary" in str(report)


def test_result_can_be_sent_to_another_process(content):
    converted = larq_engine.convert_tflite(content)
    copy = pickle.loads(pickle.dumps(converted))
    assert copy == converted
    assert copy.report == converted.report


def test_file_that_hosts_refuse_is_not_returned(content, monkeypatch):
    """A fault of a rule that shows only in the written file is found, too."""

    def lose_words(graph, options):
        (bits,) = [op.inputs[1] for op in graph.ops if op.kind == "LceBconv2d"]
        bits.data = bits.data[..., :0]

    monkeypatch.setattr(conversion, "finish", lose_words)
    with pytest.raises(larq_engine.ConversionError, match="converter is at fault"):
        larq_engine.convert_tflite(content, check=False)


def test_path_and_bytes_give_the_same(content, tmp_path):
    file = tmp_path / "model.tflite"
    file.write_bytes(content)
    assert larq_engine.convert_tflite(file) == larq_engine.convert_tflite(content)


def test_a_file_is_checked_and_parsed_once(content, tmp_path, monkeypatch):
    """The self-check also runs the file, without checking it again; the result is checked, too."""
    file = tmp_path / "model.tflite"
    file.write_bytes(content)
    seen: list[str] = []
    for module, name in ((library, "check_model"), (tflite.ModelT, "InitFromPackedBuf")):
        function = getattr(module, name)

        def counted(data, *rest, function=function, name=name):
            seen.append(f"{name} of {len(data)} bytes")
            return function(data, *rest)

        monkeypatch.setattr(module, name, counted)
    for source in (content, file):
        seen.clear()
        size = len(larq_engine.convert_tflite(source))
        assert seen == [
            f"check_model of {len(content)} bytes",
            f"InitFromPackedBuf of {len(content)} bytes",
            f"check_model of {size} bytes",
        ]


def test_report_of_each_kind_of_model(content, tmp_path):
    file = tmp_path / "model.tflite"
    file.write_bytes(content)
    converted = larq_engine.convert_tflite(content)
    for model in (content, file, str(file)):
        assert larq_engine.conversion_report(model, check=True) == converted.report
    assert larq_engine.conversion_report(converted) == converted.report


def test_report_of_a_converted_model_takes_no_options(content):
    converted = larq_engine.convert_tflite(content)
    with pytest.raises(ValueError, match="give the unconverted model"):
        larq_engine.conversion_report(converted, target="xcore")


@pytest.mark.parametrize(
    ("argument", "value", "expected"),
    [
        ("target", "x86", '"arm" or "fpga" or "microcontroller" or "xcore"'),
        ("compatibility", "tflite", '"larq_engine" or "lce"'),
        ("inference_input_type", "uint8", "float32 or int8"),
        ("inference_output_type", np.float16, "float32 or int8"),
    ],
)
def test_unknown_argument(content, argument, value, expected):
    with pytest.raises(ValueError, match=rf"Expected `{argument}` to be {expected}, but got"):
        larq_engine.convert_tflite(content, **{argument: value})


def test_int8_asked_of_a_float_model(content):
    with pytest.raises(ValueError, match="expected one QUANTIZE to int8"):
        larq_engine.convert_tflite(content, inference_input_type="int8")


def test_no_model():
    with pytest.raises(ValueError, match="TensorFlow Lite"):
        larq_engine.convert_tflite(b"not a model at all")


@pytest.mark.parametrize(
    "int8_range",
    [(1, 6), (-6, -1), (0, 0), (6, -6), (-1e-45, 1e-45), (0, 1e-40), "06", (0, "6"), 6],
)
def test_impossible_int8_range(int8_range):
    with pytest.raises(ValueError, match="experimental_default_int8_range"):
        check_int8_range(int8_range)


def test_numbers_beside_the_layers(net, rng):
    """Operators of scalars beside the layers do no harm."""
    x = net.input(1, 5, 5, 8)
    y = net.conv(net.sign(x), signs(rng, 4, 3, 3, 8))
    total = net.op("SUM", x, np.array([0, 1, 2, 3], np.int32), shape=())
    content = net.finish(net.op("MUL", y, net.op("ADD", total, 1.0)))
    assert larq_engine.convert_tflite(content).report.count("binary") == 1
