"""Asks a GPU everything that only a GPU can answer: `make gpu-check` runs it.

    python -m benchmarks.gpu.check --bundle FOLDER --results FOLDER [--steps NAME...] [--seconds N]

`make gpu-bundle` fills the bundle on a machine with the compilers; the machine with the GPU needs
Python with NumPy, and PyTorch for the peers. When a step ends, it writes its JSON into the results'
folder, also if its time ran out: then the file has what the step found until then. A step that
fails does not stop the others, except that nothing more is run on a GPU whose instructions do not
do what the kernels expect. The exit status is 0 if every step was done.
"""

import argparse
import datetime
import sys
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.gpu.bench import Bench, Record, StepError
from benchmarks.gpu.steps import STEPS, Step
from benchmarks.result_files import as_lines

# A step is not begun if less than this part of its time is left.
_LEAST = 0.25


def run_steps(
    bundle: Path, results: Path, steps: Sequence[Step], end: float = float("inf")
) -> list[Record]:
    """Runs the steps, and returns a record for each, which its file of results has, too.

    Args:
        bundle: The folder that `make gpu-bundle` filled.
        results: The folder of the results.
        steps: The steps, in this order.
        end: When all must have ended, as a time of `time.monotonic`.
    """
    records = []
    for step in steps:
        print(f"{step.name}: {step.purpose}", flush=True)
        record = _run_step(bundle, step, end)
        (results / f"{step.name}.json").write_text(as_lines(record))
        records.append(record)
        print(f"  {_verdict(record)}\n{record.get('output', '')}".rstrip(), flush=True)
        if step.is_needed and not _is_done(record):
            print("stopped: the steps after this one need it", flush=True)
            break
    return records


def _run_step(bundle: Path, step: Step, end: float) -> Record:
    record: Record = {"step": step.name, "date": f"{datetime.date.today()}"}
    start = time.monotonic()
    least = _LEAST * step.seconds
    if end - start < least:
        left = f"{max(end - start, 0):.0f} s were left, it needs {least:.0f} s"
        return record | {"left_out": left, "seconds": 0.0}
    found = []
    try:
        # A loop and not a list(), to keep the results that came before an error.
        for result in step.run(Bench(bundle, min(start + step.seconds, end))):
            found.append(result)
    except StepError as error:
        record |= {"error": str(error), "output": error.shown}
    if found or "error" not in record:
        record["result"] = found
    return record | {"seconds": round(time.monotonic() - start, 1)}


def _is_done(record: Record) -> bool:
    return "error" not in record and "left_out" not in record


def _verdict(record: Record) -> str:
    if "left_out" in record:
        return f"left out: {record['left_out']}"
    if "error" not in record:
        return f"done in {record['seconds']} s"
    kept = f", {len(record['result'])} records are kept" if "result" in record else ""
    return f"FAILED after {record['seconds']} s: {record['error']}{kept}"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu.check", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--bundle",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="the folder that `make gpu-bundle` filled",
    )
    parser.add_argument(
        "--results",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="where each step leaves a JSON file",
    )
    names = [step.name for step in STEPS]
    parser.add_argument(
        "--steps",
        nargs="*",
        default=[],
        metavar="NAME",
        help=f"some of {', '.join(names)} (default: all)",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=float("inf"),
        metavar="N",
        help="how long all steps may take together (default: as long as they are let)",
    )
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.seconds
    unknown = set(arguments.steps) - set(names)
    if unknown:
        parser.error(
            f"--steps: expected names out of {', '.join(names)}, got {', '.join(sorted(unknown))}"
        )
    steps = [step for step in STEPS if not arguments.steps or step.name in arguments.steps]
    width = max(len(step.name) for step in steps)
    for step in steps:
        limits = f"{step.seconds:4.0f} s at most, {step.planned:3.0f} s planned"
        print(f"{step.name:{width}}  {limits}  {step.purpose}")
    print(f"{'all':{width}}  {sum(step.planned for step in steps):4.0f} s planned", flush=True)
    arguments.results.mkdir(parents=True, exist_ok=True)
    for wheel in arguments.bundle.glob("wheels/*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(arguments.bundle / "site")
    records = run_steps(arguments.bundle.resolve(), arguments.results.resolve(), steps, end)
    for record in records:
        print(f"{record['step']:{width}}  {_verdict(record)}")
    return int(not all(map(_is_done, records)))


if __name__ == "__main__":
    sys.exit(main())
