"""Serves the page, the engines and the models on this machine, to a page that may have threads."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from types import TracebackType

_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
}

# A page has threads only if it is cross-origin isolated, and fetches each file anew.
_HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cache-Control": "no-store",
}


class Server:
    """Serves folders by the first part of an address' path, and single files.

    Attributes:
        files: Single files, or their bytes, by the paths of their addresses.
        taken: The files of folders that were fetched, each once, in their order.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = {name: folder.resolve() for name, folder in folders.items()}
        self.files: dict[str, Path | bytes] = {}
        self.taken: dict[Path, None] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def find(self, path: str) -> Path | bytes | None:
        """Returns what is served at an address' path, or None."""
        if path in self.files:
            return self.files[path]
        first, *rest = PurePosixPath(path).parts[1:] or ("",)
        if first not in self._folders:
            return None
        file = self._folders[first].joinpath(*rest)
        if ".." in rest or not file.is_file():
            return None
        self.taken[file] = None
        return file

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                found = server.find(self.path.partition("?")[0])
                if found is None:
                    self.send_error(404)
                    return
                if isinstance(found, Path):
                    kind = _TYPES.get(found.suffix, "application/octet-stream")
                    content = found.read_bytes()
                else:
                    kind, content = "application/octet-stream", found
                self.send_response(200)
                for name, value in _HEADERS.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *arguments: object) -> None:
                pass  # the benchmark's own output is the report

        return Handler
