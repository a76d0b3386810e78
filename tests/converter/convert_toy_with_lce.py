"""Converts a toy model with LCE, in LCE's environment.

`python -m tests.converter.convert_toy_with_lce NAME WEIGHTS.npz OUT.tflite`; WEIGHTS.npz holds the
arrays of `model.get_weights()` in their order.
"""

import sys
from pathlib import Path

import larq_compute_engine
import numpy as np

from tests.converter import toy_models


def main() -> None:
    name, weights, output = sys.argv[1:]
    model = toy_models.BUILDERS[name]()
    with np.load(weights) as arrays:
        model.set_weights([arrays[key] for key in arrays.files])
    Path(output).write_bytes(larq_compute_engine.convert_keras_model(model))


if __name__ == "__main__":
    main()
