"""Descriptions of small Larq models, drawn at random; `random_layers` builds them.

A description is plain data, so that a failing one prints as an expression that builds it again, and
shrinks well. It may ask for parts that do not fit (a window larger than the image, for instance);
building changes them so that they fit.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

CHANNELS = (1, 3, 31, 32, 33, 64)

INPUT_QUANTIZERS = (
    "ste_sign",
    "approx_sign",
    "swish_sign",
    "where_ge",
    "where_gt",
    "where_lt",
    "where_le",
    "cast",
    "ste_heaviside",
    "ste_tern",
    None,
)
KERNEL_QUANTIZERS = ("ste_sign", "magnitude_aware_sign", "ste_tern", None)
ACTIVATIONS = (None, "relu", "relu6", "hard_tanh", "prelu", "leaky_relu", "ste_sign")


@dataclass(frozen=True)
class Weighted:
    """A layer with weights."""

    kind: str  # conv, conv_1d, dense, separable or depthwise
    channels: int
    input_quantizer: str | None
    kernel_quantizer: str | None
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: str = "valid"
    pad_value: int = 0
    groups: int = 1
    bias: bool = False
    activation: str | None = None


@dataclass(frozen=True)
class BatchNorm:
    scale: bool
    center: bool


@dataclass(frozen=True)
class Activation:
    kind: str | None


@dataclass(frozen=True)
class Pool:
    kind: str  # max, average, global_max or global_average
    window: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    padding: str = "valid"


@dataclass(frozen=True)
class Shape:
    kind: str  # flatten, columns (a picture's rows side by side), swap (height and width)


@dataclass(frozen=True)
class Shortcut:
    """The body's result and its input: their sum if shapes are equal, else both side by side."""

    body: tuple["Block", ...]
    concatenate: bool


Block = Weighted | BatchNorm | Activation | Pool | Shape | Shortcut


@dataclass(frozen=True)
class Model:
    """A model from an image of integers to the results of its blocks."""

    image: tuple[int, int, int]
    blocks: tuple[Block, ...]
    seed: int


_PAIRS = st.tuples(st.integers(1, 3), st.integers(1, 3))
_PADDINGS = st.sampled_from(["valid", "same"])

_BATCH_NORM = st.builds(BatchNorm, st.sampled_from([True, True, False]), st.booleans())
_ACTIVATION = st.builds(Activation, st.sampled_from(ACTIVATIONS))


def _pool(kind: str) -> st.SearchStrategy[Pool]:
    return st.builds(Pool, st.just(kind), _PAIRS, _PAIRS, _PADDINGS)


# Operators through which bits can go from layer to layer.
_MONOTONE = st.one_of(_BATCH_NORM, _BATCH_NORM, _ACTIVATION, _pool("max"))
_ANY_LAYER = st.one_of(_MONOTONE, _pool("average"))


@st.composite
def _weighted(draw: st.DrawFn, binary: bool) -> Weighted:
    kinds = ["conv", "conv", "conv", "conv_1d", "dense"]
    input_quantizer, kernel_quantizer = "ste_sign", "ste_sign"
    if not binary:
        kinds += ["separable", "depthwise"]
        input_quantizer = draw(st.sampled_from(INPUT_QUANTIZERS))
        kernel_quantizer = draw(st.sampled_from(KERNEL_QUANTIZERS))
    kind = draw(st.sampled_from(kinds))
    window = {}
    if kind != "dense":
        window = {
            "kernel": draw(_PAIRS),
            "padding": draw(_PADDINGS),
            "pad_value": draw(st.sampled_from([0, 1, -1])),
        }
        # Keras has no layers with both.
        reach = draw(st.sampled_from(["stride", "dilation"]))
        window[reach] = draw(_PAIRS)
    return Weighted(
        kind,
        draw(st.sampled_from(CHANNELS)),
        input_quantizer,
        kernel_quantizer,
        groups=draw(st.sampled_from([1, 1, 1, 2])) if kind == "conv" else 1,
        bias=draw(st.booleans()),
        activation=draw(st.sampled_from([None, None, "relu", "relu6"])),
        **window,
    )


@st.composite
def _stage(draw: st.DrawFn, binary: bool) -> tuple[Block, ...]:
    """Draws a layer with weights, and batch norm, activation and pooling after it, in any order."""
    kinds = _MONOTONE if binary else _ANY_LAYER
    after = draw(st.lists(kinds, min_size=int(binary), max_size=3, unique_by=type))
    blocks: tuple[Block, ...] = (draw(_weighted(binary)), *after)
    if not binary and draw(st.booleans()):
        blocks = (Shortcut(blocks, draw(st.booleans())),)
    if not binary and draw(st.booleans()):
        blocks = (*blocks, Shape(draw(st.sampled_from(["flatten", "columns", "swap"]))))
    return blocks


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Draws models, half of them chains of binary layers, whose signs become thresholds."""
    binary = draw(st.booleans())
    before = draw(st.lists(_ANY_LAYER, max_size=1))
    stages = draw(st.lists(_stage(binary), min_size=1 + binary, max_size=4))
    end = draw(st.sampled_from([None, "flatten", "global_average", "global_average", "global_max"]))
    after: list[Block] = []
    if end is not None:
        after = [Shape(end) if end == "flatten" else Pool(end), draw(_weighted(binary))]
    blocks = (*before, *(block for stage in stages for block in stage), *after)
    image = st.tuples(st.integers(1, 9), st.integers(1, 9), st.sampled_from(CHANNELS))
    return Model(draw(image), blocks, draw(st.integers(0, 1000)))
