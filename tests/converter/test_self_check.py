"""The self-check finds every kind of fault that a rule could make, and none where there is none."""

from collections.abc import Callable

import numpy as np
import pytest

from larq_engine.converter import check_plan, schema, self_check
from larq_engine.converter.api import convert_tflite
from larq_engine.converter.check_run import PartRun
from larq_engine.converter.convert import finish, rewrite
from larq_engine.converter.error_bounds import ErrorBounds
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Graph, Model, Op
from larq_engine.converter.options import Options
from larq_engine.converter.padding import with_padding
from larq_engine.converter.self_check import check_conversion
from tests.converter.graphs import Net, Value, signs


def _network(rng: np.random.Generator) -> bytes:
    """Builds a network with every kind of fusion and numbers that round: none is a power of two."""
    net = Net()
    x = net.input(1, 9, 9, 3)
    y = net.conv(x, rng.normal(size=(32, 3, 3, 3)).astype(np.float32))
    scaled = signs(rng, 40, 3, 3, 32) * rng.uniform(0.5, 1.5, (40, 1, 1, 1)).astype(np.float32)
    y = net.conv(net.sign(y), scaled, padding="SAME")
    y = net.op("MUL", y, rng.uniform(-1.3, 1.3, 40).astype(np.float32))
    y = net.op("ADD", y, rng.normal(size=40).astype(np.float32) * 5)
    y = net.conv(net.sign(y), signs(rng, 24, 3, 3, 40), activation="RELU")
    y = net.max_pool(net.op("MUL", y, rng.uniform(0.3, 1.3, 24).astype(np.float32)))
    y = net.op("ADD", y, rng.normal(size=24).astype(np.float32) * 3 - 8)
    y = net.conv(net.sign(y), signs(rng, 16, 3, 3, 24), padding="SAME", activation="RELU")
    y = net.op("MUL", y, rng.uniform(0.3, 1.3, 16).astype(np.float32))
    y = net.dense(net.reshape(net.sign(net.op("ADD", y, -4.7)), 1, 64), signs(rng, 10, 64))
    weights_only = signs(rng, 30, 10) * np.float32(0.37)
    return net.finish(net.dense(y, weights_only))


def _convert(content: bytes) -> Model:
    model = schema.read(content)
    for graph in model.graphs:
        rewrite(graph, Options())
        finish(graph, Options())
    return model


def _ops(graph: Graph, kind: str) -> list[Op]:
    return [op for op in graph.ops if op.kind == kind]


def _change(op: Op, index: int, change: Callable[[np.ndarray], np.ndarray]) -> None:
    tensor = op.inputs[index]
    assert tensor is not None and tensor.data is not None
    tensor.data = change(tensor.data.copy())


def _flip_bits(words: np.ndarray) -> np.ndarray:
    """Flips the first bit of each word, as a single one may belong to a unit that relu silences."""
    return words ^ 1


def _raise_first(values: np.ndarray) -> np.ndarray:
    values[0] += 1
    return values


def _scale(values: np.ndarray) -> np.ndarray:
    return values * np.float32(1.001)


def _wrong_filter(graph: Graph) -> Op:
    op = next(op for op in _ops(graph, "LceBconv2d") if op.inputs[2] is not None)
    _change(op, 1, _flip_bits)
    return op


def _wrong_threshold(graph: Graph) -> Op:
    op = next(op for op in _ops(graph, "LceBconv2d") if op.inputs[4] is not None)
    _change(op, 4, lambda thresholds: thresholds + np.int32(3))
    return op


def _wrong_multiplier(graph: Graph) -> Op:
    op = next(op for op in _ops(graph, "LceBconv2d") if op.inputs[2] is not None)
    _change(op, 2, _scale)
    return op


def _wrong_bias(graph: Graph) -> Op:
    op = next(op for op in _ops(graph, "LceBconv2d") if op.inputs[3] is not None)
    _change(op, 3, _raise_first)
    return op


