"""The C++ example, built in any way, runs LCE's files in LiteRT like larq_engine.Interpreter."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import ai_edge_litert
import numpy as np
import pytest

import larq_engine

_ROOT = Path(__file__).parents[2]
_EXAMPLE = _ROOT / "examples" / "cpp"
_BUILT = _ROOT / "bazel-bin" / "examples" / "cpp" / "run_model"
_LITERT = Path(ai_edge_litert.__file__).parent
_ENGINE = Path(larq_engine.delegate_path()).parent
_CMAKE = Path(sys.executable).with_name("cmake")
_MODEL = _ROOT / "tests" / "interop" / "data" / "residual_relu_bn_add.float.tflite"


@pytest.fixture
def built(tmp_path):
    """Provides Bazel's program, with the engine inside and LiteRT's library beside it."""
    assert _BUILT.exists(), "build it with `make cpp-example`"
    program = tmp_path / "run_model"
    shutil.copy(_BUILT, program)
    (tmp_path / "libLiteRt.so").symlink_to(_LITERT / "libLiteRt.so")
    return program


@pytest.fixture
def linked(tmp_path):
    """Builds the same sources by the line in docs/deployment.md: the engine is the plug-in."""
    program = tmp_path / "run_model"
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-I."]
    command += ["-o", program, "examples/cpp/run_model.cc", "examples/cpp/register_engine.cc"]
    command += [f"-L{_ENGINE}", "-l:liblarq_engine.so", f"-L{_LITERT}", "-lLiteRt"]
    command += [f"-Wl,-rpath,{_ENGINE}:{_LITERT}"]
    subprocess.run(command, cwd=_ROOT, check=True)
    return program


@pytest.fixture
def by_cmake(tmp_path, installed):
    """Builds a copy of the folder by CMakeLists.txt, out of the tree."""
    copy = tmp_path / "copy"
    shutil.copytree(_EXAMPLE, copy)
    build = tmp_path / "build"
    configure = [_CMAKE, "-S", copy, "-B", build]
    configure += [f"-Dlarq_engine_DIR={installed}/cmake", f"-DCMAKE_LIBRARY_PATH={_LITERT}"]
    for command in (configure, [_CMAKE, "--build", build]):
        subprocess.run(command, check=True)
    return build / "run_model"


def run(program: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("how", ["built", "linked", "by_cmake"])
def test_outputs_are_the_interpreters(how, request, tmp_path):
    program = request.getfixturevalue(how)
    with np.load(_MODEL.with_suffix(".npz")) as recorded:
        x = recorded["x"][:1]
    x.tofile(tmp_path / "x")
    done = run(program, _MODEL, tmp_path / "x", tmp_path / "y")
    assert done.returncode == 0, done.stderr
    expected = larq_engine.Interpreter(_MODEL, host="litert").predict(x)
    assert (tmp_path / "y").read_bytes() == expected.tobytes()
    # The engine comes first: otherwise XNNPACK has the sums between binarized layers.
    names = [line.partition("name=")[2] for line in done.stderr.splitlines() if "Register" in line]
    assert names == ["larq_engine", "CpuAccelerator"]


def ask(folder: Path, package: Path, asked: str, *flags: str) -> str:
    """Returns the output of CMake for a project that asks for the package."""
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(asking LANGUAGES NONE)\n"
        f"find_package(larq_engine {asked})\n"
        'message(STATUS "found: ${larq_engine_FOUND} ${larq_engine_VERSION}")\n'
    )
    command = [_CMAKE, "-S", folder, "-B", folder / "asked", f"-Dlarq_engine_DIR={package}/cmake"]
    done = subprocess.run([*command, *flags], capture_output=True, text=True, check=False)
    return " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("", True),
        ("0.1", True),
        (larq_engine.__version__, True),
        (f"{larq_engine.__version__} EXACT", True),
        ("0", False),
        ("0.0.9", False),
        ("0.2", False),
        ("0.10", False),
        ("1.0", False),
    ],
)
def test_cmake_finds_the_version_that_is_asked_for(asked, found, tmp_path):
    """Before 1.0, another minor version may have another interface."""
    said = ask(tmp_path, _ENGINE, asked)
    assert (f"found: 1 {larq_engine.__version__}" in said) == found, said


def test_cmake_stops_where_a_newer_version_is_required(tmp_path):
    said = ask(tmp_path, _ENGINE, "0.2 REQUIRED")
    assert 'compatible with requested version "0.2"' in said
    assert "found:" not in said


# The first bytes of libraries, up to the number of their CPU.
_ELF = b"\x7fELF" + bytes(14)
_X86_64, _AARCH64, _ARMV7 = _ELF + b"\x3e\0", _ELF + b"\xb7\0", _ELF + b"\x28\0"
_MAC = b"\xcf\xfa\xed\xfe\x0c\0\0\x01" + bytes(12)


@pytest.mark.parametrize(
    ("system", "processor", "library", "start"),
    [
        ("Linux", "x86_64", "liblarq_engine.so", _X86_64),
        ("Linux", "AMD64", "liblarq_engine.so", _X86_64),
        ("Linux", "aarch64", "liblarq_engine.so", _AARCH64),
        ("Linux", "armv7l", "liblarq_engine.so", _ARMV7),
        ("Darwin", "arm64", "liblarq_engine.dylib", _MAC),
    ],
)
def test_cmake_finds_the_library_of_each_system(
    system, processor, library, start, installed, tmp_path
):
    (installed / "liblarq_engine.so").unlink()
    (installed / library).write_bytes(start)
    target = (f"-DCMAKE_SYSTEM_NAME={system}", f"-DCMAKE_SYSTEM_PROCESSOR={processor}")
    said = ask(tmp_path, installed, "0.1", *target)
    assert f"found: 1 {larq_engine.__version__}" in said


@pytest.mark.parametrize(
    ("system", "processor", "reason"),
    [
        ("Linux", "aarch64", "expected a library for aarch64, got {library} for x86_64"),
        ("Linux", "riscv64", "expected a library for riscv64, got {library} for x86_64"),
        ("Darwin", "arm64", "expected {package}/liblarq_engine.dylib; `make build`"),
        ("Windows", "AMD64", "got Windows: load larq_engine.dll with LoadLibrary"),
        ("Generic", "aarch64", "expected Linux with glibc, or macOS, got Generic"),
    ],
)
def test_cmake_says_why_there_is_no_library(system, processor, reason, installed, tmp_path):
    library = installed / "liblarq_engine.so"
    library.unlink()
    library.write_bytes(_X86_64)
    target = (f"-DCMAKE_SYSTEM_NAME={system}", f"-DCMAKE_SYSTEM_PROCESSOR={processor}")
    said = ask(tmp_path, installed, "0.1 REQUIRED", *target)
    assert reason.format(library=library, package=installed) in said
    assert "found:" not in said


def test_what_cannot_be_run_is_told(built, tmp_path):
    (tmp_path / "short").write_bytes(bytes(8))
    for arguments, reason in (
        ((), "usage: run_model MODEL.tflite INPUT OUTPUT"),
        ((tmp_path / "absent", "x", "y"), f"{tmp_path}/absent: cannot be read"),
        ((_MODEL, tmp_path / "short", "y"), f"{tmp_path}/short: expected a file of 3072 bytes"),
        ((_MODEL, "/dev/zero", tmp_path / "a" / "y"), f"{tmp_path}/a/y: cannot be written"),
    ):
        done = run(built, *arguments)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith(f"run_model: error: {reason}")


def test_the_plug_in_is_found_by_its_name(linked):
    """The program does not use the path of the folder where it was linked."""
    elf = subprocess.run(["readelf", "-d", linked], capture_output=True, text=True, check=True)
    assert "Shared library: [liblarq_engine.so]" in elf.stdout


def test_a_damaged_model_is_refused(built, tmp_path):
    content = _MODEL.read_bytes()
    path = tmp_path / "damaged.tflite"
    for size in (0, 100, len(content) // 2, len(content) - 1000):
        path.write_bytes(content[:size])
        done = run(built, path, "x", "y")
        assert done.returncode == 1, done.returncode
        assert done.stderr.startswith(f"run_model: error: {path}: expected ")
