"""Every kind of broken graph is caught, and named with the step that broke it."""

from collections.abc import Callable

import numpy as np
import pytest

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.verify import verify
from tests.model_builder import ModelBuilder, add_quantize, bconv_options
from tests.oracle import Conv, pack_bits

_CONV = Conv((1, 6, 6, 40), (3, 3), 34, padding="VALID")


def _graph() -> Graph:
    """Builds LceQuantize, a convolution and a pooling of bits, a float convolution, an ADD."""
    builder = ModelBuilder()
    x = builder.tensor(_CONV.input_shape, name="x")
    bits = add_quantize(builder, x, _CONV.input_shape)
    filters = builder.constant(pack_bits(np.ones(_CONV.filter_shape, np.float32)))
    thresholds = builder.constant(np.zeros(34, np.int32))
    first = builder.tensor((1, 4, 4, 2), np.int32)
    builder.custom("LceBconv2d", [bits, filters, -1, -1, thresholds], [first], bconv_options(_CONV))
    pooled = builder.tensor((1, 2, 2, 2), np.int32)
    pool = {"filter_height": 2, "filter_width": 2, "stride_height": 2, "stride_width": 2}
    builder.custom("LceBMaxPool2d", [first], [pooled], pool | {"padding": 1})
    last = Conv((1, 2, 2, 34), (1, 1), 7)
    filters = builder.constant(pack_bits(np.ones(last.filter_shape, np.float32)))
    ones = builder.constant(np.ones(7, np.float32))
    y, z = (builder.tensor((1, 2, 2, 7)) for _ in range(2))
    builder.custom("LceBconv2d", [pooled, filters, ones, ones, -1], [y], bconv_options(last))
    builder.builtin("ADD", [y, ones], [z])
    return schema.read(builder.finish([x], [z])).graphs[0]


def test_legal_graph():
    verify(_graph(), "building")


def _new_input(graph: Graph, op: int, index: int, tensor: Tensor | None) -> None:
    """Changes an input and keeps the links right."""
    reader = graph.ops[op]
    old = reader.inputs[index]
    if old is not None:
        old.consumers.remove(reader)
    reader.inputs[index] = tensor
    if tensor is not None:
        tensor.consumers.append(reader)


def _set(op: int, **fields: object) -> Callable[[Graph], None]:
    """Returns a change of an operator's output."""

    def change(graph: Graph) -> None:
        for name, value in fields.items():
            setattr(graph.ops[op].output, name, value)

    return change


def _swap(graph: Graph) -> None:
    graph.ops[0], graph.ops[1] = graph.ops[1], graph.ops[0]


def _forget_reader(graph: Graph) -> None:
    graph.ops[4].inputs[0].consumers.clear()


def _read_what_no_one_makes(graph: Graph) -> None:
    _new_input(graph, 4, 0, Tensor("lost", (1, 2, 2, 7), "FLOAT32"))


def _steal_output(graph: Graph) -> None:
    graph.ops[0].output.producer = graph.ops[1]


def _make_twice(graph: Graph) -> None:
    graph.ops.append(graph.ops[4])


def _make_an_input(graph: Graph) -> None:
    graph.ops[4].outputs = [graph.inputs[0]]
    graph.inputs[0].producer = graph.ops[4]


def _lose_output(graph: Graph) -> None:
    graph.outputs = [Tensor("lost", (1,), "FLOAT32")]


def _filters_of_three_words(graph: Graph) -> None:
    filters = np.zeros((34, 3, 3, 3), np.int32)
    _new_input(graph, 1, 1, Tensor("wide", filters.shape, "INT32", data=filters))


def _two_options(graph: Graph) -> None:
    graph.ops[1].options["channels_in"] = 65


def _flat_image(graph: Graph) -> None:
    graph.ops[0].output.shape = (36, 2)
    graph.inputs[0].shape = (36, 40)