def _wrong_padding(graph: Graph) -> Op:
    op = next(op for op in _ops(graph, "LceBconv2d") if op.options["padding"] == 0)
    op.options["pad_values"] = 1
    return op


def _lost_activation(graph: Graph) -> Op:
    op = next(
        op
        for op in _ops(graph, "LceBconv2d")
        if op.inputs[4] is None and op.output.dtype != "INT32"
    )
    op.options["fused_activation_function"] = 2
    return op


def _wrong_pool(graph: Graph) -> Op:
    (op,) = _ops(graph, "LceBMaxPool2d")
    op.options["filter_height"] = op.options["filter_width"] = 3
    return op


def _wrong_weights(graph: Graph) -> Op:
    (unpack,) = _ops(graph, "LceUnpackWeights")
    _change(unpack, 0, _flip_bits)
    return unpack.output.consumers[0]


def _wrong_wire(graph: Graph) -> Op:
    """Makes the second half of the network read channels in another order."""
    op = _ops(graph, "LceBconv2d")[1]
    _change(op, 1, lambda words: np.ascontiguousarray(words[::-1]))
    return op


_FAULTS = [
    _wrong_filter,
    _wrong_threshold,
    _wrong_multiplier,
    _wrong_bias,
    _wrong_padding,
    _lost_activation,
    _wrong_pool,
    _wrong_weights,
    _wrong_wire,
]


def test_right_conversion_passes(rng):
    for _ in range(5):
        content = _network(rng)
        check_conversion(_convert(content), schema.File(content))


@pytest.mark.parametrize("fault", _FAULTS)
def test_fault_is_found_and_named(rng, fault):
    content = _network(rng)
    model = _convert(content)
    op = fault(model.graphs[0])
    with pytest.raises(ConversionError) as raised:
        check_conversion(model, schema.File(content))
    message = str(raised.value)
    assert "self-check" in message and "check=False" in message
    # If a convolution was joined with a pooling, the value between them has no name in the float
    # model.
    named = [op.name, *(reader.name for reader in op.output.consumers)]
    assert any(f"'{name}'" in message for name in named)


def _few_bits(rng: np.random.Generator) -> bytes:
    """Builds layers with inputs of two bits; the second reads a value that rounds."""

    def two_bits(x: Value) -> Value:
        y = net.op("RELU", net.op("MINIMUM", x, 1.0))
        return net.op("ROUND", net.op("MUL", y, 3.0))

    net = Net()
    x = net.input(1, 9, 9, 3)
    y = net.conv(x, rng.normal(size=(32, 3, 3, 3)).astype(np.float32))
    y = net.conv(two_bits(y), signs(rng, 40, 3, 3, 32), padding="SAME")
    y = net.op("MUL", y, rng.uniform(-0.1, 0.1, 40).astype(np.float32))
    y = net.op("ADD", y, rng.normal(size=40).astype(np.float32))
    weights = rng.choice(np.array([-3, -1, 1, 3], np.float32), (24, 3, 3, 40))
    return net.finish(net.conv(two_bits(y), weights * np.float32(0.37), padding="SAME"))


def _raise_limit(graph: Graph) -> None:
    _change(_ops(graph, "LceQuantize")[1], 1, lambda t: t + np.array([0, 0.01, 0], np.float32))


def _flip_weights(graph: Graph) -> None:
    _change(_ops(graph, "LceBconv2d")[1], 1, _flip_bits)


def _swap_planes(graph: Graph) -> None:
    _change(_ops(graph, "LceBconv2d")[1], 1, lambda f: np.concatenate([f[..., 2:], f[..., :2]], -1))


def _pad_with_largest(graph: Graph) -> None:
    _ops(graph, "LceBconv2d")[1].options["pad_values"] = 1


