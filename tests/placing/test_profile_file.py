"""Profiles are read as they were written, and errors say what is wrong in one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from larq_engine.placing.profile import Timing
from larq_engine.placing.profile_file import (
    format_profile,
    parse_profile,
    read_profile,
    write_profile,
)
from tests.placing.profiles import encoded, fields, profile


def test_reads_what_is_there() -> None:
    read = profile()
    assert [op.op for op in read.ops] == ["LceQuantize", "LceBconv2d"]
    assert read.values[1].bytes == {1: 500}
    assert read.measurements[3].seconds == Timing(1e-5, 5e-6, 2e-5, 9)
    assert read.links[0].seconds_of(1000) == pytest.approx(2e-6)
    assert read.totals[0].seconds.median == 2.1e-4
    assert (read.batches(), read.threads()) == ([1], [1])


def test_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    write_profile(profile(), path)
    assert read_profile(path) == profile()
    # These are the documented names of the file, not those of the classes.
    written = json.loads(path.read_bytes())
    expected = fields()
    expected["totals"][0]["joules"] = None
    assert written == expected


def test_unknown_keys_are_ignored() -> None:
    content = fields()
    content["later"] = content["ops"][0]["later"] = [1]
    assert parse_profile(encoded(content)) == profile()


def test_writes_nothing_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    write_profile(profile(), path)
    before = path.read_bytes()
    content = profile()
    broken = type(content)(**{**vars(content), "ops": content.ops[:1]})
    with pytest.raises(ValueError, match="expected"):
        write_profile(broken, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty file"),
        (b" \n", "empty file"),
        (b"\xff\xfe", "something else"),
        (b"TFL3 no json", "something else"),
        (b"[" * 100_000, "something else"),
        (encoded(fields())[:-200], "expected JSON, got something else"),
        (b"[1, 2]", "another JSON file"),
        (b'{"larq_engine_placement": 1}', "another JSON file"),
        (encoded({**fields(), "larq_engine_profile": 2}), "version 2, of a later larq_engine"),
        (encoded({**fields(), "larq_engine_profile": "1"}), "a number from 1 on"),
        (encoded(fields()).replace(b"1e-06", b"NaN"), "finite numbers, got NaN"),
        (encoded(fields()).replace(b"1e-06", b"Infinity"), "finite numbers, got Infinity"),
        (
            encoded(fields()).replace(b"1e-06", b"1e999"),
            r"0 or a number from 1e-60 to 1e\+60, got inf",
        ),
    ],
)
def test_says_why_a_file_is_no_profile(content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        parse_profile(content, "profile 'a.json'")
    assert str(raised.value).startswith("profile 'a.json': ")


def test_a_file_cut_off_anywhere_is_told() -> None:
    content = format_profile(profile())
    for end in range(0, len(content) - 2, 7):
        with pytest.raises(ValueError, match=r"^profile: "):
            parse_profile(content[:end])


def _set(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        part: Any = content
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = to

    return change


def _drop(*path: Any) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        part: Any = content
        for key in path[:-1]:
            part = part[key]
        del part[path[-1]]

    return change


def _twice(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda content: content[key].append(content[key][-1])


def _cycle(content: dict[str, Any]) -> None:
    content["ops"][0]["inputs"] = [0, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_drop("ops"), "profile: ops: expected a list of objects, got no such key"),
        (_drop("model"), "profile: model: expected an object, got no such key"),
        (_set("ops", to=[]), "ops: expected at least one operator"),
        (_set("devices", to=[]), "devices: expected at least one"),
        (_set("measurements", to=[]), "measurements: expected at least one"),
        (_set("measurements", 1, "seconds", "median", to=-1), r"measurements\[1\].seconds.median"),
        (_set("measurements", 1, "seconds", "median", to="1"), r"measurements\[1\].seconds.median"),
        (_set("measurements", 1, "seconds", "median", to=True), r"0 or a number from .*, got True"),
        (_set("measurements", 1, "seconds", to=1e-3), r"measurements\[1\].seconds: .* an object"),
        (_set("measurements", 1, "seconds", "median", to=1e308), r"to 1e\+60, got 1e\+308"),
        (_set("measurements", 1, "seconds", "median", to=1e-310), r"to 1e\+60, got 1e-310"),
        (_set("measurements", 1, "joules", to=-1), r"measurements\[1\].joules"),
        (_set("measurements", 1, "batch", to=0), r"measurements\[1\].batch: .* from 1 on"),
        (_set("measurements", 1, "batch", to=10**400), r"measurements\[1\].batch"),
        (_set("measurements", 1, "batch", to=8), r"values\[0\].bytes: .* at batch 8"),
        (_set("measurements", 1, "device", to="tpu"), r"one of the devices \(cpu, cuda\)"),
        (_set("totals", 0, "device", to="tpu"), r"totals\[0\].device: .* got 'tpu'"),
        (_set("measurements", 1, "ops", to=[2]), "ids of 2 operators, got 2"),
        (_set("measurements", 1, "ops", to=[]), "at least one operator"),
        (_set("measurements", 2, "ops", to=[1, 1]), r"each operator once, got \[1, 1\]"),
        (_twice("measurements"), "the same as measurements"),
        (_twice("devices"), "2 named 'cuda'"),
        (_twice("links"), "from 'cuda' to 'host', got several"),
        (_twice("ops"), r"ops\[2\].id: expected 2, its position, got 1; .* twice"),
        (_set("ops", 1, "node", to=3), r"ops\[1\].node: .* which is ops\[0\]"),
        (_set("ops", 1, "inputs", to=[9]), r"ops\[1\]: expected ids of 3 values, got 9"),
        (_set("ops", 1, "outputs", to=[1]), r"values of its own, got 1, made by ops\[0\]"),
        (_set("ops", 1, "outputs", to=[0]), "values of its own, got 0, made by the caller"),
        (_set("ops", 0, "outputs", to=[]), r"ops\[1\].inputs: value 1: .* the graph is cut"),
        (_cycle, "the graph has a cycle"),
        (_set("ops", 1, "outputs", to=[]), r"values\[2\]: .* makes this output, got none"),
        (_set("values", 0, "kind", to="weight"), "one of input, output, inner"),
        (_set("values", 0, "bytes", to=1000), "a whole number for each batch"),
        (_set("values", 0, "bytes", to={"one": 1}), "a whole number for each batch"),
        (_set("values", 0, "bytes", to={"9" * 5000: 1}), r"values\[0\].bytes: .* for each batch"),
        (
            _set("links", 0, "bytes_per_second", to=1e-310),
            r"links\[0\].bytes_per_second: .* 1e-310",
        ),
        (_set("links", 0, "bytes_per_second", to=0), "a number above 0"),
        (_set("links", to=[]), "from 'host' to 'cuda', as a device has the memory 'cuda'"),
    ],
)
def test_says_what_does_not_fit(change: Callable[[dict[str, Any]], None], message: str) -> None:
    content = fields()
    change(content)
    with pytest.raises(ValueError, match=message):
        parse_profile(encoded(content))
