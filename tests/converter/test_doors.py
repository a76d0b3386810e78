"""Each front door's function, its row, the command's flags and the documents say the same.

Signatures and docstrings are written out for editors. The class of options is what they must equal.
"""

import argparse
import dataclasses
import inspect
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from larq_engine.command_line import convert_command
from larq_engine.converter import api
from larq_engine.converter.doors import DOORS, ONNX, TORCH, find_door
from larq_engine.converter.options import Options
from tests.command_line.models import float_model
from tests.converter.graphs import signs
from tests.converter.onnx_models import OnnxNet

ROOT = Path(__file__).parents[2]

FIELDS = {field.name: field for field in dataclasses.fields(Options)}

every_door = pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)


def _options(function):
    """Returns the parameters of a function that are given by name only."""
    parameters = inspect.signature(function).parameters.values()
    assert all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters)
    return {p.name: p for p in parameters if p.kind is p.KEYWORD_ONLY}


def _described(docstring):
    """Returns the names under Args of a docstring."""
    args = textwrap.dedent(inspect.cleandoc(docstring)).partition("Args:\n")[2]
    return set(re.findall(r"^ {4}(\w+):", re.split(r"^\S", args, flags=re.MULTILINE)[0], re.M))


@every_door
def test_the_signature_is_the_row(door):
    function = getattr(larq_engine, door.function)
    options = _options(function)
    assert set(options) == set(door.options)
    for name, option in options.items():
        assert (option.default, option.annotation) == (FIELDS[name].default, FIELDS[name].type)
    assert inspect.signature(function).return_annotation is larq_engine.ConvertedModel


def test_the_report_takes_the_options_of_every_door_that_reads_files():
    expected = {name for door in DOORS if door is not TORCH for name in door.options}
    options = _options(larq_engine.conversion_report)
    assert set(options) == expected
    for name, option in options.items():
        default = False if name == "check" else FIELDS[name].default
        assert (option.default, option.annotation) == (default, FIELDS[name].type)


@every_door
def test_the_docstring_describes_each_parameter(door):
    function = getattr(larq_engine, door.function)
    described = _described(function.__doc__)
    assert described <= set(inspect.signature(function).parameters)
    if "Everything else is as for `convert_keras_model`." in function.__doc__:
        described |= _described(larq_engine.convert_keras_model.__doc__)
    assert {*door.options} <= described


def test_each_option_is_of_a_door():
    assert {name for door in DOORS for name in door.options} == FIELDS.keys()


@every_door
def test_each_argument_reaches_the_reader(door, monkeypatch):
    """The values need not be right ones: the class of options is replaced, too."""
    seen = []
    monkeypatch.setattr(api, "Options", lambda **options: options)
    monkeypatch.setattr(api, "convert", lambda *given: seen.append(given))
    source = ("module", "inputs") if door is TORCH else ("model",)
    options = {name: f"value of {name}" for name in door.options}
    getattr(api, door.function)(*source, **options)
    assert seen == [(door, source, options)]


def _flags():
    commands = argparse.ArgumentParser().add_subparsers()
    convert_command.add_parser(commands)
    return {action.dest: action for action in commands.choices["convert"]._actions}


def test_each_option_has_its_flag():
    flags = _flags()
    for name, option in FIELDS.items():
        assert convert_command.flag_of(name) in flags[name].option_strings
        # The command reads several values of this option together.
        assert name == "sign_of_zero" or flags[name].default == option.default
    assert flags.keys() - FIELDS.keys() == {"help", "model", "output", "report"}


def test_the_flags_say_for_which_models_they_are():
    helps = {name: action.help for name, action in _flags().items() if name in FIELDS}
    for name, text in helps.items():
        doors = [door for door in DOORS if name in (*door.options, *door.file_options)]
        named = ", ".join(door.name for door in doors) + ": "
        assert text.startswith(named) == (len(doors) < len(DOORS)), name


@every_door
def test_documents_have_a_row_for_each_door(door):
    assert f"\n{door.extra} = [" in (ROOT / "pyproject.toml").read_text()
    for page, words in (("README.md", f"| `'.[{door.extra}]'` |"), ("docs/converter.md", "")):
        rows = [line for line in (ROOT / page).read_text().splitlines() if line.startswith("|")]
        rows = [row for row in rows if f"`{door.function}" in row]
        assert rows
        assert all(words in row for row in rows)


@every_door
def test_no_two_doors_take_the_same_files(door):
    others = {suffix for other in DOORS if other is not door for suffix in other.kind.suffixes}
    assert others.isdisjoint(door.kind.suffixes)


def test_the_report_finds_a_file_that_its_name_does_not_tell(tmp_path, rng):
    net = OnnxNet()
    x = net.bipolar(net.input(1, 32, 4, 4))
    file = tmp_path / "a_model"
    file.write_bytes(net.finish(net.conv(x, signs(rng, 32, 32, 3, 3))))
    assert find_door(file) is ONNX
    assert larq_engine.conversion_report(file).count("binary") == 1


def test_the_report_refuses_options_of_other_doors(tmp_path):
    for model, options, words in (
        (float_model(), {"channels_last": True}, "channels_last: for .* only, not for .tflite"),
        ("a.onnx", {"signature_keys": ["a"]}, "signature_keys: for .* only, not for ONNX"),
        ("a.h5", {"signature_keys": ["a"]}, "signature_keys: for .* only, not for Keras"),
    ):
        with pytest.raises(TypeError, match=f"conversion_report: {words}"):
            larq_engine.conversion_report(model, **options)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (
            {"target": "x86"},
            ValueError,
            'Expected `target` to be "arm" or "fpga" or "microcontroller" or',
        ),
        ({"inference_input_type": np.int16}, ValueError, "Expected `inference_input_type` to be"),
        ({"max_output_error": "2"}, TypeError, "max_output_error: expected a number"),
        ({"max_output_error": 0.1}, ValueError, "expected a representative_dataset with it"),
        ({"sign_of_zero": 1}, ValueError, 'sign_of_zero: expected "error", "+1" or "-1"'),
        ({"signature_keys": "a"}, ValueError, "signature_keys: expected a list of different"),
        (
            {"experimental_default_int8_range": (-1, 1), "representative_dataset": []},
            ValueError,
            "`representative_dataset` or `experimental_default_int8_range`, got both",
        ),
    ],
)
def test_options_are_checked(options, error, words):
    with pytest.raises(error, match=re.escape(words)):
        Options(**options)
