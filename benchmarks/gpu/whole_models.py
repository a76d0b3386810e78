"""Checks whole models on a GPU against the CPU, then times them, as lines of JSON.

    python -m benchmarks.gpu.whole_models [--early-launches] BUNDLE

If the bundle has a baseline, its engine takes turns with the present one. `kernels` is the sum of
the present engine's profile. The sum of a baseline's profile has another name, because older
engines recorded events around launches, which added microseconds to each. With `--early-launches`
the present engine runs only QuickNet, at batch 1, with launches that begin early and with launches
in turn.

The images are in ordinary memory of the host, in pinned memory, and on the GPU. The time of the
last has no copy over PCIe in it: it is that of the graph, and of the host's work to start it.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from benchmarks.gpu.bench import Record
from benchmarks.gpu.libraries import Library, launches_of, libraries_of

# The models and batches that matter most come first.
BATCHES = {"QuickNet": (1, 64, 256), "QuickNetUint8": (1, 64, 256), "HepCifar": (1, 128, 256)}
_OTHER_BATCHES = (1, 64)
_ROUNDS = 4


class Worker:
    """A process that runs models with one of the engines."""

    def __init__(self, library: Library) -> None:
        self.name = library.name
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("model_worker.py"))],
            env=library.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.places: list[str] = []

    def __enter__(self) -> "Worker":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def open(self, model: Path, samples: int) -> None:
        """Opens a model, and closes the one before."""
        self.places = self.ask(f"open\t{model}\t{samples}")["places"]

    def ask(self, order: str) -> Record:
        """Sends an order, and returns the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{order}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the process has ended; reading its output tells how
        for line in self._process.stdout:  # other lines are of hosts
            if line.startswith("{"):
                answer: Record = json.loads(line)
                return answer
        raise RuntimeError(f"the {self.name} engine ended with status {self._process.wait()}")


def measure(workers: Sequence[Worker], model: Path, samples: int) -> list[Record]:
    """Measures a model at one batch, and returns a record for each engine."""
    for worker in workers:
        worker.open(model, samples)
    checks = [worker.ask("check") for worker in workers]
    seconds: dict[tuple[str, str], list[float]] = {}
    for turn in range(_ROUNDS):
        for place in workers[0].places:
            # The order of the engines changes from round to round.
            for worker in workers[:: -1 if turn % 2 else 1]:
                if place in worker.places:
                    taken = seconds.setdefault((worker.name, place), [])
                    taken.append(worker.ask(place)["median_s"])
    records = []
    digests = {check.pop("sha256") for check in checks}
    for worker, check in zip(workers, checks, strict=True):
        if worker.name == "baseline":
            check["kernels_by_its_own_profile_s"] = check.pop("kernels_s")
    for worker, check in zip(workers, checks, strict=True):
        times = {place: statistics.median(seconds[worker.name, place]) for place in worker.places}
        records.append(
            {
                "model": model.stem,
                "batch": samples,
                "engine": worker.name,
                "end_to_end_s": times.pop("host"),
                **{f"{place}_s": time for place, time in times.items()},
                **check,
                **({"engines_agree": len(digests) == 1} if len(checks) > 1 else {}),
            }
        )
    return records


def _problems(bundle: Path) -> Iterator[tuple[Path, int]]:
    """Yields the models, each with its batches."""
    order = {name: number for number, name in enumerate(BATCHES)}
    models = (bundle / "models").glob("*.tflite")
    for model in sorted(models, key=lambda path: order.get(path.stem, len(order))):
        for samples in BATCHES.get(model.stem, _OTHER_BATCHES):
            yield model, samples


def main() -> None:
    *flags, folder = sys.argv[1:]
    bundle = Path(folder)
    libraries, problems = libraries_of(bundle), _problems(bundle)
    if flags == ["--early-launches"]:
        libraries = launches_of(bundle)
        problems = iter([(bundle / "models" / "QuickNet.tflite", 1)])
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker(library)) for library in libraries]
        for model, samples in problems:
            for record in measure(workers, model, samples):
                print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
