"""Prints the time of each launch of a model on a GPU, as lines of JSON.

    python -m benchmarks.gpu.kernel_times BUNDLE MODEL.tflite BATCH...

NVIDIA's profiler ncu takes the times, which are those of the launches only. It is told not to
control the clocks, and not to flush the caches between launches. If it is not installed, or may not
read the counters, PyTorch's profiler is used, or else the engine's own, whose times include events.
"""

import csv
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.gpu.bench import Record
from benchmarks.gpu.libraries import Library, libraries_of

_METRIC = "gpu__time_duration.sum"
_NCU = (
    "ncu --clock-control none --cache-control none --profile-from-start off --print-units base "
    f"--csv --metrics {_METRIC}"
).split()

# The records of a run's launches; empty if the profiler saw none.
Launches = list[Record]


class ProfilerError(Exception):
    """The reason why a profiler cannot take times."""


def _run(library: Library, command: Sequence[str], profiler: str, *arguments: str) -> str:
    worker = str(Path(__file__).with_name("profile_worker.py"))
    process = subprocess.run(
        [*command, sys.executable, "-P", worker, profiler, *arguments],
        env=library.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        said = (process.stdout + process.stderr).strip().splitlines()
        # ncu's own lines tell the reason.
        own = [line for line in said if line.startswith("==ERROR==")]
        raise ProfilerError(f"exit status {process.returncode}: {' '.join(own or said[-1:])}")
    return process.stdout


def _by_ncu(library: Library, model: str, batch: str) -> Launches:
    if shutil.which(_NCU[0]) is None:
        raise ProfilerError("ncu is not installed")
    return parse_ncu(_run(library, _NCU, "ncu", model, batch))


def parse_ncu(text: str) -> Launches:
    """Returns the launches in the output of ncu, which has other lines, too."""
    table = [line for line in text.splitlines() if line.startswith('"')]
    return [
        {"kernel": row["Kernel Name"], "time_s": _seconds(row["Metric Value"], row["Metric Unit"])}
        for row in csv.DictReader(table)
        if row["Metric Name"] == _METRIC
    ]


def _seconds(value: str, unit: str) -> float:
    """Reads a number with commas between thousands."""
    if unit not in ("ns", "nsecond"):
        raise ProfilerError(f"expected times in ns, got {unit}")
    return float(value.replace(",", "")) * 1e-9


def _by_worker(profiler: str) -> Callable[[Library, str, str], Launches]:
    def profile(library: Library, model: str, batch: str) -> Launches:
        lines = _run(library, (), profiler, model, batch).splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    return profile


# The best profiler comes first.
PROFILERS: dict[str, Callable[[Library, str, str], Launches]] = {
    "ncu": _by_ncu,
    "torch": _by_worker("torch"),
    "engine": _by_worker("engine"),
}


def profile(library: Library, model: Path, batch: int) -> Iterator[Record]:
    """Yields the reasons why profilers do not work, then the launches by the first that does."""
    what = {"model": model.stem, "batch": batch, "engine": library.name}
    for name, take in PROFILERS.items():
        try:
            launches = take(library, str(model), str(batch))
            if not launches:
                raise ProfilerError("it saw no launch")
        except ProfilerError as error:
            yield what | {"profiler": name, "missing": str(error)}
            continue
        for number, launch in enumerate(launches):
            yield what | {"profiler": name, "launch": number, **launch}
        total = sum(launch["time_s"] for launch in launches)
        yield what | {"profiler": name, "kernel": "sum", "time_s": total}
        return


def main() -> None:
    model = Path(sys.argv[2])
    for batch in map(int, sys.argv[3:]):
        for library in libraries_of(Path(sys.argv[1])):
            for record in profile(library, model, batch):
                print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