@pytest.mark.parametrize("fault", [_raise_limit, _flip_weights, _swap_planes, _pad_with_largest])
def test_fault_in_layers_of_few_bits_is_found(rng, fault):
    content = _few_bits(rng)
    model = _convert(content)
    assert "agree with the float model" in check_conversion(model, schema.File(content))
    fault(model.graphs[0])
    with pytest.raises(ConversionError, match="differs from the float model"):
        check_conversion(model, schema.File(content))


def _padded_image(rng: np.random.Generator) -> bytes:
    """Builds an image with pads that are "same" for 32 pixels, but not for 17."""
    net = Net()
    x = net.input(1, 32, 32, 32)
    padded = net.pad(net.sign(x), ((0, 1), (0, 1)), 1.0)
    y = net.conv(padded, signs(rng, 8, 3, 3, 32), stride=(2, 2))
    for tensor in net.builder.graph.tensors:
        if len(tensor.shape) == 4 and tensor.shape[0] == 1:
            tensor.shapeSignature = np.array([-1, -1, -1, tensor.shape[3]], np.int32)
    return net.finish(y)


def test_fault_at_another_size_is_found(rng):
    content = _padded_image(rng)
    model = _convert(content)
    checked = check_conversion(model, schema.File(content))
    for shape in ("(1, 32, 32, 32)", "(1, 17, 17, 32)", "(2, 32, 32, 32)", "(9, 32, 32, 32)"):
        assert f"for inputs of the shapes {shape}" in checked
    (layer,) = [op for op in model.graphs[0].ops if op.kind == "LceBconv2d"]
    layer.options = with_padding(layer.options, None)
    with pytest.raises(ConversionError, match=r"LceBconv2d .* differs from the float model"):
        check_conversion(model, schema.File(content))


def test_model_that_stays_as_it_is_needs_no_run(net, rng, monkeypatch):
    x = net.input(1, 4)
    content = net.finish(net.dense(x, rng.normal(size=(3, 4)).astype(np.float32)))
    monkeypatch.setattr(self_check, "make_plan", None)
    assert check_conversion(_convert(content), schema.File(content)) == ""


def _between_transposes() -> bytes:
    """Builds a float model that some rule changes."""
    net = Net()
    y = net.transpose(net.input(1, 2, 3, 4), 0, 3, 1, 2)
    y = net.transpose(net.op("LEAKY_RELU", y, alpha=0.5), 0, 2, 3, 1)
    return net.finish(net.op("TANH", y))


def test_float_model_with_changes_is_checked():
    content = _between_transposes()
    model = _convert(content)
    assert [op.kind for op in model.graphs[0].ops] == ["LEAKY_RELU", "TANH"]
    assert "agree with the float model" in check_conversion(model, schema.File(content))
    (op,) = _ops(model.graphs[0], "LEAKY_RELU")
    op.options.alpha = 0.25
    with pytest.raises(ConversionError, match="LEAKY_RELU"):
        check_conversion(model, schema.File(content))


def test_options_alone_are_a_change(net):
    content = net.finish(net.op("LEAKY_RELU", net.input(1, 40), alpha=0.5))
    model = _convert(content)
    model.graphs[0].ops[0].options.alpha = 0.25
    with pytest.raises(ConversionError, match="LEAKY_RELU"):
        check_conversion(model, schema.File(content))


@pytest.mark.parametrize("last", ["their own operator", "NaN"])
def test_float_model_that_cannot_be_compared(net, last):
    """The model converts nevertheless, as all its operators are the host's."""
    y = net.transpose(net.input(1, 2, 3, 4), 0, 3, 1, 2)
    y = net.transpose(net.op("RELU", y), 0, 2, 3, 1)
    if last == "NaN":
        z = net.op("MUL", y, np.array([1, 1, np.nan, 1], np.float32))
    else:
        z = Value(net.builder.tensor(y.shape), y.shape)
        net.builder.custom("TheirOwn", [y.number], [z.number])
    content = net.finish(z)
    assert "was not compared" in check_conversion(_convert(content), schema.File(content))


