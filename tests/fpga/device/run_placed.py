"""Runs a model with a placement, and without: `python -m tests.fpga.device.run_placed`.

    python -m tests.fpga.device.run_placed MODEL PLACEMENT HOST IMAGES

The model has one input, of int8. Prints JSON: the images whose results differ, and the rows of a
profile. LARQ_ENGINE_LIBRARY names the plug-in that has the placement's devices.
"""

import json
import sys

import numpy as np

from larq_engine import Interpreter


def main() -> None:
    model, placement, host, images = sys.argv[1:]
    alone = Interpreter(model, device="cpu", placement="none", host=host)
    placed = Interpreter(model, device="auto", placement=placement, host=host)
    generator = np.random.default_rng(1)
    differing = []
    for image in range(int(images)):
        inputs = generator.integers(-128, 128, alone.input_shapes[0], np.int8)
        if not np.array_equal(alone.predict(inputs), placed.predict(inputs)):
            differing.append(image)
    rows = [row.to_dict() for row in placed.profile(runs=1)]
    print(json.dumps({"differing": differing, "rows": rows}))


if __name__ == "__main__":
    main()
