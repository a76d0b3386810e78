"""Draws pictures of what the examples' files find, as in docs/examples.md.

python examples/pictures.py digits digits.tflite
python examples/pictures.py faces faces.tflite PHOTO...
python examples/pictures.py keywords keywords.tflite words.wav
"""

import argparse
from pathlib import Path

import faces
import numpy as np
from keywords import from_file, hear
from matplotlib import pyplot as plt
from published.speaking import RATE
from skimage import io
from sklearn.datasets import load_digits

import larq_engine

RIGHT, WRONG = "#1b7f3b", "#c62828"


def draw_digits(file: Path) -> plt.Figure:
    images, labels = load_digits(return_X_y=True)
    new = np.random.default_rng(1).permutation(len(labels))[1000:]  # as in digits.py
    with larq_engine.Interpreter(file) as interpreter:
        scores = interpreter.predict((images[new].reshape(-1, 8, 8, 1) / 16).astype(np.float32))
    read = scores.argmax(1)
    figure, axes = plt.subplots(4, 12, figsize=(9, 3.6))
    for axis, number, digit in zip(axes.flat, new, read, strict=False):
        axis.imshow(images[number].reshape(8, 8), cmap="gray_r")
        color = RIGHT if digit == labels[number] else WRONG
        axis.set_title(str(digit), color=color, fontsize=11, pad=2)
        axis.axis("off")
    figure.suptitle(
        f"{axes.size} of {len(new)} digits that the network has not seen, and what it reads: "
        f"{np.mean(read == labels[new]):.1%} right, {file.stat().st_size:,} bytes",
        fontsize=10,
    )
    return figure


def draw_faces(file: Path, *photos: Path) -> plt.Figure:
    figure, axes = plt.subplots(1, len(photos), figsize=(9, 3.6), squeeze=False)
    for axis, path in zip(axes.flat, photos, strict=True):
        photo = io.imread(path)
        found = faces.find(file, photo)
        axis.imshow(photo, cmap="gray")
        for place in found:
            if place.votes > found[0].votes / 4:
                corner, side = (place.left, place.top), place.side
                axis.add_patch(plt.Rectangle(corner, side, side, fill=False, color="#ffd600"))
                axis.text(*corner, f" {place.votes:.0f}", color="#ffd600", va="bottom", fontsize=11)
        axis.axis("off")
    return figure


def draw_keywords(file: Path, sound: Path) -> plt.Figure:
    samples = np.concatenate(list(from_file(sound)))
    figure, axis = plt.subplots(figsize=(9, 2.6))
    axis.plot(np.arange(len(samples)) / RATE, samples, linewidth=0.5, color="#5c6bc0")
    for second, word, score in hear(file, from_file(sound)):
        axis.annotate(
            f"{word}\n{score:.2f}", (second, 1), xycoords=("data", "axes fraction"),
            ha="center", va="bottom", color=RIGHT,
        )  # fmt: skip
        axis.axvline(second, color=RIGHT, linewidth=0.8, linestyle=":")
    axis.set(xlabel=f"seconds of {sound.name}", yticks=[], xlim=(0, len(samples) / RATE))
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description="Pictures of what the examples' files find.")
    parser.add_argument("what", choices=["digits", "faces", "keywords"])
    parser.add_argument("inputs", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--output", type=Path, help="by default the first file's name, with .png")
    arguments = parser.parse_args()
    draw = {"digits": draw_digits, "faces": draw_faces, "keywords": draw_keywords}
    figure = draw[arguments.what](*arguments.inputs)
    figure.tight_layout()
    figure.savefig(arguments.output or arguments.inputs[0].with_suffix(".png").name, dpi=110)


if __name__ == "__main__":
    main()
