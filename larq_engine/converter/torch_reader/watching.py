"""Records which of PyTorch's operators a module runs on inputs of some size."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from larq_engine.converter.torch_reader.exporting import Resized
from larq_engine.converter.torch_reader.packages import import_torch

_LAYOUT = re.compile(r"aten\.(_unsafe_view|_reshape_alias|alias|clone|detach|expand|view)\.")


def is_layout(name: str) -> bool:
    """Tells whether an operator computes nothing, and may be missing at another memory layout."""
    return bool(_LAYOUT.match(name))


def watch(
    resized: Resized,
    shapes: Sequence[tuple[int, ...]],
    note: Callable[[str, tuple[Any, ...]], None],
) -> None:
    """Runs a module and calls `note` for each operator; errors of the module are raised.

    Args:
        resized: The module, with the means to run it at other sizes.
        shapes: Shapes of the inputs, one for each.
        note: Called before each operator with its name, such as aten.add.Tensor, and its arguments.
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
