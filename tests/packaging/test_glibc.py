"""Files of a release run with the glibc that the documents say; tools/test_arm64.sh builds one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import ai_edge_litert
import pytest

_ROOT = Path(__file__).parents[2]
_CONSTRUCTORS = _ROOT / "tools" / "manylinux" / "constructors.cc"
_ROW = re.compile(r"^\| ([^|]+?) +\| [^|]+ \| (\d+\.\d+|the one[^|]*) \|", re.MULTILINE)


@pytest.fixture
def tools(monkeypatch):
    """Returns the modules check_program and glibc."""
    monkeypatch.syspath_prepend(str(_ROOT / "tools"))
    import check_program
    import glibc

    return check_program, glibc


def _table() -> dict[str, str]:
    text = (_ROOT / "docs" / "support.md").read_text()
    return dict(_ROW.findall(text.partition("\n## Which glibc")[2].partition("\n## ")[0]))


def test_what_is_released_is_what_the_table_says(tools):
    _, glibc = tools
    tag = re.search(r'MANYLINUX = "manylinux_(\d+)_(\d+)_"', (_ROOT / "setup.py").read_text())
    assert tuple(map(int, tag.groups())) == glibc.OLDEST
    assert _table()["our wheels for Linux"] == ".".join(tag.groups())
    assert _table()["`larq_benchmark_model` of a release"] == ".".join(tag.groups())


def test_litert_is_what_the_table_says(tools):
    _, glibc = tools
    from elf import read_elf

    elf = read_elf(Path(ai_edge_litert.__file__).parent / "libLiteRt.so")
    of_glibc = {version for version in elf.versions if version.startswith("GLIBC_")}
    newest = max(map(glibc.glibc_version, of_glibc))
    machine = {"x86_64": "x86-64", "aarch64": "64-bit ARM"}[os.uname().machine]
    assert _table()[f"LiteRT 2.3's library, {machine}"] == ".".join(map(str, newest))


def test_a_program_of_this_system_is_refused(tools, tmp_path):
    check_program, _ = tools
    program = tmp_path / "program"
    command = ["g++", "-x", "c++", "-", "-o", program]
    subprocess.run(command, input="int main() {}", text=True, check=True)
    found = "\n".join(check_program.program_problems(os.uname().machine, program))
    assert "is not stripped" in found
    command = [sys.executable, _ROOT / "tools" / "check_program.py", os.uname().machine, program]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    other = "aarch64" if os.uname().machine == "x86_64" else "x86_64"
    assert f"is for another machine than {other}" in check_program.program_problems(other, program)


# With an `init` of its own, a program is one of before glibc 2.34: then libc runs no constructor.
_COUNTING = """
#include <cstdio>
static int count = 0;
struct Counted { Counted() { ++count; } } counted;
#ifdef OLD
extern "C" int __real___libc_start_main(int (*)(int, char**, char**), int, char**, void (*)(),
                                        void (*)(), void (*)(), void*);
static void Nothing() {}
extern "C" int __wrap___libc_start_main(int (*run)(int, char**, char**), int argc, char** argv,
                                        void (*)(), void (*fini)(), void (*loader)(), void* stack) {
  return __real___libc_start_main(run, argc, argv, Nothing, fini, loader, stack);
}
#endif
int main() { std::printf("%d", count); }
"""


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ((), "1"),
        (("-DOLD", "-Wl,--wrap=__libc_start_main"), "0"),
        (("-Wl,--wrap=main", _CONSTRUCTORS), "1"),
        (("-DOLD", "-Wl,--wrap=__libc_start_main", "-Wl,--wrap=main", _CONSTRUCTORS), "1"),
    ],
    ids=["new glibc", "old glibc", "new glibc, helped", "old glibc, helped"],
)
def test_constructors_run_once_with_any_glibc(flags, expected, tmp_path):
    source = tmp_path / "counting.cc"
    source.write_text(_COUNTING)
    subprocess.run(["g++", source, *flags, "-o", tmp_path / "counting"], check=True)
    done = subprocess.run([tmp_path / "counting"], capture_output=True, text=True, check=True)
    assert done.stdout == expected
