"""Malformed operators raise a ValueError that names the operator and says what to do.

Each model is loaded in a process of its own, so that a crash is a failed test here.
"""

import re
from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers

from tests.crash_box import CrashBox, load_and_run, load_in_plain_host
from tests.hosts import HOSTS, RUNNERS
from tests.model_builder import ABSENT, ModelBuilder, flexbuffer_map
from tests.python.operator_faults import BASES, FAULTS, OPTION_FAULTS, Fault, spoilt

_BITS = np.int32
_HUGE = 2**31 - 1
_POOL_OPTIONS = BASES["pool"]().options[1]


def _refusal(box: CrashBox, model: bytes) -> str:
    """Returns the message of the engine, which must refuse the model."""
    kind, message = box.call(load_and_run, model, None)
    assert kind == "ValueError", message
    assert re.search("expected.*; [a-z]", message), "expected, got and a remedy"
    for noise in ("failed to prepare", "Restored original", "See instructions", "Node number"):
        assert noise not in message
    return str(message)


@pytest.mark.parametrize("base", BASES)
def test_the_models_to_be_spoilt_are_good(base, box):
    assert box.call(load_and_run, BASES[base]().finish(), None) == ("", "")


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name, box):
    fault = FAULTS[name]
    message = _refusal(box, spoilt(fault))
    place = 0
    for part in fault.file_message or fault.message:
        assert part in message[place:], message
        place = message.index(part, place) + len(part)


def _refusal_of_options(box: CrashBox, base: str, options: dict[str, Any] | bytes) -> str:
    chain = BASES[base]()
    chain.set_options(1, options if isinstance(options, bytes) else flexbuffer_map(options))
    return _refusal(box, chain.finish())


@pytest.mark.parametrize(
    ("base", "key"),
    [
        (base, key)
        for base in ("conv", "conv_with_pads", "conv_two_bits", "pool", "square", "weights")
        for key in BASES[base]().options[1]
    ],
)
def test_options_out_of_range(base, key, box):
    good = BASES[base]().options[1]
    for value in OPTION_FAULTS[key]:
        message = _refusal_of_options(box, base, good | {key: value})
        assert re.search(rf"\(#1\): option '{key}': expected .*, got {value};", message)
    del good[key]
    assert f"(#1): option '{key}' is missing; " in _refusal_of_options(box, base, good)


def _list_options() -> bytes:
    builder = flexbuffers.Builder()
    with builder.Vector():
        builder.Add(1)
    return bytes(builder.Finish())


@pytest.mark.parametrize(
    ("base", "options", "words"),
    [
        ("conv", b"", "got 0 bytes; expected a map with channels_in"),
        ("weights", b"", "got 0 bytes; expected a map with axis"),
        ("conv", b"\xff" * 30, "not a FlexBuffer"),
        ("conv", _list_options(), "expected a FlexBuffer map"),
        ("conv", b"\x00\x24\x01", "FlexBuffer points"),
        ("conv", {"stride_width": "two"}, "'stride_width': expected a whole number"),
        ("conv", {"stride_width": 1.5}, "'stride_width': expected a whole number"),
        ("conv", {"colour": 3}, "unknown option 'colour'"),
    ],
)
def test_options_of_other_kinds(base, options, words, box):
    if isinstance(options, dict):
        options = BASES[base]().options[1] | options
    assert words in _refusal_of_options(box, base, options)


@pytest.mark.parametrize(
    ("base", "change", "words"),
    [
        (
            "weights",
            "1.out shape 6 16384 16384 5",
            "bits': expected 251658240 words for 8053063680 weights, got 9",
        ),
        # Counted in 32 bits, these bytes would wrap to the 432 that the file has.
        ("conv", "1.in1 shape 6 1 268435465 2", "expected 12884902320 bytes"),
    ],
)
def test_constants_beyond_32_bits(base, change, words, box):
    assert words in _refusal(box, spoilt(Fault(base, [change])))


