"""The server of benchmarks/web: what it serves and what not, and that pages may have threads."""

import http.client
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.web.server import Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "bench.js").write_text("bench")
    (tmp_path / "page" / "engine.wasm").write_bytes(b"\0asm")
    (tmp_path / "secret").write_text("secret")
    with Server({"page": tmp_path / "page"}) as server:
        yield server


def _get(server: Server, path: str) -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection(server.origin.removeprefix("http://"), timeout=10)
    connection.request("GET", path)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, content, dict(response.getheaders())


def test_files_of_folders_are_served_to_isolated_pages(server: Server) -> None:
    status, content, headers = _get(server, "/page/bench.js?again")
    assert (status, content) == (200, b"bench")
    assert headers["Content-Type"] == "text/javascript"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Embedder-Policy"] == "require-corp"
    assert headers["Cache-Control"] == "no-store"
    assert _get(server, "/page/engine.wasm")[2]["Content-Type"] == "application/wasm"


def test_single_files_are_served(server: Server, tmp_path: Path) -> None:
    server.files |= {"/file/bytes": b"content", "/file/path": tmp_path / "secret"}
    assert _get(server, "/file/bytes")[:2] == (200, b"content")
    assert _get(server, "/file/path")[:2] == (200, b"secret")


@pytest.mark.parametrize(
    "path", ["/", "/secret", "/page", "/page/none", "/page/../secret", "/page/%2e%2e/secret"]
)
def test_nothing_else_is_served(server: Server, path: str) -> None:
    assert _get(server, path)[0] == 404


def test_files_of_folders_that_were_taken_are_known(server: Server, tmp_path: Path) -> None:
    server.files["/file/model"] = tmp_path / "secret"
    for path in ("/page/engine.wasm", "/file/model", "/page/bench.js", "/page/engine.wasm"):
        _get(server, path)
    assert [file.name for file in server.taken] == ["engine.wasm", "bench.js"]
