"""Models of one operator, which the engine runs without a host, and LiteRT by itself."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.model_builder import ModelBuilder
from tests.no_host import Array, run_alone, run_in_host


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
        return run_alone(self.content, self.inputs, threads)[0]

    def run_in_litert(self) -> Array:
        """Returns what LiteRT's own operator makes of them, not that of XNNPACK."""
        return run_in_host(self.content, self.inputs, xnnpack=False)[0]

    def check_equal(self) -> None:
        """Compares both; all values must be equal, and NaN where the other is."""
        expected = self.run_in_litert()
        for threads in (1, 2):
            result = self.run(threads)
            assert result.dtype == expected.dtype
            np.testing.assert_array_equal(result, expected)