def test_signs_of_what_rounding_reaches_may_differ(net, rng):
    """Some sums are nearly zero, so that rounding decides about the float model's sign."""
    x = net.input(1, 6, 6, 32)
    scale = np.float32(0.1)
    y = net.conv(net.sign(x), signs(rng, 64, 3, 3, 32) * scale)
    y = net.conv(net.sign(y), signs(rng, 8, 3, 3, 64))
    content = net.finish(y)
    check_conversion(_convert(content), schema.File(content))


def test_model_that_computes_nan_is_named(net, rng):
    y = net.conv(net.sign(net.input(1, 5, 5, 8)), signs(rng, 4, 3, 3, 8))
    content = net.finish(net.op("MUL", y, np.array([1, 1, np.nan, 1], np.float32)))
    with pytest.raises(ConversionError, match=r"MUL '.*' of the float model computes NaN"):
        check_conversion(_convert(content), schema.File(content))


def _check(content: bytes) -> Model:
    """Checks a conversion, and asserts that the check changes neither model."""
    model, file = _convert(content), schema.File(content)
    written, unconverted = schema.write(model), schema.write(file.model())
    check_conversion(model, file)
    assert schema.write(model) == written
    assert schema.write(file.model()) == unconverted
    return model


def test_sign_that_is_read_directly_and_through_a_move(net, rng):
    s = net.sign(net.input(1, 6, 6, 32))
    filters = [signs(rng, 8, 3, 3, 32) for _ in range(2)]
    model = _check(net.finish(net.conv(s, filters[0]), net.conv(net.max_pool(s), filters[1])))
    assert len(_ops(model.graphs[0], "LceQuantize")) == 1


def test_two_signs_with_the_same_bits(net, rng):
    """Both signs must be given to the float model, whose own signs of rounded sums may differ."""
    y = net.conv(net.sign(net.input(1, 6, 6, 32)), signs(rng, 64, 3, 3, 32) * np.float32(0.1))
    condition = net.op("GREATER_EQUAL", y, 0.0, dtype=np.bool_)
    other = net.op("SELECT_V2", condition, 1.0, -1.0)
    outputs = [net.conv(s, signs(rng, 8, 1, 1, 64)) for s in (net.sign(y), other)]
    model = _check(net.finish(*outputs))
    assert len(_ops(model.graphs[0], "LceQuantize")) == 1


def _zero_is_positive(net: Net, x: Value, same: Value) -> Value:
    zero = net.op("EQUAL", same, 0.0, dtype=np.bool_)
    return net.op("ADD", net.op("SIGN", x), net.op("CAST", zero, inDataType=6, outDataType=0))


def _straight_through(net: Net, x: Value, same: Value) -> Value:
    return net.op("ADD", x, net.op("SUB", net.sign(same), same))


@pytest.mark.parametrize("form", [_zero_is_positive, _straight_through])
def test_sign_of_two_transposed_values_that_are_the_same(net, rng, form):
    x = net.input(1, 32, 5, 5)
    value = form(net, *[net.transpose(x, 0, 2, 3, 1) for _ in range(2)])
    model = _check(net.finish(net.conv(value, signs(rng, 32, 3, 3, 32))))
    assert [op.kind for op in model.graphs[0].ops][-2:] == ["LceQuantize", "LceBconv2d"]


@pytest.mark.parametrize("kind", ["ADD", "SUB"])
@pytest.mark.parametrize("moved", [False, True])
def test_a_straight_through_form_of_values_too_large_for_it(net, rng, kind, moved):
    """The float model has no sign there, so the converter is not at fault."""
    x = net.op("MUL", net.op("ADD", net.input(1, 5, 5, 8), 0.25), np.float32(1e9))
    inner = [net.sign(x), x] if kind == "ADD" else [x, net.sign(x)]
    value = net.op(kind, x, net.op("SUB", *inner))
    if moved:
        value = net.transpose(net.reshape(value, 1, 5, 8, 5), 0, 1, 3, 2)
    content = net.finish(net.conv(value, signs(rng, 8, 3, 3, 8)))
    words = rf"{kind} '\w+': expected a sign of .*, got 0 at .* x is larger than 16,777,216"
    with pytest.raises(ConversionError, match=words):
        _check(content)


