"""Holds all facts about operators: our own, and those of the host that matter here.

Modules read facts from the rows. Modules that use a fact, such as a rule that rewrites an operator,
decide themselves what follows from it.
"""

import enum
from dataclasses import dataclass


class Samples(enum.Enum):
    """Ways in which the samples of a batch, along axis 0, go through an operator
    (samplewise.py)."""

    MIXED = "they may meet, for all that is known"
    APART = "each sample of input 0 makes a sample; the other inputs are constants"
    EACH = "each value comes from the values at the same place of the inputs, broadcast"
    CONSTANT = "it reads constants alone"
    PRODUCT = "input 0 is multiplied with matrices"
    JOINED = "inputs are joined along an axis"
    SPLIT = "input 1 is split along the axis that is input 0"
    PADDED = "input 1 says how much each axis grows"
    REDUCED = "input 1 are axes that vanish"
    TRANSPOSED = "input 1 is the order of axes"
    RESHAPED = "input 1 is the shape"


@dataclass(frozen=True)
class Weights:
    """Describes input 1 of an operator that multiplies with weights.

    Attributes:
        rank: Number of dimensions. Matrices may be stacked along more dimensions before these.
        channel_axis: Which of those dimensions has the output channels.
        data: Number of the input that is multiplied with the weights.
        bias: Number of the input that is added.
        of_inputs: Whether each value of the data is multiplied with all weights of its channel, the
            last dimension; else each output is a sum over all weights of its own.
        turned_by: Name of the option that exchanges the last two dimensions.
    """

    rank: int
    channel_axis: int
    data: int = 0
    bias: int = 2
    of_inputs: bool = False
    turned_by: str = ""


# Lowest and highest value; None if unbounded.
Range = tuple[int | None, int | None]


@dataclass(frozen=True)
class KnownOp:
    """A row: the facts about one operator. An unknown operator has a name and nothing else.

    Attributes:
        name: The name in the schema; for our operators, the name that this converter writes.
        spellings: Other names of the operator in files.
        is_ours: Whether the plug-in always runs it. It is a custom operator then, with a FlexBuffer
            map as options.
        in_lce: For our operators, whether LCE has it too.
        in_xcore: For our operators, whether XMOS's tools have it too.
        bits: For our operators, the inputs that hold one bit a value. Outputs of int32 hold bits.
        weights: The weights of an operator that multiplies.
        samples: The kind of how samples go through it.
        moved: The inputs whose values it only moves or drops; the other inputs are positions.
        clamp: The range to which it limits values, if it does nothing else.
        default_options: The options with which hosts run it if a file has none.
        is_recurrent: Whether it is a whole recurrent layer.
        is_random: Whether its results are random numbers.
        has_effects: Whether it does more than make its outputs.
    """

    name: str
    spellings: tuple[str, ...] = ()
    is_ours: bool = False
    in_lce: bool = True
    in_xcore: bool = True
    bits: tuple[int, ...] = ()
    weights: Weights | None = None
    samples: Samples = Samples.MIXED
    moved: slice | None = None
    clamp: Range | None = None
    default_options: str = ""
    is_recurrent: bool = False
    is_random: bool = False
    has_effects: bool = False


_FIRST, _SECOND, _ALL = slice(0, 1), slice(1, 2), slice(None)

_OURS = (
    KnownOp("LceQuantize", is_ours=True, samples=Samples.APART),
    KnownOp("LceDequantize", is_ours=True, bits=(0,), samples=Samples.APART),
    KnownOp(
        "LceBconv2d",
        # LCE's sources and documents spell it in two ways; its converter writes one of them.
        spellings=("LceBConv2d",),
        is_ours=True,
        bits=(0, 1),
        weights=Weights(rank=4, channel_axis=0),
        samples=Samples.APART,
    ),
    KnownOp(
        "LceBmatmul",
        is_ours=True,
        in_lce=False,
        in_xcore=False,
        bits=(0, 1),
        samples=Samples.PRODUCT,
    ),
    KnownOp("LceBMaxPool2d", is_ours=True, in_xcore=False, bits=(0,), samples=Samples.APART),
    KnownOp(
        "LceUnpackWeights",
        is_ours=True,
        in_lce=False,
        in_xcore=False,
        bits=(0,),
        samples=Samples.CONSTANT,
    ),
)

