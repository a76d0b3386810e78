"""Compares a float .tflite file with the module that it came from.

A sign turns a rounding error into a difference of 2, so the two are not simply run side by side.
The file runs from end to end. The module, as it was exported, runs with the file's value wherever
it jumps from one value to another: the two may differ there only where the value before the jump
is as close to it as rounding reaches. All else must agree up to rounding.
"""

import itertools
from typing import Any

import numpy as np

from larq_engine.converter.check_run import PartRun
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Array, Graph, Tensor
from larq_engine.converter.torch_reader.exporting import Exported
from larq_engine.converter.torch_reader.lowering import Lowered, channels_to
from larq_engine.converter.torch_reader.packages import import_torch
from larq_engine.converter.torch_reader.signs import Jump
from larq_engine.python.errors import host_errors

# Of the largest value of a tensor: what rounding may add up to between two signs, and behind the
# last. PyTorch's own results for a Bi-Real Net are 2e-7 off those in double precision.
_REACH = 1e-4

_SEED = 0

_SMALLER = 2  # a batch

_AT_FAULT = "please report it with the module; check=False converts without this check"


def compare_export(module: Any, exported: Exported) -> None:
    """Compares what was exported with the module itself: the same operators, the same results.

    Raises:
        ConversionError: They compute something else.
    """
    torch = import_torch()
    for inputs in (exported.inputs, _random_inputs(torch, exported)):
        with torch.no_grad():
            ours = torch.utils._pytree.tree_leaves(exported.original(*inputs))
            theirs = torch.utils._pytree.tree_leaves(module(*inputs))
        for name, expected, got in zip(exported.output_names, theirs, ours, strict=True):
            problem = _difference(expected.numpy(), got.numpy())
            if problem:
                raise ConversionError(
                    f"self-check: module {type(module).__name__}: expected what torch.export makes "
                    f"of it to compute the same, got another '{name}': {problem}; is it random, or "
                    "does it keep something from one call to the next? check=False converts "
                    "without this check"
                )


def compare_with_torch(
    module: Any, exported: Exported, jumps: dict[str, Jump], lowered: Lowered
) -> str:
    """Runs the file and the module on the example inputs and on random ones.

    Returns:
        What agreed, in words.

    Raises:
        ConversionError: Something does not.
    """
    torch = import_torch()
    what = f"module {type(module).__name__}"
    graph = lowered.model.graphs[0]
    taps = _find_taps(graph, lowered, jumps)
    wanted = list(dict.fromkeys([*taps, *graph.outputs]))
    file = PartRun(lowered.model, graph.inputs, graph.ops, wanted)
    for inputs in (exported.inputs, _random_inputs(torch, exported)):
        arrays = [tensor.numpy() for tensor in _given(lowered, inputs)]
        with host_errors("self-check (check=False leaves it out)"):
            file.run(dict(zip(graph.inputs, arrays, strict=True)))
        forced = {jump.node: (jump, file.value(tensor)) for tensor, jump in taps.items()}
        with torch.no_grad():
            expected = _run(torch, what, exported.original, inputs, forced, jumps)
        for name, tensor, value in zip(exported.output_names, graph.outputs, expected, strict=True):
            got = torch.from_numpy(file.value(tensor))
            got = channels_to(got, last=False) if lowered.channels_last else got
            _check_output(what, name, value.numpy(), got.numpy())
    if exported.open_batch:
        _check_open_batch(what, lowered, exported)
    shapes = ", ".join(str(tuple(tensor.shape)) for tensor in exported.inputs)
    return (
        f"{len(taps)} signs and {len(graph.outputs)} outputs agree with PyTorch, for inputs of the "
        f"shapes {shapes}."
    )


def _find_taps(graph: Graph, lowered: Lowered, jumps: dict[str, Jump]) -> dict[Tensor, Jump]:
    """The tensors of the file that hold what jumps; the last one that a node became."""
    last = {lowered.nodes[t]: t for op in graph.ops for t in op.outputs if t in lowered.nodes}
    return {last[name]: jump for name, jump in jumps.items() if name in last}


def _random_inputs(torch: Any, exported: Exported) -> tuple[Any, ...]:
    """Others of the same kind."""
    generator = torch.Generator().manual_seed(_SEED)
    return tuple(
        torch.randn(tensor.shape, generator=generator) if tensor.is_floating_point() else tensor
        for tensor in exported.inputs
    )


