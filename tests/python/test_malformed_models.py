"""Malformed operators raise a ValueError that names the operator and says what to do.

Each model is loaded in a process of its own, so that a crash is a failed test here.
"""

from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers

from tests.crash_box import load_and_run, load_in_plain_host
from tests.hosts import HOSTS
from tests.model_builder import ABSENT, ModelBuilder, bconv_options
from tests.oracle import Conv

_CONV = Conv((1, 5, 5, 64), (3, 3), 8)
_BITS = np.int32


def bconv(
    *,
    image: tuple[Any, ...] = ((1, 5, 5, 2), _BITS),
    output: tuple[Any, ...] = ((1, 5, 5, 8), np.float32),
    quantization: dict[str, Any] | None = None,
    input_count: int = 5,
    output_count: int = 1,
    options: bytes | None = None,
    without: str = "",
    tensors: dict[str, Any] | None = None,
    **changed: Any,
) -> bytes:
    """Builds one LceBconv2d on packed input, right in everything that is not an argument.

    `tensors` replaces the constants by name: by an array, a (shape, type) that makes a tensor which
    is computed, or ABSENT. `changed` replaces options, `without` drops one.
    """
    builder = ModelBuilder()
    graph_inputs = [builder.tensor(*image, name="image")]
    is_bits = output[1] is _BITS
    constants = {
        "filter": np.zeros((8, 3, 3, 2), np.int32),
        "multiplier": ABSENT if is_bits else np.ones(8, np.float32),
        "bias": ABSENT if is_bits else np.ones(8, np.float32),
        "threshold": np.zeros(8, np.int32) if is_bits else ABSENT,
    } | (tensors or {})
    inputs = list(graph_inputs)
    for name, value in constants.items():
        if isinstance(value, np.ndarray):
            inputs.append(builder.constant(value, name=name))
        elif isinstance(value, tuple):
            inputs.append(builder.tensor(*value, name=name))
            graph_inputs.append(inputs[-1])
        else:
            inputs.append(value)
    outputs = [builder.tensor(*output, name="conv/y", **(quantization or {}))]
    outputs += [builder.tensor((1,), name="extra") for _ in range(output_count - 1)]
    named = bconv_options(_CONV, **changed)
    named.pop(without, None)
    builder.custom(
        "LceBconv2d", inputs[:input_count], outputs, named if options is None else options
    )
    return builder.finish(graph_inputs, outputs)


def one_op(
    op: str,
    source: tuple[Any, ...],
    result: tuple[Any, ...],
    options: Any = b"",
    source_scale: dict[str, Any] | None = None,
) -> bytes:
    """Builds a model of one operator with one input and one output."""
    builder = ModelBuilder()
    x = builder.tensor(*source, name="x", **(source_scale or {}))
    y = builder.tensor(*result, name="op/y")
    builder.custom(op, [x], [y], options)
    return builder.finish([x], [y])


_POOL_OPTIONS = {
    "padding": 0,
    "stride_height": 1,
    "stride_width": 1,
    "filter_height": 2,
    "filter_width": 2,
}


def pool(without: str = "", shape: Any = ((1, 4, 4, 2), _BITS), **changed: Any) -> bytes:
    options = _POOL_OPTIONS | changed
    options.pop(without, None)
    return one_op("LceBMaxPool2d", shape, shape, options)


