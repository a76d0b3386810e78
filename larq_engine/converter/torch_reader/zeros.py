"""Gives signs of three values the chosen value for 0, in the float file.

It also describes the effect, from a run of the unchanged module.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from larq_engine.converter import schema
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.options import SignOfZero
from larq_engine.converter.third_values import choose_signs, describe_chosen, describe_met
from larq_engine.converter.torch_reader.forced_run import before_jump, largest_size
from larq_engine.converter.torch_reader.lowering import Lowered
from larq_engine.converter.torch_reader.packages import import_torch
from larq_engine.converter.torch_reader.signs import Jump, Signs


def choose_zero(
    lowered: Lowered, signs: Signs, sign_of_zero: SignOfZero
) -> tuple[Lowered, dict[str, Jump], tuple[str, ...]]:
    """Changes the signs in the file to the chosen values for 0.

    Returns:
        The file; the jumps, with the file's values for 0; and remarks for the report.

    Raises:
        ConversionError: A layer would be binary if the caller had chosen a value for a sign.
    """
    graph = lowered.model.graphs[0]  # Other graphs are parts of composite operators.
    made = [op.output for op in graph.ops if op.kind == "SIGN"]
    nodes = {t: lowered.nodes[t] for t in made if lowered.nodes.get(t) in signs.plain}
    wanted = {sign_of_zero.of(sign.layer) for sign in signs.plain.values()}
    for name, sign in signs.plain.items():
        if name in nodes.values():
            continue
        x = signs.jumps[name].value
        equal = [other for other in signs.plain if signs.jumps[other].value == x]
        # Signs of the same value become one. If none of them is in the file, they may have become
        # one with any other sign.
        together = equal if any(other in nodes.values() for other in equal) else signs.plain
        if len({sign_of_zero.of(signs.plain[other].layer) for other in together}) > 1:
            raise ConversionError(
                f"{sign.title}: expected a sign of its own, got one that is made together with "
                "another, as they compute the same; give both the same sign_of_zero, or "
                f"{sign.remedy}"
            )
    plain = {tensor: signs.plain[name] for tensor, name in nodes.items()}
    chosen = choose_signs(graph, plain, sign_of_zero)
    jumps = dict(signs.jumps)
    for tensor, zero in chosen.items():
        name, layer = nodes[tensor], plain[tensor].layer
        jumps[name] = replace(jumps[name], zero=zero, layer=layer)
    values_for_0 = {**signs.constants, **{plain[tensor]: zero for tensor, zero in chosen.items()}}
    remarks = describe_chosen("torch.sign", "PyTorch", values_for_0)
    missing = [sign for name, sign in signs.plain.items() if name not in nodes.values()]
    if any(wanted) and any(tensor not in lowered.nodes for tensor in made):
        remarks += [
            f"sign_of_zero was not given to a sign that was not found in the file: {sign.title}; "
            f"its layer may stay float: {sign.remedy}."
            for sign in missing
        ]
    if chosen:
        lowered = replace(lowered, content=schema.write(lowered.model))
    return lowered, jumps, tuple(remarks)


@dataclass
class ZerosMet:
    """The zeros that inputs met at signs with another value for 0 in the file.

    Attributes:
        zeros: For each layer, how many values were exactly 0.
        values: For each layer, the number of all values.
        furthest: The largest difference of an output of the file from the module's.
        largest: The largest output of the module.
    """

    zeros: Counter[str]
    values: Counter[str]
    furthest: float
    largest: float


def meet_zeros(
    graph_module: Any, jumps: Mapping[str, Jump], inputs: tuple[Any, ...], outputs: Sequence[Any]
) -> ZerosMet:
    """Runs the unchanged module, counts zeros, and compares its outputs with the file's."""
    torch: Any = import_torch()
    zeros, values = Counter[str](), Counter[str]()
    chosen = {jump.node: jump for jump in jumps.values() if jump.zero is not None}

    class Run(torch.fx.Interpreter):  # type: ignore[misc]
        def run_node(self, node: Any) -> Any:
            result = super().run_node(node)
            if node.name in chosen:
                jump = chosen[node.name]
                value = before_jump(self, node, jump, jumps).distance
                zeros[jump.layer] += int((value == 0).sum())
                values[jump.layer] += value.numel()
            return result

    with torch.no_grad():
        run = Run(graph_module, garbage_collect_values=False)
        expected = torch.utils._pytree.tree_leaves(run.run(*inputs))
    furthest = largest = 0.0
    for ours, theirs in zip(outputs, expected, strict=True):
        furthest = max(furthest, largest_size(ours.double() - theirs.double()))
        largest = max(largest, largest_size(theirs))
    return ZerosMet(zeros, values, furthest, largest)


def describe_zeros(met: Sequence[ZerosMet]) -> list[str]:
    """Describes the zeros and their effect for the report."""
    zeros, values = Counter[str](), Counter[str]()
    for part in met:
        zeros.update(part.zeros)
        values.update(part.values)
    if not met:
        return []
    remark = describe_met("These inputs", zeros, values)
    if not zeros.total():
        return [remark]
    furthest, largest = max((part.furthest, part.largest) for part in met)
    return [
        f"{remark} Outputs are up to {furthest:.2g} off those of the module as it is, which are up "
        f"to {largest:.2g}."
    ]
