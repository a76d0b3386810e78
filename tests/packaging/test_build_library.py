"""No Bazel server outlives a build of the package, whichever way the build ends."""

import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

_ROOT = Path(__file__).parents[2]


class _BuildPy:
    """A stand-in for setuptools' build of the Python files, as far as setup.py uses it."""

    editable_mode = False
    build_lib = ""

    def run(self):
        """Does nothing: the files are not needed here."""

    def get_finalized_command(self, name):
        return SimpleNamespace(plat_name="linux_x86_64")


@pytest.mark.parametrize("failing", ["query", "build"])
def test_a_build_that_fails_shuts_its_server_down(tmp_path, monkeypatch, failing):
    """A server whose client is killed has also been told not to wait long for the next one."""
    log, bazel = tmp_path / "log", tmp_path / "bazel"
    bazel.write_text(f'#!/bin/sh\necho "$@" >> {log}\ncase "$2" in {failing}) exit 1 ;; esac\n')
    bazel.chmod(0o755)
    monkeypatch.setenv("BAZEL", str(bazel))
    contents = {
        "setuptools": {"Distribution": object, "setup": lambda **_: None},
        "setuptools.command": {},
        "setuptools.command.bdist_wheel": {"bdist_wheel": object},
        "setuptools.command.build_py": {"build_py": _BuildPy},
    }
    for name, members in contents.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(sys, "path", list(sys.path))
    build = runpy.run_path(str(_ROOT / "setup.py"))["BuildWithLibrary"]()
    build.build_lib = str(tmp_path)
    with pytest.raises(SystemExit, match="building the native library failed"):
        build.run()
    commands = log.read_text().splitlines()
    assert all(line.startswith("--max_idle_secs=15 ") for line in commands)
    assert any(f" {failing} " in line for line in commands)
    builds = [line for line in commands if " build " in line]
    assert all("--config=stripped" in line for line in builds), "a wheel needs no debugger's names"
    assert commands[-1] == "--max_idle_secs=15 shutdown"
