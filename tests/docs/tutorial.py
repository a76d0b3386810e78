"""The programs of docs/tutorial.md, put together as it says, and the commands after them."""

import re
from pathlib import Path

import pytest

from larq_engine.command_line import main
from tests.docs.documents import ROOT
from tests.docs.programs import run_without_error

_SECTION = re.compile(r"^##+ (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def program(door: str) -> str:
    """Returns the program that trains and converts."""
    blocks = _blocks()
    if door == "ONNX":
        return blocks["PyTorch"][0] + blocks[door][0]
    if door == "A .tflite file":
        converts, makes_float_file = blocks[door]
        return blocks["larq"][0] + makes_float_file + converts
    return blocks[door][0]


def check(door: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Runs a door's programs and commands; the file is right as often as the tutorial promises."""
    assert "1 binary" in run_without_error(program(door), folder), "of the report"
    right = float(run_without_error(_blocks()["4. Run it"][0], folder).split()[-1])
    assert right > 0.8, "0.89 to 0.93 on the day that it was written"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["inspect", "digits.tflite"]) == 0
        assert "LceBconv2d" in capfd.readouterr().out
        assert main(["profile", "digits.tflite", "--rounds", "2", "-o", "profile.json"]) == 0
        assert main(["report", "profile.json", "-o", "report.html"]) == 0
    assert "LceBconv2d" in (folder / "report.html").read_text()


def _blocks() -> dict[str, list[str]]:
    """Returns the blocks of code of each section."""
    text = (ROOT / "docs" / "tutorial.md").read_text()
    titles = list(_SECTION.finditer(text))
    ends = [*(title.start() for title in titles[1:]), len(text)]
    sections = {title[1]: text[title.end() : end] for title, end in zip(titles, ends, strict=True)}
    return {title: _BLOCK.findall(part) for title, part in sections.items()}
