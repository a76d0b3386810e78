"""Runs an exported module with the file's values at its jumps, and compares the results.

Only the values at jumps are the file's: the module computes everything else itself.
"""

import copy
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.converter.torch_reader.nodes import kind
from larq_engine.converter.torch_reader.packages import import_torch
from larq_engine.converter.torch_reader.signs import Jump

# Largest effect of rounding on a tensor between two signs or after the last one, as a share of the
# tensor's largest value. PyTorch's own results for a Bi-Real Net are 2e-7 off those in double
# precision.
_ROUNDING = 1e-4

# If PyTorch itself rounds more, the bound is this many times the difference of its results in
# float32 and in double precision. PyTorch adds up a sum in some 16 parts. So its rounding is about
# a quarter of that of a kernel that adds one term after the other. The other factor of four is a
# margin, as only one run is measured.
_PYTORCH_FACTOR = 16

# Rounding never explains a difference of more than this share of the largest value. Then the run in
# double precision took another value at a jump that has no value in the file, such as the index of
# the largest value.
_MAX_ROUNDING = 1e-2


@dataclass(frozen=True)
class Forced:
    """The file's values at a jump of the module.

    Attributes:
        jump: The jump.
        value: The file's value at the jump.
        before: The file's value before it, of which `value` is the sign, if it is known.
    """

    jump: Jump
    value: Array
    before: Array | None


class ForcedRun:
    """A graph, with its jumps by the names of nodes and the file's values there."""

    def __init__(
        self, graph_module: Any, jumps: Mapping[str, Jump], forced: Mapping[str, Forced]
    ) -> None:
        self._graph_module = graph_module
        self._jumps = jumps
        self._forced = forced

    def compare(
        self,
        inputs: tuple[Any, ...],
        outputs: Mapping[str, Any],
        precise: Mapping[str, Any] | None = None,
    ) -> str:
        """Describes a difference that rounding does not explain; returns "" if all agrees.

        Args:
            inputs: Inputs of the graph.
            outputs: Outputs of the file.
            precise: Results of the same run in double precision, from `in_double`.
        """
        torch = import_torch()
        precise = precise or {}
        problems: list[str] = []

        def check(
            node: Any, jump: Jump, before: "_BeforeJump", result: Any, got: Any, file_before: Any
        ) -> None:
            bound = _rounding_bound(before.size, precise.get(node.name))
            differs = got != result
            wrong = differs & ~(before.distance.abs() <= bound) & ~before.distance.isnan()
            if jump.rounds:
                wrong |= (got.double() - result.double()).abs() > 1 + bound  # more than a step
            if file_before is not None:
                # Both have the sign of 0 there, so rounding is no excuse.
                wrong |= differs & (before.distance == 0) & (file_before == 0)
            if wrong.any():
                problems.append(
                    f"expected the .tflite file to have the signs of '{node.name}', got others in "
                    f"{int(wrong.sum())} of {wrong.numel()} places"
                )

        with torch.no_grad():
            expected = self._run(self._graph_module, inputs, check)
        for (name, got), value in zip(outputs.items(), expected, strict=True):
            problem = difference(value.detach(), got, precise.get(_output(name)))
            if problem:
                problems.append(
                    f"expected the .tflite file to compute the same '{name}', got another: "
                    f"{problem}"
                )
        return problems[0] if problems else ""

    def in_double(self, inputs: tuple[Any, ...], names: tuple[str, ...]) -> dict[str, Any]:
        """Returns values before each jump, and outputs, in double precision with the same jumps."""
        torch = import_torch()
        found: dict[str, Any] = {}
        module = _in_double(torch, self._graph_module)

        def keep(node: Any, jump: Jump, before: "_BeforeJump", *rest: Any) -> None:
            found[node.name] = before.size

        try:
            with torch.no_grad():
                outputs = self._run(module, tuple(map(_to_double, inputs)), keep)
        except RuntimeError:  # An operator has no double precision.
            return {}
        found.update((_output(name), value) for name, value in zip(names, outputs, strict=True))
        return found

    def _run(self, graph_module: Any, inputs: tuple[Any, ...], on_jump: Any) -> list[Any]:
        torch: Any = import_torch()
        jumps, forced = self._jumps, self._forced
        places = {jump.node: jump for jump in jumps.values()}
        is_double = graph_module is not self._graph_module

        class Run(torch.fx.Interpreter):  # type: ignore[misc]
            def run_node(self, node: Any) -> Any:
                result = super().run_node(node)
                if is_double:
                    result = _to_double(result)
                if node.name not in places:
                    return result
                jump = places[node.name]
                before = before_jump(self, node, jump, jumps)
                if node.name in forced:
                    found = _in_module_order(torch, forced[node.name], result)
                else:
                    found = _find_equal(torch, forced.values(), result, before)
                if found is None:
                    return result
                got, file_before = found
                on_jump(node, jump, before, result, got, file_before)
                return got

        run = Run(graph_module, garbage_collect_values=False)
        run.extra_traceback = False  # Errors raised here are not of the graph's code.
        return list(torch.utils._pytree.tree_leaves(run.run(*inputs)))