def test_model_of_positive_inputs(net, rng):
    y = net.op("ADD", net.op("SQRT", net.input(1, 5, 5, 8)), -0.5)
    model = _check(net.finish(net.conv(net.sign(y), signs(rng, 4, 3, 3, 8))))
    assert len(_ops(model.graphs[0], "LceBconv2d")) == 1


def _running_sum(rng: np.random.Generator, start: float) -> bytes:
    """Builds a binary layer of the sum of all inputs so far, which begins with `start`."""
    net = Net()
    x = net.input(1, 5, 5, 8)
    first = net.builder.subgraph()
    handle = first.tensor((1,), object)
    first.builtin("VAR_HANDLE", [], [handle], sharedName="sum")
    values = first.constant(np.full((1, 5, 5, 8), start, np.float32))
    first.builtin("ASSIGN_VARIABLE", [handle, values], [])
    first.interface([], [])
    net.builder.builtin("CALL_ONCE", [], [], initSubgraphIndex=1)
    state = net.op("VAR_HANDLE", shape=(1,), dtype=object, sharedName="sum")
    total = net.op("ADD", net.op("READ_VARIABLE", state, shape=x.shape), x)
    net.builder.builtin("ASSIGN_VARIABLE", [state.number, total.number], [])
    return net.finish(net.conv(net.sign(total), signs(rng, 4, 3, 3, 8)))


def _lose_the_assignment(model: Model) -> None:
    (op,) = _ops(model.graphs[0], "ASSIGN_VARIABLE")
    model.graphs[0].ops.remove(op)


def _assign_before_reading(model: Model) -> None:
    """Moves the assignment forward; its value becomes an input, as the sum is not known yet."""
    (op,) = _ops(model.graphs[0], "ASSIGN_VARIABLE")
    (read,) = _ops(model.graphs[0], "READ_VARIABLE")
    model.graphs[0].ops.remove(op)
    model.graphs[0].ops.insert(model.graphs[0].ops.index(read), op)
    op.inputs[1] = model.graphs[0].inputs[0]


def _begin_elsewhere(model: Model) -> None:
    (op,) = _ops(model.graphs[1], "ASSIGN_VARIABLE")
    _change(op, 1, lambda values: values + 1)


def test_state(rng):
    _check(_running_sum(rng, 0.25))


@pytest.mark.parametrize("fault", [_lose_the_assignment, _assign_before_reading, _begin_elsewhere])
def test_wrong_state_is_found(rng, fault):
    content = _running_sum(rng, 0.25)
    model = _convert(content)
    fault(model)
    with pytest.raises(ConversionError, match=r"READ_VARIABLE '.*' \(#\d\) is the first operator"):
        check_conversion(model, schema.File(content))


def test_state_of_a_recurrent_layer(net, rng):
    x = net.input(1, 6, 4)
    state = net.builder.tensor((1, 4))
    net.builder.graph.tensors[state].isVariable = True
    weights = [rng.normal(size=(4, 4)).astype(np.float32) for _ in range(2)]
    y = net.op(
        "UNIDIRECTIONAL_SEQUENCE_RNN", x, *weights, np.zeros(4, np.float32), Value(state, (1, 4)),
        shape=x.shape, fusedActivationFunction=1,
    )  # fmt: skip
    _check(net.finish(net.dense(net.sign(net.reshape(y, 1, 24)), signs(rng, 3, 24))))


