"""A bench runs the programs of a bundle until its time is over, and reads what they print."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]

# Characters of what a program printed, of each stream.
_SHOWN = 3000


class StepError(Exception):
    """What went wrong, and what the program printed."""

    def __init__(self, reason: str, output: str = "", errors: str = "") -> None:
        super().__init__(reason)
        self.printed = output
        # Host runtimes log much, and programs print all that they do.
        self.shown = f"{errors[-_SHOWN:]}\n{output[-_SHOWN:]}" if output or errors else ""


@dataclass(frozen=True)
class Bench:
    """The programs' folder, and when the step that runs them must have ended.

    Attributes:
        bundle: What `make gpu-bundle` filled.
        deadline: A time of `time.monotonic`.
    """

    bundle: Path
    deadline: float

    def left(self) -> float:
        """The seconds that the step still has."""
        return self.deadline - time.monotonic()

    def run(self, *command: str | Path, seconds: float | None = None, **variables: str) -> str:
        """Runs a command to its end, but no longer than the step may take.

        Args:
            command: The program and its arguments.
            seconds: Its own limit, if that is less.
            variables: Its environment, beside this process's.

        Raises:
            StepError: It could not be started, failed, or had no end in time.
        """
        environment = {
            **os.environ,
            "LARQ_ENGINE_LIBRARY": str(self.bundle / "liblarq_engine.so"),
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(self.bundle / "site")]),
            **variables,
        }
        limit = max(min(self.left(), seconds or self.left()), 0)
        try:
            process = subprocess.Popen(
                list(map(str, command)),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
                cwd=ROOT,
                start_new_session=True,
            )
        except OSError as error:
            raise StepError(str(error)) from None
        try:
            output, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            # With all that it has started, which would use the GPU beside the next step.
            os.killpg(process.pid, signal.SIGKILL)
            output, errors = process.communicate()
            raise StepError(f"no end after {limit:.0f} s", output, errors) from None
        if process.returncode:
            raise StepError(f"exit status {process.returncode}", output, errors)
        return output

    def lines(self, *command: str | Path, **variables: str) -> Iterator[Record]:
        """Yields what a command prints as lines of JSON, also where it then fails.

        Raises:
            StepError: As `run`, behind the last line.
        """
        try:
            output = self.run(*command, **variables)
        except StepError as error:
            yield from _json_lines(error.printed)
            raise
        yield from _json_lines(output)


def _json_lines(text: str) -> list[Record]:
    """Returns the lines that are whole: the last one of a program that was stopped may not be."""
    return [
        json.loads(line)
        for line in text.splitlines(keepends=True)
        if line.startswith("{") and line.endswith("\n")
    ]