_LAYERS = (
    KnownOp("CONV_2D", weights=Weights(rank=4, channel_axis=0), samples=Samples.APART),
    KnownOp("CONV_3D", weights=Weights(rank=5, channel_axis=4)),
    KnownOp(
        "CONV_3D_TRANSPOSE",
        weights=Weights(rank=5, channel_axis=3, data=2, bias=3, of_inputs=True),
    ),
    KnownOp("DEPTHWISE_CONV_2D", weights=Weights(rank=4, channel_axis=3), samples=Samples.APART),
    KnownOp(
        "FULLY_CONNECTED",
        weights=Weights(rank=2, channel_axis=0),
        samples=Samples.APART,
        default_options="FullyConnectedOptions",
    ),
    KnownOp(
        "TRANSPOSE_CONV",
        weights=Weights(rank=4, channel_axis=0, data=2, bias=3, of_inputs=True),
    ),
    KnownOp(
        "BATCH_MATMUL",
        weights=Weights(rank=2, channel_axis=1, turned_by="adjY"),
        samples=Samples.PRODUCT,
        default_options="BatchMatMulOptions",
    ),
)

_RECURRENT = tuple(
    KnownOp(name, is_recurrent=True)
    for name in (
        "BIDIRECTIONAL_SEQUENCE_LSTM",
        "BIDIRECTIONAL_SEQUENCE_RNN",
        "LSTM",
        "RNN",
        "SVDF",
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        "UNIDIRECTIONAL_SEQUENCE_RNN",
    )
)

_CLAMPS = (
    KnownOp("RELU", clamp=(0, None), samples=Samples.EACH),
    KnownOp("RELU_N1_TO_1", clamp=(-1, 1), samples=Samples.EACH),
    KnownOp("RELU6", clamp=(0, 6), samples=Samples.EACH),
    KnownOp("RELU_0_TO_1", clamp=(0, 1), samples=Samples.EACH),
)

_ELEMENTWISE = (
    KnownOp("ABS", samples=Samples.EACH),
    KnownOp("CAST", samples=Samples.EACH),
    KnownOp("CEIL", samples=Samples.EACH),
    KnownOp("COS", samples=Samples.EACH),
    KnownOp("ADD", samples=Samples.EACH, default_options="AddOptions"),
    KnownOp("DEQUANTIZE", samples=Samples.EACH),
    KnownOp("DIV", samples=Samples.EACH, default_options="DivOptions"),
    KnownOp("ELU", samples=Samples.EACH),
    KnownOp("EQUAL", samples=Samples.EACH),
    KnownOp("EXP", samples=Samples.EACH),
    KnownOp("FLOOR", samples=Samples.EACH),
    KnownOp("GELU", samples=Samples.EACH),
    KnownOp("GREATER", samples=Samples.EACH),
    KnownOp("GREATER_EQUAL", samples=Samples.EACH),
    KnownOp("HARD_SWISH", samples=Samples.EACH),
    KnownOp("LEAKY_RELU", samples=Samples.EACH, default_options="LeakyReluOptions"),
    KnownOp("LESS", samples=Samples.EACH),
    KnownOp("LESS_EQUAL", samples=Samples.EACH),
    KnownOp("LOG", samples=Samples.EACH),
    KnownOp("LOGICAL_AND", samples=Samples.EACH),
    KnownOp("LOGICAL_NOT", samples=Samples.EACH),
    KnownOp("LOGICAL_OR", samples=Samples.EACH),
    KnownOp("LOGISTIC", samples=Samples.EACH),
    KnownOp("MAXIMUM", samples=Samples.EACH),
    KnownOp("MINIMUM", samples=Samples.EACH),
    KnownOp("MUL", samples=Samples.EACH, default_options="MulOptions"),
    KnownOp("NEG", samples=Samples.EACH),
    KnownOp("NOT_EQUAL", samples=Samples.EACH),
    KnownOp("POW", samples=Samples.EACH),
    KnownOp("PRELU", samples=Samples.EACH),
    KnownOp("QUANTIZE", samples=Samples.EACH),
    KnownOp("ROUND", samples=Samples.EACH),
    KnownOp("RSQRT", samples=Samples.EACH),
    KnownOp("SELECT", samples=Samples.EACH),
    KnownOp("SELECT_V2", samples=Samples.EACH),
    KnownOp("SIGN", samples=Samples.EACH),
    KnownOp("SIN", samples=Samples.EACH),
    KnownOp("SQRT", samples=Samples.EACH),
    KnownOp("SQUARE", samples=Samples.EACH),
    KnownOp("SQUARED_DIFFERENCE", samples=Samples.EACH),
    KnownOp("SUB", samples=Samples.EACH, default_options="SubOptions"),
    KnownOp("TANH", samples=Samples.EACH),
)

