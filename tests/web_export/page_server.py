"""Serves a folder on this machine, with the strict headers that a careful site has."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"


class PageServer:
    """A server that keeps the paths that were asked for, until the end of its `with` block."""

    def __init__(self, folder: Path) -> None:
        self.paths: list[str] = []
        handler = partial(_Handler, self.paths, directory=str(folder))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.address = f"http://127.0.0.1:{self._server.server_port}/"

    def __enter__(self) -> "PageServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the server; ending it again does nothing."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = {  # noqa: RUF012 - the name is the base class's
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".wasm": "application/wasm",
    }

    def __init__(self, paths: list[str], *args: object, **options: object) -> None:
        self._paths = paths
        super().__init__(*args, **options)

    def do_GET(self) -> None:
        self._paths.append(self.path)
        super().do_GET()

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing: a test's output is for failures."""