def weights(
    bits: np.ndarray | None = None,
    scale: np.ndarray | None = None,
    result: tuple[Any, ...] = ((6, 3, 3, 5),),
    options: Any = None,
    **tensor: Any,
) -> bytes:
    """Builds one LceUnpackWeights of 270 weights that a fully connected layer reads."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 45), name="x"), builder.tensor((1, 6))
    constants = [
        builder.constant(np.zeros(9, np.int32) if bits is None else bits, name="bits"),
        builder.constant(np.ones(6, np.float32) if scale is None else scale, name="scale"),
    ]
    unpacked = builder.tensor(*result, name="op/y", **tensor)
    flat = builder.tensor((6, 45), *result[1:])
    builder.custom(
        "LceUnpackWeights", constants, [unpacked], {"axis": 0} if options is None else options
    )
    builder.builtin("RESHAPE", [unpacked, builder.constant(np.array([6, 45], np.int32))], [flat])
    builder.builtin("FULLY_CONNECTED", [x, flat, builder.constant(np.zeros(6, np.float32))], [y])
    return builder.finish([x], [y])


def _list_options() -> bytes:
    builder = flexbuffers.Builder()
    with builder.Vector():
        builder.Add(1)
    return bytes(builder.Finish())


_INT8 = ((1, 5, 5, 8), np.int8)
_PACKED = ((1, 5, 5, 1), _BITS)
_HUGE = 2**31 - 1

# Faults by name: the arguments of `bconv`, and words of the message.
_BCONV: dict[str, tuple[dict[str, Any], list[str]]] = {
    "options of no bytes": ({"options": b""}, ["0 bytes", "expected a map with channels_in"]),
    "options of junk": ({"options": b"\xff" * 30}, ["not a FlexBuffer"]),
    "options that are a list": ({"options": _list_options()}, ["expected a FlexBuffer map"]),
    "options that point outside": ({"options": b"\x00\x24\x01"}, ["FlexBuffer points"]),
    "text as an option": ({"stride_width": "two"}, ["'stride_width': expected a whole number"]),
    "a float as an option": ({"stride_width": 1.5}, ["'stride_width': expected a whole number"]),
    "an unknown option": ({"colour": 3}, ["unknown option 'colour'"]),
    "zero stride": ({"stride_height": 0}, ["'stride_height': expected 1 to", "got 0"]),
    "negative stride": ({"stride_width": -2}, ["'stride_width': expected 1 to", "got -2"]),
    "zero dilation": ({"dilation_width_factor": 0}, ["'dilation_width_factor'", "got 0"]),
    "huge stride": ({"stride_height": 2**40}, ["'stride_height'", f"got {2**40}"]),
    "padding 2": ({"padding": 2}, ["'padding': expected 0 to 1, got 2"]),
    "pad_values 7": ({"pad_values": 7}, ["'pad_values': expected -1 to 1, got 7"]),
    "activation 9": ({"fused_activation_function": 9}, ["expected 0 to 3, got 9"]),
    "zero channels": ({"channels_in": 0}, ["'channels_in': expected 1 to", "got 0"]),
    "other channels": ({"channels_in": 65}, ["filter: expected 3 words for 65 input channels"]),
    "four inputs": ({"input_count": 4}, ["expected 5 inputs, got 4"]),
    "no inputs": ({"input_count": 0}, ["expected 5 inputs, got 0"]),
    "two outputs": ({"output_count": 2}, ["expected 1 output, got 2"]),
    "float image": (
        {"image": ((1, 5, 5, 2), np.float32)},
        ["input 'image': expected int32, got float32"],
    ),
    "image of rank 3": ({"image": ((5, 5, 2), _BITS)}, ["4 dimensions, got shape [5, 5, 2]"]),
    "image of more words": ({"image": ((1, 5, 5, 3), _BITS)}, ["2 words a pixel", "[1, 5, 5, 3]"]),
    "float filter": (
        {"tensors": {"filter": np.zeros((8, 3, 3, 2), np.float32)}},
        ["filter 'filter': expected int32, got float32"],
    ),
    "filter of rank 3": (
        {"tensors": {"filter": np.zeros((8, 3, 2), np.int32)}},
        ["filter: expected 4 dimensions, got shape [8, 3, 2]"],
    ),
    "filter of more words": (
        {"tensors": {"filter": np.zeros((8, 3, 3, 3), np.int32)}},
        ["filter: expected 2 words for 64 input channels", "got 3 words"],
    ),
    "filter without rows": (
        {"tensors": {"filter": np.zeros((8, 0, 3, 2), np.int32)}},
        ["filter: expected", "[8, 0, 3, 2]"],
    ),
    "computed filter": (
        {"tensors": {"filter": ((8, 3, 3, 2), np.int32)}},
        ["filter 'filter': expected a constant"],
    ),
    "no filter": ({"tensors": {"filter": ABSENT}}, ["filter: expected int32, got no tensor"]),
    "ones past the filter's channels": (
        {"channels_in": 63, "tensors": {"filter": np.full((8, 3, 3, 2), -1, np.int32)}},
        ["expected zeros after the 63 channels"],
    ),
    "no multiplier": (
        {"tensors": {"multiplier": ABSENT}},
        ["multiplier: expected float32, got no tensor"],
    ),
    "computed bias": (
        {"tensors": {"bias": ((8,), np.float32)}},
        ["bias 'bias': expected a constant"],
    ),
    "int multiplier": (
        {"tensors": {"multiplier": np.ones(8, np.int32)}},
        ["multiplier 'multiplier': expected float32, got int32"],
    ),
    "bias of rank 2": (
        {"tensors": {"bias": np.ones((1, 8), np.float32)}},
        ["bias: expected 1 dimensions, got shape [1, 8]"],
    ),
    "seven multipliers": (
        {"tensors": {"multiplier": np.ones(7, np.float32)}},
        ["multiplier 'multiplier': expected 8 values", "got 7"],
    ),
    "no threshold": (
        {"output": _PACKED, "tensors": {"threshold": ABSENT}},
        ["threshold: expected int32, got no tensor"],
    ),
    "nine thresholds": (
        {"output": _PACKED, "tensors": {"threshold": np.zeros(9, np.int32)}},
        ["threshold 'threshold': expected 8 values", "got 9"],
    ),
    "float threshold": (
        {"output": _PACKED, "tensors": {"threshold": np.zeros(8, np.float32)}},
        ["threshold 'threshold': expected int32, got float32"],
    ),
    "uint8 output": (
        {"output": ((1, 5, 5, 8), np.uint8)},
        ["output 'conv/y': expected float32 or int8 or int32, got uint8"],
    ),
    "int8 output without a scale": (
        {"output": _INT8},
        ["output 'conv/y': expected one positive scale for int8, got none"],
    ),
    "int8 output with a scale for each channel": (
        {
            "output": _INT8,
            "quantization": {
                "scale": [0.1] * 8,
                "zero_point": [0] * 8,
                "quantized_dimension": 3,
            },
        },
        ["output 'conv/y': expected one zero point for the tensor, got 8"],
    ),
    "an output of rank 3": (
        {"output": ((5, 5, 8), np.float32)},
        ["output: expected 4 dimensions, got shape [5, 5, 8]"],
    ),
    "an image smaller than the filter": (
        {"image": ((1, 2, 5, 2), _BITS), "padding": 1},
        ["holds the filter of 3 x 3", "VALID", "[1, 2, 5, 2]"],
    ),
}


# Faults of other operators: the model, its operator, and words of the message.
_OTHERS: dict[str, tuple[bytes, str, list[str]]] = {
    **{
        f"pool without {key}": (pool(without=key), "LceBMaxPool2d", [f"option '{key}' is missing"])
        for key in ("filter_height", "filter_width", "padding", "stride_height", "stride_width")
    },
    "pool with zero stride": (
        pool(stride_width=0),
        "LceBMaxPool2d",
        ["'stride_width': expected 1 to", "got 0"],
    ),
    "pool with a negative window": (
        pool(filter_height=-3),
        "LceBMaxPool2d",
        ["'filter_height': expected 1 to", "got -3"],
    ),
    "pool with padding 5": (
        pool(padding=5),
        "LceBMaxPool2d",
        ["'padding': expected 0 to 1, got 5"],
    ),
    "pool of rank 3": (
        pool(shape=((4, 4, 2), _BITS)),
        "LceBMaxPool2d",
        ["expected 4 dimensions, got shape [4, 4, 2]"],
    ),
    "pool of floats": (
        pool(shape=((1, 4, 4, 2), np.float32)),
        "LceBMaxPool2d",
        ["expected int32, got float32"],
    ),
    "pool larger than the image": (
        pool(padding=1, filter_width=5),
        "LceBMaxPool2d",
        ["at least 2 x 5", "VALID", "[1, 4, 4, 2]"],
    ),
    "quantize of int32": (
        one_op("LceQuantize", ((1, 40), np.int32), ((1, 2), _BITS)),
        "LceQuantize",
        ["input 'x': expected", "got int32"],
    ),
    "quantize to floats": (
        one_op("LceQuantize", ((1, 40),), ((1, 2),)),
        "LceQuantize",
        ["output 'op/y': expected int32, got float32"],
    ),
    "pool to rank 2": (
        one_op("LceBMaxPool2d", ((1, 4, 4, 2), _BITS), ((1, 8), _BITS), options=_POOL_OPTIONS),
        "LceBMaxPool2d",
        ["output: expected 4 dimensions, got shape [1, 8]"],
    ),
    "quantize to another rank": (
        one_op("LceQuantize", ((1, 40),), ((1, 1, 2), _BITS)),
        "LceQuantize",
        ["output: expected 2 dimensions, got shape [1, 1, 2]"],
    ),
    "dequantize to another rank": (
        one_op("LceDequantize", ((1, 2), _BITS), ((40,),)),
        "LceDequantize",
        ["output: expected 2 dimensions, got shape [40]"],
    ),
    "quantize of a scalar": (
        one_op("LceQuantize", ((),), ((), _BITS)),
        "LceQuantize",
        ["expected at least 1 dimension"],
    ),
    "quantize with a zero point for each channel": (
        one_op(
            "LceQuantize",
            ((1, 2), np.int8),
            ((1, 1), _BITS),
            source_scale={"scale": [0.1, 0.2], "zero_point": [1, 2], "quantized_dimension": 1},
        ),
        "LceQuantize",
        ["input 'x': expected one zero point for the tensor, got 2"],
    ),
    "dequantize of floats": (
        one_op("LceDequantize", ((1, 2),), ((1, 40),)),
        "LceDequantize",
        ["input 'x': expected int32, got float32"],
    ),
    "dequantize to int32": (
        one_op("LceDequantize", ((1, 2), _BITS), ((1, 40), np.int32)),
        "LceDequantize",
        ["output 'op/y': expected", "got int32"],
    ),
    "dequantize of too few words": (
        one_op("LceDequantize", ((1, 2), _BITS), ((1, 65),)),
        "LceDequantize",
        ["3 words", "65"],
    ),
    "weights without options": (
        weights(options=b""),
        "LceUnpackWeights 'op'",
        ["got 0 bytes", "expected a map with axis"],
    ),
    "weights without an axis": (
        weights(options={}),
        "LceUnpackWeights 'op'",
        ["option 'axis' is missing"],
    ),
    "weights of an axis beyond the last": (
        weights(options={"axis": 4}),
        "LceUnpackWeights 'op'",
        ["option 'axis': expected 0 to 3, got 4"],
    ),
    "weights of too few bits": (
        weights(bits=np.zeros(8, np.int32)),
        "LceUnpackWeights 'op'",
        ["bits 'bits': expected 9 words for 270 weights, got 8"],
    ),
    "weights of ones after the last bit": (
        weights(bits=np.full(9, -1, np.int32)),
        "LceUnpackWeights 'op'",
        ["bits 'bits': expected zeros after the 270 weights, got ones"],
    ),
    "weights of float bits": (
        weights(bits=np.zeros(9, np.float32)),
        "LceUnpackWeights 'op'",
        ["bits 'bits': expected int32, got float32"],
    ),
    "weights of too many scales": (
        weights(scale=np.ones(7, np.float32)),
        "LceUnpackWeights 'op'",
        ["scale 'scale': expected 1 value, or 6, one for each index of the axis, got 7"],
    ),
    "weights of integer scales": (
        weights(scale=np.ones(6, np.int32)),
        "LceUnpackWeights 'op'",
        ["scale 'scale': expected float32, got int32"],
    ),
    "weights of an open shape": (
        weights(signature=(-1, 3, 3, 5)),
        "LceUnpackWeights 'op'",
        ["output: expected a shape that the file fixes", "got [-1, 3, 3, 5]"],
    ),
    "int32 weights": (
        weights(result=((6, 3, 3, 5), np.int32)),
        "LceUnpackWeights 'op'",
        ["output 'op/y': expected float32 or int8, got int32"],
    ),
    "int8 weights of half steps": (
        weights(result=((6, 3, 3, 5), np.int8), scale=np.full(6, 0.5, np.float32)),
        "LceUnpackWeights 'op'",
        ["scale 'scale': expected whole numbers from -127 to 127 for int8 weights, got 0.5"],
    ),
    "weights of no size": (
        weights(result=((6, 3, 0, 5),)),
        "LceUnpackWeights 'op'",
        ["all sizes at least 1, got [6, 3, 0, 5]"],
    ),
    "weights that no file could hold": (
        weights(result=((6, 1 << 14, 1 << 14, 5),)),
        "LceUnpackWeights 'op'",
        ["bits 'bits': expected 251658240 words for 8053063680 weights, got 9"],
    ),
    "dequantize to int8 without a scale": (
        one_op("LceDequantize", ((1, 2), _BITS), ((1, 40), np.int8)),
        "LceDequantize",
        ["output 'op/y': expected one positive scale for int8, got none"],
    ),
}


def _check_message(message: str, op: str, words: list[str]) -> None:
    assert op in message
    assert "(#0)" in message, "the operator's number"
    assert "expected" in message and ";" in message, "expected, got and a remedy"
    for noise in ("failed to prepare", "Restored original", "See instructions", "Node number"):
        assert noise not in message
    for word in words:
        assert word in message


def test_the_models_to_be_spoilt_are_good(box):
    for model in (
        bconv(),
        bconv(output=_INT8, quantization={"scale": 0.1}),
        bconv(output=_PACKED),
        pool(),
        one_op("LceQuantize", ((1, 3, 40),), ((1, 3, 2), _BITS)),
        one_op("LceDequantize", ((1, 3, 2), _BITS), ((1, 3, 40),)),
        weights(),
        weights(result=((6, 3, 3, 5), np.int8)),
    ):
        assert box.call(load_and_run, model, None) == ("", "")


@pytest.mark.parametrize("key", bconv_options(_CONV))
def test_bconv_without_an_option(key, box):
    kind, message = box.call(load_and_run, bconv(without=key), None)
    assert kind == "ValueError"
    _check_message(message, "LceBconv2d 'conv'", [f"option '{key}' is missing"])


@pytest.mark.parametrize("fault", _BCONV)
def test_bconv(fault, box):
    changes, words = _BCONV[fault]
    kind, message = box.call(load_and_run, bconv(**changes), None)
    assert kind == "ValueError", message
    _check_message(message, "LceBconv2d", words)


@pytest.mark.parametrize("fault", _OTHERS)
def test_other_operators(fault, box):
    model, op, words = _OTHERS[fault]
    kind, message = box.call(load_and_run, model, None)
    assert kind == "ValueError", message
    _check_message(message, op, words)


# XNNPACK of LiteRT 2.3 would crash on these, so they are found before a host sees them.
_QUANTIZATION = {
    "zero scale": (
        {"scale": 0.0},
        "output 'conv/y': expected one positive scale for int8, got 0;",
    ),
    "negative scale": (
        {"scale": -0.5},
        "tensor 'conv/y' (#4): expected scales of at least 0, got -0.5;",
    ),
    "infinite scale": (
        {"scale": np.inf},
        "tensor 'conv/y' (#4): expected scales of at least 0, got inf;",
    ),
    "scale that is no number": (
        {"scale": np.nan},
        "tensor 'conv/y' (#4): expected scales of at least 0, got nan;",
    ),
    "denormal scale": (
        {"scale": 1e-40},
        "output 'conv/y': expected one positive scale for int8, got 9.99995e-41;",
    ),
    "zero point of 200": (
        {"scale": 1.0, "zero_point": 200},
        "tensor 'conv/y' (#4): expected zero points of -128 to 127, got 200",
    ),
    "too few zero points": (
        {"scale": [0.1] * 8, "zero_point": [0, 0], "quantized_dimension": 3},
        "tensor 'conv/y' (#4): expected 8 zero points, one for each scale, got 2",
    ),
}


@pytest.mark.parametrize("fault", _QUANTIZATION)
def test_impossible_quantization(fault, box):
    quantization, words = _QUANTIZATION[fault]
    model = bconv(output=_INT8, quantization=quantization)
    kind, message = box.call(load_and_run, model, None)
    assert kind == "ValueError", message
    assert words in message


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
        kind, message = box.call(load_and_run, bconv(image=(shape, _BITS)), None)
        assert kind == "ValueError", (shape, kind, message)
        words = (
            "overflowed",
            "memory that suffices",
            "expected a shape of at most 2^60 bytes",
        )
        assert any(word in message for word in words), message


@pytest.mark.parametrize("runtime", HOSTS)
@pytest.mark.parametrize("offset", [2**64 - 2**44, 2**64 - 4096, 2**20])
@pytest.mark.parametrize("part", ["buffer", "options"])
def test_data_that_lie_outside_the_file(part, offset, runtime, box):
    """Hosts add the offset to the address of the file and read there."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4, 4, 2), _BITS), builder.tensor((1, 4, 4, 2), _BITS)
    total = builder.tensor((1, 4, 4, 2), _BITS)
    builder.custom("LceBMaxPool2d", [x], [y], _POOL_OPTIONS)
    builder.builtin("ADD", [y, builder.constant(np.zeros(2, np.int32))], [total])
    if part == "buffer":
        buffer = builder.model.buffers[1]
        buffer.data, buffer.offset, buffer.size = None, offset, 8
    else:
        pool = builder.graph.operators[0]
        pool.customOptions = None
        pool.largeCustomOptionsOffset, pool.largeCustomOptionsSize = offset, 8
    kind, message = box.call(load_and_run, builder.finish([x], [total]), runtime)
    assert kind == "ValueError"
    assert f"expected data of 8 bytes at byte {offset}, got a file of " in message


