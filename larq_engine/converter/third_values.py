"""Signs that are 0 for 0: a third value, which bits do not have.

A sign of what cannot be negative is 0 or 1 and stays as it is, as does one that is a part of a form
of two values, such as sign(x) + (x == 0). For any other that a binary layer reads, the caller says
whether 0 becomes +1 or -1, with `sign_of_zero`.
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
from larq_engine.converter.sign_values import find_sign_values
from larq_engine.converter.signs import Binary, NotBinary, find_binary, scalar
from larq_engine.converter.weights import scales

# sign(sign(x) + c): c makes the sign of the third value.
_SHIFT = 0.5

NAMED = 8  # layers in a remark


@dataclass(frozen=True)
class PlainSign:
    """A sign of three values.

    Attributes:
        title: What errors call it.
        layer: The layer that it belongs to, by which `sign_of_zero` may name it.
        remedy: What to write in its place.
    """

    title: str
    layer: str
    remedy: str


def choose_signs(
    graph: Graph, plain: Mapping[Tensor, PlainSign], sign_of_zero: SignOfZero
) -> dict[Tensor, float]:
    """Gives plain signs the value for 0 that was asked for.

    Args:
        graph: Is changed; tensors stay what they are.
        plain: Results of SIGN.
        sign_of_zero: What was asked for.

    Returns:
        What each of the changed ones is for 0.

    Raises:
        ConversionError: A layer would be binary but for a sign of which nothing is asked for.
    """
    chosen: dict[Tensor, float] = {}
    for tensor, sign in plain.items():
        wanted = sign_of_zero.of(sign.layer)
        op = tensor.producer
        if op is None or op.inputs[0] is None:
            continue  # no output of the graph needs it
        if wanted is None:
            # A sign of a sign and a number has no third value, whatever stands behind it.
            has_two = isinstance(find_binary(tensor), Binary)
            layer = None if has_two else _binary_but_for(tensor)
            if layer is not None:
                reader = f"the layer '{layer.layer}'" if layer.layer else f"a {layer.kind}"
                got = f"a computed value, which {reader} reads"
                raise third_value(sign, got)
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
    """Whether what is computed of a sign alone has two values as it is, and nothing reads more."""
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
    """A layer of binary weights that reads a sign, moved and scaled at most."""
    waiting, seen = [sign], set()
    while waiting:
        tensor = waiting.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        for op in tensor.consumers:
            if op.kind in KINDS and op.inputs[0] is tensor:
                forms = find_convolution(op)
                # It may be a part of another form of sign, in which its third value is lost.
                if isinstance(forms, NotBinary) or isinstance(find_binary(tensor), Binary):
                    continue
                if not isinstance(scales(forms[0].weights), NotBinary):
                    return op
            scaled = op.kind in ("MUL", "DIV") and any(map(scalar, op.inputs))
            if op.known.moved is not None or scaled or op.kind == "NEG":
                waiting.extend(op.outputs)
    return None


def third_value(sign: PlainSign, got: str) -> ConversionError:
    """The error of a sign whose 0 would be read."""
    return ConversionError(
        f"{sign.title}: expected no value that is 0, whose sign is 0, a third value that binary "
        f"layers do not have, got {got}; say whether 0 becomes +1 or -1, with "
        'sign_of_zero="+1" (x >= 0 is +1) or sign_of_zero="-1" (--sign-of-zero), or for this one '
        f"alone with sign_of_zero={{{sign.layer!r}: \"+1\"}} (--sign-of-zero '{sign.layer}=+1'); "
        f"or {sign.remedy}"
    )


def value_before_sign(made: Tensor) -> Tensor | None:
    """What a SIGN, or the last of a sign(sign(x) + c), is the sign of; None of anything else."""
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


def name_layer(layer: str) -> str:
    """A layer in a sentence; signs of a module's own forward are of a layer without a name."""
    return f"'{layer}'" if layer else "the module's own forward"


def describe_chosen(operator: str, framework: str, chosen: Mapping[PlainSign, float]) -> list[str]:
    """Remarks for the report: where a file's sign gives for 0 what the framework's does not."""
    remarks = []
    for name, zero in (("+1", 1.0), ("-1", -1.0)):
        layers = list(dict.fromkeys(sign.layer for sign in chosen if chosen[sign] == zero))
        if layers:
            shown = ", ".join(map(name_layer, layers[:NAMED]))
            more = f" and {len(layers) - NAMED} more" if len(layers) > NAMED else ""
            remarks.append(f"{operator}(0) is {name} here and 0 in {framework}, in {shown}{more}.")
    return remarks


def describe_met(inputs: str, zeros: Mapping[str, int], values: Mapping[str, int]) -> str:
    """Tells what inputs met at the signs that have another value for 0 in the file.

    Args:
        inputs: What the sentence begins with.
        zeros: How many values were exactly 0, by layers.
        values: Of how many, by layers.
    """
    there = [layer for layer in values if zeros.get(layer)]
    if not there:
        return f"{inputs} met no 0 at a sign that sign_of_zero is for."
    places = [
        f"{zeros[layer]} of {values[layer]} values at {name_layer(layer)}"
        for layer in sorted(there, key=lambda layer: -zeros[layer])[:NAMED]
    ]
    more = f" and at {len(there) - NAMED} more signs" if len(there) > NAMED else ""
    return f"{inputs} met zeros that sign_of_zero is for: {', '.join(places)}{more}."
