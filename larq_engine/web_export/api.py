"""Exports a model as a folder with a page that runs it: `export_web`."""

import html
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from larq_engine.python.interpreter import Interpreter
from larq_engine.python.model_file import ModelSource, read_model
from larq_engine.python.whole_files import write_folder
from larq_engine.web_export.input_kind import MIDDLE, RATE, ModelInput, choose_kind
from larq_engine.web_export.page_files import needed_files, sent_bytes, shared_files

# The page of an export has this; a page without it is somebody else's.
_MARK = b'<meta name="generator" content="larq_engine">'

# Samples a second that browsers convert sounds to.
_LEAST_RATE, _MOST_RATE = 8000, 96000


@dataclass(frozen=True)
class ExportedWeb:
    """The files of a page that runs a model.

    Attributes:
        files: Content of each file by its path in the folder.
        input_kind: What the page asks for: "image", "sound" or "numbers".
        sent_bytes: The bytes that a server sends for all files if it compresses with gzip.
    """

    files: dict[str, bytes]
    input_kind: str
    sent_bytes: int

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes all files, or none; makes the folder if it is not there.

        Raises:
            ValueError: There is something in the folder that no export has written.
            OSError: It fails; the error names the file.
        """
        path = Path(folder)
        page = path / "index.html"
        is_ours = page.is_file() and _MARK in page.read_bytes()
        if path.is_dir() and any(path.iterdir()) and not is_ours:
            raise ValueError(
                f"folder '{path}': expected a folder for this export alone, got one with files of "
                "another origin; choose a new folder"
            )
        write_folder(path, self.files)

    def __repr__(self) -> str:
        return f"<ExportedWeb of {len(self.files)} files, {self.sent_bytes} bytes to send>"


def export_web(
    model: ModelSource,
    *,
    title: str = "",
    labels: Sequence[str] | None = None,
    input: str | None = None,
    mean: float | Sequence[float] | None = None,
    std: float | Sequence[float] | None = None,
    rate: int | None = None,
) -> ExportedWeb:
    """Returns a page that runs a model in a browser, with all that it needs.

    Args:
        model: The content of a .tflite file, or its path.
        title: The heading of the page; the file's name if it is empty.
        labels: What each number of the first output stands for.
        input: What the page asks for: "image", "sound" or "numbers"; if None, what the model's
            input looks like.
        mean: Subtracted from pixels of 0 to 255, one number or one for each channel; 127.5 if None.
        std: What pixels are divided by then, 127.5 if None; with both of 127.5, they are from -1
            to 1.
        rate: Samples a second of the sounds that the model takes; 16000 if None.

    Raises:
        ValueError: The engine does not run the model by itself, or an option does not fit it.
        FileNotFoundError: There is no such file, or the engine for browsers was not built.
    """
    content = read_model(model)
    with Interpreter(content, host="none") as interpreter:
        inputs = _inputs_of(interpreter)
        outputs = interpreter.output_shapes
        types = [*interpreter.input_types, *interpreter.output_types]
    if not outputs:
        raise ValueError(
            "model: expected at least one output, which the page shows, got none; export a model "
            "that returns something"
        )
    if np.float16 in types:
        raise ValueError(
            "model: expected inputs and outputs of types that browsers' numbers have, got float16, "
            "which most browsers lack; convert the model with inputs and outputs of float32"
        )
    kind = choose_kind(input, inputs)
    _check_options(kind, {"mean": ("image", mean), "std": ("image", std), "rate": ("sound", rate)})
    settings: dict[str, Any] = {"model": "model.tflite", "kind": kind}
    if labels is not None:
        settings["labels"] = _checked_labels(labels, math.prod(outputs[0]))
    if kind == "image":
        settings |= _pixel_values(
            inputs[0], MIDDLE if mean is None else mean, MIDDLE if std is None else std
        )
    if kind == "sound":
        rate = RATE if rate is None else rate
        if not _LEAST_RATE <= rate <= _MOST_RATE:
            raise ValueError(
                f"rate: expected from {_LEAST_RATE} to {_MOST_RATE} samples a second, got {rate}"
            )
        settings["rate"] = rate
    name = title or (Path(model).stem if isinstance(model, (str, os.PathLike)) else "A model")
    shared = shared_files()
    page = Template(shared["page/index.html"].decode()).substitute(title=html.escape(name))
    files = {
        "index.html": page.encode(),
        **needed_files(shared, "page/page.css", "page/icon.svg", "page/main.js"),
        "model.tflite": content,
    }
    sent = sent_bytes(files)
    settings |= {"modelBytes": len(content), "sentBytes": sent}
    files["settings.json"] = json.dumps(settings, allow_nan=False).encode()
    return ExportedWeb(files, kind, sent)


def _check_options(kind: str, options: Mapping[str, tuple[str, Any]]) -> None:
    """Refuses options for other kinds of input, which would have no effect."""
    for name, (wanted, value) in options.items():
        if value is not None and kind != wanted:
            raise ValueError(
                f"{name}: expected no such option for a page that asks for {kind}, got {value}; "
                f"leave it out, or choose '{wanted}' as input"
            )


def _inputs_of(interpreter: Interpreter) -> list[ModelInput]:
    # An open batch is 1 in the shape, as a visitor gives one sample.
    return [
        ModelInput(
            info.name,
            (*info.shape[:1], *info.signature[1:]),
            info.dtype,
            info.scale,
            info.zero_point,
        )
        for info in interpreter._inputs
    ]


def _pixel_values(
    image: ModelInput, mean: float | Sequence[float], std: float | Sequence[float]
) -> dict[str, list[float]]:
    """Returns what is subtracted from pixels and what divides them, to get the model's numbers."""
    means, stds = (
        _per_channel(name, values, image.shape[3])
        for name, values in (("mean", mean), ("std", std))
    )
    given = f"mean of {mean} and std of {std}"
    if image.dtype != np.float32:
        # A number of the file is x / scale + zero point, if x is what it stands for.
        stds = [value * image.scale for value in stds]
        means = [m - image.zero_point * s for m, s in zip(means, stds, strict=True)]
        given += f" for the input's scale of {image.scale} and zero point of {image.zero_point}"
    # A product of finite numbers may be infinite, or 0.
    if 0 in stds or not all(map(math.isfinite, means + stds)):
        raise ValueError(
            f"mean, std: expected finite numbers, and for std other than 0, as pixels are divided "
            f"by them, got {given}"
        )
    return {"mean": means, "std": stds}


def _checked_labels(labels: Sequence[str], expected: int) -> list[str]:
    found = [str(label) for label in labels]
    if len(found) != expected:
        raise ValueError(
            f"labels: expected {expected}, one for each number of the model's first output, got "
            f"{len(found)}; give one label a line, in the order of the model's classes"
        )
    return found


def _per_channel(name: str, values: float | Sequence[float], channels: int) -> list[float]:
    found = [float(x) for x in (values if isinstance(values, Sequence) else [values])]
    if len(found) not in (1, channels):
        raise ValueError(
            f"{name}: expected one number, or {channels}, one for each channel, got {values}"
        )
    return found * (channels // len(found))
