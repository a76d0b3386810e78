"""Tests exit codes and errors: 2 for arguments, 1 and one line for models and files."""

import os
import subprocess
import sys

import pytest

import larq_engine
from larq_engine.command_line import main
from tests.command_line.models import float_model
from tests.reporting.profiles import write_pair


def _run(*arguments: object, **options: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "larq_engine", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["unknown"],
        ["convert"],
        ["convert", "model.tflite"],
        ["convert", "-o", "out.tflite"],
        ["convert", "model.tflite", "-o", "out.tflite", "--target", "x86"],
        ["convert", "model.tflite", "-o", "out.tflite", "--compatibility", "none"],
        ["convert", "model.tflite", "-o", "out.tflite", "--inference-input-type", "uint8"],
        ["convert", "model.tflite", "-o", "out.tflite", "--default-int8-range", "1"],
        ["inspect"],
        ["inspect", "model.tflite", "--unknown"],
        ["about", "model.tflite"],
    ],
)
def test_arguments_that_make_no_sense(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("usage: larq-engine")


def test_letters_that_the_output_lacks_are_replaced(tmp_path):
    profile, _ = write_pair(tmp_path)
    texts = {
        encoding: _run("report", profile, env={**os.environ, "PYTHONIOENCODING": encoding})
        for encoding in ("ascii", "utf-8")
    }
    assert [shown.returncode for shown in texts.values()] == [0, 0]
    assert texts["utf-8"].stdout.count("µ") > 9
    assert texts["ascii"].stdout == texts["utf-8"].stdout.replace("µ", "u")


@pytest.mark.parametrize(
    ("arguments", "usage", "error"),
    [
        (
            ["convert", "--comptibility", "lce", "float.tflite", "-o", "out.tflite"],
            "larq-engine convert",
            "unknown option --comptibility; did you mean --compatibility?",
        ),
        (
            ["convert", "--tarqet=xcore", "float.tflite", "-o", "out.tflite"],
            "larq-engine convert",
            "unknown option --tarqet; did you mean --target?",
        ),
        (
            ["inspect", "a.tflite", "--zzz"],
            "larq-engine inspect",
            "unknown option --zzz; --help lists the options",
        ),
        (
            ["inspect", "a.tflite", "b.tflite"],
            "larq-engine inspect",
            "unexpected arguments: b.tflite",
        ),
        (
            ["inspct", "a.tflite"],
            "larq-engine",
            "argument COMMAND: expected one of convert, inspect, profile, place, report, "
            "export-weights, export-c, export-verilog, export-web, example, accelerator, about, "
            "got inspct; did you mean inspect?",
        ),
        (
            ["convert", "a.h5", "-o", "out.tflite", "--target", "x86"],
            "larq-engine convert",
            "argument --target: expected one of arm, fpga, microcontroller, xcore, got x86",
        ),
        (
            ["--verison", "inspect", "a.tflite"],
            "larq-engine",
            "unknown option --verison; did you mean --version?",
        ),
    ],
)
def test_a_mistyped_argument_meets_the_usage_of_its_command(arguments, usage, error, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(f"usage: {usage} [-h]")
    assert said.splitlines()[-1] == f"{usage}: error: {error}"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--help"], ["convert", "inspect"]),
        (["convert", "--help"], ["MODEL", "--report", "--no-check"]),
        (["inspect", "--help"], ["MODEL", "--json"]),
        (["--version"], [f"larq-engine {larq_engine.__version__}"]),
    ],
)
def test_help_and_version(arguments, words, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in words)


@pytest.mark.parametrize(
    "options",
    [
        ["inspect"],
        ["profile"],
        ["place", "--profile", "profile.json", "-o", "placed.tflite"],
        ["export-weights", "-o", "weights.npz"],
    ],
)
def test_a_model_that_is_to_be_converted_first(options, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"")
    assert main([options[0], "model.onnx", *options[1:]]) == 1
    assert capsys.readouterr().err == (
        "larq-engine: error: model 'model.onnx': expected a .tflite file, got another kind of "
        "model; make one with `larq-engine convert model.onnx -o OUT.tflite`\n"
    )


