"""What in a SavedModel runs Python or reaches files, found before TensorFlow loads it.

Only what loading and converting can reach is looked at. Each SavedModel also has the functions that
save and restore its variables, which nobody calls here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from larq_engine.converter.keras_code import CODE_OPERATORS

# Keras 2 leaves the configuration of its layers here, with the bytecode of Lambdas.
_KERAS_METADATA = "keras_metadata.pb"
_LAMBDA = re.compile(rb'"name": "([^"]*)"[^{}]*(?:\{[^{}]*\}[^{}]*)*?"class_name": "Lambda"')
_LOADERS = ("saved_model_main_op", "legacy_init_op")


def find_graph_code(folder: Path) -> Iterator[str]:
    """Yields what a SavedModel holds of code, with its place."""
    from tensorflow.python.saved_model import loader_impl

    metadata = folder / _KERAS_METADATA
    if metadata.is_file() and b'"class_name": "Lambda"' in (content := metadata.read_bytes()):
        names = [name.decode(errors="replace") for name in _LAMBDA.findall(content)]
        where = f" in layer {names[0]!r}" if names else ""
        yield f"Lambda, which is code,{where} of {_KERAS_METADATA}"
    for graph in loader_impl.parse_saved_model(str(folder)).meta_graphs:
        functions = {f.signature.name: f.node_def for f in graph.graph_def.library.function}
        nodes = list(_reached(graph.graph_def.node, _first_nodes(graph)))
        called = [*graph.object_graph_def.concrete_functions, *_calls(nodes, functions)]
        yield from _operators(nodes)
        seen: set[str] = set()
        while called:
            name = called.pop()
            if name in functions and name not in seen:
                seen.add(name)
                yield from _operators(functions[name])
                called += _calls(functions[name], functions)


def _operators(nodes: Iterable[Any]) -> Iterator[str]:
    for node in nodes:
        stream = node.attr["output_stream"].s if node.op == "PrintV2" else b""
        if CODE_OPERATORS.search(node.op) or stream.startswith(b"file:"):
            yield f"{node.op}, which runs Python or reaches files, in operator {node.name!r}"


def _first_nodes(graph: Any) -> Iterator[str]:
    """What a loader runs or a signature asks for."""
    for signature in graph.signature_def.values():
        for tensor in (*signature.inputs.values(), *signature.outputs.values()):
            yield tensor.name
    for name in _LOADERS:
        yield from graph.collection_def[name].node_list.value


def _reached(nodes: Iterable[Any], names: Iterable[str]) -> Iterator[Any]:
    """The nodes that these need; names of inputs may say "^name" and "name:1"."""
    by_name = {node.name: node for node in nodes}
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop().lstrip("^").partition(":")[0]
        if name in by_name and name not in seen:
            seen.add(name)
            yield by_name[name]
            waiting += by_name[name].input


def _calls(nodes: Iterable[Any], functions: Mapping[str, Any]) -> list[str]:
    named = []
    for node in nodes:
        named.append(node.op)
        for value in node.attr.values():
            named += [value.func.name, *(function.name for function in value.list.func)]
    return [name for name in named if name in functions]