@pytest.mark.parametrize("runtime", HOSTS)
@pytest.mark.parametrize(
    ("links", "words"),
    [
        ("xa ab", ""),
        ("ab xa", "operator #0, to 'b': expected inputs that are known before it runs, got tensor"),
        ("aa ab", "got tensor 'a' (#1), an output of operator #0; the file is corrupted"),
        ("ba ab", "got tensor 'b' (#2), an output of operator #1; the file is corrupted"),
    ],
)
def test_operators_that_read_what_is_not_there_yet(links, words, runtime, box):
    """Some hosts would crash while they look for operators that the plug-in may take."""
    kind, message = box.call(load_and_run, _linked_pools(links), runtime)
    assert kind == ("ValueError" if words else "")
    assert words in message


@pytest.mark.parametrize("runtime", HOSTS)
def test_an_output_that_is_absent(runtime, box):
    builder = ModelBuilder()
    x, y, total = (builder.tensor((1, 4)) for _ in range(3))
    builder.builtin("ADD", [x, x], [total])
    builder.builtin("SPLIT", [builder.constant(np.array(1, np.int32)), total], [y, ABSENT])
    kind, message = box.call(load_and_run, builder.finish([x], [y]), runtime)
    assert kind == "ValueError"
    assert (
        "operator #1, to 't1': expected a tensor for each output, got one that is absent; "
        in message
    )


