"""Operators of TensorFlow that only hand on their inputs leave nothing in a file.

The list is that of LCE's tests of its op-removal pass.
"""

import numpy as np
import pytest

import larq_engine
from tests.converter.frameworks import require_keras

require_keras()

import tensorflow as tf  # noqa: E402

OPEN = (None, 8, 8, 4)
HANDED_ON = {
    "CheckNumerics": lambda x: tf.debugging.check_numerics(x, "message"),
    "Identity": tf.identity,
    "IdentityN": lambda x: tf.identity_n([x, x])[1],
    "PlaceholderWithDefault": lambda x: tf.compat.v1.placeholder_with_default(x, OPEN),
    "Snapshot": lambda x: tf.raw_ops.Snapshot(input=x),
    "StopGradient": tf.stop_gradient,
}


@pytest.mark.parametrize("strides", [1, 2])
@pytest.mark.parametrize("name", HANDED_ON)
def test_nothing_is_left_of_them(tmp_path, rng, name, strides):
    """Around the operators are a sign and a convolution, which still find their static shapes."""
    filters = np.where(rng.normal(size=(3, 3, 4, 8)) < 0, -1, 1).astype(np.float32)

    class Module(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec(OPEN, tf.float32, name="x")])
        def run(self, x):
            signs = tf.where(HANDED_ON[name](x) >= 0, 1.0, -1.0)
            return {"y": tf.nn.conv2d(HANDED_ON[name](signs), filters, strides, "VALID")}

    module = Module()
    tf.saved_model.save(module, tmp_path, signatures=module.run)
    converted = larq_engine.convert_saved_model(tmp_path)
    assert converted.report.operators == {"LceQuantize": 1, "LceBconv2d": 1}
    x = rng.normal(size=(2, 8, 8, 4)).astype(np.float32)
    expected = tf.nn.conv2d(
        np.where(x >= 0, np.float32(1), np.float32(-1)), filters, strides, "VALID"
    )
    np.testing.assert_array_equal(larq_engine.Interpreter(converted).predict(x), expected)
