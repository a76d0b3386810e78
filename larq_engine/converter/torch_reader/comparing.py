"""Compares a float .tflite file with the module that it came from.

A sign turns a rounding error into a difference of 2, so the two are not simply run side by side.
The file runs from end to end. The module, as it was exported, runs with the file's value wherever
it jumps from one value to another: the two may differ there only where the value before the jump
is as close to it as rounding reaches. All else must agree up to rounding.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from larq_engine.converter.check_run import PartRun
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Array, Graph, Tensor
from larq_engine.converter.torch_reader.exporting import BATCHES, Exported, export
from larq_engine.converter.torch_reader.lowering import Lowered, channels_to
from larq_engine.converter.torch_reader.packages import import_torch
from larq_engine.converter.torch_reader.signs import Jump
from larq_engine.python.errors import host_errors
from larq_engine.python.text_table import counted

# Of the largest value of a tensor: what rounding may add up to between two signs, and behind the
# last. PyTorch's own results for a Bi-Real Net are 2e-7 off those in double precision.
_REACH = 1e-4

_SEED = 0

# Batches that a file with an open one is compared at, beside that of the export.
_BATCHES = (2, 9, 1)

_AT_FAULT = "please report it with the module; check=False converts without this check"
_FIXED_BATCH = "open_batch=False leaves the batch as it is in the example inputs"


@dataclass(frozen=True)
class _Case:
    """What the file is compared with.

    Attributes:
        graph_module: The module, as it was exported.
        inputs: Of it.
        remedy: What to do if they differ.
    """

    graph_module: Any
    inputs: tuple[Any, ...]
    remedy: str


def compare_export(module: Any, exported: Exported) -> None:
    """Compares what was exported with the module itself: the same operators, the same results.

    Raises:
        ConversionError: They compute something else.
    """
    torch = import_torch()
    leaves = torch.utils._pytree.tree_leaves
    all_inputs = (exported.inputs, _random_inputs(torch, exported.inputs))
    with torch.no_grad():
        # All of these first: the module may keep something of a call, and they share its tensors.
        all_ours = [leaves(exported.original(*inputs)) for inputs in all_inputs]
        all_theirs = [leaves(module(*inputs)) for inputs in all_inputs]
    for ours, theirs in zip(all_ours, all_theirs, strict=True):
        for name, expected, got in zip(exported.output_names, theirs, ours, strict=True):
            problem = _difference(expected.detach().numpy(), got.detach().numpy())
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
    others = _random_inputs(torch, exported.inputs)
    cases = [_Case(exported.original, inputs, _AT_FAULT) for inputs in (exported.inputs, others)]
    _compare_cases(what, exported, jumps, taps, lowered, cases)
    batches: list[int] = []
    if exported.open_batch:
        for batch in _BATCHES:
            case = _with_batch(what, module, exported, batch)
            if case is not None:
                _compare_cases(what, exported, jumps, taps, lowered, [case])
                batches.append(batch)
    shapes = ", ".join(str(tuple(tensor.shape)) for tensor in exported.inputs)
    also = f", and for batches of {', '.join(map(str, sorted(batches)))}" if batches else ""
    return (
        f"{counted(len(taps), 'sign')} and {counted(len(graph.outputs), 'output')} agree with "
        f"PyTorch, for inputs of the shapes {shapes}{also}."
    )


def _find_taps(graph: Graph, lowered: Lowered, jumps: dict[str, Jump]) -> dict[Tensor, Jump]:
    """The tensors of the file that hold what jumps; the last one that a node became."""
    last = {lowered.nodes[t]: t for op in graph.ops for t in op.outputs if t in lowered.nodes}
    return {last[name]: jump for name, jump in jumps.items() if name in last}


def _random_inputs(
    torch: Any, inputs: tuple[Any, ...], batch: int | None = None
) -> tuple[Any, ...]:
    """Others of the same kind: what is nowhere negative may be under a root or a logarithm."""
    generator = torch.Generator().manual_seed(_SEED)
    made = []
    for tensor in inputs:
        shape = tensor.shape if batch is None else (batch, *tensor.shape[1:])
        if not tensor.is_floating_point():
            made.append(tensor if batch is None else tensor[:1].expand(shape).contiguous())
            continue
        values = torch.randn(shape, generator=generator)
        made.append(values if (tensor < 0).any() else values.abs())
    return tuple(made)


def _with_batch(what: str, module: Any, exported: Exported, batch: int) -> _Case | None:
    """The module exported anew: a graph may hold the size of the batch that it was made with.

    Returns:
        None if PyTorch takes other operators for a single sample, whose signs are then not known.
    """
    inputs = _random_inputs(import_torch(), exported.inputs, batch)
    graph_module = export(module, inputs).original
    got, expected = (
        [node.name for node in made.graph.nodes] for made in (graph_module, exported.original)
    )
    if got != expected and batch == 1:
        return None
    if got != expected:
        raise ConversionError(
            f"self-check: {what}: expected the same operators for a batch of {batch} as for one "
            f"of {BATCHES[0]}, got others; {_FIXED_BATCH}"
        )
    return _Case(graph_module, inputs, _FIXED_BATCH)


def _compare_cases(
    what: str,
    exported: Exported,
    jumps: dict[str, Jump],
    taps: dict[Tensor, Jump],
    lowered: Lowered,
    cases: Sequence[_Case],
) -> None:
    """Runs the file and the graphs on inputs of one shape.

    Raises:
        ConversionError: They compute something else.
    """
    torch = import_torch()
    graph = lowered.model.graphs[0]
    wanted = list(dict.fromkeys([*taps, *graph.outputs]))
    file = PartRun(lowered.model, graph.inputs, graph.ops, wanted)
    for case in cases:
        arrays = [tensor.numpy() for tensor in _given(lowered, case.inputs)]
        with host_errors(f"self-check: {what} ({case.remedy})"):
            file.run(dict(zip(graph.inputs, arrays, strict=True)))
        forced = {jump.node: (jump, file.value(tensor)) for tensor, jump in taps.items()}
        with torch.no_grad():
            expected = _run(torch, what, case, forced, jumps)
        for name, tensor, value in zip(exported.output_names, graph.outputs, expected, strict=True):
            got = torch.from_numpy(file.value(tensor))
            got = channels_to(got, last=False) if lowered.channels_last else got
            problem = _difference(value.detach().numpy(), got.numpy())
            if problem:
                raise ConversionError(
                    f"self-check: {what}: expected the .tflite file to compute the same '{name}', "
                    f"got another: {problem}; {case.remedy}"
                )


def _given(lowered: Lowered, inputs: tuple[Any, ...]) -> list[Any]:
    """Inputs as the file takes them."""
    moved = (channels_to(x, last=True) for x in inputs) if lowered.channels_last else inputs
    return [tensor.contiguous() for tensor in moved]


def _run(
    torch: Any,
    what: str,
    case: _Case,
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
            before = self._before(node, jump).abs()
            finite = before[before.isfinite()]
            reach = _REACH * finite.max() if finite.numel() else 0.0
            wrong = (got != result) & ~(before <= reach) & ~before.isnan()
            if wrong.any():
                raise ConversionError(
                    f"self-check: {what}: expected the .tflite file to have the signs of "
                    f"'{node.name}', got others in {int(wrong.sum())} of {wrong.numel()} places; "
                    f"{case.remedy}"
                )
            return got

        def _before(self, node: Any, jump: Jump) -> Any:
            """What is 0 where the value jumps."""
            if jump.value:
                name = jumps[jump.value].node if jump.value in jumps else jump.value
                return next(v for n, v in self.env.items() if n.name == name)
            args, _ = self.fetch_args_kwargs_from_env(node)
            return torch.as_tensor(args[0]) - args[1]

    run = Run(case.graph_module, garbage_collect_values=False)
    run.extra_traceback = False  # Our errors are not of the graph's code.
    return list(torch.utils._pytree.tree_leaves(run.run(*case.inputs)))


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


def _difference(expected: Array, got: Array) -> str:
    """How far two arrays are apart, if it is too far."""
    if expected.shape != got.shape:
        return f"the shape {got.shape} in place of {expected.shape}"
    expected, got = expected.astype(np.float64), got.astype(np.float64)
    finite = np.isfinite(expected)
    if not np.array_equal(expected[~finite], got[~finite], equal_nan=True):
        return "infinities or NaN are in other places"
    reach = _REACH * float(np.abs(expected[finite]).max(initial=0))
    furthest = float(np.abs(expected[finite] - got[finite]).max(initial=0))
    if furthest <= reach:
        return ""
    return f"values are off by up to {furthest:.2g}, where rounding reaches {reach:.2g}"
