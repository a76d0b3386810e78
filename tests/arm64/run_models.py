"""Runs *.tflite of a folder on its image.npy: run_models.py FOLDER NAME

Stores the outputs of M.tflite as M.NAME.npz and prints which plug-in made them.
"""

import sys
from pathlib import Path

import numpy as np

import larq_engine

folder, name = Path(sys.argv[1]), sys.argv[2]
for model in sorted(folder.glob("*.tflite")):
    interpreter = larq_engine.Interpreter(model, runtime="ai_edge_litert")
    outputs = interpreter.predict(np.load(folder / "image.npy"))
    np.savez(folder / f"{model.stem}.{name}.npz", *outputs)
print(larq_engine.delegate_path())
