"""A layer has one name: the user's, in the report, the profile, `inspect` and the benchmark."""

import pytest

import larq_engine
from larq_engine.command_line.model_facts import collect_facts
from tests.benchmark_model.test_benchmark_binary import report as benchmark
from tests.converter.frameworks import require_keras

require_keras()

import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

layers = tf.keras.layers

_BINARY = {
    "input_quantizer": "ste_sign",
    "kernel_quantizer": "ste_sign",
    "kernel_constraint": "weight_clip",
    "use_bias": False,
}


def _conv(name, filters=32, **options):
    return larq.layers.QuantConv2D(
        filters, 3, padding="same", pad_values=1, name=name, **(_BINARY | options)
    )


def _sequential():
    """Builds a pooling and a batch norm whose signs move up to the layer before."""
    return tf.keras.Sequential(
        [
            layers.Input((12, 12, 3)),
            _conv("conv1", input_quantizer=None),
            layers.BatchNormalization(name="norm1"),
            _conv("conv2"),
            layers.BatchNormalization(name="norm2"),
            layers.MaxPool2D(name="pool2"),
            _conv("conv3"),
            layers.MaxPool2D(name="pool3"),
            layers.BatchNormalization(name="norm3"),
            layers.Flatten(name="flat"),
            larq.layers.QuantDense(10, name="scores", **_BINARY),
        ]
    )


def _nested():
    """Builds two blocks with layers of the same names, and a layer that is called twice."""
    image = layers.Input((8, 8, 32))
    first, second = (
        tf.keras.Sequential([_conv("conv"), layers.BatchNormalization(name="norm")], name=name)
        for name in ("block1", "block/2")
    )
    shared = _conv("Conv_1")
    x = layers.add([first(image), image], name="sum")
    x = shared(layers.PReLU(name="prelu")(shared(second(x))))
    x = layers.GlobalAveragePooling2D(name="mean")(x)
    return tf.keras.Model(image, layers.Dense(5, name="last")(x))


class _Subclassed(tf.keras.Model):
    def __init__(self):
        super().__init__(name="own")
        self.first = layers.Conv2D(32, 3, name="first")
        self.inner = _conv("inner", use_bias=True)
        self.last = layers.Dense(3, name="last")

    def call(self, x):
        x = tf.nn.relu(self.inner(self.first(x)))
        return tf.nn.softmax(self.last(tf.reduce_mean(x, [1, 2])))


def _subclassed():
    model = _Subclassed()
    model(tf.zeros((1, 8, 8, 3)))
    return model


_CASES = {
    _sequential: (["conv1", "conv2", "conv3", "scores"], {"pool2", "pool3", "norm3"}),
    _nested: (
        ["block1/conv", "block/2/conv", "Conv_1", "Conv_1", "last"],
        {"sum", "prelu", "mean"},
    ),
    _subclassed: (["first", "inner", "last"], {"own", "output_1"}),
}


@pytest.mark.parametrize("make", _CASES)
@pytest.mark.parametrize("fuse", [True, False])
def test_layers_have_one_name(make, fuse, tmp_path):
    weighted, others = _CASES[make]
    converted = larq_engine.convert_keras_model(make())
    assert [layer.name for layer in converted.report.layers] == weighted
    facts = collect_facts(converted)
    assert [op.layer for op in facts.operators if op.weight_bits] == weighted
    assert {op.layer for op in facts.operators} <= {*weighted, *others}

    rows = larq_engine.Interpreter(converted, fuse=fuse).profile(runs=1).rows[:-1]
    named = {(op.kind, op.layer, op.name) for op in facts.operators}
    assert {(row.op, row.name, row.tensor) for row in rows} <= named
    binary = [layer.name for layer in converted.report.layers if layer.became == "binary"]
    assert [row.name for row in rows if row.op == "LceBconv2d"] == binary
    quantizers = [row.name for row in rows if row.op == "LceQuantize"]
    assert set(quantizers) <= set(binary)

    model = tmp_path / "model.tflite"
    model.write_bytes(converted)
    flags = ("--enable_op_profiling", f"--fuse={str(fuse).lower()}")
    measured = benchmark(model, tmp_path, *flags)["ops"]["rows"]
    ours = [row for row in measured if row["device"] == "cpu"]  # neither the host's nor the rest
    assert [(row["op"], row["name"], row["tensor"]) for row in ours] == [
        (row.op, row.name, row.tensor) for row in rows
    ]
