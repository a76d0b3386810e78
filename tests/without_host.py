"""Runs models without a host, and in LiteRT by itself; builds models of one operator."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from ai_edge_litert import interpreter as litert

from larq_engine.python import no_host
from tests.model_builder import ModelBuilder

Array = np.ndarray


def _run(interpreter: Any, inputs: Sequence[Array]) -> Array:
    numbers = [row["index"] for row in interpreter.get_input_details()]
    for number, data in zip(numbers, inputs, strict=True):
        interpreter.resize_tensor_input(number, data.shape)
    interpreter.allocate_tensors()
    for number, data in zip(numbers, inputs, strict=True):
        interpreter.set_tensor(number, data)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).copy()


def run(content: bytes, inputs: Sequence[Array], threads: int = 1, fuse: bool = True) -> Array:
    """Returns the only output that the engine makes; the model's inputs are resized."""
    options = no_host.load_delegate("", {"fuse": fuse})
    return _run(
        no_host.Interpreter(
            model_content=content, num_threads=threads, experimental_delegates=[options]
        ),
        inputs,
    )


def run_in_litert(content: bytes, inputs: Sequence[Array]) -> Array:
    """Returns what LiteRT's own operators make, without XNNPACK."""
    without_xnnpack = litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    return _run(
        litert.Interpreter(model_content=content, experimental_op_resolver_type=without_xnnpack),
        inputs,
    )


class OneOperator:
    """A model of one operator.

    Args:
        op: The operator.
        operands: What it reads, in order: the model's inputs, and arrays that become constants.
        dtype: The type of the output.
        constants: The places of operands that are constants.
        declared: The shapes of the inputs in the file; by default, those of the operands.
        rank: The output's number of dimensions; by default, the greatest of the operands'.
        **options: The operator's options.
    """

    def __init__(
        self,
        op: str,
        operands: Sequence[Array],
        dtype: Any = np.float32,
        *,
        constants: Sequence[int] = (),
        declared: Sequence[Sequence[int]] | None = None,
        rank: int | None = None,
        **options: Any,
    ) -> None:
        builder = ModelBuilder()
        self.inputs = [data for i, data in enumerate(operands) if i not in constants]
        shapes = iter(declared or [data.shape for data in self.inputs])
        numbers, inputs = [], []
        for i, data in enumerate(operands):
            if i in constants:
                numbers.append(builder.constant(data))
                continue
            shape = next(shapes)
            numbers.append(builder.tensor(shape, data.dtype, signature=(-1,) * len(shape)))
            inputs.append(numbers[-1])
        dims = max(data.ndim for data in operands) if rank is None else rank
        output = builder.tensor((1,) * dims, dtype, signature=(-1,) * dims)
        builder.builtin(op, numbers, [output], **options)
        self.content = builder.finish(inputs, [output])

    def run(self, threads: int = 1) -> Array:
        """Returns what the engine makes of the operands."""
        return run(self.content, self.inputs, threads)

    def run_in_litert(self) -> Array:
        """Returns what LiteRT's own operator makes of them."""
        return run_in_litert(self.content, self.inputs)

    def check_equal(self) -> None:
        """Compares both; all values must be equal, and NaN where the other is."""
        expected = self.run_in_litert()
        for threads in (1, 2):
            result = self.run(threads)
            assert result.dtype == expected.dtype
            np.testing.assert_array_equal(result, expected)
