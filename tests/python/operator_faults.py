"""Reads tests/common/operator_faults.txt, which says what is in it, and makes files of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from tests.model_builder import (
    ABSENT,
    TENSOR_TYPES,
    ModelBuilder,
    bconv_options,
    flexbuffer_map,
    packed_shape,
)
from tests.oracle import Conv

_LIST = Path(__file__).parents[1] / "common" / "operator_faults.txt"
_OUT_OF_EVERY_RANGE = [2**63 - 1, -(2**63)]


@dataclass
class Fault:
    """One fault of the list; `file_message` is empty if the plug-in's message is that of a file."""

    base: str
    changes: list[str]
    message: list[str] = field(default_factory=list)
    file_message: list[str] = field(default_factory=list)


def _read() -> tuple[dict[str, Fault], dict[str, list[int]]]:
    faults: dict[str, Fault] = {}
    options: dict[str, list[int]] = {}
    last = Fault("", [])
    for line in _LIST.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("  file "):
            last.file_message = line.removeprefix("  file ").split(" | ")
        elif line.startswith("  "):
            last.message = line.strip().split(" | ")
        elif line.startswith("option "):
            _, key, *values = line.split()
            options[key] = [*map(int, values), *_OUT_OF_EVERY_RANGE]
        else:
            start, changes = line.split(": ")
            name, base = start.split()
            last = faults[name] = Fault(base, changes.split("; "))
    return faults, options


FAULTS, OPTION_FAULTS = _read()


class Chain:
    """Builds the good models with the names and numbers of tensors that the list has."""

    def __init__(self, dtype: Any = np.float32, channels: int = 40) -> None:
        self.builder = ModelBuilder()
        self.options: list[dict[str, Any]] = []
        self.channels = channels
        scale = {"scale": 0.05, "zero_point": 3} if dtype is np.int8 else {}
        self.last = self.builder.tensor((1, 5, 5, channels), dtype, name="input", **scale)

    def _add(
        self,
        op: str,
        constants: dict[str, np.ndarray | None],
        shape: tuple[int, ...],
        dtype: Any,
        options: dict[str, Any],
        *,
        sides: int = 1,
    ) -> "Chain":
        name = f"{op}{len(self.options)}"
        inputs = [self.last] * sides
        for role, array in constants.items():
            known = array is not None
            inputs.append(self.builder.constant(array, name=f"{name}/{role}") if known else ABSENT)
        scale = {"scale": 0.4, "zero_point": -7} if dtype is np.int8 else {}
        self.last = self.builder.tensor(shape, dtype, name=name, **scale)
        self.builder.custom(op, inputs, [self.last], options or b"")
        self.options.append(options)
        return self

    def quantize(self, bits: int = 1) -> "Chain":
        limits = {"limits": np.array([-0.5, 0, 0.5], np.float32)} if bits == 2 else {}
        shape = (1, 5, 5, bits * packed_shape((self.channels,))[0])
        return self._add("LceQuantize", limits, shape, np.int32, {"bits": bits} if bits > 1 else {})

    def dequantize(self, dtype: Any) -> "Chain":
        return self._add("LceDequantize", {}, (1, 5, 5, self.channels), dtype, {})

    def conv(self, dtype: Any = np.float32, **geometry: Any) -> "Chain":
        conv = Conv((1, 5, 5, self.channels), (3, 3), 6, **geometry)
        to_bits = dtype is np.int32
        *taps, depth = conv.filter_shape
        words = conv.bits_weights * packed_shape((depth,))[0]
        values = None if to_bits else np.ones(6, np.float32)
        constants = {
            "filter": np.zeros((*taps, words), np.int32),
            "multiplier": values,
            "bias": values,
            "threshold": np.zeros(6, np.int32) if to_bits else None,
        }
        shape = packed_shape(conv.output_shape) if to_bits else conv.output_shape
        return self._add("LceBconv2d", constants, shape, dtype, bconv_options(conv))

    def pool(self) -> "Chain":
        sizes = dict.fromkeys(("filter_height", "filter_width", "stride_height", "stride_width"), 2)
        return self._add("LceBMaxPool2d", {}, (1, 3, 3, 2), np.int32, {"padding": 0, **sizes})

    def square(self) -> "Chain":
        values: dict[str, np.ndarray | None] = {"values": np.ones((2, 2), np.float32)}
        options = {"depth": self.channels}
        return self._add("LceBmatmul", values, (1, 5, 5, 5), np.float32, options, sides=2)

    def weights(self, dtype: Any = np.float32) -> "Chain":
        constants: dict[str, np.ndarray | None] = {
            "bits": np.zeros(9, np.int32),
            "scale": np.ones(6, np.float32),
        }
        shape = (6, 3, 3, 5)
        return self._add("LceUnpackWeights", constants, shape, dtype, {"axis": 0}, sides=0)

    def set_options(self, operator: int, content: bytes) -> None:
        self.builder.graph.operators[operator].customOptions = np.frombuffer(content, np.uint8)

    def finish(self) -> bytes:
        return self.builder.finish([0], [self.last])