# Their outputs have the values of their inputs, at other places. Poolings only keep the largest.
_MOVERS = (
    KnownOp("BROADCAST_TO", moved=_FIRST),
    KnownOp(
        "CONCATENATION", moved=_ALL, samples=Samples.JOINED, default_options="ConcatenationOptions"
    ),
    KnownOp("DEPTH_TO_SPACE", moved=_FIRST),
    KnownOp("EXPAND_DIMS", moved=_FIRST),
    KnownOp("GATHER", moved=_FIRST),
    KnownOp("MAX_POOL_2D", moved=_FIRST, samples=Samples.APART),
    KnownOp("MIRROR_PAD", moved=_FIRST),
    KnownOp("PACK", moved=_ALL),
    KnownOp("PAD", moved=_FIRST, samples=Samples.PADDED),
    KnownOp("PADV2", moved=_FIRST, samples=Samples.PADDED),
    KnownOp("RESHAPE", moved=_FIRST, samples=Samples.RESHAPED),
    KnownOp("RESIZE_NEAREST_NEIGHBOR", moved=_FIRST),
    KnownOp("SLICE", moved=_FIRST),
    KnownOp("SPACE_TO_DEPTH", moved=_FIRST),
    KnownOp("SPLIT", moved=_SECOND, samples=Samples.SPLIT),
    KnownOp("SPLIT_V", moved=_FIRST),
    KnownOp("SQUEEZE", moved=_FIRST),
    KnownOp("STRIDED_SLICE", moved=_FIRST, default_options="StridedSliceOptions"),
    KnownOp("TILE", moved=_FIRST),
    KnownOp("TRANSPOSE", moved=_FIRST, samples=Samples.TRANSPOSED),
    KnownOp("UNPACK", moved=_FIRST),
)

_OTHERS = (
    KnownOp("AVERAGE_POOL_2D", samples=Samples.APART),
    KnownOp("MEAN", samples=Samples.REDUCED, default_options="ReducerOptions"),
    KnownOp("REDUCE_MAX", samples=Samples.REDUCED),
    KnownOp("REDUCE_MIN", samples=Samples.REDUCED),
    KnownOp("REDUCE_PROD", default_options="ReducerOptions"),
    KnownOp("SOFTMAX", samples=Samples.APART),
    KnownOp("SUM", samples=Samples.REDUCED, default_options="ReducerOptions"),
    KnownOp("MULTINOMIAL", is_random=True),
    KnownOp("RANDOM_STANDARD_NORMAL", is_random=True),
    KnownOp("RANDOM_UNIFORM", is_random=True),
    KnownOp("ASSIGN_VARIABLE", has_effects=True),
    KnownOp("CALL_ONCE", has_effects=True),
    KnownOp("HASHTABLE_IMPORT", has_effects=True),
    KnownOp("IF", has_effects=True),
    KnownOp("VAR_HANDLE", has_effects=True),
    KnownOp("WHILE", has_effects=True),
)

KNOWN_OPS = (*_OURS, *_LAYERS, *_RECURRENT, *_CLAMPS, *_ELEMENTWISE, *_MOVERS, *_OTHERS)

_BY_SPELLING = {spelling: op for op in KNOWN_OPS for spelling in (op.name, *op.spellings)}


def known_op(name: str) -> KnownOp:
    """Returns the row of an operator, for any of its spellings."""
    return _BY_SPELLING.get(name) or KnownOp(name)


def names_of_ours() -> list[str]:
    """Returns all spellings of the operators that the plug-in always runs."""
    return [spelling for spelling, op in _BY_SPELLING.items() if op.is_ours]
