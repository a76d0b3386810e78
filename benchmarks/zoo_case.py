"""Converts one model of larq_zoo and compares it with Keras: `python -m benchmarks.zoo_case NAME`.

Each model has a process of its own, because the largest take gigabytes. Prints its findings as
JSON; --times adds what only the table needs, because that takes another conversion.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import zoo, zoo_models
from larq_engine import Interpreter, convert_keras_model, convert_tflite
from larq_engine.converter.keras import keras_to_tflite
from larq_engine.converter.report import BINARY, FLOAT, WEIGHTS, ConversionReport


def main() -> None:
    options = parse_options()
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # TensorFlow's output must not mix with the result

    model = zoo_models.build(options.name)
    images = zoo_models.draw_images(model)
    zoo_models.prepare(model, images)
    right = model.predict(images, verbose=0)
    if options.answers:
        np.savez(options.answers, images=images, outputs=right)

    converted = convert_keras_model(model, compatibility=options.compatibility)
    if options.file:
        options.file.write_bytes(converted)
    case = {
        "name": options.name,
        "bytes": len(converted),
        **describe(converted.report),
        **zoo.compare(Interpreter(converted).predict(images), right),
    }
    if options.times:
        case |= measure(model, images, right)
    print(json.dumps(case), file=results)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.zoo_case", description=__doc__)
    parser.add_argument("name", metavar="NAME", help="a model of larq_zoo, such as QuickNet")
    parser.add_argument(
        "--compatibility",
        default="larq_engine",
        metavar="NAME",
        help="as of `larq-engine convert` (default: larq_engine)",
    )
    parser.add_argument(
        "--times",
        action="store_true",
        help="time TensorFlow's conversion to .tflite and the rewriting that follows, too",
    )
    parser.add_argument(
        "--file", type=Path, metavar="FILE", help="write the converted model to this .tflite file"
    )
    parser.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="write the images and Keras' outputs to this .npz file",
    )
    return parser.parse_args()


def describe(report: ConversionReport) -> zoo.Record:
    reasons: dict[tuple[str, str], int] = {}
    for layer in report.layers:
        if layer.reason:
            key = (layer.reason, layer.remedy)
            reasons[key] = reasons.get(key, 0) + 1
    return {
        "float_bytes": report.size_before,
        "operators": report.operators,
        "binary": report.count(BINARY),
        "weights_only": report.count(WEIGHTS),
        "in_float": report.count(FLOAT),
        "reasons": [(*key, count) for key, count in reasons.items()],
    }


def measure(model: Any, images: zoo.Array, right: zoo.Array) -> zoo.Record:
    """Times the two halves of a conversion, and measures the first file's difference from Keras."""
    start = time.perf_counter()
    official = keras_to_tflite(model)
    middle = time.perf_counter()
    convert_tflite(official, check=False)
    end = time.perf_counter()
    outputs = run_in_litert(official, images)
    return {
        "official_seconds": middle - start,
        "rewriting_seconds": end - middle,
        "float_difference": max(zoo.compare(outputs, right)["differences"]),
    }


def run_in_litert(model: bytes, images: zoo.Array) -> zoo.Array:
    from ai_edge_litert.interpreter import Interpreter as LiteRT

    interpreter = LiteRT(model_content=model)
    interpreter.allocate_tensors()
    (first,), (last,) = interpreter.get_input_details(), interpreter.get_output_details()
    outputs = []
    for image in images:
        interpreter.set_tensor(first["index"], image[np.newaxis])
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(last["index"]))
    return np.concatenate(outputs)


if __name__ == "__main__":
    main()
