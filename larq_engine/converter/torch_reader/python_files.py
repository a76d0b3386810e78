"""Loads a module from a Python file: FILE.py:FUNCTION."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

from larq_engine.converter.errors import ConversionError
from larq_engine.converter.torch_reader.checks import check_inputs, check_module
from larq_engine.converter.torch_reader.packages import import_torch


def call_function(file: Path, name: str) -> tuple[Any, Any]:
    """Runs a file and calls one of its functions, which takes no arguments.

    Returns:
        The results of the function: a module and its example inputs.

    Raises:
        FileNotFoundError: There is no such file.
        ImportError: PyTorch is not installed.
        ConversionError: There is no such function, or it does not return the two.
        ValueError: The module or an input cannot be converted.
    """
    what = f"model '{file}:{name}'"
    if not file.is_file():
        raise FileNotFoundError(f"{what}: expected a Python file, got none; check the path")
    import_torch()
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    # The file may import its neighbours, and torch finds its classes by the module's name.
    sys.path.insert(0, str(file.resolve().parent))
    sys.modules[file.stem] = loaded
    spec.loader.exec_module(loaded)
    function = getattr(loaded, name, None)
    if not callable(function):
        found = ", ".join(sorted(key for key, value in vars(loaded).items() if callable(value)))
        raise ConversionError(
            f"{what}: expected a function of that name, got a file with "
            f"{found or 'none'}; check the name"
        )
    made = function()
    if not isinstance(made, tuple) or len(made) != 2:
        raise ConversionError(
            f"{what}: expected it to return a module and its example inputs, got "
            f"{type(made).__name__}; as in return module.eval(), torch.randn(1, 3, 224, 224)"
        )
    module, example_inputs = made
    try:
        check_module(module)
        check_inputs(example_inputs)
    except TypeError as error:
        raise ConversionError(f"{what}: {error}") from error
    return module, example_inputs