def test_help_imports_nothing_that_takes_long():
    script = (
        "import sys\n"
        "from larq_engine.command_line import main\n"
        "try:\n"
        "    main(['convert', '--help'])\n"
        "except SystemExit:\n"
        "    print(sorted({name.split('.')[0] for name in sys.modules}))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    modules = result.stdout.splitlines()[-1]
    assert "'larq_engine'" in modules
    for name in ("ai_edge_litert", "flatbuffers", "tensorflow", "tf_keras", "larq", "keras"):
        assert f"'{name}'" not in modules


@pytest.mark.parametrize("command", [["inspect"], ["convert", "-o", "out.tflite"]])
@pytest.mark.parametrize("content", [b"", b"no model", float_model()[:1000]])
def test_a_damaged_file(tmp_path, content, command):
    (tmp_path / "model.tflite").write_bytes(content)
    result = _run(*command, "model.tflite", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert line.startswith("larq-engine: error: model")
    assert f"({len(content)} bytes): expected " in line
    assert [path.name for path in tmp_path.iterdir()] == ["model.tflite"]


def test_a_file_that_may_not_be_read(tmp_path, capsys, monkeypatch):
    path = tmp_path / "model.tflite"
    path.write_bytes(b"")

    def refuse(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    assert main(["inspect", str(path)]) == 1
    assert capsys.readouterr().err == f"larq-engine: error: '{path}': Permission denied\n"


def test_an_error_of_several_lines_becomes_one(capsys, monkeypatch, tmp_path):
    def fail(*_: object) -> None:
        raise ValueError("first\n  second\n\n")

    monkeypatch.setattr("larq_engine.command_line.model_facts.collect_facts", fail)
    path = tmp_path / "model.tflite"
    path.write_bytes(float_model())
    assert main(["inspect", str(path)]) == 1
    assert capsys.readouterr().err == "larq-engine: error: first; second\n"


def test_faults_of_the_program_itself_are_not_hidden(monkeypatch, tmp_path):
    def fail(*_: object) -> None:
        raise AssertionError("a bug")

    monkeypatch.setattr("larq_engine.command_line.model_facts.collect_facts", fail)
    path = tmp_path / "model.tflite"
    path.write_bytes(float_model())
    with pytest.raises(AssertionError, match="a bug"):
        main(["inspect", str(path)])


def test_interrupted(capsys, monkeypatch, tmp_path):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("larq_engine.command_line.model_facts.collect_facts", interrupt)
    path = tmp_path / "model.tflite"
    path.write_bytes(float_model())
    assert main(["inspect", str(path)]) == 130
    assert capsys.readouterr().err == ""


def test_hosts_do_not_tell_what_is_no_error(tmp_path):
    """LiteRT writes once in each process that it uses XNNPACK, directly to the descriptor."""
    model = tmp_path / "model.tflite"
    model.write_bytes(float_model())
    profile = ["profile", model, "--rounds", 3, "-o", tmp_path / "profile.json"]
    place = [
        "place",
        model,
        "--profile",
        tmp_path / "profile.json",
        "-o",
        tmp_path / "placed.tflite",
    ]
    for command in (["inspect", model], profile, [*place, "--verify"]):
        result = _run(*command)
        assert result.returncode == 0, result.stderr
        assert "INFO" not in result.stderr


def test_a_reader_that_has_seen_enough(tmp_path):
    """The pipe is closed before anything is written, as `head` may do."""
    (tmp_path / "model.tflite").write_bytes(float_model())
    command = [sys.executable, "-m", "larq_engine", "inspect", str(tmp_path / "model.tflite")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    process.stdout = None
    _, errors = process.communicate()
    assert (process.returncode, errors) == (0, b"")


def test_memory_that_is_not_enough(tmp_path, monkeypatch, capsys):
    def read(path):
        raise MemoryError

    monkeypatch.setattr("larq_engine.python.model_file.read_model", read)
    (tmp_path / "model.tflite").write_bytes(float_model())
    assert main(["inspect", str(tmp_path / "model.tflite")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"larq-engine: error: '{tmp_path / 'model.tflite'}': expected memory")
    assert said.count("\n") == 1
