"""The documents name things that exist: Python that compiles, names, commands, flags, targets."""

import ast
import itertools
import re
import shlex
from pathlib import Path

import pytest

import larq_engine
from larq_engine.command_line import main
from tests.docs.documents import DOCUMENTS, ROOT, blocks

_SHELL = ("", "sh", "bash", "shell")
_PHONY = re.compile(r"^\.PHONY:((?:.*\\\n)*.*)$", re.MULTILINE)
_TARGETS = set(re.findall(r"[\w-]+", " ".join(_PHONY.findall((ROOT / "Makefile").read_text()))))

every_document = pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT))
)


def commands(document: Path, program: str) -> list[list[str]]:
    """Returns the words of each line of a shell that begins with this program."""
    lines = [line for block in blocks(document, *_SHELL) for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.split(" ")[:1] == [program]]


@every_document
def test_python_compiles_and_its_names_exist(document: Path) -> None:
    for block in blocks(document, "python"):
        for node in ast.walk(ast.parse(block)):
            match node:
                case ast.Attribute(value=ast.Name(id="lce" | "larq_engine"), attr=name):
                    assert hasattr(larq_engine, name), f"lce.{name}"


@every_document
def test_commands_and_flags_exist(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _, name, *arguments in commands(document, "larq-engine"):
        with pytest.raises(SystemExit) as ended:
            main([name, "--help"])
        assert ended.value.code == 0, f"larq-engine {name}"
        flags = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", capsys.readouterr().out))
        given = {word.partition("=")[0] for word in arguments if re.match(r"--?[a-z]", word)}
        assert given <= flags, f"larq-engine {name}"


@every_document
def test_targets_exist(document: Path) -> None:
    for _, *arguments in commands(document, "make"):
        of_make = itertools.takewhile(lambda word: word != "&&", arguments)
        assert {word for word in of_make if "=" not in word} <= _TARGETS
