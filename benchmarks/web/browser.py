"""The page in which contenders run, and what it takes of this machine."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.contenders import Contender, ContenderError, Sample
from benchmarks.interleave import Place
from benchmarks.machine import ROOT
from benchmarks.web.server import Server
from benchmarks.web.waiting import nanoseconds_waited
from tools.browser import Page, ScriptError, find_browser

HERE = Path(__file__).resolve().parent
PEERS = HERE / "peers" / "node_modules"
PACKAGE = ROOT / "web"

# The packages of each engine, and where they are.
_PACKAGES = {
    "larq_engine": ("larq-engine", PACKAGE),
    "larq_engine_in_page": ("larq-engine", PACKAGE),
    "litert": ("@litertjs/core", PEERS / "@litertjs" / "core"),
    "onnxruntime": ("onnxruntime-web", PEERS / "onnxruntime-web"),
}


def make_server() -> Server:
    """Returns a server of the page and the engines.

    Raises:
        SystemExit: The modules are not built, or the other engines are not installed.
    """
    if not (PACKAGE / "wasm" / "larq_engine_threads.wasm").exists():
        raise SystemExit("web/wasm: expected the built modules, got none; run `make web`")
    if not PEERS.exists():
        raise SystemExit(
            f"{PEERS.relative_to(ROOT)}: expected the other engines, got no such folder; run "
            "`tools/setup.sh web-peers`"
        )
    return Server({"page": HERE / "page", "larq-engine": PACKAGE, "peers": PEERS})


class Browser:
    """A Chromium with one page, which runs all contenders with the same number of threads."""

    def __init__(self, server: Server, threads: int) -> None:
        found = find_browser()
        if not found:
            raise SystemExit("expected Chromium, got none; run `tools/setup.sh browser`")
        self._server = server
        self.threads = threads
        self._page = Page(found)
        self._page.open(f"{server.origin}/page/index.html")
        if not self._page.evaluate("crossOriginIsolated"):
            raise SystemExit("expected a page that is cross-origin isolated, got one that is not")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._page.close()

    def call(self, function: str, *arguments: object) -> Any:
        """Calls a function of page/bench.js, and returns the result of its promise.

        Raises:
            ContenderError: It failed, or the browser does not answer.
        """
        texts = ", ".join(map(json.dumps, arguments))
        try:
            return self._page.evaluate(f"bench.{function}({texts})")
        except ScriptError as error:
            raise ContenderError(error.thrown.partition("\n")[0]) from error
        except (RuntimeError, TimeoutError) as error:
            raise ContenderError(str(error)) from error

    def put(self, address: str, file: Path | bytes) -> None:
        """Serves a file, or bytes, at an address' path."""
        self._server.files[address] = file

    @property
    def version(self) -> str:
        product: str = self._page.send("Browser.getVersion")["product"]
        return product.rpartition("/")[2]

    def place(self) -> Place:
        """Returns the page as the place where contenders run."""
        return Place(lambda contender: PageWorker(self, contender), self.measure_limits, all_cores)

    def measure_limits(self) -> dict[str, Any]:
        """Measures the limits of a core in WebAssembly."""
        return {"compiler": f"V8 of Chromium {self.version}", "limits": self.call("measureLimits")}


class PageWorker:
    """A contender in the page."""

    def __init__(self, browser: Browser, contender: Contender) -> None:
        self._browser = browser
        self._engine = contender.runtime
        self._name = contender.name
        package, folder = _PACKAGES[contender.runtime]
        about = json.loads((folder / "package.json").read_text())
        self.versions = {package: about["version"], "Chromium": browser.version}
        browser.call("start", self._engine, browser.threads)

    def load(self, key: str, model: bytes | Path, threads: int) -> list[str]:
        """Loads a model; returns the names of the chosen kernels, if the contender tells them."""
        address, _ = self.addresses(key)
        self._browser.put(address, model)
        kernels: list[str] = self._browser.call(
            "load", self._engine, threads, self._key(key), address
        )
        return kernels

    def run(self, key: str, x: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Runs a model; returns all outputs."""
        _, address = self.addresses(key)
        self._browser.put(address, x.tobytes())
        outputs = self._browser.call("run", self._key(key), address, x.dtype.name)
        return [to_array(output) for output in outputs]

    def time(self, key: str, seconds: float) -> Sample:
        """Times runs. The CPU's time is that of the clock less what threads waited for a core."""
        waited = nanoseconds_waited(os.getpid())
        wall = np.array(self._browser.call("time", self._key(key), seconds), float)
        waited = nanoseconds_waited(os.getpid()) - waited
        return Sample(wall, wall * max(0.0, 1 - waited / wall.sum()))

    def close(self) -> None:
        """Does nothing, as the page ends with the browser."""

    def addresses(self, key: str) -> tuple[str, str]:
        """Returns where the page finds a model, and the last input that it ran."""
        return f"/file/{self._key(key)}.model", f"/file/{self._key(key)}.input"

    def _key(self, key: str) -> str:
        return f"{self._name}-{key}".replace(" ", "_")


def to_array(output: dict[str, Any]) -> npt.NDArray[Any]:
    """Returns a tensor that page/bench.js wrote as text."""
    data = np.frombuffer(base64.b64decode(output["base64"]), output["type"])
    return data.reshape(output["shape"])


def all_cores(threads: int) -> list[int]:
    """Returns the cores that this process may use.

    A browser has threads of its own, which would take the time of contenders on fewer cores.
    """
    cores = sorted(os.sched_getaffinity(0))
    if threads > len(cores):
        raise SystemExit(f"--threads {threads}: this process may use {len(cores)} cores only")
    return cores
