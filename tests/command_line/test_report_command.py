"""`larq-engine report` prints tables, and writes all files or none."""

import json
import os
from pathlib import Path

import pytest

from larq_engine.command_line import main
from larq_engine.placing.device_file import apply_device, read_device
from larq_engine.placing.place_profile import place_profile
from larq_engine.placing.profile_file import read_profile
from tests.profiling.models import small_model
from tests.reporting.profiles import write_pair


@pytest.fixture
def files(tmp_path):
    return list(map(str, write_pair(tmp_path)))


def test_tables_go_to_the_terminal(files, capsys):
    profile, placement = files
    assert main(["report", profile, "--placement", placement]) == 0
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert lines[0] == "made-up.tflite"
    titles = next(line for line in lines if line.startswith(" #  operator"))
    assert " ".join(titles.split()) == (
        "# operator layer device kernel time quartiles share of limit MACs on engine, CPU on host "
        "on engine, GPU"
    )
    convolution = next(line for line in lines if line.startswith(" 4  LceBconv2d"))
    assert convolution.split()[3:8] == ["engine,", "CPU", "bgemm_i32_4x4x256_avx2", "192", "µs"]
    assert "the least of all with its neighbours on cuda" in printed
    transfer = next(
        line for line in lines if line.startswith("net/classifier   GPU memory to CPU memory")
    )
    assert transfer.endswith("4.00 kB  9.33 µs  50          the caller")
    assert main(["report", profile]) == 0
    assert "placement: none given" in capsys.readouterr().out


def test_files_are_written(files, tmp_path, capsys):
    profile, placement = files
    page, overlay, trace = (str(tmp_path / name) for name in ("a.html", "o.json", "t.json"))
    folder = tmp_path / "plots"
    folder.mkdir()
    options = ["-o", page, "--overlay", overlay, "--trace", trace, "--plots", str(folder)]
    assert main(["report", profile, "--placement", placement, *options]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"wrote {page}" and len(said) == 9
    assert sorted(os.listdir(folder)) == [
        *("batches.svg", "graph.svg", "limits.svg", "operators.svg", "slowest.svg", "totals.svg")
    ]
    for line in said:
        assert os.path.getsize(line.removeprefix("wrote ")) > 100


def test_a_placement_with_a_device_file(files, tmp_path, capsys):
    """Planned devices are not in the profile; the error says so."""
    profile = read_profile(files[0])
    planned = apply_device(profile, read_device("pi5"))
    placement = tmp_path / "planned.json"
    placement.write_text(place_profile(planned).to_json())
    arguments = ["report", files[0], "--placement", str(placement)]
    assert main([*arguments, "--device-file", "pi5"]) == 0
    assert "pi5: " in capsys.readouterr().out
    fields = json.loads(placement.read_text())
    fields["ops"][5]["device"] = "pi5"
    placement.write_text(json.dumps(fields))
    assert main(arguments) == 1
    assert "got 'pi5'; take the profile and the device files" in capsys.readouterr().err


def test_another_batch(files, capsys):
    assert main(["report", files[0], "--batch", "8"]) == 0
    assert "shown: batch 8, 1 thread\n" in capsys.readouterr().out


def _read(path):
    return Path(path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda path: "", "expected JSON, got an empty file"),
        (lambda path: _read(path)[:5000], "the file is cut off"),
        (lambda path: "{}", "expected an object with the key larq_engine_profile"),
        (lambda path: "\x00TFL3", "expected JSON, got something else"),
        (lambda path: b"\x1c\0\0\0TFL3\xf8", "expected JSON, got a model; write one with `larq-"),
        (lambda path: json.dumps({"larq_engine_profile": 2}), "of a later larq_engine"),
    ],
    ids=["empty", "cut", "foreign", "binary", "model", "later"],
)
def test_a_file_that_is_no_profile(files, tmp_path, capsys, content, message):
    changed = tmp_path / "changed.json"
    written = content(files[0])
    changed.write_bytes(written if isinstance(written, bytes) else written.encode())
    page = tmp_path / "a.html"
    assert main(["report", str(changed), "-o", str(page)]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"larq-engine: error: profile '{changed}': ") and message in said
    assert said.count("\n") == 1
    assert not page.exists()


def test_a_model_that_the_profile_is_not_of(files, tmp_path, capsys):
    other, page = tmp_path / "other.tflite", tmp_path / "a.html"
    other.write_bytes(small_model(2))
    assert main(["report", str(files[0]), "--model", str(other), "-o", str(page)]) == 1
    assert "expected the profile of this model, whose sha256 is " in capsys.readouterr().err
    assert not page.exists()


def test_errors_do_not_move_the_cursor(files, tmp_path, capsys):
    changed = tmp_path / "changed.json"
    fields = json.loads(_read(files[0]))
    fields["totals"][0]["device"] = "\x1b[2J\x9bnone"
    changed.write_text(json.dumps(fields))
    assert main(["report", str(changed)]) == 1
    said = capsys.readouterr().err
    assert said.endswith("(cpu, cuda, host), got '\ufffd[2J\ufffdnone'\n")


def test_files_that_are_not_there(files, tmp_path, capsys):
    missing = str(tmp_path / "none.json")
    for what, command, arguments in (
        ("profile", "profile MODEL", [missing]),
        ("placement", "place MODEL", [files[0], "--placement", missing]),
    ):
        assert main(["report", *arguments]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"larq-engine: error: {what} '{missing}': expected a file")
        assert f"`larq-engine {command} " in said


def test_a_page_is_named_as_one(files, tmp_path, capsys):
    assert main(["report", files[0], "-o", str(tmp_path / "page.pdf")]) == 1
    assert "expected the name of a page" in capsys.readouterr().err
    assert not (tmp_path / "page.pdf").exists()


def test_a_profile_is_no_placement(files, capsys):
    assert main(["report", files[0], "--placement", files[0]]) == 1
    assert "expected an object with the key larq_engine_placement" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["-o", "--overlay", "--trace"])
def test_an_output_that_cannot_be_written(files, tmp_path, capsys, option):
    """Neither file is written, although the other one could be."""
    before = set(os.listdir(tmp_path))
    page, overlay = tmp_path / "a.html", tmp_path / "o.json"
    other = ["--overlay", str(overlay)] if option == "-o" else ["-o", str(page)]
    for place, message in (
        (tmp_path / "none" / "a.html", "expected an existing folder"),
        (tmp_path, "expected the name of a file"),
        (files[0], "expected a file of its own"),
        (other[1], "expected a file of its own"),
    ):
        assert main(["report", files[0], *other, option, str(place)]) == 1
        assert message in capsys.readouterr().err
        assert set(os.listdir(tmp_path)) == before


def test_a_disk_that_is_full_leaves_no_part(files, tmp_path, capsys, monkeypatch):
    page = tmp_path / "a.html"
    page.write_text("before")

    def fail(*_):
        raise OSError(28, "No space left on device", str(page))

    monkeypatch.setattr("pathlib.Path.replace", fail)
    assert main(["report", files[0], "-o", str(page)]) == 1
    assert "No space left on device" in capsys.readouterr().err
    assert page.read_text() == "before"
    assert len(os.listdir(tmp_path)) == 3


def test_plots_need_a_folder(files, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["report", files[0], "--png"])
    assert "--png: expected --plots DIR beside it" in capsys.readouterr().err
    assert main(["report", files[0], "--plots", str(tmp_path / "none")]) == 1
    assert "expected an existing folder" in capsys.readouterr().err
