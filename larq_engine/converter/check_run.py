"""Runs a part of a model in LiteRT, for the self-check."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import Array, Model, Op, Tensor

# There is more than one thread, as LiteRT's convolution then needs no copy of the image per tap.
_THREADS = max(2, os.cpu_count() or 2)

# Largest filter for which LiteRT 2.3 may lose pixels at stride 1. With several threads it computes
# a convolution as a product of matrices if the filter is as large as the image and no pad comes
# before it. If pads come behind it, LiteRT then computes only the first pixel, and leaves the
# others as they were in memory. At stride 1, larger filters have pads before them.
_LARGEST_WITHOUT_PAD_BEFORE = 2


class PartRun:
    """Runs some operators of a graph with LiteRT's own kernels and the plug-in.

    Variables keep their values from one `run` to the next.
    """

    def __init__(
        self, model: Model, given: Sequence[Tensor], ops: Sequence[Op], wanted: Sequence[Tensor]
    ) -> None:
        self._model = model
        self._given = list(given)
        self._ops = ops
        self.wanted = list(wanted)
        self._interpreter: Any = None
        self._outputs: dict[Tensor, dict[str, Any]] = {}

    def run(self, values: Mapping[Tensor, Array]) -> None:
        """Runs once on the values of the given tensors."""
        arrays = [values[tensor] for tensor in self._given]
        if self._interpreter is None:
            self._interpreter = _load(self._model, self._given, self._ops, self.wanted)
            self._allocate(arrays)
        for detail, array in zip(self._interpreter.get_input_details(), arrays, strict=True):
            if array.size:
                self._interpreter.set_tensor(detail["index"], array)
        self._interpreter.invoke()
        details = self._interpreter.get_output_details()
        self._outputs = dict(zip(self.wanted, details, strict=True))

    def _allocate(self, arrays: Sequence[Array]) -> None:
        for detail, array in zip(self._interpreter.get_input_details(), arrays, strict=True):
            if tuple(detail["shape"]) != array.shape:
                self._interpreter.resize_tensor_input(detail["index"], array.shape)
        self._interpreter.allocate_tensors()
        self._check_sizes(arrays)

    def _check_sizes(self, arrays: Sequence[Array]) -> None:
        """Raises ValueError if a window does not fit its image, as empty results may crash.

        LiteRT's own kernels accept such a window, unlike XNNPACK.
        """
        tensors = [t for op in self._ops for t in (*op.inputs, *op.outputs) if t is not None]
        declared = [tensor.shape for tensor in tensors]
        if any(0 in shape for shape in [*declared, *(array.shape for array in arrays)]):
            return
        for detail in self._interpreter.get_tensor_details():
            if any(size < 1 for size in detail["shape"]):
                raise ValueError(
                    f"{detail['name']}: expected an image that windows fit, got one that leaves "
                    f"{tuple(map(int, detail['shape']))}; give the model larger inputs"
                )

    def shape(self, tensor: Tensor) -> tuple[int, ...]:
        """Returns the shape of a wanted tensor in the last run."""
        return tuple(map(int, self._outputs[tensor]["shape"]))

    def value(self, tensor: Tensor) -> Array:
        """Returns the value of a wanted tensor in the last run."""
        detail = self._outputs[tensor]
        if 0 in detail["shape"]:
            return np.zeros(detail["shape"], detail["dtype"])
        value: Array = self._interpreter.get_tensor(detail["index"])
        return value


def _load(
    model: Model, given: Sequence[Tensor], ops: Sequence[Op], wanted: Sequence[Tensor]
) -> Any:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    from larq_engine.python.hosts import load_delegate

    with tempfile.TemporaryDirectory() as folder:
        # The host maps a file into memory; bytes would be one more copy of all weights.
        file = Path(folder) / "part.tflite"
        file.write_bytes(schema.write_view(schema.part(model, given, ops, wanted)))
        # XNNPACK is off because it would copy all weights for a single run.
        return Interpreter(
            model_path=os.fspath(file),
            num_threads=1 if any(map(_may_lose_pixels, ops)) else _THREADS,
            experimental_delegates=[load_delegate("litert", device="cpu")],
            experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        )


def _may_lose_pixels(op: Op) -> bool:
    if op.kind != "CONV_2D" or op.options.padding != schema.PADDING["SAME"] or op.inputs[1] is None:
        return False
    taps = op.inputs[1].shape[1:3]
    is_small = 1 < max(taps) <= _LARGEST_WITHOUT_PAD_BEFORE
    return is_small or (op.inputs[0] is not None and op.inputs[0].shape[1:3] == taps)
