"""Tries a new environment: makes a model, and checks that two kernels compute the same."""

import sys

import numpy as np

import larq_engine
from larq_engine.converter.example import example_model

model = example_model()
images = np.random.default_rng(0).standard_normal((2, 96, 96, 3)).astype(np.float32)
results = {}
for kernel in ("auto", "reference"):
    with larq_engine.Interpreter(model, kernel=kernel) as interpreter:
        results[kernel] = interpreter.predict(images)
        rows = [row.op for row in interpreter.profile(runs=1)]
        if "LceBconv2d" not in rows:
            sys.exit(f"expected the plug-in to compute LceBconv2d, got {rows}")
if not np.array_equal(results["auto"], results["reference"]):
    sys.exit("expected the same results of both kernels")
print(f"larq_engine {larq_engine.__version__} runs a model; NumPy {np.__version__}")
