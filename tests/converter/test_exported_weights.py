"""NumPy gives the Interpreter's results with nothing but the exported .npz file.

Results are equal to the bit, for bits as for float and int8, whose arithmetic is described exactly.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from larq_engine.command_line import main
from larq_engine.converter import schema
from larq_engine.python import units
from tests import oracle
from tests.command_line.models import float_model
from tests.model_builder import PADDING, add_weights, bconv_model, bconv_options
from tests.oracle import Conv

_INTEROP = sorted((Path(__file__).parents[1] / "interop" / "data").glob("*.tflite"))
_CLAMPS = {"NONE": (-np.inf, np.inf), "RELU": (0, np.inf), "RELU_N1_TO_1": (-1, 1), "RELU6": (0, 6)}


def _exported(content: bytes, folder: Path) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Returns the layers and arrays of the file that the command writes."""
    model, output = folder / "model.tflite", folder / "weights.npz"
    model.write_bytes(content)
    assert main(["export-weights", str(model), "-o", str(output)]) == 0
    with np.load(output, allow_pickle=False) as file:
        arrays = dict(file)
    return json.loads(bytes(arrays["description"]))["layers"], arrays


def _evaluate(layer: dict, arrays: dict[str, np.ndarray], image: np.ndarray) -> np.ndarray:
    """Computes a binary layer of +-1 values from its description and arrays (docs/weights.md)."""
    own = {role: arrays[name] for role, name in layer["arrays"].items()}
    weights = own["weights"].astype(np.float32)
    padding = layer["padding"]
    conv = Conv(
        image.shape,
        weights.shape[1:3],
        len(weights),
        groups=layer["groups"],
        stride=tuple(layer["stride"]),
        dilation=tuple(layer["dilation"]),
        padding=padding if isinstance(padding, str) else tuple(map(tuple, padding)),
        pad_value=layer["pad_value"] or 0,
        bits_in=layer["bits"][0],
    )
    dots = oracle.dot_products(conv, image, weights)
    if layer["output"]["type"] == "bits":
        assert own["threshold"].dtype == np.int32
        return np.where(layer["depth"] - dots > 2 * own["threshold"], -1, 1)
    clamped = np.clip(dots, *_CLAMPS[layer["activation"]]).astype(np.float32)
    if layer["output"]["type"] == "float32":
        return clamped * own["multiplier"] + own["bias"]
    ([scale], [zero_point]) = layer["output"]["scale"], layer["output"]["zero_point"]
    multiplier, bias = (own[role] / np.float32(scale) for role in ("multiplier", "bias"))
    steps = (clamped * multiplier + bias).astype(np.float64)
    rounded = np.copysign(np.floor(np.abs(steps) + 0.5), steps)
    return np.clip(rounded + zero_point, -128, 127).astype(np.int8)


def _check(content: bytes, folder: Path, rng: np.random.Generator) -> list[dict]:
    """Checks every LceBconv2d of a file, cut out and run on random bits."""
    layers, arrays = _exported(content, folder)
    model = schema.read(content)
    layers = [layer for layer in layers if layer["operator"] == "LceBconv2d"]
    for layer in layers:
        op = model.graphs[layer["graph"]].ops[layer["index"]]
        assert (layer["input"]["tensor"], layer["output"]["tensor"]) == (
            op.inputs[0].name,
            op.output.name,
        )
        part = schema.write(schema.part(model, [op.inputs[0]], [op], [op.output]))
        shape = [abs(size) for size in layer["input"]["shape"]]
        bits = layer["bits"][0]
        image = oracle.odd_numbers(rng, bits, tuple(shape))
        got = larq_engine.Interpreter(part).predict(oracle.pack_planes(image, bits))
        expected = _evaluate(layer, arrays, image)
        if layer["output"]["type"] == "bits":
            got = oracle.unpack_bits(got, layer["output"]["shape"][-1])
        assert got.shape == expected.shape
        assert np.array_equal(got, expected), layer["name"]
    return layers


@pytest.mark.parametrize("path", _INTEROP, ids=lambda path: path.stem)
def test_layers_of_other_converters_files(path, tmp_path, rng):
    assert _check(path.read_bytes(), tmp_path, rng)


_CONVS = [
    Conv((1, 9, 8, 40), (3, 2), 24, stride=(2, 1), pad_value=0, activation="RELU"),
    Conv((2, 7, 7, 96), (3, 3), 33, groups=3, dilation=(1, 2), pad_value=-1, activation="RELU6"),
    Conv((1, 6, 5, 3), (2, 3), 5, padding="VALID", activation="RELU_N1_TO_1"),
    Conv((1, 6, 5, 70), (3, 3), 32, padding=((2, 0), (1, 3)), pad_value=0, stride=(1, 2)),
    Conv((1, 6, 5, 40), (3, 3), 24, pad_value=-1, bits_in=2, bits_weights=3),
    Conv((1, 6, 5, 64), (3, 3), 24, groups=2, pad_value=0, bits_in=3),
]


@pytest.mark.parametrize("conv", _CONVS, ids=str)
def test_every_output_of_every_geometry(conv, tmp_path, rng):
    filters = oracle.odd_numbers(rng, conv.bits_weights, conv.filter_shape)
    multiplier, bias = rng.standard_normal((2, conv.channels_out)).astype(np.float32)
    thresholds = rng.integers(-2, conv.largest_dot + 2, conv.channels_out, dtype=np.int32)
    limits = np.iinfo(np.int32)  # the converter writes these for channels that never change
    thresholds[:3] = limits.min, limits.max, conv.largest_dot
    content = bconv_model(
        conv,
        filters,
        multiplier,
        bias,
        outputs=("float", "int8", "bits"),
        scale=0.37,
        zero_point=-5,
        thresholds=thresholds,
        limits=None if conv.bits_in == 1 else np.arange(2**conv.bits_in - 1, dtype=np.float32),
    )
    layers = _check(content, tmp_path, rng)
    assert [layer["output"]["type"] for layer in layers] == ["float32", "int8", "bits"]
    assert layers[0]["input"]["shape"] == list(conv.input_shape)
    assert all(layer["output"]["shape"] == list(conv.output_shape) for layer in layers)


