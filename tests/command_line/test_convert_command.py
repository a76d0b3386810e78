"""Tests `larq-engine convert`: results, reports, options, and that a failure leaves nothing."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter as StockInterpreter

import larq_engine
from larq_engine import ConversionError, ConversionReport, ConvertedModel
from larq_engine.command_line import main
from larq_engine.converter import api, keras_files
from larq_engine.converter.torch_reader import python_files
from tests.command_line.models import float_model
from tests.converter.onnx_models import OnnxNet

_EMPTY_REPORT = ConversionReport((), 0, 0, {})


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(float_model())
    return path


@pytest.fixture
def calls(monkeypatch):
    """Records the calls of the converter's functions instead of converting."""
    made = []

    def record(name):
        def convert(*source, **options):
            made.append((name, source[0] if len(source) == 1 else source, options))
            return ConvertedModel(b"converted", _EMPTY_REPORT)

        return convert

    for name in ("keras_model", "onnx", "saved_model", "tflite", "torch"):
        monkeypatch.setattr(api, f"convert_{name}", record(f"convert_{name}"))
    monkeypatch.setattr(python_files, "call_function", lambda file, name: (file, name))
    monkeypatch.setattr(
        keras_files,
        "load_keras",
        lambda path, *, unsafe: f"loaded {path.name}{' unsafely' if unsafe else ''}",
    )
    return made


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_tflite_file(model, tmp_path, capsys, rng):
    output, report = tmp_path / "out.tflite", tmp_path / "report.json"
    assert main(["convert", str(model), "-o", str(output), "--report", str(report)]) == 0
    assert model.read_bytes() == float_model()
    assert _names(tmp_path) == ["model.tflite", "out.tflite", "report.json"]
    assert output.stat().st_size < model.stat().st_size / 5

    x = rng.integers(-4, 5, (1, 4, 4, 4)).astype(np.float32)
    stock = StockInterpreter(model_path=str(model))
    stock.allocate_tensors()
    stock.set_tensor(stock.get_input_details()[0]["index"], x)
    stock.invoke()
    expected = stock.get_tensor(stock.get_output_details()[0]["index"])
    np.testing.assert_array_equal(larq_engine.Interpreter(output).predict(x), expected)

    written = json.loads(report.read_text())
    assert [layer["became"] for layer in written["layers"]] == ["weights only", "binary"]
    assert written["size_before"] == model.stat().st_size
    assert written["size_after"] == output.stat().st_size
    shown = capsys.readouterr().out
    assert "2 layers: 1 binary, 1 weights only" in shown
    assert all(layer["name"] in shown for layer in written["layers"])


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--compatibility", "lce"], {"compatibility": "lce"}),
        (["--target", "xcore"], {"target": "xcore"}),
    ],
)
def test_options_change_the_file(model, tmp_path, arguments, options):
    output = tmp_path / "out.tflite"
    assert main(["convert", str(model), "-o", str(output), *arguments]) == 0
    content = output.read_bytes()
    assert content == larq_engine.convert_tflite(model, **options)
    assert content != larq_engine.convert_tflite(model)


def test_a_representative_dataset(model, tmp_path, capsys, rng):
    samples, report = tmp_path / "samples.npz", tmp_path / "report.json"
    np.savez(samples, x=rng.normal(size=(5, 4, 4, 4)).astype(np.float32))
    arguments = ["-o", str(tmp_path / "out.tflite"), "--report", str(report)]
    arguments += ["--representative-dataset", str(samples)]
    assert main(["convert", str(model), *arguments]) == 0
    assert json.loads(report.read_text())["int8"]["samples"] == 5
    assert "ranges of 5 samples" in capsys.readouterr().out
    assert main(["convert", str(model), *arguments, "--max-output-error", "-1"]) == 1
    assert "max_output_error: expected a number of 0 or more" in capsys.readouterr().err


