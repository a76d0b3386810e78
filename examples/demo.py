"""From Keras to a small, fast file: builds a binarized network, converts, runs and checks it.

`make demo` installs and builds what this needs. The exit status is 1 if a result is wrong; times
are then not measured. The files, float and converted, and the report stay in a folder.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

# TensorFlow reads these when it is imported. larq needs Keras 2; the other two stop remarks on how
# TensorFlow computes.
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
from timing import measure, open_host, open_ours

import larq_engine as lce

try:
    import tensorflow as tf
    from quicknet import build_quicknet, draw_images
except ImportError as missing:
    sys.exit(
        "error: the demo starts from a Keras model: expected tensorflow, tf_keras and larq to be "
        f"installed, got: {missing}. `make setup` installs them where all have wheels, which is "
        f"Python 3.10 to 3.12. This is {sys.version.split()[0]}; for another, remove .venv and run "
        "`make demo PYTHON=python3.12`."
    )

_IMAGES = 4
_SIZE = 224
_ROUNDS = 30

# Largest difference from Keras, as a fraction of the range of an image's outputs. Float rounding
# makes a difference of 1e-5; noise of 1e-4 in the images, which flips signs in some of them, makes
# one of 0.6.
_TOLERANCE = 1e-3


def main(threads: int, size: int = _SIZE, output: Path = Path("demo")) -> int:
    print(f"larq_engine {lce.__version__}, in stock LiteRT\n\n== A binarized network in Keras\n")
    images = draw_images(_IMAGES, size)
    model = build_quicknet(images)
    print(f"{model.name}: images of {size}x{size}, {model.count_params():,} weights\n")

    print("== Convert it: larq_engine.convert_keras_model(model)\n")
    start = time.perf_counter()
    converted = lce.convert_keras_model(model, verbose=1)
    print(f"{converted.report}\n\n{time.perf_counter() - start:.1f} s, self-check included\n")

    print("== Run it in LiteRT through the plug-in, and compare with Keras\n")
    interpreter = lce.Interpreter(converted, num_threads=threads)
    if not agree(interpreter.predict(images), model.predict(images, verbose=0)):
        return 1

    print("\n== Compare with the float file: TensorFlow's own converter, and XNNPACK\n")
    float_file = convert_to_float(model)
    print_comparison(float_file, converted, images[:1], threads)

    print(f"\n== Where the time goes, {threads} thread(s)\n")
    print(interpreter.profile(images[:1]))

    print("\n== Files to go on with\n")
    keep(
        output,
        {
            "quicknet.tflite": converted,
            "quicknet.float.tflite": float_file,
            "quicknet.report.json": converted.report.to_json().encode(),
        },
    )
    return 0


def keep(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
        print(f"{folder / name}  {len(content) / 1e6:.2f} MB")


def agree(outputs: Any, expected: Any) -> bool:
    """Prints each image's answers, and tells whether they are the same as Keras'."""
    differences = np.abs(outputs - expected).max(axis=1) / np.ptp(expected, axis=1)
    print("image  class  score in Keras  score here")
    for number, (ours, theirs) in enumerate(zip(outputs, expected, strict=True)):
        best = int(theirs.argmax())
        print(f"{number:5}  {best:5}  {theirs[best]:14.7f}  {ours[best]:10.7f}")
    same = bool((outputs.argmax(axis=1) == expected.argmax(axis=1)).all())
    right = same and bool((differences <= _TOLERANCE).all())
    print(
        f"\nlargest difference: {differences.max():.1e} of the range of an image's outputs; "
        f"{'the same classes' if same else 'OTHER CLASSES'}"
    )
    print(
        "the results agree" if right else f"WRONG: expected {_TOLERANCE:.0e} and the same classes"
    )
    return right


def convert_to_float(model: Any) -> bytes:
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    return bytes(converter.convert())


def print_comparison(float_file: bytes, ours: bytes, image: Any, threads: int) -> None:
    counts = sorted({1, threads})
    runs = [open_host(float_file, n) for n in counts] + [open_ours(ours, n) for n in counts]
    times = measure(runs, image, _ROUNDS)
    theirs = [len(float_file) / 1e6, *times[: len(counts)]]
    here = [len(ours) / 1e6, *times[len(counts) :]]
    rows = [
        ("", "MB", *(f"ms, {n} thread(s)" for n in counts)),
        ("float32", *(f"{value:.2f}" for value in theirs)),
        ("larq_engine", *(f"{value:.2f}" for value in here)),
        ("times better", *(f"{t / h:.1f}" for t, h in zip(theirs, here, strict=True))),
    ]
    for row in rows:
        print(f"{row[0]:14}{row[1]:>8}" + "".join(f"{cell:>17}" for cell in row[2:]))
    print(f"one image a run, median of {_ROUNDS} runs, taken in turn")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2, help="threads for one run (default 2)")
    parser.add_argument(
        "--output", type=Path, default=Path("demo"), help="folder for the files (default demo)"
    )
    arguments = parser.parse_args()
    sys.exit(main(arguments.threads, output=arguments.output))
