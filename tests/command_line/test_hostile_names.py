"""Names that strangers choose reach terminals cleaned, whatever command shows them."""

import os
import subprocess
import sys
import unicodedata

import pytest

import larq_engine
from larq_engine.command_line import main
from larq_engine.python.text_table import printable
from tests.command_line.models import float_model
from tests.model_builder import ModelBuilder

# Colours, a window title, the cursor; letters turned round; a line break; invalid UTF-8.
_HOSTILE = [
    b"\x1b[31mred\x1b]0;title\x07",
    "turned \u202eround\u2066 \u200b".encode(),
    b"above\nlarq-engine: error: faked\r\x0b\x85",
    b"\xff\xfe\x9b2J no UTF-8",
]


def _assert_clean(written: bytes) -> None:
    """Checks that no terminal does anything with the text but show it."""
    for letter in written.decode():
        assert letter == "\n" or unicodedata.category(letter)[0] != "C", ascii(written.decode())
        assert letter not in "\u2028\u2029"


def _run(*arguments: object) -> bytes:
    """Returns the output of a command that succeeds."""
    command = [sys.executable, "-m", "larq_engine", *map(os.fspath, arguments)]
    result = subprocess.run(command, capture_output=True)
    assert result.returncode == 0, result.stderr
    _assert_clean(result.stdout)
    _assert_clean(result.stderr)
    return result.stdout


@pytest.mark.drawn("hostile names")
@pytest.mark.parametrize("number", range(len(_HOSTILE)))
def test_every_command(tmp_path, number):
    names = [_HOSTILE[(number + turn) % len(_HOSTILE)] for turn in range(3)]
    folder = tmp_path / os.fsdecode(_HOSTILE[number].replace(b"\n", b" "))
    folder.mkdir()
    model, converted, profile, placed = (
        folder / name for name in ("float.tflite", "model.tflite", "profile.json", "placed.tflite")
    )
    model.write_bytes(float_model(*names))
    _run("convert", model, "-o", converted, "--report", folder / "report.json")
    for file in (model, converted):
        assert b"\xef\xbf\xbd" in _run("inspect", file, "--json", folder / "facts.json")
    _run("inspect", converted, "--json", "-")
    _run("export-weights", converted, "-o", folder / "weights.npz")
    _run("profile", converted, "-o", profile, "--rounds", "1", "--threads", "1")
    _run("place", converted, "--profile", profile, "-o", placed)
    options = ["--placement", placed]
    _run("report", profile, *options)
    for option, name in (("-o", "page.html"), ("--overlay", "a.json"), ("--trace", "b.json")):
        _run("report", profile, *options, option, folder / name)
        assert (folder / name).stat().st_size > 0


def test_a_custom_operator(tmp_path, capsys):
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4), name="x"), builder.tensor((1, 4), name="y")
    builder.custom("custom\x1b[2J\u202eoperator", [x], [y])
    (tmp_path / "model.tflite").write_bytes(builder.finish([x], [y]))
    assert main(["inspect", str(tmp_path / "model.tflite")]) == 0
    _assert_clean(capsys.readouterr().out.encode())


def test_the_texts_of_python(tmp_path):
    """Python prints reports and tables too."""
    converted = larq_engine.convert_tflite(float_model(*_HOSTILE[:3]))
    with larq_engine.Interpreter(bytes(converted)) as interpreter:
        for shown in (converted.report, interpreter.profile(runs=1)):
            _assert_clean(str(shown).encode())


def test_text_stays_what_it_is():
    text = "QuantConv2D größer 漢字 ✓"
    assert printable(text) == text
    assert printable("a\x1bb") == "a\N{REPLACEMENT CHARACTER}b"
