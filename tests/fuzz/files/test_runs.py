"""A write to the caller's bytes is a fault, except by the host that was asked to set an input."""

import ctypes
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from larq_engine.python import hosts
from tests.fuzz.files import runs
from tests.fuzz.files.runs import Outcome, WrongError


def _write(content: bytes) -> None:
    header = bytes.__basicsize__ - 1
    ctypes.c_char.from_address(id(content) + header).value = b"!"


class _Host:
    """An interpreter of one input that writes to the caller's bytes at a given moment."""

    def __init__(self, model_content: bytes, experimental_delegates: list[Any]) -> None:
        self._content = model_content
        self._writing = model_content.decode()

    def _maybe_write(self, when: str) -> None:
        if when == self._writing:
            _write(self._content)

    def allocate_tensors(self) -> None:
        self._maybe_write("allocate")

    def get_input_details(self) -> list[dict[str, Any]]:
        return [{"index": 0, "shape": np.array([2]), "dtype": np.float32}]

    def get_output_details(self) -> list[dict[str, Any]]:
        return []

    def set_tensor(self, index: int, value: np.ndarray) -> None:
        self._maybe_write("set")

    def resize_tensor_input(self, index: int, shape: Any) -> None:
        pass

    def invoke(self) -> None:
        self._maybe_write("invoke")


def _run(monkeypatch: pytest.MonkeyPatch, writing: str) -> Outcome:
    module = SimpleNamespace(Interpreter=_Host)
    monkeypatch.setattr(hosts, "import_host", lambda host: module)
    monkeypatch.setattr(hosts, "load_delegate", lambda host: object())
    content = bytes(bytearray(writing.encode()))  # a copy, as it is written to
    return runs.bare(None)(content, Random(0), lambda phase: None)


@pytest.mark.parametrize("writing", ["set", "nothing"])
def test_what_the_host_sets_is_no_fault(monkeypatch: pytest.MonkeyPatch, writing: str) -> None:
    assert _run(monkeypatch, writing) is Outcome.RAN


@pytest.mark.parametrize("writing", ["allocate", "invoke"])
def test_what_anyone_else_writes_is(monkeypatch: pytest.MonkeyPatch, writing: str) -> None:
    with pytest.raises(WrongError, match="caller's bytes"):
        _run(monkeypatch, writing)
