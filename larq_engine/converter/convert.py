"""Applies the rules in their order."""

from collections import deque
from collections.abc import Callable, Sequence

from larq_engine.converter.constants import fold_constants
from larq_engine.converter.errors import ConversionError, naming
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.layers import KINDS
from larq_engine.converter.lce_limits import check_operators
from larq_engine.converter.names import find_layers, write_names
from larq_engine.converter.open_sizes import close_sizes
from larq_engine.converter.options import Options
from larq_engine.converter.rules_activation import join_clamp, join_prelu
from larq_engine.converter.rules_before_sign import shorten_before_sign
from larq_engine.converter.rules_binary import binarize_layer, binarize_output
from larq_engine.converter.rules_bits import join_bits, pool_bits, write_bits
from larq_engine.converter.rules_centre import centre_layer
from larq_engine.converter.rules_constants import EACH, REDUCED, list_axes, shrink_constant
from larq_engine.converter.rules_flatten import turn_weights
from larq_engine.converter.rules_float import (
    take_in_activation,
    take_in_affine,
    write_convolution,
)
from larq_engine.converter.rules_fuse import fuse_activation, fuse_affine
from larq_engine.converter.rules_groups import merge_groups, spread_affine
from larq_engine.converter.rules_int8 import dequantize_to_int8, quantize_int8, write_int8
from larq_engine.converter.rules_lce import pad_as_same, unpack_weights
from larq_engine.converter.rules_pads import pad_with_zero
from larq_engine.converter.rules_parts import add_to_part
from larq_engine.converter.rules_pool import average_first, give_to_pooled_layer, pool_first
from larq_engine.converter.rules_products import PRODUCTS, multiply_bits
from larq_engine.converter.rules_reshape import (
    SINKING,
    drop_reshape,
    merge_reshapes,
    open_batch,
    sink_reshape,
)
from larq_engine.converter.rules_transpose import SINKING as SINKING_BELOW_TRANSPOSES
from larq_engine.converter.rules_transpose import (
    lift_transpose,
    merge_transposes,
    reshape_for_transpose,
    sink_transpose,
    turn_before_reshape,
)
from larq_engine.converter.rules_weights import pack_weights
from larq_engine.converter.verify import verify
from larq_engine.converter.weights import WEIGHTED_KINDS

# Limit on how often a stage applies one rule, as rules that undo each other would never end. The
# graph is correct after each application, so a stage may stop after any of them.
_APPLICATIONS = 100
_APPLICATIONS_PER_OP = 10

# A rule looks at one operator: it returns what replaces it, or None where it does not apply.
Rule = Callable[[Op, Graph, Options], Sequence[Op] | Tensor | None]

_SINK_TRANSPOSES: dict[Rule, tuple[str, ...]] = {
    merge_transposes: ("TRANSPOSE",),
    sink_transpose: SINKING_BELOW_TRANSPOSES,
}