_PADS = ((0, 1), (2, 3))
BASES: dict[str, Callable[[], Chain]] = {
    "quantize": lambda: Chain().quantize(),
    "quantize_int8": lambda: Chain(np.int8).quantize(),
    "quantize_two_bits": lambda: Chain().quantize(2),
    "quantize_bytes": lambda: Chain(np.uint8).quantize(8),
    "dequantize": lambda: Chain().quantize().dequantize(np.float32),
    "dequantize_int8": lambda: Chain().quantize().dequantize(np.int8),
    "conv": lambda: Chain().quantize().conv(),
    "conv_to_bits": lambda: Chain().quantize().conv(np.int32),
    "conv_to_int8": lambda: Chain().quantize().conv(np.int8),
    "conv_of_groups": lambda: Chain(channels=64).quantize().conv(groups=2),
    "conv_of_valid": lambda: Chain().quantize().conv(padding="VALID"),
    "conv_with_pads": lambda: Chain().quantize().conv(padding=_PADS),
    "conv_two_bits": lambda: Chain().quantize(2).conv(bits_in=2, bits_weights=3),
    "conv_two_bits_of_32": lambda: Chain(channels=32).quantize(2).conv(bits_in=2),
    "pool": lambda: Chain().quantize().pool(),
    "square": lambda: Chain().quantize().square(),
    "weights": lambda: Chain().quantize().weights(),
    "weights_int8": lambda: Chain().quantize().weights(np.int8),
}


def _change_tensor(chain: Chain, tensor: Any, what: str, values: list[str]) -> None:
    buffer = chain.builder.model.buffers[tensor.buffer]
    if what == "type":
        tensor.type = TENSOR_TYPES[np.dtype(values[0])]
    elif what == "shape":
        tensor.shape = np.array(values, np.int32)
    elif what == "signature":
        tensor.shapeSignature = np.array(values, np.int32)
    elif what == "scales":
        tensor.quantization.scale = np.array(values, np.float32)
    elif what == "zero_points":
        tensor.quantization.zeroPoint = np.array(values, np.int64)
    elif what == "unquantized":
        tensor.quantization = None
    elif what == "computed":
        tensor.buffer = 0
    elif what == "zeros":
        tensor.buffer = len(chain.builder.model.buffers)
        added = schema.BufferT()
        added.data = np.zeros(int(values[0]), np.uint8)
        chain.builder.model.buffers.append(added)
    elif what == "floats":
        floats = np.array(values, np.float32).view(np.uint8)
        buffer.data = np.concatenate([floats, buffer.data[len(floats) :]])
    elif what == "byte":
        index, value = map(int, values)
        buffer.data = buffer.data.copy()
        buffer.data[index] = value
    else:
        raise ValueError(f"no tensor has {what}")


def _change_operator(chain: Chain, index: int, what: str, values: list[str]) -> None:
    operator = chain.builder.graph.operators[index]
    if what in ("inputs", "outputs"):
        setattr(operator, what, np.array(values, np.int32))
    elif what == "raw_options":
        chain.set_options(index, bytes(map(int, values)))
    elif what == "option":
        chain.options[index][values[0]] = int(values[1])
        chain.set_options(index, flexbuffer_map(chain.options[index]))
    else:
        raise ValueError(f"no operator has {what}")


def spoilt(fault: Fault) -> bytes:
    """Returns the file of a good model with the fault in it."""
    chain = BASES[fault.base]()
    graph = chain.builder.graph
    inputs = [0]
    for change in fault.changes:
        place, what, *values = change.split()
        where, _, role = place.partition(".")
        if place == "graph":
            inputs = [int(value) for value in values]
        elif place == "input" or role:
            number = 0
            if role:
                operator = graph.operators[int(where)]
                number = operator.outputs[0] if role == "out" else operator.inputs[int(role[2:])]
            if what == "copy":
                graph.tensors.append(graph.tensors[number])
            else:
                _change_tensor(chain, graph.tensors[number], what, values)
        else:
            _change_operator(chain, int(place), what, values)
    return chain.builder.finish(inputs, [chain.last])