_COMMON = {
    "target": "arm",
    "compatibility": "larq_engine",
    "representative_dataset": None,
    "max_output_error": None,
    "check": True,
    "verbose": 0,
}
_DEFAULTS = _COMMON | {"inference_input_type": "float32", "inference_output_type": "float32"}
_RANGE = {"experimental_default_int8_range": None}


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        ([], {}),
        (["--inference-input-type", "int8"], {"inference_input_type": "int8"}),
        (["--inference-output-type", "int8"], {"inference_output_type": "int8"}),
        (["--target", "xcore"], {"target": "xcore"}),
        (["--compatibility", "lce"], {"compatibility": "lce"}),
        (["--default-int8-range", "-6", "6"], {"experimental_default_int8_range": (-6.0, 6.0)}),
        (["--no-check"], {"check": False}),
        (["-v"], {"verbose": 1}),
    ],
)
def test_every_option_reaches_the_converter(tmp_path, calls, arguments, changed):
    (tmp_path / "model.h5").write_bytes(b"")
    output = tmp_path / "out.tflite"
    assert main(["convert", str(tmp_path / "model.h5"), "-o", str(output), *arguments]) == 0
    assert calls == [("convert_keras_model", "loaded model.h5", _DEFAULTS | _RANGE | changed)]
    assert output.read_bytes() == b"converted"


def test_the_path_chooses_the_function(tmp_path, calls):
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "saved_model.pb").write_bytes(b"")
    (tmp_path / "model.keras").write_bytes(b"")
    (tmp_path / "model.onnx").write_bytes(b"")
    (tmp_path / "model.tflite").write_bytes(b"")
    for name in ("saved", "model.keras", "model.onnx", "model.tflite"):
        assert main(["convert", str(tmp_path / name), "-o", str(tmp_path / "out.tflite")]) == 0
    assert [(name, source) for name, source, _ in calls] == [
        ("convert_saved_model", tmp_path / "saved"),
        ("convert_keras_model", "loaded model.keras"),
        ("convert_onnx", tmp_path / "model.onnx"),
        ("convert_tflite", tmp_path / "model.tflite"),
    ]


def test_unsafe_reaches_what_loads_files(tmp_path, calls, capsys):
    (tmp_path / "saved").mkdir()
    for name in ("saved/saved_model.pb", "model.h5", "model.tflite"):
        (tmp_path / name).write_bytes(b"")
    options = ["--unsafe", "-o", str(tmp_path / "out.tflite")]
    for name in ("saved", "model.h5"):
        assert main(["convert", str(tmp_path / name), *options]) == 0
    assert calls[0][2]["unsafe"] is True
    assert calls[1][1] == "loaded model.h5 unsafely"
    with pytest.raises(SystemExit):
        main(["convert", str(tmp_path / "model.tflite"), *options])
    assert "--unsafe: for Keras or SavedModel only, not for .tflite" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        ([], {}),
        (["--channels-last"], {"channels_last": True}),
        (["--sign-of-zero", "-1"], {"sign_of_zero": "-1"}),
        (["--open-batch"], {"open_batch": True}),
        (["--inference-input-type", "int8"], {"inference_input_type": "int8"}),
        (["--compatibility", "lce"], {"compatibility": "lce"}),
    ],
)
def test_pytorch_modules_come_from_functions(tmp_path, calls, arguments, changed):
    file = tmp_path / "model.py"
    model = f"{file}:make_model"
    assert main(["convert", model, "-o", str(tmp_path / "out.tflite"), *arguments]) == 0
    options = _DEFAULTS | {"channels_last": False, "sign_of_zero": "error", "open_batch": False}
    assert calls == [("convert_torch", (file, "make_model"), options | changed)]


@pytest.mark.parametrize(
    ("source", "arguments", "words"),
    [
        ("model.tflite", ["--channels-last"], "--channels-last: for ONNX"),
        ("model.tflite", ["--sign-of-zero", "+1"], "--sign-of-zero: for ONNX"),
        ("model.onnx", ["--sign-of-zero", "act=1"], 'expected "error", "+1" or "-1"'),
        ("model.py:f", ["--default-int8-range", "-1", "1"], "not for PyTorch"),
    ],
)
def test_options_of_other_models_are_refused(
    model, tmp_path, calls, capsys, source, arguments, words
):
    with pytest.raises(SystemExit) as caught:
        main(["convert", str(tmp_path / source), "-o", str(tmp_path / "out.tflite"), *arguments])
    assert caught.value.code == 2
    assert words in capsys.readouterr().err
    assert calls == []