def int8_conv(
    *,
    image: dict[str, Any] | None = None,
    kernel: dict[str, Any] | None = None,
    result: dict[str, Any] | None = None,
    bias: tuple[int, Any] | int | None = (8, np.int32),
    **changed: Any,
) -> bytes:
    """Builds one int8 CONV_2D that the engine takes, right in everything that is not an argument.

    `image`, `kernel` and `result` replace what the builder is given of these tensors, `bias` is a
    size and type, ABSENT, or no input at all; `changed` replaces options.
    """
    builder = ModelBuilder()
    source = {"shape": (1, 6, 6, 3), "scale": 0.5, "zero_point": -3} | (image or {})
    x = builder.tensor(source.pop("shape"), np.int8, name="x", **source)
    weights = {"array": np.ones((8, 3, 3, 3), np.int8), "scale": [0.1] * 8, "zero_point": [0] * 8}
    weights |= kernel or {}
    array = weights.pop("array")
    is_constant = isinstance(array, np.ndarray)
    w = (builder.constant if is_constant else builder.tensor)(
        *((array,) if is_constant else (array, np.int8)), name="w", **weights
    )
    drain = {"shape": (1, 3, 3, 8), "scale": 2.0, "zero_point": 5} | (result or {})
    y = builder.tensor(drain.pop("shape"), np.int8, name="y", **drain)
    inputs = [x, w]
    if isinstance(bias, tuple):
        scales = {"scale": [0.05] * bias[0], "zero_point": [0] * bias[0]}
        inputs.append(builder.constant(np.zeros(*bias), name="bias", **scales))
    elif bias is not None:
        inputs.append(bias)
    options = {"padding": 0, "strideH": 2, "strideW": 2, "dilationHFactor": 1, "dilationWFactor": 1}
    builder.builtin("CONV_2D", inputs, [y], **options | changed)
    graph_inputs = [x] if is_constant else [x, w]
    return builder.finish(graph_inputs, [y])


_LOWEST = np.full((8, 3, 3, 3), -128, np.int8)

# Faults by name: the arguments of `int8_conv`, and words of the message, or None if the file
# reaches the host, which then decides.
_INT8_CONV: dict[str, tuple[dict[str, Any], str | None]] = {
    "a zero point of 200": ({"image": {"zero_point": 200}}, "zero points of -128 to 127, got 200"),
    "a zero point of -129": ({"result": {"zero_point": -129}}, "zero points of -128 to 127"),
    "a zero scale": ({"image": {"scale": 0.0}}, None),
    "a scale that is no number": ({"image": {"scale": np.nan}}, "scales of at least 0, got nan"),
    "a huge scale": ({"image": {"scale": 3e38}}, None),
    "a tiny scale of the result": ({"result": {"scale": 1e-30}}, None),
    "no scale": ({"image": {"scale": None, "zero_point": 0}}, None),
    "weights' scale of 0": ({"kernel": {"scale": [0.0] * 8}}, None),
    "a weights' scale that is no number": (
        {"kernel": {"scale": [0.1] * 7 + [np.nan]}},
        "scales of at least 0, got nan",
    ),
    "a huge weights' scale": ({"kernel": {"scale": [0.1] * 7 + [3e38]}}, None),
    "seven scales of weights": (
        {"kernel": {"scale": [0.1] * 7, "zero_point": [0] * 7}},
        "one scale or 8, got 7",
    ),
    "a zero point of weights": ({"kernel": {"zero_point": [0] * 7 + [1]}}, None),
    "scales along the inputs": (
        {"kernel": {"scale": [0.1] * 3, "zero_point": [0] * 3, "quantized_dimension": 3}},
        None,
    ),
    "computed weights": ({"kernel": {"array": (8, 3, 3, 3)}}, None),
    "weights of other channels": ({"kernel": {"array": np.ones((8, 3, 3, 2), np.int8)}}, None),
    "no bias": ({"bias": None}, None),
    "an absent bias": ({"bias": ABSENT}, None),
    "a float bias": ({"bias": (8, np.float32)}, None),
    "a bias of seven": ({"bias": (7, np.int32)}, None),
    "an image beyond memory": ({"image": {"shape": (1, _HUGE, _HUGE, 3)}}, "2^60 bytes"),
    "an image of more than memory": ({"image": {"shape": (1, 1 << 22, 1 << 22, 3)}}, None),
    "a stride of 0": ({"strideH": 0}, None),
    "a stride below 0": ({"strideW": -1}, None),
    "padding 7": ({"padding": 7}, None),
    "activation 9": ({"fusedActivationFunction": 9}, None),
}