def test_random_numbers_are_not_compared(net, rng):
    y = net.conv(net.sign(net.input(1, 6, 6, 8)), signs(rng, 16, 3, 3, 8))
    noise = net.op("RANDOM_STANDARD_NORMAL", np.array(y.shape, np.int32), shape=y.shape)
    y = net.conv(net.sign(net.op("ADD", y, noise)), signs(rng, 4, 3, 3, 16))
    content = net.finish(y)
    model = _convert(content)
    assert "Not compared, as they are random: RANDOM_STANDARD_NORMAL" in check_conversion(
        model, schema.File(content)
    )
    op = _ops(model.graphs[0], "LceBconv2d")[1]
    _change(op, 1, _flip_bits)
    with pytest.raises(ConversionError, match="self-check"):
        check_conversion(model, schema.File(content))


def test_what_magnifies_rounding_errors(net, rng):
    """Both models round before the cosine, and in different places."""
    y = net.conv(net.sign(net.input(1, 8, 8, 32)), signs(rng, 64, 3, 3, 32))
    y = net.op("MUL", y, rng.uniform(0.1, 3, 64).astype(np.float32))
    y = net.op("ADD", y, rng.normal(size=64).astype(np.float32))
    _check(net.finish(net.op("COS", net.op("MUL", y, 50.0))))


def test_inputs_of_0_and_1(rng):
    """Their converted layers add half the sum of the weights, and round as that does."""
    for _ in range(5):
        net = Net()
        condition = net.op("GREATER_EQUAL", net.input(1, 6, 6, 200), 0.0, dtype=np.bool_)
        x = net.op("SELECT_V2", condition, 1.0, 0.0)
        bias = rng.uniform(-0.5, 0.5, 24).astype(np.float32)
        clamped = net.conv(x, signs(rng, 24, 3, 3, 200), bias, activation="RELU_N1_TO_1")
        scale = rng.uniform(0.1, 3, 24).astype(np.float32)
        scaled = net.op("MUL", net.conv(x, signs(rng, 24, 3, 3, 200)), scale)
        _check(net.finish(clamped, scaled))


def test_transposed_weights_of_a_matrix_product(net, rng):
    """Each of 40 outputs is a sum of 3 products; along the other axis there are 40."""
    x = net.op("MUL", net.sign(net.input(1, 5, 3)), 0.1)
    weights = np.full((40, 3), 0.1, np.float32)
    y = net.op("BATCH_MATMUL", x, weights, shape=(1, 5, 40), adjY=True)
    tensors = schema.read(net.finish(y)).graphs[0].ops
    bounds = ErrorBounds()
    op = tensors[-1]
    assert op.inputs[0] is not None
    bounds.show(op.inputs[0], np.full((1, 5, 3), 0.1, np.float32))
    bounds.show(op.output, np.full((1, 5, 40), 0.03, np.float32))
    bounds.add(op)
    # The bound is at least the rounding of 3 products of 0.01, and less than that of 40.
    assert 2**-24 * 0.03 < bounds.of(op.output).max() < 2**-24 * 0.4 * 4


def _open_image(rng: np.random.Generator, poolings: int) -> bytes:
    """Builds a file as TensorFlow writes it, in which an open size is 1."""
    net = Net()

    def opened(x: Value) -> Value:
        signature = np.array([-1, -1, -1, x.shape[3]], np.int32)
        net.builder.graph.tensors[x.number].shapeSignature = signature
        return x

    y = opened(net.input(1, 1, 1, 3))
    for _ in range(poolings):
        y = opened(net.op("MAX_POOL_2D", y, shape=y.shape, **_POOLING))
    y = opened(net.conv(y, signs(rng, 32, 1, 1, 3), padding="SAME"))
    return net.finish(opened(net.conv(net.sign(y), signs(rng, 8, 3, 3, 32), padding="SAME")))


_POOLING = {"padding": 1, "strideH": 2, "strideW": 2, "filterHeight": 2, "filterWidth": 2}


