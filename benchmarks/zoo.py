"""The tables of docs/zoo.md: `python -m benchmarks.zoo [MODEL...]` converts the models of larq_zoo.

Each model is compared with Keras first; one whose outputs differ gets no row, the fault is printed
after the tables, and the exit status is 1. The results of LCE for the same models and weights are
in a file that --record-lce measures anew.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.contenders import HERE, NO_PEERS, PEERS_PYTHON, TENSORFLOW_OF_LCE, have_peers
from benchmarks.result_files import as_lines

ROOT = HERE.parent
LCE_FACTS = ROOT / "tests" / "converter" / "data" / "lce_zoo.json"
CONVERT_WITH_LCE = HERE / "peers" / "convert_zoo.py"
CONVERT_TO_ONNX = HERE / "peers" / "convert_onnx.py"

MODELS = (
    "QuickNetSmall",
    "QuickNet",
    "QuickNetLarge",
    "BinaryAlexNet",
    "BiRealNet",
    "BinaryDenseNet28",
    "BinaryDenseNet37",
    "BinaryDenseNet37Dilated",
    "BinaryDenseNet45",
    "BinaryResNetE18",
    "MeliusNet22",
    "RealToBinaryNet",
    "XNORNet",
    "DoReFaNet",
)

# Largest error, as a share of the range of an image's outputs. Rounding comes to 1e-5
# (BinaryAlexNet before conversion); one wrong weight of a binary layer of QuickNetSmall to at least
# 5e-4 for one of the images.
TOLERANCE = 1e-4

Array = npt.NDArray[Any]
Record = dict[str, Any]  # findings of zoo_case.py, or of LCE's conversion

# Reasons that differ only in the tensor's name are one.
_TENSOR_NAME = re.compile(" '[^']*'")


class CaseError(Exception):
    """A process that converts a model failed; the text is the end of its output."""


def main() -> int:
    options = parse_options()
    if options.record_lce:
        record_lce(options.models)
        return 0
    cases: list[Record] = []
    failures: list[str] = []
    for name in options.models:
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            case = examine(name, "--times")
            error = find_error(case)
        except CaseError as failure:
            error = str(failure)
        if error:
            failures.append(f"{name}: {error}")
        else:
            cases.append(case)
    print(format_table(cases, read_lce_facts()))
    print("\n" + format_reasons(cases))
    for failed in failures:
        print(f"\nFAILED: {failed}")
    return 1 if failures else 0


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.zoo",
        description="Converts the models of larq_zoo and checks them against Keras.",
    )
    parser.add_argument(
        "models", nargs="*", metavar="MODEL", help="models of larq_zoo, by name (default: all)"
    )
    parser.add_argument(
        "--record-lce",
        action="store_true",
        help="convert with LCE's converter instead, and write sizes, seconds and operators to "
        f"{LCE_FACTS.name}",
    )
    options = parser.parse_args()
    for name in options.models:
        if name not in MODELS:
            parser.error(f"MODEL: expected one of {', '.join(MODELS)}; got {name!r}")
    options.models = options.models or MODELS
    return options


def examine(name: str, *options: str) -> Record:
    """Runs zoo_case.py, which compares a converted model with Keras."""
    command = [sys.executable, "-m", "benchmarks.zoo_case", name, *options]
    case: Record = _run_json(command, {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2"})
    return case


def compare(outputs: Array, right: Array) -> Record:
    """Returns each image's largest difference, in ranges of the outputs, and equality of class."""
    if outputs.shape != right.shape:
        raise ValueError(f"outputs: expected the shape {right.shape}, got {outputs.shape}")
    differences = np.abs(outputs - right).max(axis=1) / np.ptp(right, axis=1)
    return {
        "differences": differences.tolist(),
        "same_classes": (outputs.argmax(axis=1) == right.argmax(axis=1)).tolist(),
    }


def find_error(case: Record) -> str | None:
    """Describes what is wrong with a case's outputs; returns None if they are Keras'."""
    if not all(difference <= TOLERANCE for difference in case["differences"]):  # NaN is wrong
        return (
            f"expected outputs within {TOLERANCE} of their range of Keras', for each image, got "
            f"{case['differences']}"
        )
    if not all(case["same_classes"]):
        return f"expected Keras' class for each image, got it for {case['same_classes']}"
    return None


