"""Files for the peers of benchmarks.models: `python -m benchmarks.zoo_files NAME FOLDER`.

Writes to FOLDER the files of one model of larq_zoo with the weights of zoo_models.py:

  answers.npz    test images and Keras' outputs
  weights.npz    the weights, for LCE's converter, which needs a TensorFlow of its own
  float.tflite   by TensorFlow's converter
  int8.tflite    by the same, quantized after training: calibrated with the test images, operators
                 that have no int8 form stay in float, and so do inputs and outputs

Each model has a process of its own, because the largest take gigabytes. Prints a line for each file
that it begins.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import zoo_models

tf = zoo_models.tf


def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    steps = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # TensorFlow's output must not mix with the steps

    print("weights", file=steps)
    model = zoo_models.build(name)
    images = zoo_models.draw_images(model)
    zoo_models.prepare(model, images)
    np.savez(folder / "weights.npz", *model.get_weights())
    np.savez(folder / "answers.npz", images=images, outputs=model.predict(images, verbose=0))
    store_quantized_weights(model)
    with tempfile.TemporaryDirectory(prefix="larq_zoo_") as saved:
        save_with_batch_of_one(model, saved)
        print("float.tflite", file=steps)
        converter = tf.lite.TFLiteConverter.from_saved_model(saved)
        (folder / "float.tflite").write_bytes(converter.convert())
        print("int8.tflite", file=steps)
        converter = tf.lite.TFLiteConverter.from_saved_model(saved)
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: calibration_samples(images)
        (folder / "int8.tflite").write_bytes(converter.convert())


def store_quantized_weights(model: Any) -> None:
    """Replaces the stored weights by the binary ones.

    TensorFlow's converter computes the signs of small kernels only. BinaryAlexNet's stay in its
    files to be computed in each inference: in float that took nine tenths of the time, and in int8
    LiteRT refused the file.
    """
    for layer in model.layers:
        kernel: Any = getattr(layer, "kernel", None)
        if getattr(kernel, "quantizer", None) is not None:
            kernel.assign(kernel.quantizer(kernel.latent_variable))
            kernel.quantizer = None


def save_with_batch_of_one(model: Any, folder: str) -> None:
    """Saves a model with a batch of 1: operators that read an open batch's size would stay."""
    spec = tf.TensorSpec([1, *model.input_shape[1:]], tf.float32, name="images")
    serve = tf.function(lambda images: model(images, training=False)).get_concrete_function(spec)
    holder = tf.Module()
    holder.values = list(serve.variables)
    tf.saved_model.save(holder, folder, signatures=serve)


def calibration_samples(images: zoo_models.Images) -> Iterator[list[zoo_models.Images]]:
    for image in images:
        yield [image[np.newaxis]]


if __name__ == "__main__":
    main()