def _floats_as_image(graph: Graph) -> None:
    _new_input(graph, 3, 0, Tensor("floats", (1, 2, 2, 2), "FLOAT32", data=np.ones((1, 2, 2, 2))))


def _floats_to_pool(graph: Graph) -> None:
    _new_input(graph, 2, 0, Tensor("floats", (1, 4, 4, 2), "FLOAT32", data=np.ones((1, 4, 4, 2))))


def _integers_to_quantize(graph: Graph) -> None:
    graph.inputs[0].dtype = "INT32"


def _bias_of_another_size(graph: Graph) -> None:
    _new_input(graph, 3, 3, Tensor("bias", (6,), "FLOAT32", data=np.ones(6, np.float32)))


def _reshape_to(shape: tuple[int, ...]) -> Callable[[Graph], None]:
    def change(graph: Graph) -> None:
        (output,) = graph.outputs
        graph.outputs = [Tensor("flat", shape, "FLOAT32")]
        reshape = lce_ops.reshape(output, graph.outputs[0])
        graph.ops.append(reshape)
        graph.outputs[0].producer = reshape
        for tensor in reshape.inputs:
            tensor.consumers.append(reshape)

    return change


def _lose_option(op: int, key: str) -> Callable[[Graph], None]:
    return lambda graph: graph.ops[op].options.pop(key)


def test_legal_reshape():
    graph = _graph()
    _reshape_to((4, 7))(graph)
    verify(graph, "a rule")


# Changes of the graph, and a phrase of the error.
_BROKEN: dict[str, tuple[Callable[[Graph], None], str]] = {
    "order": (_swap, "LceBconv2d .* before it is made"),
    "no reader": (_forget_reader, "ADD .* does not know its reader"),
    "no producer": (_read_what_no_one_makes, "ADD .* reads 'lost' before it is made"),
    "other producer": (_steal_output, "LceQuantize .* has another producer"),
    "two producers": (_make_twice, "ADD .* is made twice"),
    "input made": (_make_an_input, "ADD .* 'x' is made twice"),
    "constant made": (_set(0, data=np.zeros(1)), "LceQuantize .* writes the constant"),
    "no output": (_lose_output, "nothing makes the output 'lost'"),
    "quantizes integers": (_integers_to_quantize, "LceQuantize .* quantizes INT32"),
    "quantizes to floats": (_set(0, dtype="FLOAT32"), "LceQuantize .* wrong output"),
    "too few words": (_set(0, shape=(1, 6, 6, 1)), "LceQuantize .* wrong output"),
    "wrong channels": (_two_options, "LceBconv2d .* wrong input"),
    "flat image": (_flat_image, "LceBconv2d .* wrong input"),
    "floats as image": (_floats_as_image, "LceBconv2d .* wrong input"),
    "wide filter": (_filters_of_three_words, "LceBconv2d .* wrong filter"),
    "no threshold": (lambda graph: _new_input(graph, 1, 4, None), "LceBconv2d .* wrong constants"),
    "no multiplier": (lambda graph: _new_input(graph, 3, 2, None), "LceBconv2d .* wrong constants"),
    "another bias": (_bias_of_another_size, "LceBconv2d .* wrong constants"),
    "too few words of output": (_set(1, shape=(1, 4, 4, 1)), "LceBconv2d .* wrong output"),
    "too few channels of output": (_set(3, shape=(1, 2, 2, 6)), "LceBconv2d .* wrong output"),
    "too high an output": (_set(1, shape=(1, 5, 4, 2)), "LceBconv2d .* wrong output"),
    "too narrow an output": (_set(1, shape=(1, 4, 3, 2)), "LceBconv2d .* wrong output"),
    "too many images": (_set(3, shape=(2, 2, 2, 7)), "LceBconv2d .* wrong output"),
    "reshaped to less": (_reshape_to((2, 7)), "RESHAPE .* wrong output"),
    "pools floats": (_floats_to_pool, "LceBMaxPool2d .* wrong shape or type"),
    "pools to floats": (_set(2, dtype="FLOAT32"), "LceBMaxPool2d .* wrong shape or type"),
    "no image": (lambda graph: _new_input(graph, 1, 0, None), "LceBconv2d .* wrong input"),
    "no channels_in": (_lose_option(1, "channels_in"), "LceBconv2d .* no option 'channels_in'"),
    "pools to fewer words": (_set(2, shape=(1, 2, 2, 1)), "LceBMaxPool2d .* wrong shape or type"),
}