def _check_open_batch(what: str, lowered: Lowered, exported: Exported) -> None:
    """Runs the file with a smaller batch than it was made with."""
    graph = lowered.model.graphs[0]
    arrays = [tensor[:_SMALLER].numpy() for tensor in _given(lowered, exported.inputs)]
    file = PartRun(lowered.model, graph.inputs, graph.ops, graph.outputs)
    with host_errors("self-check with another batch (open_batch=False leaves it out)"):
        file.run(dict(zip(graph.inputs, arrays, strict=True)))
    for name, tensor in zip(exported.output_names, graph.outputs, strict=True):
        if file.value(tensor).shape[:1] != (_SMALLER,):
            raise ConversionError(
                f"self-check: {what}: expected '{name}' to have a batch of {_SMALLER} as the "
                f"inputs have, got the shape {file.value(tensor).shape}; open_batch=False leaves "
                "the batch as it is in the example inputs"
            )


def _given(lowered: Lowered, inputs: tuple[Any, ...]) -> list[Any]:
    """Inputs as the file takes them."""
    moved = (channels_to(x, last=True) for x in inputs) if lowered.channels_last else inputs
    return [tensor.contiguous() for tensor in moved]


def _run(
    torch: Any,
    what: str,
    graph_module: Any,
    inputs: tuple[Any, ...],
    forced: dict[str, tuple[Jump, Array]],
    jumps: dict[str, Jump],
) -> list[Any]:
    """Runs a graph with given values where it jumps, and checks that it could have these."""

    chosen = {jump.node: jump for jump in jumps.values() if jump.zero is not None}

    class Run(torch.fx.Interpreter):  # type: ignore[misc]
        def run_node(self, node: Any) -> Any:
            result = super().run_node(node)
            if node.name in chosen:
                jump = chosen[node.name]
                result = torch.where(self._before(node, jump) == 0, jump.zero, result)
            if node.name not in forced:
                return result
            jump, value = forced[node.name]
            got = _as_torch(torch, value, result)
            if got is None:
                return result
            before = self._before(node, jump)
            reach = _REACH * before.abs().max() if before.numel() else 0.0
            wrong = (got != result) & ~(before.abs() <= reach)
            if wrong.any():
                raise ConversionError(
                    f"self-check: {what}: expected the .tflite file to have the signs of "
                    f"'{node.name}', got others in {int(wrong.sum())} of {wrong.numel()} places; "
                    f"{_AT_FAULT}"
                )
            return got

        def _before(self, node: Any, jump: Jump) -> Any:
            """What is 0 where the value jumps."""
            if jump.value:
                name = jumps[jump.value].node if jump.value in jumps else jump.value
                return next(v for n, v in self.env.items() if n.name == name)
            args, _ = self.fetch_args_kwargs_from_env(node)
            return torch.as_tensor(args[0]) - args[1]

    run = Run(graph_module, garbage_collect_values=False)
    return list(torch.utils._pytree.tree_leaves(run.run(*inputs)))


def _as_torch(torch: Any, value: Array, like: Any) -> Any:
    """A value of the file with dimensions in PyTorch's order; None if it has other ones.

    litert_torch moves channels where it likes. Of several orders that fit, it is the one that
    agrees best: a wrong one would be random.
    """
    tensor = torch.from_numpy(np.array(value)).to(like.dtype)
    fitting = [
        tensor.permute(0, *order)
        for order in itertools.permutations(range(1, tensor.ndim))
        if tensor.ndim and tensor.permute(0, *order).shape == like.shape
    ]
    if not fitting:
        return None
    return min(fitting, key=lambda moved: int((moved != like).sum())).contiguous()


def _check_output(what: str, name: str, expected: Array, got: Array) -> None:
    problem = _difference(expected, got)
    if problem:
        raise ConversionError(
            f"self-check: {what}: expected the .tflite file to compute the same '{name}', got "
            f"another: {problem}; {_AT_FAULT}"
        )


def _difference(expected: Array, got: Array) -> str:
    """How far two arrays are apart, if it is too far."""
    if expected.shape != got.shape:
        return f"the shape {got.shape} in place of {expected.shape}"
    if not expected.size:
        return ""
    reach = _REACH * float(np.abs(expected.astype(np.float64)).max())
    off = np.abs(expected.astype(np.float64) - got.astype(np.float64))
    if bool((off <= reach).all()):
        return ""
    return f"values are off by up to {off.max():.2g}, where rounding reaches {reach:.2g}"
