"""Tensors whose shape only the data decide: the host plans our operators while the model runs."""

import numpy as np
import pytest

import larq_engine
from tests import oracle
from tests.hosts import HOSTS
from tests.model_builder import ModelBuilder, add_quantize, bconv_options
from tests.oracle import Conv, pack_bits


def _reshaped_bconv(conv: Conv, filters: np.ndarray) -> bytes:
    """Builds a convolution of a flat input that is reshaped to a shape, another input."""
    builder = ModelBuilder()
    flat = builder.tensor([int(np.prod(conv.input_shape))], name="flat", signature=[-1])
    shape = builder.tensor([4], np.int32, name="shape")
    image = builder.tensor(conv.input_shape)
    builder.builtin("RESHAPE", [flat, shape], [image])
    bits = add_quantize(builder, image, conv.input_shape)
    y = builder.tensor(conv.output_shape, name="y")
    ones = builder.constant(np.ones(conv.channels_out, np.float32))
    zeros = builder.constant(np.zeros(conv.channels_out, np.float32))
    weights = builder.constant(pack_bits(filters))
    builder.custom("LceBconv2d", [bits, weights, ones, zeros, -1], [y], bconv_options(conv))
    return builder.finish([flat, shape], [y])


@pytest.mark.parametrize("host", HOSTS)
def test_batch_and_size_that_the_data_decide(host, rng):
    declared = Conv((1, 6, 5, 40), (3, 3), 9, padding="SAME", pad_value=0)
    filters = oracle.signs(rng.standard_normal(declared.filter_shape))
    model = _reshaped_bconv(declared, filters)
    interpreter = larq_engine.Interpreter(model, host=host)
    for image_shape in [(1, 6, 5, 40), (3, 6, 5, 40), (2, 1, 9, 40), (1, 6, 5, 40)]:
        image = rng.standard_normal(image_shape).astype(np.float32)
        interpreter.resize({"flat": (image.size,)})
        conv = Conv(image_shape, (3, 3), 9, padding="SAME", pad_value=0)
        expected = oracle.dot_products(conv, oracle.signs(image), filters)
        got = interpreter.predict([image.ravel(), np.array(image_shape, np.int32)])
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("host", HOSTS)
def test_scalars_where_channels_were_declared(host):
    builder = ModelBuilder()
    flat = builder.tensor([1], name="flat", signature=[-1])
    scalar = builder.constant(np.zeros(0, np.int32))
    reshaped = [builder.tensor([1, 1]), builder.tensor([1, 1])]
    for tensor in reshaped:
        builder.builtin("RESHAPE", [flat, scalar], [tensor])
    joined = builder.tensor([1, 2])
    builder.builtin("CONCATENATION", reshaped, [joined], axis=-1)
    model = builder.finish([flat], [add_quantize(builder, joined, [1, 2])])
    with pytest.raises(ValueError, match="expected at least 1 dimension"):
        larq_engine.Interpreter(model, host=host).predict(np.ones(1, np.float32))
