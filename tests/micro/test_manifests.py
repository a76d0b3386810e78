"""Build systems read an exported folder by their own rules."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import larq_engine
from tests.model_builder import one_op_model

_ROOT = Path(__file__).resolve().parents[2]
_PLATFORMIO = _ROOT / ".venv-platformio"
_X = {"shape": (1, 4), "dtype": np.int8, "scale": 0.1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    larq_engine.export_c(one_op_model("RELU", _X, _X), prefix="net").save(tmp_path / "net")
    return tmp_path / "net"


def _read(manifest: Path) -> dict[str, Any]:
    if not (_PLATFORMIO / ".setup-platformio").exists():
        advice = "PlatformIO is not installed here; `tools/setup.sh micro` installs it"
        if os.environ.get("LARQ_ENGINE_REQUIRE_BOARDS"):
            pytest.fail(advice)
        pytest.skip(advice)
    script = Path(__file__).with_name("platformio_manifests.py")
    command = [str(_PLATFORMIO / "bin" / "python"), str(script), str(manifest)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_platformio_takes_its_manifest_and_arduinos(folder: Path) -> None:
    for name in ("library.json", "library.properties"):
        found = _read(folder / name)
        assert (found["name"], found["version"]) == ("net", larq_engine.__version__)
        assert found["frameworks"] in (["*"], ["arduino"])
        assert found.get("headers", ["net.h"]) == ["net.h"]


@pytest.mark.parametrize(
    ("name", "field", "broken"),
    [
        ("library.json", f'"version": "{larq_engine.__version__}"', '"version": "new"'),
        ("library.json", '"name": "net"', '"name": ""'),
        ("library.json", '"Apache-2.0"', '"Apache 2"'),
        ("library.json", '"keywords": [', '"keywords": '),
        ("library.properties", f"version={larq_engine.__version__}", "version=new"),
        ("library.properties", "name=net", "name="),
    ],
)
def test_platformio_refuses_broken_manifests(
    name: str, field: str, broken: str, folder: Path
) -> None:
    text = (folder / name).read_text()
    assert field in text
    (folder / name).write_text(text.replace(field, broken))
    with pytest.raises(ValueError, match="platformio"):
        _read(folder / name)


def test_esp_idf_gets_a_component(folder: Path) -> None:
    (folder.parent / "idf.cmake").write_text(
        "set(ESP_PLATFORM 1)\n"
        'function(idf_component_register)\n  message("component of ${ARGN}")\nendfunction()\n'
        "include(net/CMakeLists.txt)\n"
    )
    cmake = shutil.which("cmake") or str(_ROOT / ".venv" / "bin" / "cmake")
    command = [cmake, "-P", "idf.cmake"]
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=True)
    assert done.stderr == "component of SRCS;net.c;INCLUDE_DIRS;.\n"
    lines = (folder / "idf_component.yml").read_text().splitlines()
    fields = dict(line.split(": ", 1) for line in lines if not line.startswith("#"))
    assert fields["version"] == f'"{larq_engine.__version__}"' and ": " not in fields["description"]
