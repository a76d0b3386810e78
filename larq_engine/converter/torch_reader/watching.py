"""Watches which of PyTorch's operators a module runs with inputs of some size."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from larq_engine.converter.torch_reader.exporting import Resized
from larq_engine.converter.torch_reader.packages import import_torch

_LAYOUT = re.compile(r"aten\.(_unsafe_view|_reshape_alias|alias|clone|detach|expand|view)\.")


def is_layout(name: str) -> bool:
    """Returns whether an operator computes nothing, and may run or not by where values lie."""
    return bool(_LAYOUT.match(name))


def watch(
    resized: Resized,
    shapes: Sequence[tuple[int, ...]],
    note: Callable[[str, tuple[Any, ...]], None],
) -> None:
    """Runs a module, and raises what it raises.

    Args:
        resized: The module.
        shapes: Of its inputs.
        note: Called before each operator, with its name, as aten.add.Tensor, and what it is given.
    """
    torch: Any = import_torch()

    class Watcher(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            note(str(function), args)
            return function(*args, **(kwargs or {}))

    inputs = resized.inputs(shapes)
    with Watcher():
        resized.run(inputs)
