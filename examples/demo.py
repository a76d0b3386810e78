"""Runs a binarized residual network through the plug-in, shows where the time goes, and checks it.

`make demo` builds what this needs. The exit status is 1 if the result is wrong.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from float_oracle import evaluate

import larq_engine

_MODEL = Path(__file__).parent / "data" / "binary_resnet.tflite"
_IMAGES = 4

# All sums but the last layer's are exact (see make_model.py); that one adds 256 floats.
_TOLERANCE = 1e-5


def main(threads: int) -> int:
    interpreter = larq_engine.Interpreter(_MODEL, num_threads=threads)
    generator = np.random.default_rng(0)
    shape = (_IMAGES, *interpreter.input_shapes[0][1:])
    images = generator.integers(0, 256, shape).astype(np.float32)

    print(f"larq_engine {larq_engine.__version__}, {threads} thread(s)")
    print(f"{_MODEL.name}: {_MODEL.stat().st_size / 1e3:.0f} KB\n")
    print(interpreter.profile(images[:1]))

    scores = interpreter.predict(images)
    expected = evaluate(_MODEL.read_bytes(), images)
    difference = float(np.abs(scores - expected).max())
    good = scores.shape == expected.shape and difference <= _TOLERANCE * np.abs(expected).max()
    print(
        f"\n{_IMAGES} images against the same network in float32 NumPy: scores of "
        f"{expected.min():.3f} to {expected.max():.3f}, largest difference {difference:.1e}"
    )
    print("the results agree" if good else "WRONG: the results differ")
    return 0 if good else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1, help="threads for one run")
    sys.exit(main(parser.parse_args().threads))
