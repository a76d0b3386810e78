"""Tests the contents of the Android package, and which libraries it refuses."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

_TOOL = Path(__file__).parents[2] / "tools" / "make_aar.py"

# The place in an ELF header that names the machine, and the number of 64-bit ARM.
_MACHINE_AT, _AARCH64 = 18, (183).to_bytes(2, "little")


def _library(folder: Path, *flags: str, symbol="LiteRtAcceleratorImpl", machine=_AARCH64) -> Path:
    """Makes a library for this machine whose header names another machine."""
    source, library = folder / "library.c", folder / "liblarq_engine.so"
    source.write_text(f"int {symbol} = 1;\n")
    pages = "-Wl,-z,max-page-size=16384"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-nostdlib", pages, *flags, source, "-o", library], check=True
    )
    content = bytearray(library.read_bytes())
    if machine:
        content[_MACHINE_AT : _MACHINE_AT + 2] = machine
    library.write_bytes(content)
    return library


def _make(library: Path, output: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(_TOOL), str(library), "-o", str(output)]
    return subprocess.run(command, capture_output=True, text=True)


def test_what_is_in_it(tmp_path):
    library = _library(tmp_path)
    first, second = tmp_path / "first.aar", tmp_path / "second.aar"
    for output in (first, second):
        done = _make(library, output)
        assert done.returncode == 0, done.stderr
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert archive.testzip() is None
        assert archive.read("jni/arm64-v8a/libLiteRtGpuAccelerator.so") == library.read_bytes()
        assert b"minSdkVersion" in archive.read("AndroidManifest.xml")
        assert {"classes.jar", "R.txt"} <= set(archive.namelist())


@pytest.mark.parametrize(
    ("flags", "options", "message"),
    [
        ([], {"machine": None}, "machine: expected AArch64, got Advanced Micro Devices"),
        ([], {"symbol": "other"}, "expected LiteRtAcceleratorImpl, which LiteRT looks for"),
        (["-Wl,--no-as-needed", "-lgcc_s"], {}, "needs libgcc_s.so.1, which no Android has"),
        (["-Wl,-z,max-page-size=4096"], {}, "expected to lie at multiples of 16384 bytes"),
    ],
)
def test_what_it_refuses(tmp_path, flags, options, message):
    output = tmp_path / "out.aar"
    done = _make(_library(tmp_path, *flags, **options), output)
    assert done.returncode == 1
    assert message in done.stderr
    assert not output.exists()


def test_what_is_no_library(tmp_path):
    (tmp_path / "text").write_text("none")
    done = _make(tmp_path / "text", tmp_path / "out.aar")
    assert done.returncode == 1
    assert "expected a shared library, got something else" in done.stderr
    assert "No such file" in _make(tmp_path / "missing", tmp_path / "out.aar").stderr
