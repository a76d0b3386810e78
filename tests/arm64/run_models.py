"""Runs *.tflite of a folder on its image.npy: run_models.py FOLDER NAME on|off

Stores the outputs of M.tflite as M.NAME.npz and prints which plug-in made them. "off" leaves all
operators but LCE's to the host.
"""

import sys
from pathlib import Path

import numpy as np

import larq_engine

folder, name, fuse = Path(sys.argv[1]), *sys.argv[2:]
for model in sorted(folder.glob("*.tflite")):
    interpreter = larq_engine.Interpreter(model, host="litert", fuse=fuse)
    outputs = interpreter.predict(np.load(folder / "image.npy"))
    np.savez(folder / f"{model.stem}.{name}.npz", *outputs)
print(larq_engine.delegate_path())
