"""Converted models are made again if, and only if, something that they are made of has changed."""

import importlib.metadata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import larq_engine
from benchmarks import zoo, zoo_cache
from benchmarks.progress import Progress

Make = Callable[[], list[str]]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stands in for the converter's only source."""
    file = tmp_path / "rules.py"
    file.write_text("old")
    monkeypatch.setattr(zoo_cache, "ROOT", tmp_path)
    monkeypatch.setattr(zoo_cache, "CONVERTER", (file,))
    monkeypatch.setattr(zoo_cache, "FOLDER", tmp_path / "zoo")
    peers = tmp_path / "zoo_files.py"
    peers.write_text("old")
    monkeypatch.setattr(zoo_cache, "PEERS_SOURCES", (peers,))
    monkeypatch.setattr(zoo_cache, "CONVERT_TO_ONNX", peers)
    # larq is not installed on machines for which it has no wheel.
    monkeypatch.setattr(importlib.metadata, "version", lambda package: "1.0")
    yield file


@pytest.fixture
def make(source: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Prepares a model; returns which of its files were made for that."""
    made: list[str] = []

    def make_peers_files(name: str, files: Path, progress: Progress) -> None:
        made.append("peers")

    def convert_tflite(file: Path, **options: object) -> bytes:
        made.append("larq_engine")
        return b"model"

    def convert_with_lce(name: str, weights: Path, output: Path) -> None:
        made.append("lce")

    def convert_to_onnx(folder: Path) -> None:
        made.append("onnx")

    monkeypatch.setattr(zoo_cache, "convert_to_onnx", convert_to_onnx)
    monkeypatch.setattr(zoo_cache, "_make_peers_files", make_peers_files)
    monkeypatch.setattr(zoo_cache, "convert_with_lce", convert_with_lce)
    monkeypatch.setattr(larq_engine, "convert_tflite", convert_tflite, raising=False)

    def run() -> list[str]:
        made.clear()
        files = zoo_cache.prepare("Net", Progress())
        assert (files / "larq_engine.tflite").read_bytes() == b"model"
        zoo_cache.prepare_lce("Net", Progress())
        zoo_cache.prepare_onnx("Net", Progress())
        return list(made)

    return run


def test_all_is_made_once(make: Make) -> None:
    assert make() == ["peers", "larq_engine", "lce", "onnx"]
    assert make() == []


def test_a_change_of_the_converter_concerns_our_file(make: Make, source: Path) -> None:
    make()
    source.write_text("new")
    assert make() == ["larq_engine"]
    assert make() == []


def test_a_change_of_the_weights_concerns_all(make: Make, source: Path) -> None:
    make()
    source.with_name("zoo_files.py").write_text("new")
    assert make() == ["peers", "larq_engine", "lce", "onnx"]


def test_what_failed_is_made_again(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:

        def fail(*_: object) -> None:
            raise zoo.CaseError("no")

        broken.setattr(zoo_cache, "_make_peers_files", fail)
        with pytest.raises(zoo.CaseError):
            make()
    assert make() == ["peers", "larq_engine", "lce", "onnx"]


def test_a_stale_file_that_could_not_be_made_anew_is_not_used(
    make: Make, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make()
    peers = source.with_name("zoo_files.py")
    peers.write_text("new")
    with monkeypatch.context() as broken:

        def fail(*_: object) -> None:
            raise zoo.CaseError("no")

        broken.setattr(zoo_cache, "_make_peers_files", fail)
        with pytest.raises(zoo.CaseError):
            make()
    peers.write_text("old")  # with half-made files of "new" in the folder
    assert "peers" in make()


def test_fingerprint_tells_names_and_where_a_file_ends(tmp_path: Path, source: Path) -> None:
    def fingerprint(**contents: str) -> str:
        files = [tmp_path / name for name in contents]
        for file in files:
            file.write_text(contents[file.name])
        return zoo_cache.fingerprint(files)

    same = fingerprint(a="12", b="3")
    assert fingerprint(b="3", a="12") == same
    others = [
        fingerprint(a="1", b="23"),
        fingerprint(a="12", c="3"),
        fingerprint(a="12b\n3"),  # the name of the next file, inside of one
    ]
    assert len({same, *others}) == 4


def test_fingerprint_tells_versions(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for version in ("1.0", "1.1"):
        monkeypatch.setattr(importlib.metadata, "version", lambda _, version=version: version)
        found.add(zoo_cache.fingerprint([source]))
    assert len(found) == 2


def test_the_real_sources_are_all_there() -> None:
    assert zoo_cache.ROOT / "larq_engine" / "converter" / "convert.py" in zoo_cache.CONVERTER
    assert all(source.exists() for source in zoo_cache.PEERS_SOURCES)