def _in_module_order(torch: Any, given: Forced, like: Any) -> tuple[Any, Any] | None:
    """Returns the file's values at a jump and before it, in the module's order of dimensions.

    Returns None if the shapes differ.
    """
    value = torch.from_numpy(np.array(given.value))
    value = (-value if given.jump.negated else value).to(like.dtype)
    order = _find_order(value, like)
    if order is None:
        return None
    # At a sign for which sign_of_zero was chosen, the file differs from the module at 0.
    before = given.before if given.jump.zero is None else None
    file_before = None if before is None else torch.from_numpy(np.array(before)).permute(order)
    return value.permute(order).contiguous(), file_before


def _find_equal(
    torch: Any, known: Iterable[Forced], result: Any, before: "_BeforeJump"
) -> tuple[Any, Any] | None:
    """Finds a value for a jump that has none in the file: that of another, equal jump, or None.

    Two jumps count as equal if they differ only where rounding decides.
    """
    found = [_in_module_order(torch, given, result) for given in known]
    bound = _rounding_bound(before.size)
    near = before.distance.abs() <= bound
    equal = [
        pair for pair in found if pair is not None and not bool(((pair[0] != result) & ~near).any())
    ]
    return min(equal, key=lambda pair: int((pair[0] != result).sum()), default=None)


@dataclass(frozen=True)
class _BeforeJump:
    """The values before a jump.

    Attributes:
        distance: How far a value is from where it jumps.
        size: A value as large as what was rounded.
    """

    distance: Any
    size: Any


def before_jump(run: Any, node: Any, jump: Jump, jumps: Mapping[str, Jump]) -> _BeforeJump:
    """Returns the values before the jump at the node that an interpreter is running."""
    torch = import_torch()
    if jump.value:
        name = jumps[jump.value].node if jump.value in jumps else jump.value
        value = next(v for n, v in run.env.items() if n.name == name)
        return _BeforeJump(value, value)
    args, _ = run.fetch_args_kwargs_from_env(node)
    if jump.rounds:
        x = args[0]
        is_half = kind(node).startswith("aten.round.")
        return _BeforeJump(x - x.floor() - 0.5 if is_half else x - x.round(), x)
    value = torch.as_tensor(args[0]) - args[1]
    return _BeforeJump(value, value)


def _output(name: str) -> str:
    return f"output {name}"


def _to_double(value: Any) -> Any:
    torch = import_torch()
    is_float = isinstance(value, torch.Tensor) and value.dtype == torch.float32
    return value.double() if is_float else value


def _in_double(torch: Any, graph_module: Any) -> Any:
    """Returns a copy of a graph in double precision, also for nodes that name their type."""
    made = copy.deepcopy(graph_module).double()
    for node in made.graph.nodes:
        if node.kwargs.get("dtype") == torch.float32:
            node.kwargs = {**node.kwargs, "dtype": torch.float64}
    made.recompile()
    return made


def _find_order(value: Any, like: Any) -> tuple[int, ...] | None:
    """Returns PyTorch's order of dimensions of a value of the file; None if no order fits.

    litert_torch may move channels anywhere. If several orders fit, the one with the fewest
    differences is returned, as a wrong order gives random values.
    """
    orders = [
        (0, *order)
        for order in itertools.permutations(range(1, value.ndim))
        if value.ndim and value.permute(0, *order).shape == like.shape
    ]
    if not orders:
        return None
    return min(orders, key=lambda order: int((value.permute(order) != like).sum()))


def _rounding_bound(value: Any, precise: Any = None) -> float:
    """Returns how far rounding may move a value."""
    largest = largest_size(value)
    bound = _ROUNDING * largest
    if precise is None or precise.shape != value.shape:
        return bound
    further = _PYTORCH_FACTOR * largest_size(value - precise)
    return max(bound, further) if further <= _MAX_ROUNDING * largest else bound


def largest_size(value: Any) -> float:
    """Returns the largest magnitude of a tensor's finite values."""
    sizes = value.abs()[value.isfinite()]
    return float(sizes.max()) if sizes.numel() else 0.0


def difference(expected: Any, got: Any, precise: Any = None) -> str:
    """Describes the difference of two tensors; returns "" if rounding explains it."""
    if expected.shape != got.shape:
        return f"the shape {tuple(got.shape)} in place of {tuple(expected.shape)}"
    expected, got = expected.double(), got.double()
    finite = expected.isfinite()
    rest, theirs = expected[~finite].numpy(), got[~finite].numpy()
    if not np.array_equal(rest, theirs, equal_nan=True):
        return "infinities or NaN are in other places"
    bound = _rounding_bound(expected, precise)
    furthest = largest_size((expected - got)[finite])
    if furthest <= bound:
        return ""
    return f"values are off by up to {furthest:.2g}, where rounding reaches {bound:.2g}"