def format_table(cases: Sequence[Record], lce: dict[str, Record]) -> str:
    """Returns a row of Markdown for each model."""
    lines = [
        "| model | float MB | larq_engine MB | LCE MB | layers binary / weights only / float "
        "| official s | rewriting s | LCE s | difference to Keras | that of the float file |",
        "| --- " + "| ---: " * 9 + "|",
    ]
    for case in cases:
        theirs = lce[case["name"]]
        made = "bytes" in theirs
        cells = [
            case["name"],
            f"{case['float_bytes'] / 1e6:.3f}",
            f"{case['bytes'] / 1e6:.3f}",
            f"{theirs['bytes'] / 1e6:.3f}" if made else "fails",
            f"{case['binary']} / {case['weights_only']} / {case['in_float']}",
            f"{case['official_seconds']:.1f}",
            f"{case['rewriting_seconds']:.2f}",
            f"{theirs['seconds']:.1f}" if made else "",
            f"{max(case['differences']):.1e}",
            f"{case['float_difference']:.1e}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def format_reasons(cases: Sequence[Record]) -> str:
    """Returns a row of Markdown for each reason why layers are not binary."""
    models: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        counts: Counter[tuple[str, str]] = Counter()
        for reason, remedy, count in case["reasons"]:
            counts[_TENSOR_NAME.sub("", reason), remedy] += count
        for key, count in counts.items():
            models.setdefault(key, []).append(f"{case['name']} {count}")
    lines = ["| not binary because | what to change | layers |", "| --- | --- | --- |"]
    for (reason, remedy), found in models.items():
        lines.append(f"| {reason} | {remedy} | {', '.join(found)} |")
    return "\n".join(lines)


def read_lce_facts() -> dict[str, Record]:
    """Returns LCE's results for each model: bytes, seconds, operators; or its failure."""
    facts: dict[str, Record] = json.loads(LCE_FACTS.read_text())
    return facts


def record_lce(names: Sequence[str]) -> None:
    """Has LCE convert the same models with the same weights."""
    if not have_peers():
        raise SystemExit(f"error: {NO_PEERS}")
    models = read_lce_facts() if LCE_FACTS.exists() else {}
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        models[name] = _examine_lce(name)
        LCE_FACTS.write_text(as_lines(json.loads(json.dumps(models, sort_keys=True))))


def _examine_lce(name: str) -> Record:
    from benchmarks import zoo_models
    from larq_engine.converter import report, schema

    model = zoo_models.build(name)
    zoo_models.prepare(model, zoo_models.draw_images(model))
    with tempfile.TemporaryDirectory(prefix="larq_zoo_") as folder:
        weights, output = Path(folder, "weights.npz"), Path(folder, "model.tflite")
        np.savez(weights, *model.get_weights())
        try:
            converted = convert_with_lce(name, weights, output)
        except CaseError as error:
            return {"failure": str(error).partition("\n")[0]}
        content = output.read_bytes()
    return {
        "bytes": len(content),
        "seconds": round(converted["seconds"], 1),
        "operators": report.count_operators(schema.read(content).graphs),
    }


def convert_with_lce(name: str, weights: Path, output: Path) -> Record:
    """Has LCE convert a model with the weights of an .npz file.

    Raises:
        CaseError: LCE is not installed, or its converter failed.
    """
    return _run_with_peers(CONVERT_WITH_LCE, name, str(weights), str(output))


def convert_to_onnx(folder: Path) -> None:
    """Makes float.onnx and int8.onnx of the float.tflite in a folder.

    Raises:
        CaseError: The peers are not installed, or a converter failed.
    """
    _run_with_peers(CONVERT_TO_ONNX, str(folder))


def _run_with_peers(script: Path, *arguments: str) -> Record:
    if not have_peers():
        raise CaseError(NO_PEERS)
    result: Record = _run_json([str(PEERS_PYTHON), str(script), *arguments], TENSORFLOW_OF_LCE)
    return result


def _run_json(command: list[str], environment: dict[str, str]) -> Any:
    process = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    if process.returncode:
        last = "\n".join(process.stderr.strip().splitlines()[-15:])
        raise CaseError(f"the process ended with status {process.returncode}\n{last}")
    return json.loads(process.stdout)


if __name__ == "__main__":
    sys.exit(main())
