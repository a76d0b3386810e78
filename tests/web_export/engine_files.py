"""A stand-in for the engine for browsers, for tests that run no page and need no WebAssembly."""

import shutil
from pathlib import Path

import pytest

from larq_engine.web_export import page_files

PAGE = Path(page_files.__file__).parent / "page"
_ENGINE = {
    "dist/index.js": 'import { call } from "./call.js";\n'
    'new Worker(new URL("./worker.js", import.meta.url));\n'
    'fetch(new URL("../wasm/larq_engine.wasm", import.meta.url));\n'
    'new Worker(new URL("./helper.js", import.meta.url));\n'
    'fetch(new URL("../wasm/larq_engine_threads.wasm", import.meta.url));\n'
    'fetch(new URL("../wasm/larq_engine_plain.wasm", import.meta.url));\n',
    "dist/help.js": "export {};\n",
    "dist/helper.js": 'import "./help.js";\n',
    "dist/call.js": "export function call() {}\n",
    "dist/node.js": "export {};\n",
    "dist/worker.js": 'export * from "./call.js";\n',
    **{f"wasm/larq_engine{kind}.wasm": "\0asm" for kind in ("", "_plain", "_threads")},
}


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """Puts a stand-in in place of what `make web` builds, and returns its folder."""
    folder = tmp_path / "web_export"
    shutil.copytree(PAGE, folder / "page")
    for name, text in _ENGINE.items():
        path = folder / "engine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(page_files, "_HERE", folder)
    return folder / "engine"