@pytest.mark.parametrize("case", _BROKEN)
def test_broken_graph(case):
    change, text = _BROKEN[case]
    graph = _graph()
    change(graph)
    with pytest.raises(AssertionError, match=f"^after a rule: .*{text}"):
        verify(graph, "a rule")


def _product_graph() -> Graph:
    builder = ModelBuilder()
    x, y = builder.tensor((3, 5, 40)), builder.tensor((3, 6, 40))
    sides = [add_quantize(builder, x, (3, 5, 40)), add_quantize(builder, y, (3, 6, 40))]
    values = builder.constant(np.array([[1, -1], [1, -1]], np.float32))
    product = builder.tensor((3, 5, 6))
    builder.custom("LceBmatmul", [*sides, values], [product], {"depth": 40})
    return schema.read(builder.finish([x, y], [product])).graphs[0]


def _lose_values(graph: Graph) -> None:
    _new_input(graph, 2, 2, None)
    graph.ops[2].inputs.pop()


_BROKEN_PRODUCTS: dict[str, tuple[Callable[[Graph], object], str]] = {
    "no values": (_lose_values, "wrong number of inputs"),
    "no side": (lambda graph: _new_input(graph, 2, 1, None), "wrong input"),
    "no depth": (_lose_option(2, "depth"), "no option 'depth'"),
    "another depth": (lambda graph: graph.ops[2].options.update(depth=65), "wrong depth"),
    "too few columns": (_set(2, shape=(3, 5, 5)), "wrong output"),
    "too few matrices": (_set(2, shape=(2, 5, 6)), "wrong output"),
}


@pytest.mark.parametrize("case", _BROKEN_PRODUCTS)
def test_broken_product(case):
    change, text = _BROKEN_PRODUCTS[case]
    graph = _product_graph()
    verify(graph, "building")
    change(graph)
    with pytest.raises(AssertionError, match=f"^after a rule: LceBmatmul .*{text}"):
        verify(graph, "a rule")


def test_replacement_that_leaves_out_a_value_that_is_read():
    graph = _graph()
    op = graph.ops[0]
    other = Tensor("other", op.output.shape, "INT32")
    with pytest.raises(AssertionError, match=r"replacement of LceQuantize .* leaves out"):
        graph.replace(op, [Op("LceQuantize", list(op.inputs), [other], custom=True)])


def test_order_is_restored():
    graph = _graph()
    kinds = [op.kind for op in graph.ops]
    graph.ops.reverse()
    graph.sort()
    verify(graph, "sorting")
    assert [op.kind for op in graph.ops] == kinds


def test_operators_that_only_a_replaced_one_needed_go_with_it():
    graph = _graph()
    graph.replace(graph.ops[4], [Op("ABS", [graph.inputs[0]], list(graph.outputs))])
    verify(graph, "a rule")
    assert [op.kind for op in graph.ops] == ["ABS"]
    assert graph.inputs[0].consumers == graph.ops


def test_value_in_place_of_an_operator():
    """The operator's readers read the value; producers of its inputs stay if others read them."""
    graph = _graph()
    pool, reader = graph.ops[2:4]
    value = pool.inputs[0]
    graph.replace(pool, value)
    assert [op.kind for op in graph.ops] == ["LceQuantize", "LceBconv2d", "LceBconv2d", "ADD"]
    assert reader.inputs[0] is value
    assert value.consumers == [reader]
