"""tools/check_wheel.py refuses wrong wheels, shown with libraries made for it."""

import platform
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from larq_engine.placing.device_file import shipped_devices

_OTHER_FILES = [
    *(f"larq_engine/placing/devices/{name}.json" for name in shipped_devices()),
    "larq_engine/cmake/larq_engine-config-version.cmake",
    "larq_engine/cmake/larq_engine-config.cmake",
    "larq_engine/reporting/page.css",
    "larq_engine/reporting/page.html",
    "larq_engine/reporting/page.js",
    "larq_engine/runtime/larq_engine.h",
    "larq_engine/runtime/larq_engine_model.h",
    "larq_engine/runtime/larq_engine_model.hpp",
    "larq_engine/runtime/litert_abi.h",
    *(
        f"larq_engine/web_export/page/{name}"
        for name in (
            *("answers.js", "elements.js", "facts.js", "icon.svg", "index.html", "main.js"),
            *("number_input.js", "number_text.js", "page.css", "picture_input.js"),
            *("running_model.js", "sound_input.js", "text.js"),
        )
    ),
    *(
        f"larq_engine/web_export/engine/dist/{name}.js"
        for name in ("helper", "helper_node", "index", "node", "worker", "worker_node")
    ),
    *(
        f"larq_engine/web_export/engine/wasm/larq_engine{kind}.wasm"
        for kind in ("", "_plain", "_threads")
    ),
]
_CHECK = Path(__file__).parents[2] / "tools" / "check_wheel.py"
_HERE = platform.machine()

_PLUG_IN, _KERNELS = "liblarq_engine.so", "liblarq_engine_cuda.so"
# The linker can pack the last pointer, as nothing else can take the variable's place.
_SOURCES = {
    _PLUG_IN: """
extern void* memcpy(void* to, const void* from, unsigned long size);
void* larq_engine_copy(void* to, const void* from) { return memcpy(to, from, 1); }
void LiteRtAcceleratorImpl(void) {}
const char* larq_engine_version(void) { return "1.0"; }
void tflite_plugin_create_delegate(void) {}
void tflite_plugin_destroy_delegate(void) {}
static int variable;
int* larq_engine_variable = &variable;
""",
    _KERNELS: """
void larq_engine_cuda_image(void) {}
const char* larq_engine_cuda_version(void) { return "1.0"; }
""",
}


@pytest.fixture
def check(tmp_path, link):
    """Returns the problems of a wheel with this tag and these libraries."""

    def run(tag, plug_in=None, kernels=None, files=_OTHER_FILES):
        wheel = tmp_path / f"larq_engine-1.0-py3-none-{tag}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.write(plug_in or link("-s"), f"larq_engine/{_PLUG_IN}")
            archive.write(kernels or link("-s", name=_KERNELS), f"larq_engine/{_KERNELS}")
            for name in files:
                archive.writestr(name, "")
        command = [sys.executable, _CHECK, wheel]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == bool(done.stderr)
        return done.stderr

    return run


@pytest.fixture
def link(tmp_path):
    """Makes a library with the least that a wheel needs, with the linker's flags."""

    def run(*flags, name=_PLUG_IN, soname=None, source=""):
        library = tmp_path / name
        command = ["g++", "-O1", "-fPIC", "-fno-builtin", "-shared"]
        command += [f"-Wl,-soname,{soname or name}", "-x", "c", *flags, "-", "-o", library]
        subprocess.run(command, input=source or _SOURCES[name], text=True, check=True)
        return library

    return run


def test_what_may_be_published(check, link):
    assert check(f"manylinux_2_28_{_HERE}") == ""


def test_what_programs_are_built_with(check, link):
    tag = f"manylinux_2_28_{_HERE}"
    assert "no soname liblarq_engine.so" in check(tag, link("-s", soname="other.so"))
    for name in _OTHER_FILES:
        others = [other for other in _OTHER_FILES if other != name]
        assert f"lacks {name}" in check(tag, files=others)


def test_the_engine_for_browsers_is_small(check, link, tmp_path):
    tag = f"manylinux_2_28_{_HERE}"
    assert check(tag) == ""
    with zipfile.ZipFile(tmp_path / f"larq_engine-1.0-py3-none-{tag}.whl", "a") as wheel:
        wheel.writestr("larq_engine/web_export/engine/wasm/other.wasm", random.randbytes(1_200_000))
    command = [sys.executable, _CHECK, wheel.filename]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "larq_engine/web_export/: expected less than 1200000 bytes, got 120" in done.stderr


def test_kernels_for_gpus(check, link, tmp_path):
    tag = f"manylinux_2_28_{_HERE}"
    of_another = link("-s", name=_KERNELS, source=_SOURCES[_PLUG_IN])
    said = check(tag, kernels=of_another)
    assert f"{_KERNELS}: exports tflite_plugin_create_delegate" in said
    assert f"{_KERNELS}: does not export larq_engine_cuda_version" in said
    older = link("-s", name=_KERNELS, source=_SOURCES[_KERNELS].replace("1.0", "0.9"))
    assert "larq_engine_cuda_version: expected 1.0, got 0.9" in check(tag, kernels=older)
    assert f"{_KERNELS}: is not stripped" in check(tag, kernels=link(name=_KERNELS))
    wheel = tmp_path / f"larq_engine-1.0-py3-none-{tag}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(link("-s"), f"larq_engine/{_PLUG_IN}")
    done = subprocess.run([sys.executable, _CHECK, wheel], capture_output=True, text=True)
    assert done.returncode == 1 and f"lacks larq_engine/{_KERNELS}" in done.stderr


def test_newer_glibc_than_the_tag_has(check, link):
    # glibc's symbols are not older than 2.2.5 on x86-64, and than 2.17 on 64-bit ARM.
    assert "refers to memcpy@GLIBC_2." in check(f"manylinux_2_1_{_HERE}", link("-s"))


def test_newer_glibc_that_no_symbol_tells(check, link):
    library = link("-s", "-Wl,-z,pack-relative-relocs")
    if b"GLIBC_ABI_DT_RELR" not in library.read_bytes():
        pytest.skip("the linker packs no relocations on this machine")
    assert "needs version GLIBC_ABI_DT_RELR" in check(f"manylinux_2_28_{_HERE}", library)


def test_symbols_that_only_a_debugger_needs(check, link):
    assert "is not stripped" in check(f"manylinux_2_28_{_HERE}", link())


def test_another_machine(check, link):
    other = "x86_64" if _HERE == "aarch64" else "aarch64"
    assert "another machine" in check(f"manylinux_2_28_{other}", link("-s"))


def test_32_bits_have_no_kernels_for_gpus(check, link):
    said = check("manylinux_2_28_armv7l", link("-s"))
    assert f"has larq_engine/{_KERNELS}" in said
    assert f"{_PLUG_IN}: is for another machine than armv7l" in said


def test_library_of_another_project(check):
    """NumPy's library is large, linked with NumPy's own libraries, and has Python's exports."""
    import numpy.core._multiarray_umath as module

    said = check("manylinux_2_28_x86_64", module.__file__)
    assert "size: expected less than" in said
    assert "exports PyInit" in said
    assert "needs ['" in said


def test_what_is_no_library(check, tmp_path):
    text = tmp_path / "text"
    text.write_text("none")
    said = check(f"manylinux_2_28_{_HERE}", text)
    assert f"{_PLUG_IN}: expected a shared library, got something else" in said


def test_tag_without_glibc(check, link):
    assert "name: expected" in check(f"linux_{_HERE}", link("-s"))
