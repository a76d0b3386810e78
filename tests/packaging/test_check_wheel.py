"""What tools/check_wheel.py must refuse, shown with the library that `make build` made."""

import platform
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import larq_engine

_CHECK = Path(__file__).parents[2] / "tools" / "check_wheel.py"


@pytest.fixture
def check(tmp_path):
    """Returns what is said of this library in a wheel with the tag."""

    def run(tag, library):
        wheel = tmp_path / f"larq_engine-1.0-py3-none-{tag}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.write(library, "larq_engine/liblarq_engine.so")
        command = [sys.executable, _CHECK, wheel]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == bool(done.stderr)
        return done.stderr

    return run


def test_newer_glibc_than_the_tag_has(check):
    # 2.14 is memcpy's: there is no binary of today without it.
    assert "newer than the tag's glibc" in check(
        "manylinux_2_1_x86_64", larq_engine.delegate_path()
    )


def test_symbols_that_only_a_debugger_needs(check):
    assert "not stripped" in check("manylinux_2_28_x86_64", larq_engine.delegate_path())


def test_another_machine(check):
    other = "x86_64" if platform.machine() == "aarch64" else "aarch64"
    assert "another machine" in check(f"manylinux_2_28_{other}", larq_engine.delegate_path())


def test_library_of_another_project(check):
    """NumPy's: large, linked with its own libraries, and it exports what Python asks for."""
    import numpy.core._multiarray_umath as module

    said = check("manylinux_2_28_x86_64", module.__file__)
    assert "size: expected less than" in said
    assert "exports PyInit" in said
    assert "needs {" in said


def test_tag_without_glibc(check):
    assert "name: expected" in check("linux_x86_64", larq_engine.delegate_path())
