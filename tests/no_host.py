"""Compares the engine without a host with LiteRT without the plug-in."""

from collections.abc import Sequence

import numpy as np
import pytest

from larq_engine.python import no_host

Array = np.ndarray


def run_alone(
    content: bytes, inputs: Sequence[Array], threads: int = 1, *, fuse: bool = True
) -> list[Array]:
    interpreter = no_host.Interpreter(
        model_content=content,
        num_threads=threads,
        experimental_delegates=[no_host.load_delegate("", {"fuse": fuse})],
    )
    return _run(interpreter, inputs)


def run_in_host(content: bytes, inputs: Sequence[Array], *, xnnpack: bool = True) -> list[Array]:
    """Runs LiteRT; without XNNPACK, all operators are LiteRT's own."""
    module = pytest.importorskip("ai_edge_litert.interpreter")
    kinds = module.OpResolverType
    kind = kinds.AUTO if xnnpack else kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = module.Interpreter(model_content=content, experimental_op_resolver_type=kind)
    return _run(interpreter, inputs)


def _run(interpreter, inputs: Sequence[Array]) -> list[Array]:
    for row, array in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.resize_tensor_input(row["index"], array.shape)
    interpreter.allocate_tensors()
    for row, array in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(row["index"], array)
    interpreter.invoke()
    return [interpreter.get_tensor(row["index"]) for row in interpreter.get_output_details()]


def check_equal(content: bytes, inputs: Sequence[Array]) -> list[Array]:
    """Checks that both make the same bits, with one thread and two; returns them."""
    expected = run_in_host(content, inputs)
    for threads in (1, 2):
        for own, other in zip(run_alone(content, inputs, threads), expected, strict=True):
            assert (own.dtype, own.shape) == (other.dtype, other.shape)
            np.testing.assert_array_equal(own, other)
    return expected
