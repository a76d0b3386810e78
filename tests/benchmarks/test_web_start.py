"""The files that a page needs to its first answer, and their sizes."""

from pathlib import Path

import numpy as np

from benchmarks.web import start
from benchmarks.web.browser import HERE


def test_files_of_the_benchmark_are_not_the_engines() -> None:
    engine = [Path("/web/dist/index.js"), HERE / "peers" / "node_modules" / "engine.wasm"]
    taken = [HERE / "page" / "bench.js", *engine, HERE / "page" / "engines" / "litert.js"]
    assert start.engine_files(taken) == engine


def test_sizes_as_they_are_and_compressed(tmp_path: Path) -> None:
    contents = {
        "index.js": b"same " * 1000,
        "small.wasm": b"\0" * 10,
        "large.wasm": np.random.default_rng(0).bytes(4000),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    files = [tmp_path / name for name in contents]
    found = start.find_sizes({"one": files, "other": files[1:2]})
    sizes = found["one"]
    assert (sizes["all"], sizes["module"]) == (9010, 4000)
    assert 4000 <= sizes["module_brotli"] < 4020
    assert (found["other"]["all"], found["other"]["module"]) == (10, 10)
    assert sizes["module_brotli"] + 20 < sizes["all_brotli"] < sizes["module_brotli"] + 100


def test_table_of_sizes() -> None:
    found = {"engine": dict.fromkeys(("all", "all_brotli", "module", "module_brotli"), 1500)}
    assert start.format_sizes(found).splitlines()[-1].split() == ["engine", *["1.5"] * 4]
