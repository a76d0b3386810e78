"""tools/tidy.sh finds a planted mistake, and looks only at what the product is compiled of."""

import shutil
import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_MOVED = """#include <string>
#include <utility>
std::string Take(std::string text) {
  std::string taken = std::move(text);
  return taken + text;
}
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (".clang-tidy", "larq_engine/version.txt", "tools/tidy.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(_ROOT / name, tmp_path / name)
    (tmp_path / ".venv").symlink_to(_ROOT / ".venv")
    return tmp_path


def _tidy(tree: Path, file: str) -> subprocess.CompletedProcess[str]:
    (tree / file).parent.mkdir(parents=True, exist_ok=True)
    (tree / file).write_text(_MOVED)
    command = [tree / "tools" / "tidy.sh", file]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("file", ["larq_engine/runtime/a.cc", "examples/cpp/a.cc"])
def test_a_mistake_is_found(tree, file):
    done = _tidy(tree, file)
    assert done.returncode != 0
    assert "'text' used after it was moved [bugprone-use-after-move" in done.stdout


def test_a_mistake_is_found_in_files_that_are_looked_at_as_one(tree):
    folder = tree / "larq_engine" / "runtime" / "ops"
    folder.mkdir(parents=True)
    shutil.copy(_ROOT / folder.relative_to(tree) / "BUILD", folder)
    (folder / "sound.cc").write_text("int Sound() { return 1; }\n")
    files = [f"larq_engine/runtime/ops/{name}.cc" for name in ("sound", "wrong")]
    done = _tidy(tree, files[1])
    assert "ops/wrong.cc:5:18: error: 'text' used after it was moved" in done.stdout
    command = [tree / "tools" / "tidy.sh", *files]
    together = subprocess.run(command, capture_output=True, text=True, check=False)
    assert together.returncode != 0
    assert together.stdout.count("ops/wrong.cc:5:18: error: 'text' used after it was moved") == 1


@pytest.mark.parametrize("file", ["tests/a.cc", "larq_engine/kernels/bytes/x86/a.cc"])
def test_other_files_are_left_out(tree, file):
    assert _tidy(tree, file).returncode == 0
