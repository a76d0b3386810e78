"""Reads a model and makes sure that no host crashes on it.

The structure is checked first (flatbuffer.py). What it means is for the host and the plug-in to
check, but for four faults that hosts themselves fall over: an operator that reads what a later one
writes, which TensorFlow 2.21 and tflite_runtime 2.14 never finish to partition, an absent output,
on which all of them crash, and impossible scales and zero points and a SPLIT into another number of
parts than it has outputs, on which LiteRT 2.3's XNNPACK crashes.
"""

import math
import os
from pathlib import Path
from typing import Any

from larq_engine.python.flatbuffer import DamageError, Flatbuffer

# Fields by number.
_MODEL_OPERATOR_CODES, _MODEL_SUBGRAPHS = 1, 2
_OPERATOR_CODE_OLD_KIND, _OPERATOR_CODE_KIND = 0, 3
_SUBGRAPH_TENSORS, _SUBGRAPH_OPERATORS = 0, 3
_OPERATOR_CODE, _OPERATOR_INPUTS, _OPERATOR_OUTPUTS = 0, 1, 2
_OPERATOR_OPTIONS_TYPE, _OPERATOR_OPTIONS = 3, 4
_SPLIT_OPTIONS_PARTS = 0
_TENSOR_TYPE, _TENSOR_NAME, _TENSOR_QUANTIZATION = 1, 3, 4
_QUANTIZATION_SCALE, _QUANTIZATION_ZERO_POINT = 2, 3

_SPLIT = 49  # Of the kinds of operators.
_SPLIT_OPTIONS = 35  # Of the union BuiltinOptions.

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
        root = buffer.check()
        kinds = [
            max(
                buffer.scalar(code, _OPERATOR_CODE_OLD_KIND, "b"),
                buffer.scalar(code, _OPERATOR_CODE_KIND, "i"),
            )
            for code in buffer.tables(root, _MODEL_OPERATOR_CODES)
        ]
        for subgraph in buffer.tables(root, _MODEL_SUBGRAPHS):
            for tensor in buffer.tables(subgraph, _SUBGRAPH_TENSORS):
                _check_quantization(buffer, tensor)
            operators = buffer.tables(subgraph, _SUBGRAPH_OPERATORS)
            _check_order(buffer, operators)
            _check_splits(buffer, operators, kinds)
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


def _check_splits(buffer: Flatbuffer, operators: list[int], kinds: list[int]) -> None:
    for index, operator in enumerate(operators):
        code = buffer.scalar(operator, _OPERATOR_CODE, "I")
        if code >= len(kinds) or kinds[code] != _SPLIT:
            continue
        outputs = len(buffer.vector(operator, _OPERATOR_OUTPUTS, "i"))
        options = buffer.table(operator, _OPERATOR_OPTIONS)
        is_split = buffer.scalar(operator, _OPERATOR_OPTIONS_TYPE, "B") == _SPLIT_OPTIONS
        parts = buffer.scalar(options, _SPLIT_OPTIONS_PARTS, "i") if options and is_split else 0
        if parts != outputs:
            raise DamageError(
                f"operator #{index}: expected a SPLIT into its {outputs} outputs, got {parts} "
                "parts; re-convert the model, or copy it again"
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
