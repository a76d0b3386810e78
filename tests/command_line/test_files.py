"""Tests which kind of model a path is, what may be written where, and that files are whole."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from larq_engine.command_line.files import check_destination, check_is_tflite, find_door
from larq_engine.converter.doors import KERAS, ONNX, SAVED_MODEL, TFLITE, TORCH, split_function
from larq_engine.python.whole_files import write_files


@pytest.mark.parametrize(
    ("name", "door"),
    [
        ("model.h5", KERAS),
        ("model.keras", KERAS),
        ("model.tflite", TFLITE),
        ("MODEL.TFLITE", TFLITE),
        ("model.onnx", ONNX),
    ],
)
def test_kinds_of_files(tmp_path, name, door):
    (tmp_path / name).write_bytes(b"")
    assert find_door(tmp_path / name) is door


@pytest.mark.parametrize("name", ["model", "model.bin"])
@pytest.mark.parametrize(
    ("content", "door"),
    [
        (b"\x20\0\0\0TFL3\0", TFLITE),
        (b"\x89HDF\r\n\x1a\n\0", KERAS),
        (b"\x08\x08\x12\x07pytorch", ONNX),
        (b"\x08\x0a\x3a\x90\x01", ONNX),
    ],
)
def test_kinds_of_files_whose_names_do_not_tell(tmp_path, name, content, door):
    (tmp_path / name).write_bytes(content)
    assert find_door(tmp_path / name) is door


@pytest.mark.parametrize("name", ["model.py:make_model", "absent.py:make_model"])
def test_a_function_of_a_python_file_makes_a_pytorch_module(tmp_path, name):
    (tmp_path / "model.py").write_bytes(b"")
    assert find_door(tmp_path / name) is TORCH
    assert split_function(tmp_path / name) == (tmp_path / name.split(":")[0], "make_model")
    assert split_function(tmp_path / "model.py") is None


@pytest.mark.parametrize("name", ["model.keras", "model.onnx", "model.py:make_model"])
def test_commands_that_take_tflite_files_refuse_other_models(tmp_path, name):
    model = tmp_path / name
    (tmp_path / name.split(":")[0]).write_bytes(b"")
    with pytest.raises(ValueError, match=r"expected a \.tflite file, got another kind") as caught:
        check_is_tflite(model)
    assert f"`larq-engine convert {model} -o OUT.tflite`" in str(caught.value)
    (tmp_path / "model.tflite").write_bytes(b"")
    check_is_tflite(tmp_path / "model.tflite")


def test_a_file_that_is_no_model_is_told_the_one_kind_that_is_taken(tmp_path):
    (tmp_path / "a.py").write_bytes(b"")
    with pytest.raises(ValueError, match=r"expected a \.tflite file, got something else; check"):
        check_is_tflite(tmp_path / "a.py")


@pytest.mark.parametrize("name", ["saved", "saved.tflite"])
def test_a_folder_is_a_saved_model_whatever_its_name(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match=r"with saved_model\.pb in it, got another folder; check"):
        find_door(tmp_path / name)
    (tmp_path / name / "saved_model.pb").write_bytes(b"")
    assert find_door(tmp_path / name) is SAVED_MODEL


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("model.pth", "write a function"),
        ("model.py", "write a function"),
        ("model", "check the path"),
    ],
)
def test_other_files_are_refused(tmp_path, name, remedy):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(ValueError, match=r"\.h5 or \.keras file, .* \.tflite file, an \.onnx") as e:
        find_door(tmp_path / name)
    assert f"got something else; {remedy}" in str(e.value)


@pytest.mark.parametrize("name", ["model.tflite", "model.h5", "model"])
def test_what_is_not_there_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=rf"'{tmp_path / name}': .* got nothing of that name"):
        find_door(tmp_path / name)


def test_destinations(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    check_destination("output", tmp_path / "new", tmp_path / "file")
    check_destination("output", tmp_path / "file", tmp_path / "other")
    check_destination("output", tmp_path / "link", tmp_path / "other")
    for path, words in (
        (tmp_path / "absent" / "new", f"an existing folder, got '{tmp_path / 'absent'}'; make it"),
        (tmp_path / "file" / "new", f"an existing folder, got '{tmp_path / 'file'}'"),
        (tmp_path / "folder", "got something else of that name"),
        (tmp_path / "link", "a file of its own"),
        (tmp_path / "folder" / ".." / "file", "a file of its own"),
    ):
        with pytest.raises(ValueError) as caught:
            check_destination("output", type(tmp_path)(path), tmp_path / "file")
        assert str(caught.value).startswith(f"output '{path}': expected ")
        assert words in str(caught.value)


def test_a_folder_that_may_not_be_written_to(tmp_path, monkeypatch):
    # Tests may run as the superuser, who may write everywhere.
    monkeypatch.setattr("os.access", lambda path, mode: not (path == tmp_path and mode == os.W_OK))
    with pytest.raises(ValueError, match=f"a folder to write in, got '{tmp_path}'; choose another"):
        check_destination("output", tmp_path / "new")


def test_writing_replaces_files_and_keeps_links(tmp_path):
    target, link, new = (tmp_path / name for name in ("target", "link", "new"))
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_files({link: b"first", new: b"second"})
    assert link.is_symlink()
    assert target.read_bytes() == b"first"
    assert new.read_bytes() == b"second"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "new", "target"]
    # The mode is that of any new file, not that of a private temporary one.
    (tmp_path / "plain").write_bytes(b"")
    assert new.stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_a_file_that_is_written_anew_keeps_its_mode(tmp_path, mode):
    file = tmp_path / "file"
    file.write_bytes(b"old")
    file.chmod(mode)
    write_files({file: b"new"})
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == mode


@pytest.mark.parametrize("name", ["pipe", "pipe.tflite", "pipe.onnx"])
def test_a_pipe_is_no_model(tmp_path, name):
    """Opening a pipe that nobody writes to would never end."""
    pipe = tmp_path / name
    os.mkfifo(pipe)
    with pytest.raises(ValueError, match="got something else; check the path"):
        find_door(pipe)


def test_a_pipe_stays_one(tmp_path):
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    check_destination("output", pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_files({pipe: b"through it", file: b"beside it"})
    reader.join()
    assert read == [b"through it"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert file.read_bytes() == b"beside it"


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    """A full disk's error names no file, and that of a temporary file would help nobody."""
    for path in (Path("/dev/full"), Path("/proc/no-file"), tmp_path / "absent" / "x"):
        with pytest.raises(OSError) as caught:
            write_files({tmp_path / "other": b"", path: b"content"})
        assert caught.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_half_way(tmp_path):
    """A limit on the size of files has the same effect."""
    file = tmp_path / "file"
    file.write_bytes(b"old")
    script = (
        "import resource, pathlib, sys\n"
        "from larq_engine.python.whole_files import write_files\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n    write_files({pathlib.Path(sys.argv[1]): bytes(100_000)})\n"
        "except OSError as error:\n    print(error.filename)"
    )
    command = [sys.executable, "-c", script, str(file)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.stdout.strip() == str(file), result.stderr
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_a_failure_to_write_leaves_everything_as_it_was(tmp_path):
    before = tmp_path / "before"
    before.write_bytes(b"old")
    with pytest.raises(FileNotFoundError):
        write_files({before: b"new", tmp_path / "other": b"new", tmp_path / "absent" / "x": b""})
    assert [path.name for path in tmp_path.iterdir()] == ["before"]
    assert before.read_bytes() == b"old"
