"""Evaluates the operators of the demo's model file in float32 NumPy: slow, and without a bit in it.

A binary convolution is a float convolution of +-1 data, so this is what the file means.
"""

from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers
from numpy.lib.stride_tricks import sliding_window_view

_BUILTINS = {code: name for name, code in vars(schema.BuiltinOperator).items()}
_TYPES = {schema.TensorType.FLOAT32: np.float32, schema.TensorType.INT32: np.int32}


def evaluate(content: bytes, x: np.ndarray) -> np.ndarray:
    """Returns the output of a model of one input and one output, for a batch."""
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    graph = model.subgraphs[0]
    values: dict[int, np.ndarray] = {graph.inputs[0]: x}
    for number, tensor in enumerate(graph.tensors):
        data = model.buffers[tensor.buffer].data
        if data is not None:
            values[number] = data.view(_TYPES[tensor.type]).reshape(tensor.shape)
    for operator in graph.operators:
        code = model.operatorCodes[operator.opcodeIndex]
        name = code.customCode.decode() if code.customCode else _BUILTINS[code.builtinCode]
        inputs = [values[number] for number in operator.inputs if number >= 0]
        values[operator.outputs[0]] = _OPERATORS[name](operator, *inputs)
    return values[graph.outputs[0]]


def _windows(x: np.ndarray, taps: tuple[int, int], stride: int, fill: float) -> np.ndarray:
    """The windows of SAME padding with `fill`: [N, Ho, Wo, C, kh, kw]."""
    pads = []
    for size, tap in zip(x.shape[1:3], taps, strict=True):
        total = max(0, (-(-size // stride) - 1) * stride + tap - size)
        pads.append((total // 2, total - total // 2))
    padded = np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=fill)
    return sliding_window_view(padded, taps, axis=(1, 2))[:, ::stride, ::stride]


def _convolve(x: np.ndarray, weights: np.ndarray, stride: int, fill: float) -> np.ndarray:
    """Weights are [Cout, kh, kw, Cin]."""
    windows = _windows(x, weights.shape[1:3], stride, fill)
    flat = weights.transpose(0, 3, 1, 2).reshape(len(weights), -1)
    return windows.reshape(*windows.shape[:3], -1) @ flat.T


def _conv_2d(operator: Any, x: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    return _convolve(x, weights, operator.builtinOptions.strideH, 0.0) + bias


def _max_pool_2d(operator: Any, x: np.ndarray) -> np.ndarray:
    options = operator.builtinOptions
    taps = (options.filterHeight, options.filterWidth)
    return _windows(x, taps, options.strideH, -np.inf).max(axis=(4, 5))


def _sign(_operator: Any, x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, -1, 1).astype(np.float32)


def _binary_conv(
    operator: Any, x: np.ndarray, words: np.ndarray, multiplier: np.ndarray, bias: np.ndarray
) -> np.ndarray:
    """relu(convolution) * multiplier + bias, padded with +1; a filter's bit 1 means -1."""
    options = flexbuffers.Loads(bytes(operator.customOptions))
    bits = np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little")
    weights = 1 - 2 * bits[..., : options["channels_in"]].astype(np.float32)
    dots = _convolve(x, weights, options["stride_height"], float(options["pad_values"]))
    return np.maximum(dots, 0) * multiplier + bias


_OPERATORS = {
    "CONV_2D": _conv_2d,
    "MAX_POOL_2D": _max_pool_2d,
    "LceQuantize": _sign,
    "LceBconv2d": _binary_conv,
    "ADD": lambda _operator, a, b: a + b,
    "MEAN": lambda _operator, x, axes: x.mean(axis=tuple(axes)),
    "FULLY_CONNECTED": lambda _operator, x, weights, bias: x @ weights.T + bias,
}