def test_the_python_file_is_not_written_over(tmp_path, calls, capsys):
    file = tmp_path / "model.py"
    assert main(["convert", f"{file}:make_model", "-o", str(file)]) == 1
    assert "expected a file of its own" in capsys.readouterr().err
    assert calls == []


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [([], None), (["--signature-key", "b", "--signature-key", "a"], ["b", "a"])],
)
def test_signatures_of_a_saved_model(tmp_path, calls, arguments, keys):
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "saved_model.pb").write_bytes(b"")
    output = tmp_path / "out.tflite"
    assert main(["convert", str(tmp_path / "saved"), "-o", str(output), *arguments]) == 0
    options = _DEFAULTS | _RANGE | {"signature_keys": keys, "unsafe": False}
    assert calls == [("convert_saved_model", tmp_path / "saved", options)]


def test_signatures_are_for_saved_models(model, tmp_path, calls, capsys):
    arguments = ["convert", str(model), "-o", str(tmp_path / "out.tflite")]
    with pytest.raises(SystemExit) as caught:
        main([*arguments, "--signature-key", "serving_default"])
    assert caught.value.code == 2
    assert "--signature-key: for SavedModel only" in capsys.readouterr().err
    assert calls == []


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        ([], {}),
        (["--channels-last"], {"channels_last": True}),
        (["--sign-of-zero", "+1"], {"sign_of_zero": "+1"}),
        (["--sign-of-zero=-1"], {"sign_of_zero": "-1"}),
        (["--sign-of-zero", "act=+1"], {"sign_of_zero": {"act": "+1"}}),
        (
            ["--sign-of-zero=a.b=-1", "--sign-of-zero", "+1", "--sign-of-zero", "=error"],
            {"sign_of_zero": {"a.b": "-1", "*": "+1", "": "error"}},
        ),
    ],
)
def test_options_of_onnx_models(tmp_path, calls, arguments, changed):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"")
    assert main(["convert", str(path), "-o", str(tmp_path / "out.tflite"), *arguments]) == 0
    options = _DEFAULTS | {"channels_last": False, "sign_of_zero": "error"} | changed
    assert calls == [("convert_onnx", path, options)]


@pytest.mark.parametrize("option", [["--channels-last"], ["--sign-of-zero", "+1"]])
def test_options_that_are_for_onnx_models(model, tmp_path, calls, capsys, option):
    with pytest.raises(SystemExit) as caught:
        main(["convert", str(model), "-o", str(tmp_path / "out.tflite"), *option])
    assert caught.value.code == 2
    assert " only, not for .tflite" in capsys.readouterr().err
    assert calls == []


def test_an_onnx_file(tmp_path, capsys, rng):
    net = OnnxNet()
    x = net.bipolar(net.input("batch", 32, 8, 8))
    x = net.conv(x, rng.choice(np.array([-1, 1], np.float32), (64, 32, 3, 3)), pads=[1] * 4)
    path, output = tmp_path / "model.onnx", tmp_path / "out.tflite"
    path.write_bytes(net.finish(x))
    assert main(["convert", str(path), "-o", str(output)]) == 0
    assert "1 binary" in capsys.readouterr().out
    assert output.read_bytes() == larq_engine.convert_onnx(path)
    assert larq_engine.conversion_report(path).count("binary") == 1

    path.write_bytes(path.read_bytes()[:100])
    output.unlink()
    assert main(["convert", str(path), "-o", str(output)]) == 1
    assert "expected a whole ONNX model" in capsys.readouterr().err
    assert _names(tmp_path) == ["model.onnx"]


def test_a_range_is_not_for_tflite_files(model, tmp_path, calls, capsys):
    arguments = ["convert", str(model), "-o", str(tmp_path / "out.tflite")]
    with pytest.raises(SystemExit) as caught:
        main([*arguments, "--default-int8-range", "-1", "1"])
    assert caught.value.code == 2
    assert "--default-int8-range: for Keras or SavedModel only" in capsys.readouterr().err
    assert calls == []


