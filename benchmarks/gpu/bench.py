"""Programs of a bundle, run until the time of a step is over, and the records that they print."""

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

# Characters that are shown of each stream of a program.
_SHOWN = 3000


class StepError(Exception):
    """An error of a step: its reason, and what the program printed."""

    def __init__(self, reason: str, output: str = "", errors: str = "") -> None:
        super().__init__(reason)
        self.printed = output
        # Only the ends are shown: hosts log much, and programs print all their records.
        self.shown = f"{errors[-_SHOWN:]}\n{output[-_SHOWN:]}" if output or errors else ""


@dataclass(frozen=True)
class Bench:
    """The folder of the programs, and the time when the step that runs them must have ended.

    Attributes:
        bundle: The folder that `make gpu-bundle` filled.
        deadline: When the step must have ended, as a time of `time.monotonic`.
    """

    bundle: Path
    deadline: float

    def left(self) -> float:
        """Returns the seconds that the step still has."""
        return self.deadline - time.monotonic()

    def run(self, *command: str | Path, seconds: float | None = None, **variables: str) -> str:
        """Runs a command to its end, but no longer than the step may take.

        Args:
            command: The program and its arguments.
            seconds: The command's own limit, if that is less.
            variables: Are added to the environment of this process.

        Raises:
            StepError: The command could not be started, failed, or did not end in time.
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
            # Processes that the command has started are killed, too: they would use the GPU beside
            # the next step.
            os.killpg(process.pid, signal.SIGKILL)
            output, errors = process.communicate()
            raise StepError(f"no end after {limit:.0f} s", output, errors) from None
        if process.returncode:
            raise StepError(f"exit status {process.returncode}", output, errors)
        return output

    def lines(self, *command: str | Path, **variables: str) -> Iterator[Record]:
        """Yields the lines of JSON that a command prints, even if it fails in the end.

        Raises:
            StepError: The command failed as in `run`; raised after the last line.
        """
        try:
            output = self.run(*command, seconds=None, **variables)
        except StepError as error:
            yield from _json_lines(error.printed)
            raise
        yield from _json_lines(output)


def _json_lines(text: str) -> list[Record]:
    """Returns the complete lines: the last one of a stopped program may be cut off."""
    return [
        json.loads(line)
        for line in text.splitlines(keepends=True)
        if line.startswith("{") and line.endswith("\n")
    ]
