"""Exports a module to a graph of PyTorch's operators."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from larq_engine.converter.errors import ConversionError
from larq_engine.converter.torch_reader.nodes import kind
from larq_engine.converter.torch_reader.packages import import_torch

# Sizes of an open batch in two exports: what differs between these depends on the batch.
BATCHES = (5, 3)

# Parts of torch.export's messages, and what the module must do instead.
_REMEDIES = {
    "fake tensor in the exported program constant's list": (
        "it changes or reads tensors behind PyTorch's back, by .data; compute a new tensor: "
        "w = torch.where(self.weight >= 0, 1.0, -1.0), or self.weight.clamp(-1, 1), and "
        "F.conv2d(x, w, ...) in place of self.weight.data = ..., and x.detach() in place of x.data"
    ),
    "Could not guard on data-dependent expression": (
        "what it computes depends on values in Python's own if or for; use torch.where"
    ),
    "Detected mutations to": "it changes its inputs or weights in place; compute a new tensor",
}


@dataclass(frozen=True)
class Exported:
    """A module as two graphs of the same nodes.

    Attributes:
        original: The graph as it was exported.
        rewritten: The graph that is rewritten and becomes the file.
        inputs: The inputs with which it was exported.
        input_names: The names of forward's arguments.
        output_names: The keys of a dictionary, else output_0 and so on.
        open_batch: Whether the first dimension of inputs is open.
    """

    original: Any
    rewritten: Any
    inputs: tuple[Any, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    open_batch: bool


def export(module: Any, inputs: tuple[Any, ...], batch: int | None = None) -> Exported:
    """Exports a module in evaluation mode.

    Args:
        module: The module, which is not changed.
        inputs: Example inputs, with which torch.export traces the module.
        batch: The number of samples, for which the inputs are repeated; None keeps the inputs.

    Raises:
        ConversionError: torch.export fails; the module changes its own weights; or an output is no
            tensor.
    """
    torch = import_torch()
    what = f"module {type(module).__name__}"
    if batch is not None:
        inputs = tuple(_with_batch(what, tensor, batch) for tensor in inputs)
    try:
        with torch.no_grad():
            program = torch.export.export(module, inputs)
            program = program.run_decompositions({})
    except Exception as error:
        text = str(error)
        remedy = next((remedy for part, remedy in _REMEDIES.items() if part in text), "")
        reason = f"{text.strip().splitlines()[0]}" if text.strip() else type(error).__name__
        raise ConversionError(
            f"{what}{_place(text)}: torch.export cannot trace it: {remedy or reason}"
        ) from error
    _check_mutations(what, program)
    names = _output_names(torch, program)
    _check_outputs(what, program, names)
    first, second = (program.module(check_guards=False) for _ in range(2))
    for graph_module in (first, second):
        _remove_effects(graph_module)
    placeholders = [node.name for node in second.graph.nodes if node.op == "placeholder"]
    return Exported(first, second, inputs, tuple(placeholders), names, batch is not None)


class Resized:
    """Exports of a module for inputs of other sizes, one for each size."""

    def __init__(self, module: Any, exported: Exported) -> None:
        self._module = module
        self.exported = exported
        self._exports: dict[tuple[tuple[int, ...], ...], Exported | None] = {}

    def inputs(self, shapes: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
        """Returns the inputs of the export, cut or repeated to these shapes."""
        return tuple(map(_cut, self.exported.inputs, shapes))

    def run(self, inputs: Sequence[Any]) -> None:
        """Runs the module itself."""
        with import_torch().no_grad():
            self._module(*inputs)

    def at(self, shapes: Sequence[tuple[int, ...]]) -> Exported | None:
        """Returns the export for inputs of these shapes; None if the module does not run on them.

        Raises:
            ConversionError: torch.export cannot trace the module for them.
        """
        key = tuple(shapes)
        if key not in self._exports:
            self._exports[key] = self._export(self.inputs(shapes))
        return self._exports[key]

    def graph(self, shapes: Sequence[tuple[int, ...]]) -> Any:
        """Returns the graph as exported for these shapes; raises the same errors as `at`."""
        exported = self.at(shapes)
        return None if exported is None else exported.original

    def has_same_nodes(self, graph_module: Any) -> bool:
        """Tells whether the graph has the operators of the first export."""
        original = self.exported.original
        names = [[node.name for node in made.graph.nodes] for made in (graph_module, original)]
        return names[0] == names[1]

    def _export(self, inputs: tuple[Any, ...]) -> Exported | None:
        try:
            self.run(inputs)
        except Exception:  # A module may raise anything for sizes that are not its own.
            return None
        return export(self._module, inputs)


def _cut(tensor: Any, shape: tuple[int, ...]) -> Any:
    """Cuts a tensor to a shape, and repeats it where the shape is larger."""
    for axis, size in enumerate(shape):
        times = -(-size // tensor.shape[axis])
        tensor = import_torch().cat([tensor] * times, axis).narrow(axis, 0, size)
    return tensor.contiguous()


# Patterns of the line that torch.export could not follow, and of a tensor that it does not know.
_LINE = re.compile(r'raised this error:\s+(File "[^"]+", line \d+)')
_TENSOR = re.compile(r"model attribute: ([\w.]+)\.")


def _place(text: str) -> str:
    """Returns the place in the module that the text of an error of torch.export names, if any."""
    line, tensor = _LINE.findall(text), _TENSOR.search(text)
    part = tensor.group(1).rpartition(".")[0] if tensor else ""
    return (f", in '{part}'" if part else "") + (f" ({line[-1]})" if line else "")


def _with_batch(what: str, tensor: Any, batch: int) -> Any:
    torch = import_torch()
    if tensor.ndim == 0 or tensor.shape[0] == 0:
        raise ConversionError(
            f"{what}: open_batch: expected inputs whose first dimension is the batch, got the "
            f"shape {tuple(tensor.shape)}; add that dimension, or leave open_batch out"
        )
    copies = -(-batch // tensor.shape[0])
    return torch.cat([tensor] * copies)[:batch].contiguous()


def _check_mutations(what: str, program: Any) -> None:
    """Raises ConversionError for modules that store something that depends on their inputs.

    Changes of weights that depend on weights only, as in Brevitas, are computed like any other
    constant.
    """
    given = set(program.graph_signature.user_inputs)
    from_inputs: set[str] = set()
    for node in program.graph.nodes:
        if node.name in given or any(n.name in from_inputs for n in node.all_input_nodes):
            from_inputs.add(node.name)
    for spec in program.graph_signature.output_specs:
        if spec.kind.name.endswith("_MUTATION") and spec.arg.name in from_inputs:
            raise ConversionError(
                f"{what}: expected it to leave '{spec.target}' as it is, got one that changes it "
                "by what depends on its inputs; compute a new tensor in forward"
            )


def _check_outputs(what: str, program: Any, names: tuple[str, ...]) -> None:
    """Raises ConversionError for an output that is no tensor."""
    outputs = [
        spec.arg for spec in program.graph_signature.output_specs if spec.kind.name == "USER_OUTPUT"
    ]
    if not outputs:
        raise ConversionError(f"{what}: expected outputs, got none; return a tensor in forward")
    for name, output in zip(names, outputs, strict=True):
        if hasattr(output, "value"):
            raise ConversionError(
                f"{what}: expected tensors as outputs, got {output.value!r} as '{name}'; return "
                "tensors only, or wrap the module in one that does"
            )


def _remove_effects(graph_module: Any) -> None:
    """Removes nodes that check types, which are known, or that write to weights at the end."""
    for node in reversed(list(graph_module.graph.nodes)):
        if kind(node).startswith(("aten._assert_tensor_metadata.", "aten.copy_.")):
            graph_module.graph.erase_node(node)
    graph_module.recompile()


def _output_names(torch: Any, program: Any) -> tuple[str, ...]:
    structure = program.call_spec.out_spec
    count = structure.num_leaves
    whole = torch.utils._pytree.tree_unflatten([None] * count, structure)
    paths, _ = torch.utils._pytree.tree_flatten_with_path(
        torch.utils._pytree.tree_unflatten(list(range(count)), structure)
    )
    if not isinstance(whole, dict):
        return tuple(f"output_{number}" for number in range(count))
    return tuple("_".join(_keys(path)) for path, _ in paths)


def _keys(path: Sequence[Any]) -> Iterator[str]:
    for step in path:
        yield str(getattr(step, "key", getattr(step, "idx", getattr(step, "name", step))))