@pytest.mark.parametrize("fault", _INT8_CONV)
def test_int8_convolutions(fault, box):
    changes, words = _INT8_CONV[fault]
    kind, message = box.call(load_and_run, int8_conv(**changes), None)
    assert kind in (("", "ValueError") if words is None else ("ValueError",)), message
    assert (words or "") in message


def test_int8_convolutions_of_the_lowest_weights(box):
    """The rows of products of bytes do not take such weights, but hosts do."""
    for array in (_LOWEST, -_LOWEST - 1):
        assert box.call(load_and_run, int8_conv(kernel={"array": array}), None) == ("", "")


def test_shapes_whose_product_overflows(box):
    """The host or the plug-in refuses it, whichever sees it first."""
    for shape in ((_HUGE, _HUGE, _HUGE, 2), (_HUGE, 5, 5, 2), (1, _HUGE, _HUGE, 2)):
        builder = ModelBuilder()
        x, y = builder.tensor(shape, _BITS), builder.tensor(shape, _BITS)
        builder.custom("LceBMaxPool2d", [x], [y], _POOL_OPTIONS)
        kind, message = box.call(load_and_run, builder.finish([x], [y]), None)
        assert kind == "ValueError", (shape, kind, message)
        words = (
            "overflowed",
            "memory that suffices",
            "expected a shape of at most 2^60 bytes",
        )
        assert any(word in message for word in words), message


def _linked_pools(links: str) -> bytes:
    """Builds pools between the tensors x, a and b; "xa ab" is the order that makes sense."""
    builder = ModelBuilder()
    tensors = {name: builder.tensor((1, 4, 4, 2), _BITS, name=name) for name in "xab"}
    for link in links.split():
        source, result = tuple(link)
        builder.custom("LceBMaxPool2d", [tensors[source]], [tensors[result]], _POOL_OPTIONS)
    return builder.finish([tensors["x"]], [tensors["b"]])


_ORDERS = pytest.mark.parametrize(
    ("links", "words"),
    [
        ("xa ab", ""),
        ("ab xa", "operator #0, to 'b': expected inputs that are known before it runs, got tensor"),
        ("aa ab", "got tensor 'a' (#1), an output of operator #0; the file is corrupted"),
        ("ba ab", "got tensor 'b' (#2), an output of operator #1; the file is corrupted"),
    ],
)


@pytest.mark.parametrize("host", RUNNERS)
@_ORDERS
def test_operators_that_read_what_is_not_there_yet(links, words, host, box):
    kind, message = box.call(load_and_run, _linked_pools(links), host)
    assert kind == ("ValueError" if words else "")
    assert words in message
    assert bool(words) == bool(message)


@pytest.mark.parametrize("host", HOSTS)
@_ORDERS
def test_the_delegate_alone_refuses_what_is_not_there_yet(links, words, host, box):
    """Some hosts would crash while they look for operators that the plug-in may take."""
    message = box.call(load_in_plain_host, _linked_pools(links), host)
    assert words in message
    assert bool(words) == bool(message)


def test_an_unknown_custom_operator(box):
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4)), builder.tensor((1, 4))
    builder.custom("Mystery", [x], [y])
    kind, message = box.call(load_and_run, builder.finish([x], [y]), None)
    assert kind == "ValueError"
    assert message == "model: Encountered unresolved custom op: Mystery."
