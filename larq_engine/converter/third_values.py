"""Chooses values for signs that are 0 for 0, a third value that bits do not have.

The sign of a value that cannot be negative is 0 or 1, and stays as it is. So does a sign that is
part of an expression with two values, such as sign(x) + (x == 0). For any other sign that a binary
layer reads, the caller chooses whether 0 becomes +1 or -1, with `sign_of_zero`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.layers import KINDS, find_convolution
from larq_engine.converter.not_negative import is_not_negative
from larq_engine.converter.options import SignOfZero
from larq_engine.converter.rules_products import is_product
from larq_engine.converter.sign_values import find_sign_values
from larq_engine.converter.signs import Binary, NotBinary, find_binary, scalar
from larq_engine.converter.weights import scales

# The c in sign(sign(x) + c), which makes +1 or -1 of the third value.
_SHIFT = 0.5

NAMED = 8  # Number of layers that a remark names.


@dataclass(frozen=True)
class PlainSign:
    """A sign of three values.

    Attributes:
        title: The name of the sign in errors.
        layer: The layer that it belongs to, by which `sign_of_zero` may name it.
        remedy: What to write instead of the sign.
    """

    title: str
    layer: str
    remedy: str


def choose_signs(
    graph: Graph, plain: Mapping[Tensor, PlainSign], sign_of_zero: SignOfZero
) -> dict[Tensor, float]:
    """Gives plain signs the value for 0 that `sign_of_zero` has for their layers.

    Args:
        graph: The graph, which is changed; its tensors keep their identity.
        plain: Results of SIGN.
        sign_of_zero: The caller's choice.

    Returns:
        The value for 0 of each sign that was changed.

    Raises:
        ConversionError: A layer would be binary if the caller had chosen a value for a sign.
    """
    chosen: dict[Tensor, float] = {}
    for tensor, sign in plain.items():
        wanted = sign_of_zero.of(sign.layer)
        op = tensor.producer
        if op is None or op.inputs[0] is None:
            continue  # No output of the graph needs it.
        if wanted is None:
            # sign(sign(x) + c) has no third value, whatever its layer is.
            has_two = isinstance(find_binary(tensor), Binary)
            layer = None if has_two else _binary_but_for(tensor)
            if layer is not None:
                reader = f"the layer '{layer.layer}'" if layer.layer else f"a {layer.kind}"
                got = f"a computed value, which {reader} reads"
                raise third_value_error(sign, got)
        elif not is_not_negative(op.inputs[0]) and not _is_part_of_two_values(tensor):
            graph.replace(op, _with_zero(op, wanted))
            chosen[tensor] = wanted
    return chosen


def _with_zero(op: Op, at_zero: float) -> list[Op]:
    (made,) = op.outputs
    first, shifted = made.like(made.name), made.like(made.name)
    shift = lce_ops.constant(np.array(_SHIFT * at_zero, np.float32))
    add = Op("ADD", [first, shift], [shifted], schema.make_options("AddOptions"))
    return [Op("SIGN", op.inputs, [first]), add, Op("SIGN", [shifted], [made])]


def _is_part_of_two_values(sign: Tensor) -> bool:
    """Tells whether a sign is only read as part of expressions that have two values."""
    waiting, seen, has_two = [sign], set[Tensor](), False
    while waiting:
        tensor = waiting.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        for made in [made for op in tensor.consumers for made in op.outputs]:
            if find_sign_values(made) is not None:
                has_two = has_two or isinstance(find_binary(made), Binary)
                waiting.append(made)
    return has_two and _binary_but_for(sign) is None


def _binary_but_for(sign: Tensor) -> Op | None:
    """Returns a layer with binary weights that reads a sign, moved or scaled at most."""
    waiting, seen = [sign], set()
    while waiting:
        tensor = waiting.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        for op in tensor.consumers:
            if is_product(op):
                if not isinstance(find_binary(tensor), Binary) and _are_signs(op):
                    return op
            elif op.kind in KINDS and op.inputs[0] is tensor:
                forms = find_convolution(op)
                # The tensor may be another form of sign, without the third value.
                if isinstance(forms, NotBinary) or isinstance(find_binary(tensor), Binary):
                    continue
                if not isinstance(scales(forms[0].weights), NotBinary):
                    return op
            if _moves_or_scales(op):
                waiting.extend(op.outputs)
    return None


def _moves_or_scales(op: Op) -> bool:
    """Tells whether an operator makes signs of signs, moved or times a number."""
    scales_values = op.kind in ("MUL", "DIV") and any(map(scalar, op.inputs))
    return op.known.moved is not None or scales_values or op.kind == "NEG"


def _are_signs(product: Op) -> bool:
    """Tells whether both sides are signs, moved or scaled at most, of two values or of three."""
    return all(x is not None and _is_of_sign(x) for x in product.inputs[:2])


def _is_of_sign(tensor: Tensor) -> bool:
    while not isinstance(find_binary(tensor), Binary):
        op = tensor.producer
        if op is None or op.kind == "SIGN":
            return op is not None
        values = [x for x in op.inputs if x is not None and not x.is_constant]
        if not _moves_or_scales(op) or len(values) != 1:
            return False
        (tensor,) = values
    return True


def third_value_error(sign: PlainSign, got: str) -> ConversionError:
    """Returns the error for a sign whose 0 would be read."""
    return ConversionError(
        f"{sign.title}: the sign of 0 is 0, but a binary layer reads only +1 and -1: expected "
        f"values that are not 0, got {got}; say whether 0 becomes +1 or -1, with "
        'sign_of_zero="+1" (x >= 0 is +1) or sign_of_zero="-1" (--sign-of-zero), or for this one '
        f"alone with sign_of_zero={{{sign.layer!r}: \"+1\"}} (--sign-of-zero '{sign.layer}=+1'); "
        f"or {sign.remedy}"
    )


def value_before_sign(made: Tensor) -> Tensor | None:
    """Returns the x of a SIGN, or of sign(sign(x) + c); None for any other operator."""
    x: Tensor | None = None
    op = made.producer
    while op is not None and op.kind == "SIGN" and op.inputs[0] is not None:
        x = op.inputs[0]
        shift = x.producer
        if shift is None or shift.kind != "ADD" or scalar(shift.input(1)) is None:
            break
        first = shift.inputs[0]
        op = first.producer if first is not None else None
    return x if x is not None and x.shape == made.shape and not x.is_constant else None


def describe_chosen(operator: str, framework: str, chosen: Mapping[PlainSign, float]) -> list[str]:
    """Returns remarks for the report on signs that give another value for 0 than the framework."""
    remarks = []
    for name, zero in (("+1", 1.0), ("-1", -1.0)):
        layers = list(dict.fromkeys(sign.layer for sign in chosen if chosen[sign] == zero))
        if layers:
            shown = ", ".join(f"'{layer}'" for layer in layers[:NAMED])
            more = f" and {len(layers) - NAMED} more" if len(layers) > NAMED else ""
            remarks.append(f"{operator}(0) is {name} here and 0 in {framework}, in {shown}{more}.")
    return remarks


def describe_met(inputs: str, zeros: Mapping[str, int], values: Mapping[str, int]) -> str:
    """Describes the zeros that inputs met at signs with another value for 0 in the file.

    Args:
        inputs: The beginning of the sentence.
        zeros: For each layer, how many values were exactly 0.
        values: For each layer, the number of all values.
    """
    there = [layer for layer in values if zeros.get(layer)]
    if not there:
        return f"{inputs} met no 0 at a sign that sign_of_zero is for."
    places = [
        f"{zeros[layer]} of {values[layer]} values at '{layer}'"
        for layer in sorted(there, key=lambda layer: -zeros[layer])[:NAMED]
    ]
    more = f" and at {len(there) - NAMED} more signs" if len(there) > NAMED else ""
    return f"{inputs} met zeros that sign_of_zero is for: {', '.join(places)}{more}."