@pytest.mark.parametrize(
    ("output", "report", "words"),
    [
        ("absent/out.tflite", "report.json", "output '.*': expected an existing folder"),
        ("folder", "report.json", "output '.*': expected the name of a file"),
        ("model.tflite", "report.json", "output '.*': expected a file of its own"),
        ("out.tflite", "absent/report.json", "report '.*': expected an existing folder"),
        ("out.tflite", "out.tflite", "report '.*': expected a file of its own"),
        ("out.tflite", "model.tflite", "report '.*': expected a file of its own"),
    ],
)
def test_bad_destinations_are_refused_before_converting(
    model, tmp_path, calls, capsys, output, report, words
):
    (tmp_path / "folder").mkdir()
    arguments = ["-o", str(tmp_path / output), "--report", str(tmp_path / report)]
    assert main(["convert", str(model), *arguments]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("larq-engine: error: ")
    assert re.search(words, line)
    assert calls == []
    assert _names(tmp_path) == ["folder", "model.tflite"]
    assert model.read_bytes() == float_model()


def test_a_failed_conversion_leaves_nothing(model, tmp_path, monkeypatch, capsys):
    def fail(*_: object, **__: object) -> None:
        raise ConversionError("layer 'a': expected b, got c; do d")

    monkeypatch.setattr(api, "convert_tflite", fail)
    output, report = tmp_path / "out.tflite", tmp_path / "report.json"
    output.write_bytes(b"old")
    assert main(["convert", str(model), "-o", str(output), "--report", str(report)]) == 1
    streams = capsys.readouterr()
    assert streams.err == "larq-engine: error: layer 'a': expected b, got c; do d\n"
    assert streams.out == ""
    assert _names(tmp_path) == ["model.tflite", "out.tflite"]
    assert output.read_bytes() == b"old"


def test_an_int8_request_that_cannot_be_met(model, tmp_path, capsys):
    arguments = ["-o", str(tmp_path / "out.tflite"), "--inference-input-type", "int8"]
    assert main(["convert", str(model), *arguments]) == 1
    assert "input 'x' (#0): expected one QUANTIZE" in capsys.readouterr().err
    assert _names(tmp_path) == ["model.tflite"]


def test_it_says_what_it_wrote(tmp_path, capsys):
    model, output, report = (tmp_path / name for name in ("in.tflite", "out.tflite", "report"))
    model.write_bytes(float_model())
    assert main(["convert", str(model), "-o", str(output), "--report", str(report)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == [f"wrote {path}: {path.stat().st_size} bytes" for path in (output, report)]
    assert main(["convert", str(model), "-o", str(output), "--report", "-"]) == 0
    printed = capsys.readouterr()
    json.loads(printed.out)
    assert printed.err == f"wrote {output}: {output.stat().st_size} bytes\n"


def test_standard_output(tmp_path):
    model = tmp_path / "in.tflite"
    model.write_bytes(float_model())
    command = [sys.executable, "-m", "larq_engine", "convert", str(model), "-o", "-"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == larq_engine.convert_tflite(model)
    assert b"1 binary, 1 weights only" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in.tflite"]


def test_standard_output_takes_one_thing_and_no_terminal(tmp_path, capsys, monkeypatch):
    model = tmp_path / "in.tflite"
    model.write_bytes(float_model())
    with pytest.raises(SystemExit):
        main(["convert", str(model), "-o", "-", "--report", "-"])
    assert "not both on standard output" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["convert", str(model), "-o", "-"]) == 1
    assert "to be a file or a pipe, got a terminal" in capsys.readouterr().err


def test_sizes_of_a_converted_model_are_those_of_its_file():
    once = larq_engine.convert_tflite(float_model(), check=False)
    again = larq_engine.convert_tflite(once, check=False).report.layers
    assert [layer.bytes_before for layer in again] == [layer.bytes_after for layer in again]
