"""Finds faces on photographs: `python examples/faces.py train FILE`, then `... find FILE PHOTO`.

Trains a small binary network on 100 faces and on pieces of photographs without faces. The network
is then tried on more of these pieces, and learns from those that it wrongly takes for faces. `find`
looks everywhere in a photograph. Needs Keras 3, scikit-image and scikit-learn.
"""

import argparse
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from published.photographs import SIZE, as_input, faces, pieces, without_faces
from skimage import io

import larq_engine


def make_network(keras: Any) -> Any:
    import larq_engine.keras as binary

    signs = {"input_quantizer": "ste_sign", "kernel_quantizer": "ste_sign", "use_bias": False}
    signs |= {"kernel_constraint": "weight_clip", "padding": "same"}
    parts = [keras.Input((SIZE, SIZE, 1)), keras.layers.Conv2D(32, 5, strides=2, padding="same")]
    parts += [keras.layers.BatchNormalization(), binary.layers.QuantConv2D(64, 3, **signs)]
    parts += [keras.layers.MaxPool2D(), keras.layers.BatchNormalization()]
    parts += [binary.layers.QuantConv2D(64, 3, **signs), keras.layers.BatchNormalization()]
    return keras.Sequential([*parts, keras.layers.Flatten(), keras.layers.Dense(1, "sigmoid")])


def train(file: Path, seed: int = 1) -> None:
    os.environ["TF_USE_LEGACY_KERAS"] = "0"
    from tensorflow import keras

    keras.utils.set_random_seed(seed)
    rng = np.random.default_rng(seed)
    some_faces, others = as_input(faces(2000, rng)), as_input(without_faces(2500, rng))
    chosen = rng.permutation(len(others))[:2000]
    network = make_network(keras)
    for round_ in range(3):
        if round_ > 0:  # pieces that it takes for faces
            scores = network.predict(others, batch_size=512, verbose=0).ravel()
            chosen = np.concatenate([chosen, scores.argsort()[-1000:]])
        images = np.concatenate([some_faces, others[chosen]])
        labels = np.r_[np.ones(len(some_faces)), np.zeros(len(chosen))]
        rate = keras.optimizers.schedules.CosineDecay(0.003, 5 * len(images) // 64 + 1)
        network.compile(keras.optimizers.Adam(rate), "binary_crossentropy")
        network.fit(images, labels, batch_size=64, epochs=5, verbose=0)
    print(f"{file}: {file.write_bytes(larq_engine.convert_keras_model(network))} bytes")


class Found(NamedTuple):
    votes: float  # the scores of all squares that overlap
    top: float
    left: float
    side: float


def find(file: Path, photo: np.ndarray) -> list[Found]:
    """Returns the places with faces, the one with the most votes first."""
    with larq_engine.Interpreter(file) as interpreter:
        seen = [(interpreter.predict(as_input(p)).ravel(), where) for p, where in pieces(photo, 1)]
    if not seen:  # the photograph is smaller than any square
        return []
    scores, squares = (np.concatenate(part) for part in zip(*seen, strict=True))
    waiting = scores.argsort()[::-1]
    waiting = waiting[scores[waiting] > 0.5]
    found = []
    while len(waiting):
        # The best square and those whose centres lie in it are one place: the mean of the ten best.
        middles = squares[waiting, :2] + squares[waiting, 2:] / 2
        near = (abs(middles - middles[0]) < squares[waiting[0], 2] / 2).all(1)
        place = squares[waiting[near][:10]].mean(0)
        found.append(Found(scores[waiting[near]].sum(), *place))
        waiting = waiting[~near]
    return sorted(found, reverse=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Finds faces on photographs.")
    parser.add_argument("what", choices=["train", "find"])
    parser.add_argument("file", type=Path, help="the .tflite file")
    parser.add_argument("photo", type=Path, nargs="?", help="what to look at, to find")
    arguments = parser.parse_args()
    if arguments.what == "train":
        train(arguments.file)
    elif arguments.photo is None:
        parser.error("find: expected a photograph, got none; name a file")
    else:
        print("votes   top  left  side")
        for votes, top, left, side in find(arguments.file, io.imread(arguments.photo))[:5]:
            print(f"{votes:5.0f} {top:5.0f} {left:5.0f} {side:5.0f}")


if __name__ == "__main__":
    main()
