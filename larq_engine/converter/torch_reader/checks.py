"""Checks a module and its example inputs before torch is asked to export them."""

from collections.abc import Iterable
from typing import Any

from larq_engine.converter.torch_reader.packages import import_torch


def check_module(module: Any) -> None:
    """Raises an error that says what is wrong with a module, and what to do about it.

    Raises:
        TypeError: It is no module.
        ValueError: A part of it is in training mode, on another device or of another type.
    """
    torch = import_torch()
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"module: expected a torch.nn.Module, got {_describe(module, torch)}")
    name = type(module).__name__
    for path, part in module.named_modules():
        if part.training:
            where = f"its part '{path}' ({type(part).__name__})" if path else "it"
            raise ValueError(
                f"module {name}: expected evaluation mode, got {where} in training mode, where "
                "dropout is random and batch norms take their statistics from the batch; call "
                "module.eval() first"
            )
    for path, tensor in _tensors(module):
        if tensor.device.type != "cpu":
            raise ValueError(
                f"module {name}: expected it on the CPU, got '{path}' on {tensor.device}; call "
                "module.cpu() first"
            )
        if tensor.is_floating_point() and tensor.dtype != torch.float32:
            raise ValueError(
                f"module {name}: expected float32, got '{path}' in {tensor.dtype}; call "
                "module.float() first"
            )


def check_inputs(example_inputs: Any) -> tuple[Any, ...]:
    """Returns the example inputs as a tuple of tensors.

    Raises:
        TypeError: They are no tensors.
        ValueError: One is empty, on another device or of a type that the file cannot have.
    """
    torch = import_torch()
    single = isinstance(example_inputs, torch.Tensor)
    inputs = (example_inputs,) if single else example_inputs
    if (
        not isinstance(inputs, (tuple, list))
        or not inputs
        or not all(isinstance(tensor, torch.Tensor) for tensor in inputs)
    ):
        got = type(example_inputs).__name__
        if isinstance(inputs, (tuple, list)):
            got = f"[{', '.join(type(tensor).__name__ for tensor in inputs)}]"
        raise TypeError(
            f"example_inputs: expected a tensor, or a tuple of the tensors that forward takes, got "
            f"{got}; as in torch.randn(1, 3, 224, 224)"
        )
    for number, tensor in enumerate(inputs):
        if tensor.device.type != "cpu":
            raise ValueError(
                f"example_inputs[{number}]: expected it on the CPU, got it on {tensor.device}; "
                "call .cpu()"
            )
        if tensor.dtype not in (torch.float32, torch.int32, torch.bool):
            raise ValueError(
                f"example_inputs[{number}]: expected float32, int32 or bool, got {tensor.dtype}; "
                "call .float() or .int()"
            )
        if not tensor.numel():
            raise ValueError(
                f"example_inputs[{number}]: expected values, got the empty shape "
                f"{tuple(tensor.shape)}; as in torch.randn(1, 3, 224, 224)"
            )
    # These are copies, as torch.export takes a tensor that occurs twice for one input.
    return tuple(tensor.detach().clone() for tensor in inputs)


def _tensors(module: Any) -> Iterable[tuple[str, Any]]:
    yield from module.named_parameters()
    yield from module.named_buffers()


def _describe(thing: Any, torch: Any) -> str:
    if isinstance(thing, type) and issubclass(thing, torch.nn.Module):
        return f"the class {thing.__name__}; make a module of it first"
    if isinstance(thing, dict):
        return (
            "a dict, as of state_dict() or torch.load; build the module and load that into it "
            "(module.load_state_dict)"
        )
    return f"{type(thing).__name__}; export is of modules only"