def test_layers_of_the_converter_have_their_names(tmp_path, rng):
    [layer] = _check(larq_engine.convert_tflite(float_model()), tmp_path, rng)
    assert layer["name"] == "second"


def test_a_float_layer_with_binary_weights(builder, tmp_path, rng):
    """Sums of small whole numbers are exact in any order."""
    conv = Conv((1, 6, 5, 8), (3, 3), 7, stride=(2, 1), pad_value=0, activation="RELU")
    signs = oracle.signs(rng.standard_normal(conv.filter_shape))
    scale = np.array([0.5, 1, 2, 4, 0.25, 8, 1], np.float32)
    bias = rng.integers(-9, 9, 7).astype(np.float32)
    x, y = builder.tensor(conv.input_shape, name="x"), builder.tensor(conv.output_shape, name="y")
    weights = add_weights(builder, signs, scale, 0)
    options = {"padding": PADDING["SAME"], "strideH": 2, "strideW": 1}
    options |= {"dilationHFactor": 1, "dilationWFactor": 1, "fusedActivationFunction": 1}
    builder.builtin("CONV_2D", [x, weights, builder.constant(bias)], [y], **options)
    content = builder.finish([x], [y])
    [layer], arrays = _exported(content, tmp_path)
    facts = {key: layer[key] for key in ("operator", "stride", "dilation", "padding", "activation")}
    assert facts == {
        "operator": "CONV_2D",
        "stride": [2, 1],
        "dilation": [1, 1],
        "padding": "SAME",
        "activation": "RELU",
    }
    own = {role: arrays[name] for role, name in layer["arrays"].items()}
    assert np.array_equal(own["weights"], signs) and own["weights"].dtype == np.int8
    scales = own["scale"].reshape([-1 if axis == layer["scale_axis"] else 1 for axis in range(4)])
    image = rng.integers(-4, 5, conv.input_shape).astype(np.float32)
    dots = oracle.dot_products(conv, image, own["weights"] * scales)
    expected = np.maximum(dots + own["bias"], 0)
    assert np.array_equal(larq_engine.Interpreter(content).predict(image), expected)


def test_a_dense_layer_with_binary_weights(builder, tmp_path, rng):
    signs, scale = oracle.signs(rng.standard_normal((9, 40))), np.ones(1, np.float32)
    x, y = builder.tensor((1, 40), name="x"), builder.tensor((1, 9), name="y")
    builder.builtin("FULLY_CONNECTED", [x, add_weights(builder, signs, scale, 0)], [y])
    [layer], arrays = _exported(builder.finish([x], [y]), tmp_path)
    assert (layer["operator"], layer["activation"]) == ("FULLY_CONNECTED", "NONE")
    assert layer["arrays"].keys() == {"weights", "scale"}
    assert np.array_equal(arrays[layer["arrays"]["weights"]], signs)


def test_the_function_gives_what_the_file_holds(tmp_path, rng):
    content = _INTEROP[0].read_bytes()
    _, arrays = _exported(content, tmp_path)
    given = larq_engine.export_weights(content)
    assert given.keys() == arrays.keys()
    assert all(np.array_equal(given[name], arrays[name]) for name in given)


def test_the_command_lists_layers_and_arrays(tmp_path, capsys, rng):
    conv = Conv((1, 4, 4, 32), (3, 3), 8)
    filters, ones = oracle.signs(rng.standard_normal(conv.filter_shape)), np.ones(8, np.float32)
    _exported(bconv_model(conv, filters, ones, ones), tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == [
        *["y_float", "LceBconv2d", "8x3x3x32", "float32"],
        *["layer0.weights,", "layer0.multiplier,", "layer0.bias"],
    ]
    size = (tmp_path / "weights.npz").stat().st_size
    assert lines[-1] == f"{tmp_path / 'weights.npz'}: {units.size(size)}"


def test_a_model_without_binary_layers():
    with pytest.raises(ValueError, match=r"expected a layer with weights of one bit.*convert"):
        larq_engine.export_weights(float_model())


@pytest.mark.parametrize("key", ["stride_width", "fused_activation_function", "channels_in"])
def test_a_missing_option_is_named(builder, key):
    conv = Conv((1, 4, 4, 32), (1, 1), 8)
    bits = builder.tensor((1, 4, 4, 1), np.int32)
    y = builder.tensor(conv.output_shape, name="y")
    filters = builder.constant(np.zeros((8, 1, 1, 1), np.int32))
    ones = [builder.constant(np.ones(8, np.float32)) for _ in range(2)]
    options = {name: value for name, value in bconv_options(conv).items() if name != key}
    builder.custom("LceBconv2d", [bits, filters, *ones, -1], [y], options)
    with pytest.raises(ValueError, match=rf"LceBconv2d 'y'.*{key}.*re-convert"):
        larq_engine.export_weights(builder.finish([bits], [y]))


def test_the_output_must_not_be_the_model(tmp_path, capsys):
    model = tmp_path / "model.tflite"
    model.write_bytes(_INTEROP[0].read_bytes())
    assert main(["export-weights", str(model), "-o", str(model)]) == 1
    assert "expected a file of its own" in capsys.readouterr().err