# A stage's rules are applied until none applies any more, or one has reached its limit.
#
# Transposes move first, because they stand between signs and the operators that make up a sign, and
# between pads and layers. Clamps are recognised in the same stage, to tell them from choices
# between two values: the output of a relu is never negative. A later stage moves transposes again,
# because new ones have been made for the values before signs. Signs are recognised before anything
# is fused, because fusing removes the operators by which they are recognised. Reshapes move before
# fusing, to bring operators together that can be fused, and after transposes, because a constant
# for each channel lies along the last dimension. Thresholds come before multipliers and biases.
# They are found by evaluating the operators between a convolution and a sign one by one, as the
# model has them. A sign moves before a concatenation whose parts layers can write as bits. Last,
# poolings move before the operators that no layer could take in.
_FLOAT_STAGES: list[dict[Rule, tuple[str, ...]]] = [
    {
        unpack_weights: ("LceUnpackWeights",),
        pad_as_same: ("LceBconv2d",),
        pad_with_zero: ("PADV2",),
        write_convolution: ("DEPTHWISE_CONV_2D",),
        shrink_constant: EACH,
        list_axes: REDUCED,
    },
    _SINK_TRANSPOSES | {join_clamp: ("SELECT", "SELECT_V2")},
    {lift_transpose: ("TRANSPOSE",), turn_weights: ("FULLY_CONNECTED",)},
    {binarize_layer: KINDS, multiply_bits: PRODUCTS, centre_layer: KINDS},
    {binarize_output: ("SIGN", "SELECT", "SELECT_V2", "ADD", "SUB")},
    _SINK_TRANSPOSES | {turn_before_reshape: ("TRANSPOSE",), join_prelu: ("ADD", "SUB")},
    {
        reshape_for_transpose: ("TRANSPOSE",),
        sink_reshape: SINKING,
        merge_reshapes: ("RESHAPE",),
        drop_reshape: ("RESHAPE",),
        open_batch: ("RESHAPE",),
    },
    {quantize_int8: ("LceQuantize",)},
    {write_bits: ("LceQuantize",), join_bits: ("LceQuantize",)},
    {
        fuse_affine: ("ADD", "SUB", "MUL", "DIV"),
        fuse_activation: ("RELU", "RELU6", "RELU_N1_TO_1"),
        take_in_affine: ("ADD", "SUB", "MUL", "DIV"),
        take_in_activation: ("RELU", "RELU6", "RELU_N1_TO_1"),
        spread_affine: ("ADD", "SUB", "MUL", "DIV"),
        give_to_pooled_layer: ("ADD", "SUB", "MUL", "RELU", "RELU6", "RELU_N1_TO_1"),
        pool_bits: ("LceQuantize",),
        add_to_part: ("ADD",),
    },
    {shorten_before_sign: ("LceQuantize",)},
    {pool_first: ("MAX_POOL_2D",), average_first: ("AVERAGE_POOL_2D", "MEAN")},
]

# These rules run before quantization, as only int8 gains by them.
_INT8_STAGES: list[dict[Rule, tuple[str, ...]]] = [{merge_groups: ("CONCATENATION",)}]

# These rules run after quantization, when it is known what is int8. Packing weights comes last,
# because weights that are stored as bits no longer look like constants.
_LAST_STAGES: list[dict[Rule, tuple[str, ...]]] = [
    {
        quantize_int8: ("LceQuantize",),
        write_int8: ("QUANTIZE",),
        dequantize_to_int8: ("QUANTIZE",),
    },
    {pack_weights: WEIGHTED_KINDS},
]


def rewrite(graph: Graph, options: Options) -> None:
    """Makes binary layers of all layers of a graph that can be binary."""
    try:
        verify(graph, "reading the file")
    except AssertionError as error:
        raise ConversionError(f"{error}; the file is corrupted: copy it again") from error
    find_layers(graph)
    write_names(graph)
    close_sizes(graph)
    fold_constants(graph)
    for stage in _FLOAT_STAGES:
        _apply(stage, graph, options)


def prepare_int8(graph: Graph, options: Options) -> None:
    """Gives layers that are to become int8 the form that gains most, with equal results."""
    for stage in _INT8_STAGES:
        _apply(stage, graph, options)


def finish(graph: Graph, options: Options) -> None:
    """Joins binary and int8 operators, and packs the weights of layers that stay in float."""
    for stage in _LAST_STAGES:
        _apply(stage, graph, options)
    # Without this order, XNNPACK would split off the operators before the first LceUnpackWeights.
    graph.ops.sort(key=lambda op: op.kind != "LceUnpackWeights")
    check_operators(graph, options)


def _apply(stage: dict[Rule, tuple[str, ...]], graph: Graph, options: Options) -> None:
    applications_left = dict.fromkeys(stage, _APPLICATIONS + _APPLICATIONS_PER_OP * len(graph.ops))
    changed = True
    while changed:
        changed = False
        waiting = deque(graph.ops)
        while waiting:
            op = waiting.popleft()
            for rule, kinds in stage.items():
                if op.kind not in kinds or not applications_left[rule] or not _is_in(graph, op):
                    continue
                with naming(op, rule.__name__):
                    replacement = rule(op, graph, options)
                if replacement is None:
                    continue
                applications_left[rule] -= 1
                if not isinstance(replacement, Tensor):
                    for new in replacement:
                        new.layer = new.layer or op.layer
                graph.replace(op, replacement)
                graph.sort()
                verify(graph, rule.__name__)
                changed = True


def _is_in(graph: Graph, op: Op) -> bool:
    """Tells whether the operator is still in the graph: a replacement may have removed it."""
    return bool(op.outputs) and op.outputs[0].producer is op