@pytest.mark.parametrize(("poolings", "size"), [(1, 32), (6, 64)])
def test_open_image_has_the_first_size_that_runs(rng, poolings, size):
    content = _open_image(rng, poolings)
    model = _convert(content)
    assert f"shapes (1, {size}, {size}, 3)" in check_conversion(model, schema.File(content))
    _wrong_filter(model.graphs[0])
    with pytest.raises(ConversionError, match="LceBconv2d"):
        check_conversion(model, schema.File(content))


def test_open_image_that_runs_at_no_size(rng):
    content = _open_image(rng, 10)
    words = r"one of 1, 2, .*512, got an error at 32: .*fixed sizes"
    with pytest.raises(ConversionError, match=words):
        check_conversion(_convert(content), schema.File(content))


def test_parts_of_a_model_are_found_out_as_the_whole(rng, monkeypatch):
    """Here each part is one operator."""
    monkeypatch.setattr(check_plan, "STRETCH_BYTES", 1)
    content = _network(rng)
    model = _convert(content)
    check_conversion(model, schema.File(content))
    _wrong_wire(model.graphs[0])
    with pytest.raises(ConversionError, match="LceBMaxPool2d"):  # follows the layer at fault
        check_conversion(model, schema.File(content))


def _two_layers(rng: np.random.Generator) -> bytes:
    """Builds two layers with multipliers from 0.001 to 1 in one tensor."""
    net = Net()
    y = net.conv(net.sign(net.input(1, 6, 6, 48)), signs(rng, 32, 3, 3, 48))
    y = net.op("MUL", y, np.geomspace(1e-3, 1, 32).astype(np.float32))
    y = net.op("ADD", y, rng.normal(size=32).astype(np.float32) * 1e-3)
    return net.finish(y, net.conv(net.sign(y), signs(rng, 8, 3, 3, 32)))


def test_small_faults_are_found(rng):
    """The faults are one bit of a weight, and 1/10,000 of the smallest channel's multiplier."""

    def flip_one(words: np.ndarray) -> np.ndarray:
        words.flat[rng.integers(words.size)] ^= 1 << rng.integers(16)
        return words

    def scale_one(values: np.ndarray) -> np.ndarray:
        values[0] *= np.float32(1.0001)
        return values

    for index, change in ((1, flip_one), (2, scale_one)):
        content = _two_layers(rng)
        model = _convert(content)
        op = _ops(model.graphs[0], "LceBconv2d")[0]
        _change(op, index, change)
        with pytest.raises(ConversionError, match=f"LceBconv2d '{op.name}'"):
            check_conversion(model, schema.File(content))


@pytest.mark.parametrize("size", [(1, 2), (2, 1), (2, 2)])
def test_filters_as_large_as_the_image(net, rng, size):
    """LiteRT's kernel leaves pixels out if an image as large as a filter is padded only behind."""
    x = net.input(1, *size, 32)
    y = net.conv(net.sign(x), 2 * signs(rng, 16, *size, 32) + 0.25, padding="SAME")
    assert "agree" in convert_tflite(net.finish(y)).report.self_check


def test_scalars_are_no_images_that_windows_do_not_fit(net, rng):
    """The shape of a scalar is a constant without values."""
    y = net.conv(net.sign(net.input(1, 4, 4, 32)), signs(rng, 16, 3, 3, 32))
    mean = net.op("MEAN", y, np.array([0, 1, 2, 3], np.int32), shape=(1,), keepDims=False)
    scalar = net.op("RESHAPE", mean, np.zeros(0, np.int32), shape=())
    assert "agree" in convert_tflite(net.finish(y, scalar)).report.self_check


