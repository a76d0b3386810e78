"""Converts a model of larq_zoo with LCE: `python convert_zoo.py NAME WEIGHTS.npz OUT.tflite`.

WEIGHTS.npz holds the arrays of `model.get_weights()` in their order. Prints the seconds that the
conversion took as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time

import numpy as np


def main() -> None:
    name, weights, output = sys.argv[1:]
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # TensorFlow's output must not mix with the result

    import larq_compute_engine
    import larq_zoo

    family = larq_zoo.sota if hasattr(larq_zoo.sota, name) else larq_zoo.literature
    model = getattr(family, name)(weights=None)
    with np.load(weights) as arrays:
        model.set_weights([arrays[key] for key in arrays.files])
    start = time.perf_counter()
    content = larq_compute_engine.convert_keras_model(model)
    seconds = time.perf_counter() - start
    with open(output, "wb") as file:
        file.write(content)
    print(json.dumps({"seconds": seconds}), file=results)


if __name__ == "__main__":
    main()
