"""Products of two matrices that are both computed become LceBmatmul if both are of two values."""

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter as StockInterpreter

import larq_engine
from larq_engine.converter.macs import count_macs
from tests.converter.graphs import (
    Net,
    Value,
    convert,
    convert_and_compare,
    edges,
    run_stock,
    steps,
)


def _steps(net: Net, x: Value) -> Value:
    """Adds 1 where x >= 0, else 0."""
    return net.op("CAST", net.op("GREATER_EQUAL", x, 0.0, dtype=np.bool_))


def _product(
    net: Net, left: Value, right: Value, *, left_turned=False, right_turned=False
) -> Value:
    rows = left.shape[-1 if left_turned else -2]
    columns = right.shape[-2 if right_turned else -1]
    return net.op(
        "BATCH_MATMUL",
        left,
        right,
        shape=(*left.shape[:-2], rows, columns),
        adjX=left_turned,
        adjY=right_turned,
    )


@pytest.mark.parametrize("left_turned", [False, True])
@pytest.mark.parametrize("right_turned", [False, True])
@pytest.mark.parametrize("outer", [(), (2,), (2, 3)])
def test_signs(net, outer, left_turned, right_turned, rng):
    depth = 40
    x = net.input(*outer, *((depth, 5) if left_turned else (5, depth)))
    y = net.input(*outer, *((6, depth) if right_turned else (depth, 6)))
    result = _product(
        net, net.sign(x), net.sign(y), left_turned=left_turned, right_turned=right_turned
    )
    converted = convert_and_compare(
        net, result, inputs=[edges(rng, *x.shape), edges(rng, *y.shape)]
    )
    assert converted.op("LceBmatmul").options == {"depth": depth}
    turned = converted.kinds.count("TRANSPOSE")
    assert turned == left_turned + (not right_turned)
    assert [(layer.kind, layer.became) for layer in converted.layers] == [
        ("BATCH_MATMUL", "binary")
    ]


@pytest.mark.parametrize("scale", [1.0, -0.5])
def test_zeros_and_ones_times_scaled_signs(net, scale, rng):
    """Attention that is 0 or 1 chooses some of the values."""
    x, y = net.input(3, 9, 33), net.input(3, 33, 7)
    result = _product(net, _steps(net, x), net.op("MUL", net.sign(y), scale))
    converted = convert_and_compare(
        net, result, inputs=[edges(rng, *x.shape), edges(rng, *y.shape)]
    )
    values = converted.op("LceBmatmul").inputs[2].data
    assert values.tolist() == [[1, 0], [scale, -scale]]


def test_a_product_with_itself(net, rng):
    x = net.input(2, 4, 64)
    s = net.sign(x)
    converted = convert_and_compare(
        net, _product(net, s, s, right_turned=True), inputs=[edges(rng, *x.shape)]
    )
    assert converted.kinds.count("LceBmatmul") == 1


def test_two_single_matrices(net, rng):
    """PyTorch's exports write `x @ y.T` of two matrices as a dense layer."""
    x, y = net.input(5, 40), net.input(6, 40)
    product = net.op("FULLY_CONNECTED", net.sign(x), net.sign(y), None, shape=(5, 6))
    converted = convert_and_compare(
        net, product, inputs=[edges(rng, *x.shape), edges(rng, *y.shape)]
    )
    assert converted.kinds.count("LceBmatmul") == 1
    assert count_macs(converted.op("LceBmatmul")) == 5 * 6 * 40


def test_a_dense_layer_of_computed_weights_with_more(net, rng):
    """A bias or an activation is more than a product."""
    x, y = net.input(5, 40), net.input(6, 40)
    s, t = net.sign(x), net.sign(y)
    outputs = [
        net.op("FULLY_CONNECTED", s, t, np.ones(6, np.float32), shape=(5, 6)),
        net.op("FULLY_CONNECTED", s, t, None, shape=(5, 6), fusedActivationFunction=1),
    ]
    inputs = [edges(rng, *x.shape), edges(rng, *y.shape)]
    converted = convert_and_compare(net, *outputs, inputs=inputs)
    assert converted.kinds.count("FULLY_CONNECTED") == 2
    assert {layer.reason for layer in converted.layers} == {
        "its weights are computed when the model runs"
    }


def test_heads(net, rng):
    """The transposes of heads meet those of the product, as PyTorch's exports have them."""
    x, y = net.input(2, 6, 64), net.input(2, 6, 64)
    queries = net.transpose(net.reshape(net.sign(x), 2, 6, 2, 32), 0, 2, 1, 3)
    keys = net.transpose(net.reshape(net.sign(y), 2, 6, 2, 32), 0, 2, 3, 1)
    product = _product(net, net.reshape(queries, 4, 6, 32), net.reshape(keys, 4, 32, 6))
    converted = convert_and_compare(
        net, product, inputs=[edges(rng, *x.shape), edges(rng, *y.shape)]
    )
    assert converted.kinds.count("TRANSPOSE") == 2
    assert converted.kinds.count("LceBmatmul") == 1