def test_windows_that_no_longer_fit_at_another_size(net, rng):
    """LiteRT's kernels crash when they read the empty image that is left."""
    x = net.input(1, 5, 9, 20)
    y = net.conv(net.sign(x), signs(rng, 32, 3, 2, 20), stride=(1, 2))
    y = net.op("ABS", y)
    model = schema.read(net.finish(y))
    (graph,) = model.graphs
    run = PartRun(model, graph.inputs, graph.ops, graph.outputs)
    with pytest.raises(ValueError, match="an image that windows fit"):
        run.run({graph.inputs[0]: np.ones((1, 2, 9, 20), np.float32)})


def test_each_signature_is_checked(net, rng):
    x = net.input(1, 5, 5, 8)
    y = net.conv(net.sign(x), signs(rng, 4, 3, 3, 8))
    second = Net()
    second.builder = net.builder.subgraph()
    u = second.input(1, 7, 7, 3)
    v = second.conv(second.sign(u), signs(rng, 4, 3, 3, 3))
    second.builder.interface([u.number], [v.number])
    net.builder.signature({"x": x.number}, {"y": y.number})
    net.builder.signature({"u": u.number}, {"v": v.number})
    net.builder.model.signatureDefs[1].subgraphIndex = 1
    content = net.finish(y)
    model = _convert(content)
    assert "(1, 5, 5, 8)" in check_conversion(model, schema.File(content))
    assert "(1, 7, 7, 3)" in check_conversion(model, schema.File(content))
    op = _wrong_filter(model.graphs[1])
    with pytest.raises(ConversionError, match=f"LceBconv2d '{op.name}'"):
        check_conversion(model, schema.File(content))


def test_branches_are_checked_by_themselves(net, rng):
    """A run of the model would execute only one of them."""
    x = net.input(1, 5, 5, 8)
    condition = net.op(
        "GREATER", net.op("MEAN", x, np.array([0, 1, 2, 3]), shape=()), 0.0, dtype=np.bool_
    )
    numbers = []
    for _ in range(2):
        branch = Net()
        branch.builder = net.builder.subgraph()
        u = branch.input(1, 5, 5, 8)
        v = branch.conv(branch.sign(u), signs(rng, 4, 3, 3, 8) * np.float32(0.1))
        v = branch.conv(branch.sign(v), signs(rng, 4, 1, 1, 4))
        branch.builder.interface([u.number], [v.number])
        numbers.append(len(net.builder.model.subgraphs) - 1)
    chosen = {"thenSubgraphIndex": numbers[0], "elseSubgraphIndex": numbers[1]}
    y = net.op("IF", condition, x, shape=(1, 3, 3, 4), **chosen)
    content = net.finish(y)
    assert check_conversion(_convert(content), schema.File(content)).count("tensors agree") == 2
    for number in numbers:
        model = _convert(content)
        op = _wrong_filter(model.graphs[number])
        with pytest.raises(ConversionError, match=f"LceBconv2d '{op.name}'"):
            check_conversion(model, schema.File(content))


def test_infinite_values_are_equal(net):
    """The exponentials of an elu are infinite in places where the other branch is chosen."""
    x = net.op("MUL", net.transpose(net.input(1, 2, 3, 4), 0, 3, 1, 2), 1000.0)
    exponential = net.op("SUB", net.op("EXP", x), 1.0)
    y = net.op("SELECT_V2", net.op("GREATER", x, 0.0, dtype=np.bool_), x, exponential)
    content = net.finish(net.transpose(y, 0, 2, 3, 1))
    model = _convert(content)
    assert "TRANSPOSE" not in [op.kind for op in model.graphs[0].ops]
    assert "agree with the float model" in check_conversion(model, schema.File(content))


def test_sums_that_float32_does_not_hold(net, rng):
    """The order of a sum, which the host decides, tells whether it is infinite."""
    x = net.input(1, 8, 8, 32)
    y = net.conv(net.sign(x), signs(rng, 8, 3, 3, 32) * np.float32(3e38))
    with pytest.raises(ConversionError, match="expected sums that float32 holds"):
        convert_tflite(net.finish(y))
