"""tools/check_wheel.py refuses wrong libraries for macOS and Windows, made by zig."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_ZIG = _ROOT / ".zig" / "ziglang" / "zig"
_FUNCTIONS = """
#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif
EXPORT int larq_engine_one(void) { return 1; }
EXPORT int larq_engine_two(void) { return 2; }
"""
_BEEP = """
#include <windows.h>
__declspec(dllexport) int larq_engine_beep(void) { return MessageBeep(0); }
"""
_TARGETS = {
    "liblarq_engine.dylib": ["-target", "aarch64-macos.11.0"],
    "larq_engine.dll": ["-target", "x86_64-windows-gnu"],
}
pytestmark = pytest.mark.skipif(not _ZIG.exists(), reason="needs zig: `make setup-windows`")


@pytest.fixture(scope="module")
def other_systems():
    sys.path.insert(0, str(_ROOT / "tools"))
    import other_systems

    sys.path.remove(str(_ROOT / "tools"))
    return other_systems


@pytest.fixture(scope="module")
def link(tmp_path_factory):
    """Makes a library that exports two functions."""
    cache = f"{tempfile.gettempdir()}/larq_engine_zig"  # builds use it too
    environment = os.environ | {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}

    def run(name, *flags, source=_FUNCTIONS):
        library = tmp_path_factory.mktemp("library") / name
        (library.parent / "source.c").write_text(source)
        command = [_ZIG, "cc", *_TARGETS[name], "-shared", "-fvisibility=hidden", "-s", *flags]
        command += [library.parent / "source.c", "-o", library]
        subprocess.run(command, env=environment, check=True)
        return library

    return run


@pytest.fixture(scope="module")
def dylib(link):
    return link("liblarq_engine.dylib", "-Wl,-install_name,@rpath/liblarq_engine.dylib")


def test_a_library_for_macos(other_systems, dylib):
    found = other_systems.look_at_macos(dylib, (11, 0))
    assert found.exports == {"larq_engine_one", "larq_engine_two"}
    assert found.problems == ()


def test_a_newer_macos_than_the_tag_says_is_refused(other_systems, dylib):
    [problem] = other_systems.look_at_macos(dylib, (10, 15)).problems
    assert "system: expected (10, 15) or newer" in problem


def test_an_install_name_of_another_place_is_refused(other_systems, link):
    library = link("liblarq_engine.dylib", "-Wl,-install_name,/tmp/liblarq_engine.dylib")
    [problem] = other_systems.look_at_macos(library, (11, 0)).problems
    assert "install name: expected @rpath/liblarq_engine.dylib, got /tmp" in problem


def test_a_byte_that_was_not_signed_is_refused(other_systems, dylib, tmp_path):
    content = bytearray(dylib.read_bytes())
    content[5000] ^= 1
    changed = tmp_path / dylib.name
    changed.write_bytes(content)
    assert other_systems.look_at_macos(changed, (11, 0)).problems == (
        "code signature: is not of these bytes",
    )


def test_a_library_for_windows(other_systems, link):
    found = other_systems.look_at_windows(link("larq_engine.dll"))
    assert found.exports == {"larq_engine_one", "larq_engine_two"}
    assert found.problems == ()


def test_other_libraries_of_windows_are_refused(other_systems, link):
    library = link("larq_engine.dll", "-luser32", source=_BEEP)
    [problem] = other_systems.look_at_windows(library).problems
    assert problem.startswith("needs ['USER32.dll']")


@pytest.mark.parametrize("look", ["look_at_macos", "look_at_windows"])
def test_a_text_is_no_library(other_systems, tmp_path, look):
    text = tmp_path / "larq_engine.dll"
    text.write_text("no library")
    arguments = [(11, 0)] if look == "look_at_macos" else []
    [problem] = getattr(other_systems, look)(text, *arguments).problems
    assert problem.startswith("is no library for")
