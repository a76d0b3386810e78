"""Trains a network of bits that reads digits, for an FPGA: `python examples/fpga_digits.py`.

Pixels have 4 bits and everything after them one, so the whole network becomes hardware: what comes
out are ten sums, and the greatest is the digit. Needs keras 3 and scikit-learn.

    python examples/fpga_digits.py --output digits.tflite
    larq-engine export-verilog digits.tflite -o digits_verilog
"""

import argparse
from pathlib import Path

import keras
import numpy as np
from sklearn.datasets import load_digits

import larq_engine
import larq_engine.keras as lq


def make_model() -> keras.Model:
    weights = {"kernel_quantizer": "ste_sign", "kernel_constraint": "weight_clip"}
    first = {"input_quantizer": lq.quantizers.DoReFa(4), **weights, "use_bias": False}
    sign = {"input_quantizer": "ste_sign", **weights, "use_bias": False}
    return keras.Sequential(
        [
            keras.Input((8, 8, 1), name="image"),
            lq.layers.QuantConv2D(32, 3, padding="same", **first),
            keras.layers.BatchNormalization(momentum=0.8),
            lq.layers.QuantConv2D(64, 3, padding="same", pad_values=1.0, **sign),
            keras.layers.MaxPooling2D(),
            keras.layers.BatchNormalization(momentum=0.8),
            lq.layers.QuantConv2D(64, 3, padding="same", pad_values=1.0, **sign),
            keras.layers.MaxPooling2D(),
            keras.layers.BatchNormalization(momentum=0.8),
            keras.layers.Flatten(),
            lq.layers.QuantDense(10, **sign),
            keras.layers.BatchNormalization(momentum=0.8, scale=False, center=False),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="A network of bits that reads digits.")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--output", type=Path, default=Path("digits.tflite"))
    arguments = parser.parse_args()
    images, labels = load_digits(return_X_y=True)
    images = (images.reshape(-1, 8, 8, 1) / 16).astype(np.float32)
    order = np.random.default_rng(1).permutation(len(labels))
    seen, new = order[:1000], order[1000:]
    keras.utils.set_random_seed(1)
    model = make_model()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss)
    model.fit(images[seen], labels[seen], batch_size=50, epochs=arguments.epochs, verbose=0)
    file = larq_engine.convert_keras_model(model, target="fpga")
    arguments.output.write_bytes(file)
    with larq_engine.Interpreter(file) as interpreter:
        ours = interpreter.predict(images[new]).argmax(1)
    theirs = model.predict(images[new], verbose=0).argmax(1)
    print(f"keras: {np.mean(theirs == labels[new]):.1%} of {len(new)} digits right")
    print(f"{arguments.output}: {np.mean(ours == labels[new]):.1%}; {len(file)} bytes")


if __name__ == "__main__":
    main()
