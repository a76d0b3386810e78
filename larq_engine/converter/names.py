"""Shortens names: they were most of what a file of MeliusNet22 had beside its weights."""

from larq_engine.converter.graph import Graph

# As LCE does. The end of a name tells more than its start, which is the model's.
_LONGEST = 50


def shorten_names(graph: Graph) -> None:
    """Takes the names of constants away and cuts those of inner values.

    The official converter joins the names of all operators that it merged with ';'. Inputs and
    outputs keep their names.
    """
    kept = {id(tensor) for tensor in [*graph.inputs, *graph.outputs]}
    for op in graph.ops:
        for tensor in [*op.inputs, *op.outputs]:
            if tensor is None or id(tensor) in kept:
                continue
            if tensor.is_constant:
                tensor.name = ""
            else:
                tensor.name = _shorten(tensor.name)


def _shorten(name: str) -> str:
    """The last of several joined names, without as many outer scopes as it takes."""
    last = name.strip(";").split(";")[-1]
    while len(last) > _LONGEST and "/" in last:
        last = last.split("/", 1)[1]
    return last[-_LONGEST:]
