"""Makes and runs models for microcontrollers, whose inputs and outputs are bytes."""

from typing import Any

import numpy as np

_SAMPLES = 200


def options(images: Any) -> dict[str, Any]:
    """Returns arguments of a conversion, which learns from images what the bytes stand for."""
    return {
        "target": "microcontroller",
        "inference_input_type": "int8",
        "inference_output_type": "int8",
        "representative_dataset": [[image[None]] for image in images[:_SAMPLES]],
    }


def as_bytes(interpreter: Any, images: Any) -> Any:
    """Returns images as a model of bytes takes them."""
    [scale], [zero_point] = interpreter.input_scales, interpreter.input_zero_points
    return np.clip(np.round(images / scale) + zero_point, -128, 127).astype(np.int8)


def predict(interpreter: Any, images: Any) -> Any:
    """Returns scores of images, by a model of bytes or of floats."""
    if interpreter.input_types != [np.dtype(np.int8)]:
        return interpreter.predict(images)
    [scale], [zero_point] = interpreter.output_scales, interpreter.output_zero_points
    scores = interpreter.predict(as_bytes(interpreter, images))
    return (scores.astype(np.float32) - zero_point) * scale
