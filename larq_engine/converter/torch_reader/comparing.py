"""Compares a float .tflite file with the module that it came from.

A sign turns a rounding error into a difference of 2, so the two are not simply run side by side.
The file runs from end to end. The exported module runs with the file's values at its jumps. A jump
is an operator that is not continuous, such as a sign. Its results may differ only where its input
is within rounding of the point of discontinuity. Everything else must agree up to rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from larq_engine.converter.check_run import PartRun
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Graph, Tensor
from larq_engine.converter.other_sizes import (
    Shapes,
    find_fixed_larger,
    find_fixed_sizes,
    held_output,
)
from larq_engine.converter.third_values import value_before_sign
from larq_engine.converter.torch_reader.exporting import BATCHES, Exported, Resized, export
from larq_engine.converter.torch_reader.forced_run import Forced, ForcedRun, difference
from larq_engine.converter.torch_reader.lowering import Lowered, channels_to
from larq_engine.converter.torch_reader.packages import import_torch
from larq_engine.converter.torch_reader.signs import Jump
from larq_engine.converter.torch_reader.zeros import ZerosMet, describe_zeros, meet_zeros
from larq_engine.python.errors import host_errors, lacks_operator
from larq_engine.python.text_table import counted

_SEED = 0

# Batches at which a file with an open batch is compared, besides the batch of the export.
_COMPARED_BATCHES = (2, 9, 1)

_REPORT_IT = "please report it with the module; check=False converts without this check"
_NOT_COMPARED = "the file was not compared with the module for inputs of the shapes"
_OTHER_HOST = (
    "move what needs it out of the module (STABLEHLO_SORT comes of torch.topk and torch.sort), or "
    "convert with check=False for a host that has it"
)
_FIXED_BATCH = "open_batch=False leaves the batch as it is in the example inputs"


@dataclass(frozen=True)
class _Case:
    """A graph to compare the file with.

    Attributes:
        graph_module: The module, as it was exported.
        inputs: Inputs of the graph.
        remedy: The advice to the user if the results differ.
    """

    graph_module: Any
    inputs: tuple[Any, ...]
    remedy: str


def compare_export(module: Any, exported: Exported) -> None:
    """Compares the exported graph with the module itself, which must compute the same.

    Raises:
        ConversionError: The graph and the module compute different results.
    """
    torch = import_torch()
    leaves = torch.utils._pytree.tree_leaves
    all_inputs = (exported.inputs, _random_inputs(torch, exported.inputs))
    with torch.no_grad():
        # The graph runs before the module, because both use the module's tensors: a call of the
        # module that changes one of them would change the graph's results too, and so hide the
        # difference.
        of_graph = [leaves(exported.original(*inputs)) for inputs in all_inputs]
        of_module = [leaves(module(*inputs)) for inputs in all_inputs]
    for ours, theirs in zip(of_graph, of_module, strict=True):
        for name, expected, got in zip(exported.output_names, theirs, ours, strict=True):
            problem = difference(expected.detach(), got.detach())
            if problem:
                raise ConversionError(
                    f"self-check: module {type(module).__name__}: expected the exported graph to "
                    f"compute what the module computes, got a different '{name}': {problem}; is it "
                    "random, or does it keep something from one call to the next? check=False "
                    "converts without this check"
                )


def compare_with_torch(
    module: Any, resized: Resized, jumps: dict[str, Jump], lowered: Lowered
) -> tuple[str, str]:
    """Runs the file and the module on the example inputs and on random ones.

    Returns:
        A text that says what agrees, and the reason why input sizes are fixed; empty if they are
        not.

    Raises:
        ConversionError: The file and the module compute different results.
    """
    torch, exported = import_torch(), resized.exported
    what = f"module {type(module).__name__}"
    graph = lowered.model.graphs[0]
    jump_outputs = _find_jump_outputs(graph, lowered, jumps)
    others = _random_inputs(torch, exported.inputs)
    cases = [_Case(exported.original, inputs, _REPORT_IT) for inputs in (exported.inputs, others)]
    met = _compare_cases(what, exported, jumps, jump_outputs, lowered, cases)
    batches: list[int] = []
    unchecked = ""
    if exported.open_batch:
        for batch in _COMPARED_BATCHES:
            case = _with_batch(what, module, exported, batch)
            if case is None:
                unchecked = (
                    f" A batch of {batch} was not compared: PyTorch takes other operators for it."
                )
                continue
            met += _compare_cases(what, exported, jumps, jump_outputs, lowered, [case])
            batches.append(batch)
    agreed, fixed = _compare_resized(what, resized, jumps, jump_outputs, lowered)
    shapes = _shapes(exported.inputs)
    also = f", and for batches of {', '.join(map(str, sorted(batches)))}" if batches else ""
    signs = sum(not jump.rounds for jump in jump_outputs.values())
    text = (
        f"{counted(signs, 'sign')} and {counted(len(graph.outputs), 'output')} agree with "
        f"PyTorch, for inputs of the shapes {shapes}{also}.{unchecked}{agreed}"
    )
    return " ".join([text, *describe_zeros(met)]), fixed


def _compare_resized(
    what: str,
    resized: Resized,
    jumps: dict[str, Jump],
    jump_outputs: dict[Tensor, Jump],
    lowered: Lowered,
) -> tuple[str, str]:
    """Runs the file and the module on inputs of other sizes, which users may ask for later.

    The file is right for its own size in any case, so a difference is reported and raises no error.

    Returns:
        What agrees, in words, and the reason why sizes are fixed, as in `find_fixed_sizes`.
    """
    exported = resized.exported
    agreed: list[str] = []
    not_compared: list[str] = []

    def agrees(shapes: Shapes) -> bool | None:
        inputs = resized.inputs(shapes)
        named = _shapes(inputs)
        try:
            graph_module = resized.graph(shapes)
        except ConversionError:
            not_compared.append(f"{_NOT_COMPARED} {named}: torch.export cannot trace it there")
            return None
        if graph_module is None:
            return None
        if not resized.has_same_nodes(graph_module):
            not_compared.append(f"{_NOT_COMPARED} {named}: it has other operators there")
            return False
        try:
            case = _Case(graph_module, inputs, _REPORT_IT)
            _compare_cases(what, exported, jumps, jump_outputs, lowered, [case])
        except ConversionError:  # A host's error, or a difference.
            not_compared.clear()
            return False
        agreed.append(named)
        return True

    sizes = [tuple(tensor.shape) for tensor in exported.inputs]
    fixed = held_output(lowered.model) or find_fixed_sizes(sizes, agrees)
    fixed = fixed or find_fixed_larger(sizes, agrees)
    if fixed and not_compared:
        fixed = not_compared[-1]
    found = "".join(f" They agree for the shapes {shapes}, too." for shapes in agreed)
    return found, fixed


def _shapes(inputs: Sequence[Any]) -> str:
    return ", ".join(str(tuple(tensor.shape)) for tensor in inputs)


def _find_jump_outputs(
    graph: Graph, lowered: Lowered, jumps: dict[str, Jump]
) -> dict[Tensor, Jump]:
    """Returns the tensors of the file that hold the jumps' results.

    If several tensors come from one node, the last one counts.
    """
    last = {lowered.nodes[t]: t for op in graph.ops for t in op.outputs if t in lowered.nodes}
    return {last[name]: jump for name, jump in jumps.items() if name in last}


def _random_inputs(
    torch: Any, inputs: tuple[Any, ...], batch: int | None = None
) -> tuple[Any, ...]:
    """Returns random inputs; those of an input without negative values are not negative."""
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
    """Exports the module for another batch, as a graph may hold the size of its own batch.

    Returns:
        The case; None if PyTorch uses other operators for a batch of 1: the signs in that other
        graph were not identified.
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
    jump_outputs: dict[Tensor, Jump],
    lowered: Lowered,
    cases: Sequence[_Case],
) -> list[ZerosMet]:
    """Runs the file and the graphs on inputs of one shape.

    Returns:
        For each case, how many values were exactly 0 at signs that give another result for 0 in
        the file, and the effect on its outputs. The list is empty if there is no such sign.

    Raises:
        ConversionError: The file and the module compute different results.
    """
    torch = import_torch()
    graph = lowered.model.graphs[0]
    before = {tensor: value_before_sign(tensor) for tensor in jump_outputs}
    wanted = list(dict.fromkeys([*jump_outputs, *filter(None, before.values()), *graph.outputs]))
    file = PartRun(lowered.model, graph.inputs, graph.ops, wanted)
    met: list[ZerosMet] = []
    for case in cases:
        arrays = [tensor.numpy() for tensor in _given(lowered, case.inputs)]
        given = dict(zip(graph.inputs, arrays, strict=True))
        try:
            with host_errors(f"self-check: {what}"):
                file.run(given)
        except ValueError as error:
            remedy = _OTHER_HOST if lacks_operator(error.__cause__) else case.remedy
            raise ConversionError(f"{str(error).rstrip('.')}; {remedy}") from error
        forced = {
            jump.node: Forced(jump, file.value(tensor), None if x is None else file.value(x))
            for (tensor, jump), x in zip(jump_outputs.items(), before.values(), strict=True)
        }
        outputs = [torch.from_numpy(file.value(tensor)) for tensor in graph.outputs]
        if lowered.channels_last:
            outputs = [channels_to(value, last=False) for value in outputs]
        got = dict(zip(exported.output_names, outputs, strict=True))
        run = ForcedRun(case.graph_module, jumps, forced)
        problem = run.compare(case.inputs, got)
        if problem:
            # Rounding may be larger than in most networks; a run in double precision shows how
            # large.
            problem = run.compare(
                case.inputs, got, run.in_double(case.inputs, exported.output_names)
            )
        if problem:
            raise ConversionError(f"self-check: {what}: {problem}; {case.remedy}")
        if any(jump.zero is not None for jump in jumps.values()):
            met.append(meet_zeros(case.graph_module, jumps, case.inputs, outputs))
    return met


def _given(lowered: Lowered, inputs: tuple[Any, ...]) -> list[Any]:
    """Returns the inputs in the order of dimensions that the file takes."""
    moved = (channels_to(x, last=True) for x in inputs) if lowered.channels_last else inputs
    return [tensor.contiguous() for tensor in moved]