def _linked_pools(links: str) -> bytes:
    """Builds pools between the tensors x, a and b; "xa ab" is the order that makes sense."""
    builder = ModelBuilder()
    tensors = {name: builder.tensor((1, 4, 4, 2), _BITS, name=name) for name in "xab"}
    for source, result in links.split():
        builder.custom("LceBMaxPool2d", [tensors[source]], [tensors[result]], _POOL_OPTIONS)
    return builder.finish([tensors["x"]], [tensors["b"]])


@pytest.mark.parametrize("runtime", HOSTS)
@pytest.mark.parametrize(
    ("links", "words"),
    [
        ("xa ab", ""),
        ("ab xa", "operator #0, to 'b': expected inputs that are known before it runs, got tensor"),
        ("ba ab", "got tensor 'b' (#2), an output of operator #1; the file is corrupted"),
    ],
)
def test_the_plugin_alone_finds_operators_out_of_order(links, words, runtime, box):
    message = box.call(load_in_plain_host, _linked_pools(links), runtime)
    assert words in message
    assert bool(words) == bool(message)


def test_an_unknown_custom_operator(box):
    model = one_op("Mystery", ((1, 4),), ((1, 4),))
    kind, message = box.call(load_and_run, model, None)
    assert kind == "ValueError"
    assert message == "model: Encountered unresolved custom op: Mystery."
