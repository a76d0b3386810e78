"""Layers whose inputs or weights are one of two numbers that are not each other's negatives.

With x = a * s + b and, in each channel, w = c * t + d of signs s and t, a convolution is
a * c * conv(s, t) + a * d * conv(s, 1) + b * conv(1, w). The first is a binary layer, the second
another one, of one output, and the third a constant. Where the layer pads with 0, it pads the signs
with 0, and the constant knows the border.
"""

from typing import Any

from larq_engine.converter.torch_reader.folding import Constants
from larq_engine.converter.torch_reader.nodes import Node, copied, is_node, kind, shape
from larq_engine.converter.torch_reader.packages import import_torch
from larq_engine.converter.torch_reader.signs import is_ours

_CONVOLUTIONS = ("aten.conv1d.default", "aten.conv2d.default")


def centre_layers(module: Any) -> None:
    """Rewrites convolutions of such inputs or weights."""
    graph, constants = module.graph, Constants(module)
    for node in list(graph.nodes):
        if kind(node) not in _CONVOLUTIONS or not constants.is_constant(node.args[1]):
            continue
        found = _affine(node.args[0], constants)
        sizes = shape(node.args[0])
        options, groups = list(node.args[3:6]), node.args[6:]
        if found is None or sizes is None or groups not in ((), (1,)) or node.kwargs:
            continue
        made = _rewrite(module, node, found, constants, sizes, options)
        if made is not None:
            node.replace_all_uses_with(made)
    graph.eliminate_dead_code()
    module.recompile()


def _affine(node: Node, constants: Constants) -> tuple[Node, float, float] | None:
    """The sign s, a and b of a * s + b."""
    node, a, b = copied(node), 1.0, 0.0
    while not is_ours(node):
        values = [_number(value, constants) for value in getattr(node, "args", ())]
        if len(values) != 2 or values.count(None) != 1 or node.kwargs:
            return None
        at = values.index(None)
        number = values[1 - at]
        assert number is not None
        name = kind(node).removeprefix("aten.").partition(".")[0]
        if name == "mul":
            a *= number
        elif name == "div" and at == 0 and number:
            a /= number
        elif name in ("add", "sub", "rsub"):
            # The operators behind this one were read before: they multiply what it adds, by a.
            b += -a * number if name == "sub" and at == 0 else a * number
            if name == "rsub" or (name == "sub" and at == 1):
                a = -a
        else:
            return None
        node = copied(node.args[at])
    return node, a, b


def _number(value: Any, constants: Constants) -> float | None:
    if not is_node(value):
        return float(value) if isinstance(value, (int, float)) else None
    if not constants.is_constant(value) or constants.value(value).numel() != 1:
        return None
    return float(constants.value(value))


def _rewrite(
    module: Any,
    node: Node,
    affine: tuple[Node, float, float],
    constants: Constants,
    sizes: tuple[int, ...],
    options: list[Any],
) -> Node | None:
    torch = import_torch()
    aten = torch.ops.aten
    sign, a, b = affine
    weight = constants.value(node.args[1]).detach()
    axes = tuple(range(1, weight.ndim))
    high, low = weight.amax(axes, keepdim=True), weight.amin(axes, keepdim=True)
    is_high = weight == high
    if not bool((is_high | (weight == low)).all()) or bool((high == low).any()):
        return None
    size, centre = (high - low) / 2, (high + low) / 2
    with torch.no_grad():
        inside = torch.full((1, *sizes[1:]), b)
        border = node.target(inside, weight, None, *options)
    corner = border.flatten(2)[..., 0].reshape(1, -1, *[1] * (border.ndim - 2))
    even = bool((border == corner).all())
    symmetric = bool((centre == 0).all())
    if symmetric and even:
        return None  # The converter reads these itself.
    graph = module.graph
    bias = node.args[2] if len(node.args) > 2 else None
    if even:
        border = corner
    if bias is not None:
        border = border + constants.value(bias).detach().reshape(1, -1, *[1] * (border.ndim - 2))

    def constant(value: Any) -> Node:
        name = f"centred_{len(list(module.buffers()))}"
        module.register_buffer(name, value.contiguous())
        return graph.get_attr(name)

    def step(target: Any, *args: Any) -> Node:
        made = graph.call_function(target, args)
        made.meta = dict(node.meta)
        return made

    signs = torch.where(is_high, 1.0, -1.0)
    with graph.inserting_before(node):
        total = step(node.target, sign, constant(a * size * signs), None, *options)
        if not symmetric:
            ones = step(node.target, sign, constant(torch.ones_like(weight[:1])), None, *options)
            scale = constant((a * centre).reshape(1, -1, *[1] * (border.ndim - 2)))
            total = step(aten.add.Tensor, total, step(aten.mul.Tensor, ones, scale))
        return step(aten.add.Tensor, total, constant(border))
