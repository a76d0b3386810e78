"""Reads handwritten digits, from four front doors: `python examples/digits.py DOOR`.

Trains a small binary network on scikit-learn's 1,797 digits with the framework of that door, makes
a .tflite file of it, and compares the answers of both for digits that neither has seen. With
`--target microcontroller` it also writes these digits, for examples/micro/digits. Needs
scikit-learn, and the packages of the door: larq, keras, torch, or onnx with torch.
"""

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
from published import microcontroller
from sklearn.datasets import load_digits

import larq_engine


def from_keras(door: str, epochs: int, images: Any, labels: Any, new: Any) -> tuple[bytes, Any]:
    """Returns the file, and the framework's scores of digits that it has not seen."""
    os.environ["TF_USE_LEGACY_KERAS"] = "1" if door == "larq" else "0"  # larq's is Keras 2
    from tensorflow import keras

    if door == "larq":
        import larq as binary
    else:
        import larq_engine.keras as binary
    keras.utils.set_random_seed(1)
    sign = {"input_quantizer": "ste_sign", "kernel_quantizer": "ste_sign", "use_bias": False}
    sign |= {"kernel_constraint": "weight_clip", "padding": "same"}
    layers = [keras.Input((8, 8, 1)), keras.layers.Conv2D(32, 3, padding="same")]
    for _ in range(2):
        layers += [keras.layers.BatchNormalization(momentum=0.8)]
        layers += [binary.layers.QuantConv2D(64, 3, **sign)]
    layers += [keras.layers.BatchNormalization(momentum=0.8)]
    layers += [keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(10)]
    model = keras.Sequential(layers)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss)
    model.fit(images, labels, batch_size=50, epochs=epochs, verbose=0)
    return larq_engine.convert_keras_model(model), model.predict(new, verbose=0)


def from_torch(door: str, epochs: int, images: Any, labels: Any, new: Any) -> tuple[bytes, Any]:
    import torch
    from torch import nn

    def sign(x: Any) -> Any:
        """Returns -1 and 1, with the gradient of x between them."""
        clipped = x.clamp(-1, 1)
        return clipped + (torch.where(x >= 0, 1.0, -1.0) - clipped).detach()

    class BinaryConv(nn.Conv2d):
        def forward(self, x: Any) -> Any:
            return nn.functional.conv2d(sign(x), sign(self.weight), padding=1)

    torch.manual_seed(1)
    parts = [nn.Conv2d(1, 32, 3, padding=1)]
    for channels in (32, 64):
        parts += [nn.BatchNorm2d(channels, momentum=0.2), BinaryConv(channels, 64, 3, bias=False)]
    parts += [nn.BatchNorm2d(64, momentum=0.2), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    module = nn.Sequential(*parts, nn.Linear(64, 10))
    optimizer = torch.optim.Adam(module.parameters(), 0.01)
    x, y = torch.tensor(images).permute(0, 3, 1, 2), torch.tensor(labels)
    for batch in [b for _ in range(epochs) for b in torch.randperm(len(x)).split(50)]:
        optimizer.zero_grad()
        nn.functional.cross_entropy(module(x[batch]), y[batch]).backward()
        optimizer.step()
    scores = module.eval()(torch.tensor(new).permute(0, 3, 1, 2)).detach().numpy()
    if door == "torch":
        return larq_engine.convert_torch(module, x[:1], channels_last=True), scores
    torch.onnx.export(module, (x[:1],), "digits.onnx", dynamo=False)
    return larq_engine.convert_onnx("digits.onnx", channels_last=True), scores


def main() -> None:
    parser = argparse.ArgumentParser(description="Handwritten digits from four front doors.")
    parser.add_argument("door", choices=["larq", "keras", "torch", "onnx"])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--target", choices=["arm", "microcontroller"], default="arm")
    parser.add_argument("--output", type=Path, default=Path("digits.tflite"))
    arguments = parser.parse_args()
    door = arguments.door
    images, labels = load_digits(return_X_y=True)
    images = (images.reshape(-1, 8, 8, 1) / 16).astype(np.float32)
    order = np.random.default_rng(1).permutation(len(labels))
    seen, new = order[:1000], order[1000:]
    make = from_torch if door in ("torch", "onnx") else from_keras
    file, theirs = make(door, arguments.epochs, images[seen], labels[seen], images[new])
    is_for_boards = arguments.target == "microcontroller"
    if is_for_boards:
        file = larq_engine.convert_tflite(file, **microcontroller.options(images[seen]))
    arguments.output.write_bytes(file)
    with larq_engine.Interpreter(file) as interpreter:
        ours = microcontroller.predict(interpreter, images[new])
        if is_for_boards:
            pixels = microcontroller.as_bytes(interpreter, images[new]).reshape(-1, 64)
            digits = np.column_stack([pixels, labels[new].astype(np.int8)])
            arguments.output.with_suffix(".bin").write_bytes(digits.tobytes())
    for name, scores in ((door, theirs), (arguments.output, ours)):
        print(f"{name}: {np.mean(scores.argmax(1) == labels[new]):.1%} of {len(new)} digits right")
    print(f"the same digit in {np.mean(theirs.argmax(1) == ours.argmax(1)):.1%}; {len(file)} bytes")


if __name__ == "__main__":
    main()