def test_what_stays_float(net, rng):
    """One side that is no sign, and a side that is read for all matrices."""
    x, y, z = net.input(2, 4, 40), net.input(2, 40, 4), net.input(40, 4)
    outputs = [
        _product(net, net.sign(x), y),
        _product(net, x, net.sign(y)),
        net.op("BATCH_MATMUL", net.sign(x), net.sign(z), shape=(2, 4, 4)),
    ]
    inputs = [edges(rng, *value.shape) for value in (x, y, z)]
    converted = convert_and_compare(net, *outputs, inputs=inputs)
    assert converted.kinds.count("BATCH_MATMUL") == 3
    reasons = [layer.reason for layer in converted.layers]
    assert "as in attention > limit" in converted.layers[0].remedy
    assert "'input_1' is an input of the model" in reasons[0]
    assert "'input_0' is an input of the model" in reasons[1]
    assert reasons[2] == "it multiplies matrices of the shapes (2, 4, 40) and (40, 4)"


def test_lce_has_no_such_operator(net):
    x, y = net.input(4, 40), net.input(6, 40)
    result = _product(net, net.sign(x), net.sign(y), right_turned=True)
    converted = convert(net.finish(result), compatibility="lce")
    assert "BATCH_MATMUL" in converted.kinds
    assert "no product of two computed matrices" in converted.reason


def _finish(net: Net, output: Value, *signatures) -> bytes:
    """Declares the open sizes of all tensors that have one of these shapes but for open sizes."""
    for tensor in net.builder.graph.tensors:
        for signature in signatures:
            if tuple(tensor.shape) == tuple(max(size, 1) for size in signature):
                tensor.shapeSignature = np.array(signature, np.int32)
    return net.finish(output)


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        # LiteRT broadcasts a batch to the other side's single matrix.
        (
            (-1, 4, 40),
            (1, 40, 5),
            "it multiplies matrices of the shapes (-1, 4, 40) and (1, 40, 5)",
        ),
        ((2, 4, -1), (2, -1, 5), "how many products it sums up is known only when the model runs"),
    ],
)
def test_open_sizes_that_stay_float(net, left, right, reason):
    x, y = (net.input(*[max(size, 1) for size in s], signature=s) for s in (left, right))
    shape = [max(size, 1) for size in (*left[:-1], right[-1])]
    product = net.op("BATCH_MATMUL", net.sign(x), net.sign(y), shape=shape)
    converted = convert(_finish(net, product, left, right))
    assert "LceBmatmul" not in converted.kinds
    assert converted.reason == reason


def test_an_open_batch_on_both_sides(net, rng):
    x, y = (net.input(1, *s, signature=(-1, *s)) for s in ((4, 40), (40, 5)))
    product = net.op("BATCH_MATMUL", net.sign(x), net.sign(y), shape=(1, 4, 5))
    content = _finish(net, product, (-1, 4, 40), (-1, 40, 5), (-1, 4, 5))
    converted = convert(content)
    assert "LceBmatmul" in converted.kinds
    inputs = [edges(rng, 3, 4, 40), edges(rng, 3, 40, 5)]
    interpreter = larq_engine.Interpreter(converted.content)
    interpreter.resize([x.shape for x in inputs])
    (expected,) = run_stock(content, inputs, batch=3)
    np.testing.assert_array_equal(interpreter.predict(inputs), expected)


def test_values_that_float32_cannot_add_up(net, rng):
    x, y = net.input(2, 40), net.input(40, 3)
    large = np.float32(2.0**64)
    result = _product(net, net.op("MUL", _steps(net, x), large), net.op("MUL", net.sign(y), large))
    converted = convert(net.finish(result))
    assert converted.reason == "float32 does not hold the sums of its products"


@pytest.mark.parametrize(
    ("signature", "order", "target", "sizes"),
    [
        ((-1, 1, 8), (1, 0, 2), (-1, 1, 8), (3, 1, 8)),
        ((1, 16, -1), (0, 2, 1), (-1, 1, 16), (1, 16, 5)),
    ],
)
def test_open_sizes_between_transposes(net, signature, order, target, sizes, rng):
    """A size of 1 may only stand for an open one, which the reshape moves."""
    x = net.input(*[max(size, 1) for size in signature], signature=signature)
    turned = net.transpose(x, *order)
    fixed = [max(size, 1) for size in target]
    y = net.op("RESHAPE", turned, np.array(target, np.int32), shape=fixed, newShape=target)
    y = net.transpose(y, 0, 2, 1)
    tensors = net.builder.graph.tensors
    tensors[turned.number].shapeSignature = np.array([signature[axis] for axis in order], np.int32)
    content = net.finish(y)
    data = steps(rng, *sizes)
    expected = _run_stock_at(content, data)
    ours = larq_engine.Interpreter(convert(content).content)
    ours.resize([sizes])
    np.testing.assert_array_equal(ours.predict(data), expected)


def _run_stock_at(content: bytes, data: np.ndarray) -> np.ndarray:
    """Returns what LiteRT computes of one input of another size."""
    interpreter = StockInterpreter(model_content=content)
    (row,), (output,) = interpreter.get_input_details(), interpreter.get_output_details()
    interpreter.resize_tensor_input(row["index"], data.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(row["index"], data)
    interpreter.invoke()
    return interpreter.get_tensor(output["index"])
