"""Drives a headless Chromium by its own protocol over two pipes, without a driver or a port."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

_NAMES = ("chromium", "google-chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
# More flags, for a browser with a made-up camera and microphone, which pages may use.
MADE_UP_DEVICES = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
_SECONDS = 60.0  # for an answer, on a busy machine


def find_browser() -> str | None:
    """Returns the browser's path; None if there is none."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class ScriptError(RuntimeError):
    """JavaScript threw something.

    Attributes:
        thrown: It as text; after the first line of an Error comes its stack.
    """

    def __init__(self, expression: str, thrown: str) -> None:
        super().__init__(f"{expression}: {thrown}")
        self.thrown = thrown


class Page:
    """A page in a browser of its own. It keeps the browser's messages and network requests."""

    def __init__(self, browser: str, *flags: str) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # The browser reads commands from its descriptor 3 and writes answers to 4.
        script = 'exec "$0" "$@" 3<"$IN" 4>"$OUT"'
        self._process = subprocess.Popen(
            ["sh", "-c", script, browser, *_FLAGS, *flags, f"--user-data-dir={self._folder.name}"],
            env={**os.environ, "IN": f"/dev/fd/{theirs_in}", "OUT": f"/dev/fd/{theirs_out}"},
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._read, self._write = ours_in, ours_out
        self._numbers = itertools.count(1)
        self._rest = b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def _attach(self) -> None:
        """Makes the page."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> "Page":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the browser."""
        os.close(self._write)
        os.close(self._read)
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends a command and returns the browser's answer; keeps events that come before."""
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            command["sessionId"] = self._session
        os.write(self._write, json.dumps(command).encode() + b"\0")
        while True:
            message = self._receive()
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result
            self.events.append(message)

    def open(self, place: Path | str) -> None:
        """Loads a file or an address, and waits until it is complete."""
        self.events.clear()
        address = place if isinstance(place, str) else place.resolve().as_uri()
        self.send("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())

    def resize(self, width: int, height: int) -> None:
        """Sets the size of the window, in pixels."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, scheme: str) -> None:
        """Sets the system's preferred scheme: light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", features=features)

    def evaluate(self, expression: str) -> Any:
        """Returns the value of an expression of JavaScript; of a promise, its result."""
        answer = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            exception = answer["exceptionDetails"].get("exception", {})
            raise ScriptError(expression, exception.get("description", f"{exception}"))
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> Any:
        """Waits until an expression of JavaScript is true, and returns its value."""
        deadline = time.monotonic() + _SECONDS
        while not (value := self.evaluate(condition)):
            if time.monotonic() > deadline:
                text = self.evaluate("document.body.innerText")
                raise TimeoutError(f"{condition}: not true after {_SECONDS:.0f} s on: {text}")
            time.sleep(0.02)
        return value

    def choose_file(self, selector: str, file: Path) -> None:
        """Gives a file to the element of this selector, as a user would choose it."""
        root = self.send("DOM.getDocument")["root"]["nodeId"]
        node = self.send("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.send("DOM.setFileInputFiles", nodeId=node, files=[str(file)])

    def press(self, key: str) -> None:
        """Presses a key, by its name in JavaScript, such as Tab or ArrowDown."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}
        about: dict[str, Any] = {
            "key": key,
            "code": key,
            "windowsVirtualKeyCode": codes.get(key, 0),
        }
        if key == "Enter":
            about["text"] = "\r"
        self.send("Input.dispatchKeyEvent", type="keyDown", **about)
        self.send("Input.dispatchKeyEvent", type="keyUp", **about)

    def complaints(self) -> list[str]:
        """Returns console output and errors since the page was opened."""
        methods = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(event) for event in self.events if event.get("method") in methods]

    def requests(self) -> list[str]:
        """Returns the addresses of requests, for files and network, since the page was opened."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def screenshot(self) -> bytes:
        """Returns the window as a PNG file."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def _receive(self) -> dict[str, Any]:
        deadline = time.monotonic() + _SECONDS
        while b"\0" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                raise TimeoutError(f"the browser: no answer for {_SECONDS:.0f} s")
            found = os.read(self._read, 1 << 16)
            if not found:
                raise RuntimeError("the browser ended; run it by hand to see why")
            self._rest += found
        message, _, self._rest = self._rest.partition(b"\0")
        received: dict[str, Any] = json.loads(message)
        return received
