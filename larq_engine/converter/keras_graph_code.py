"""Finds what runs Python or reaches files in a SavedModel, before TensorFlow loads it.

Every operator of the file is checked, no matter what calls it. Operators that save and restore
variables are in every SavedModel. They are allowed if loading does not run them. One that restores
is also allowed if it reads the file of variables that the loader gives it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from larq_engine.converter.keras_operators import only_computes

# Keras 2 stores the configuration of its layers here, with the bytecode of Lambdas.
_KERAS_METADATA = "keras_metadata.pb"
_LAMBDA = re.compile(rb'"name": "([^"]*)"[^{}]*(?:\{[^{}]*\}[^{}]*)*?"class_name": "Lambda"')
_RESTORE = "RestoreV2"
_SAVERS = (_RESTORE, "SaveV2", "MergeV2Checkpoints")


def find_graph_code(folder: Path) -> Iterator[str]:
    """Yields a description of all code in a SavedModel, with its place."""
    from tensorflow.python.saved_model import loader_impl

    metadata = folder / _KERAS_METADATA
    if metadata.is_file() and b'"class_name": "Lambda"' in (content := metadata.read_bytes()):
        names = [name.decode(errors="replace") for name in _LAMBDA.findall(content)]
        where = f" in layer {names[0]!r}" if names else ""
        yield f"Lambda, which is code,{where} of {_KERAS_METADATA}"
    graphs = loader_impl.parse_saved_model(str(folder)).meta_graphs
    # This is TensorFlow's own rule: it runs the graph's operators that restore variables unless the
    # file has one graph with a description of its objects.
    restores = not (len(graphs) == 1 and graphs[0].HasField("object_graph_def"))
    for graph in graphs:
        functions = {f.signature.name: f.node_def for f in graph.graph_def.library.function}
        for nodes in (graph.graph_def.node, *functions.values()):
            yield from (
                _problem(node)
                for node in nodes
                if node.op not in _SAVERS and not only_computes(node)
            )
        yield from (_problem(node) for node in _run(graph, functions) if node.op in _SAVERS)
        if restores:
            yield from _restoring(graph, functions)


def _problem(node: Any) -> str:
    return f"{node.op}, which may run Python or reach files, in operator {node.name!r}"


def _run(graph: Any, functions: Mapping[str, Iterable[Any]]) -> Iterator[Any]:
    """Yields nodes that loading or converting may run, without those that restore variables."""
    nodes = list(_reached(graph.graph_def.node, _first_nodes(graph)))
    yield from nodes
    yield from _called([*graph.object_graph_def.concrete_functions, *_calls(nodes)], functions)


def _restoring(graph: Any, functions: Mapping[str, Iterable[Any]]) -> Iterator[str]:
    """Yields a problem for each saver that the graph's own restoring runs on another file."""
    saver = graph.saver_def
    nodes = list(_reached(graph.graph_def.node, [saver.restore_op_name]))
    file = saver.filename_tensor_name.removesuffix(":0")
    for node in nodes:
        is_restore = node.op == _RESTORE and node.input[:1] == [file]
        if node.op in _SAVERS and not is_restore:
            yield _problem(node)
    called = _called(_calls(nodes), functions)
    yield from (_problem(node) for node in called if node.op in _SAVERS)


def _first_nodes(graph: Any) -> Iterator[str]:
    """Yields the names in signatures, and those in collections that a loader may run."""
    from tensorflow.core.framework import variable_pb2
    from tensorflow.python.framework import ops

    for signature in graph.signature_def.values():
        for tensor in (*signature.inputs.values(), *signature.outputs.values()):
            yield from _tensor_names(tensor)
    for name, collection in graph.collection_def.items():
        yield from collection.node_list.value
        if ops.get_collection_proto_type(name) is variable_pb2.VariableDef:
            for content in collection.bytes_list.value:
                variable = variable_pb2.VariableDef.FromString(content)
                yield from (variable.initializer_name, variable.initial_value_name)


def _tensor_names(tensor: Any) -> Iterator[str]:
    sparse = tensor.coo_sparse
    yield from (tensor.name, sparse.values_tensor_name, sparse.indices_tensor_name)
    yield sparse.dense_shape_tensor_name
    for component in tensor.composite_tensor.components:
        yield from _tensor_names(component)


def _reached(nodes: Iterable[Any], names: Iterable[str]) -> Iterator[Any]:
    """Yields the nodes that are needed for `names`; inputs may be named "^name" and "name:1"."""
    by_name = {node.name: node for node in nodes}
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop().lstrip("^").partition(":")[0]
        if name in by_name and name not in seen:
            seen.add(name)
            yield by_name[name]
            waiting += by_name[name].input


def _called(names: Iterable[str], functions: Mapping[str, Iterable[Any]]) -> Iterator[Any]:
    """Yields the nodes of these functions and of the functions that they call."""
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        if name in functions and name not in seen:
            seen.add(name)
            yield from functions[name]
            waiting += _calls(functions[name])


def _calls(nodes: Iterable[Any]) -> Iterator[str]:
    for node in nodes:
        yield node.op
        for value in node.attr.values():
            yield value.func.name
            yield from (function.name for function in value.list.func)
