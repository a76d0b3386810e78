"""Reads a model and makes sure that no host crashes on it.

The structure is checked first (flatbuffer.py). What it means is for the host and the plug-in to
check, but for three faults that hosts themselves fall over: an operator that reads what a later one
writes, which TensorFlow 2.21 and tflite_runtime 2.14 never finish to partition, an absent output,
on which all of them crash, and impossible scales and zero points, on which LiteRT 2.3's XNNPACK
crashes.
"""

import math
import os
from pathlib import Path
from typing import Any

from larq_engine.python.flatbuffer import DamageError, Flatbuffer

# Fields by number.
_MODEL_SUBGRAPHS = 2
_SUBGRAPH_TENSORS, _SUBGRAPH_OPERATORS = 0, 3
_OPERATOR_INPUTS, _OPERATOR_OUTPUTS = 1, 2
_TENSOR_TYPE, _TENSOR_NAME, _TENSOR_QUANTIZATION = 1, 3, 4
_QUANTIZATION_SCALE, _QUANTIZATION_ZERO_POINT = 2, 3

# The codes of the types whose quantization is checked.
_QUANTIZED_TYPES = {3: ("uint8", 0, 255), 9: ("int8", -128, 127)}
_SMALLEST_SCALE = 2.0**-126  # XNNPACK takes no denormal numbers.


def read_model(model: bytes | bytearray | memoryview | str | os.PathLike[str]) -> bytes:
    """Returns the bytes of a whole TensorFlow Lite model given as bytes or as the path of a file.

    Raises:
        TypeError: `model` is neither.
        FileNotFoundError: There is no such file.
        ValueError: The bytes are not a TensorFlow Lite model, or a damaged one; the path is empty.
    """
    if isinstance(model, (bytes, bytearray, memoryview)):
        name, content = "model", bytes(model)
    elif isinstance(model, (str, os.PathLike)):
        if not os.fspath(model):
            raise ValueError("model: expected a path, got an empty one")
        name, content = f"model '{os.fspath(model)}'", Path(model).read_bytes()
    else:
        raise TypeError(
            "model: expected the bytes of a .tflite file or its path, "
            f"got {type(model).__name__}; of an open file pass file.read(), and convert other "
            "models first"
        )
    try:
        buffer = Flatbuffer(content)
        for subgraph in buffer.tables(buffer.check(), _MODEL_SUBGRAPHS):
            for tensor in buffer.tables(subgraph, _SUBGRAPH_TENSORS):
                _check_quantization(buffer, tensor)
            _check_order(buffer, buffer.tables(subgraph, _SUBGRAPH_OPERATORS))
    except DamageError as damage:
        raise ValueError(f"{name} ({len(content)} bytes): {damage}") from None
    return content


def _check_order(buffer: Flatbuffer, operators: list[int]) -> None:
    writers = {
        tensor: index
        for index, operator in enumerate(operators)
        for tensor in buffer.vector(operator, _OPERATOR_OUTPUTS, "i")
    }
    if -1 in writers:
        raise DamageError(
            f"operator #{writers[-1]}: expected a tensor for each output, got one that is absent; "
            "re-convert the model, or copy it again"
        )
    for index, operator in enumerate(operators):
        for tensor in buffer.vector(operator, _OPERATOR_INPUTS, "i"):
            if writers.get(tensor, -1) >= index:
                raise DamageError(
                    f"operator #{index}: expected inputs that are known before it runs, got tensor "
                    f"#{tensor}, the output of operator #{writers[tensor]}; "
                    "it is corrupted: copy or convert it again"
                )


def _check_quantization(buffer: Flatbuffer, tensor: int) -> None:
    code = buffer.scalar(tensor, _TENSOR_TYPE, "b")
    quantization = buffer.table(tensor, _TENSOR_QUANTIZATION)
    if code not in _QUANTIZED_TYPES or not quantization:
        return
    kind, lowest, highest = _QUANTIZED_TYPES[code]
    scales = buffer.vector(quantization, _QUANTIZATION_SCALE, "f")
    zero_points = buffer.vector(quantization, _QUANTIZATION_ZERO_POINT, "q")
    if not all(_SMALLEST_SCALE <= scale < math.inf for scale in scales):
        problem = f"positive scales, got {_some(scales)}"
    elif not all(lowest <= zero_point <= highest for zero_point in zero_points):
        problem = f"zero points of {lowest} to {highest}, got {_some(zero_points)}"
    elif scales and len(zero_points) not in (1, len(scales)):
        problem = f"{len(scales)} zero points, one for each scale, got {len(zero_points)}"
    else:
        return
    raise DamageError(
        f"{kind} tensor '{buffer.string(tensor, _TENSOR_NAME)}': expected {problem}; "
        "re-convert the model, or copy it again"
    )


def _some(numbers: tuple[Any, ...]) -> str:
    """One number as it is, of several the first ones."""
    text = ", ".join(map(str, numbers[:3]))
    return f"{text}..." if len(numbers) > 3 else text
