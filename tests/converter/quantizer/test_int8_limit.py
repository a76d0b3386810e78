"""`max_output_error`: layers that put outputs off by too much stay in float."""

import numpy as np
import pytest

from larq_engine.converter.api import convert_tflite
from larq_engine.converter.errors import ConversionError
from tests.converter.graphs import Net, run_stock

_SHAPE = (1, 8, 8, 32)


@pytest.fixture
def samples(rng) -> list[np.ndarray]:
    return [rng.normal(size=_SHAPE).astype(np.float32) for _ in range(3)]


@pytest.fixture
def content(rng) -> bytes:
    """Makes a good layer, and one that reads values of which a few are 1000 times the others."""
    net = Net()
    x = net.input(*_SHAPE)
    good = net.conv(x, rng.normal(size=(32, 3, 3, 32)).astype(np.float32), padding="SAME")
    spread = np.ones(32, np.float32)
    spread[0] = 1000
    rough = net.op("PRELU", net.op("MUL", x, spread), np.zeros((1, 1, 32), np.float32))
    weights = rng.normal(size=(32, 3, 3, 32)).astype(np.float32)
    weights[..., 0] /= 1e6
    bad = net.conv(rough, weights, padding="SAME")
    return net.finish(net.op("LOGISTIC", good), net.op("ADD", good, bad))


def _layers(converted) -> list[str]:
    return [layer.became for layer in converted.report.layers]


def _error(converted) -> float:
    return max(output.relative for output in converted.report.int8.outputs)


def test_the_worst_layer_stays_in_float(content, samples):
    free = convert_tflite(content, representative_dataset=samples)
    assert _layers(free) == ["int8", "int8"]
    assert _error(free) > 0.05
    limited = convert_tflite(content, representative_dataset=samples, max_output_error=0.05)
    assert _layers(limited) == ["int8", "float"]
    assert _error(limited) < 0.05
    (reason,) = [op.reason for op in limited.report.int8.float_ops if "max_output" in op.reason]
    assert reason.startswith("max_output_error of 0.05: alone in int8 it puts outputs off by 0.")
    found, expected = (run_stock(model, samples[:1])[1] for model in (limited, content))
    assert np.sqrt(((found - expected) ** 2).mean() / (expected**2).mean()) < 0.05


def test_a_limit_that_is_kept_changes_nothing(content, samples):
    free = convert_tflite(content, representative_dataset=samples)
    limited = convert_tflite(content, representative_dataset=samples, max_output_error=10)
    assert bytes(limited) == bytes(free)


def test_no_error_is_all_float(content, samples):
    limited = convert_tflite(content, representative_dataset=samples, max_output_error=0)
    assert _layers(limited) == ["float", "float"]
    assert _error(limited) == 0
    assert limited.report.int8.tensors == ()


def test_ends_that_are_further_off(content, samples):
    with pytest.raises(ConversionError, match=r"off by 1e-06 at most, got 0\.\d+ at best"):
        convert_tflite(
            content,
            representative_dataset=samples,
            max_output_error=1e-6,
            inference_input_type="int8",
            inference_output_type="int8",
        )


def test_outputs_that_are_no_numbers(net, rng, samples):
    x = net.input(*_SHAPE)
    y = net.conv(x, rng.normal(size=(32, 3, 3, 32)).astype(np.float32))
    content = net.finish(net.op("CAST", y, dtype=np.int32))
    with pytest.raises(ConversionError, match="an output of float32, got none"):
        convert_tflite(content, representative_dataset=samples, max_output_error=0.1)


@pytest.mark.parametrize(
    ("limit", "error", "text"),
    [
        (-0.1, ValueError, "0 or more, got -0.1"),
        (float("nan"), ValueError, "0 or more, got nan"),
        ("1", TypeError, "expected a number such as 0.02, got str"),
        (True, TypeError, "expected a number such as 0.02, got bool"),
    ],
)
def test_what_is_no_limit(content, samples, limit, error, text):
    with pytest.raises(error, match=f"max_output_error: .*{text}"):
        convert_tflite(content, representative_dataset=samples, max_output_error=limit)


def test_without_samples(content):
    with pytest.raises(ValueError, match="max_output_error: expected a representative_dataset"):
        convert_tflite(content, max_output_error=0.1)


def test_nan_in_outputs_is_refused(samples, rng):
    """NaN is refused in any output, though it is neither above nor below the limit."""
    for order in (1, -1):
        net = Net()
        x = net.input(*_SHAPE)
        y = net.conv(x, rng.normal(size=(32, 3, 3, 32)).astype(np.float32), padding="SAME")
        outputs = [y, net.op("SQRT", net.op("SUB", y, 1e3))]
        content = net.finish(*outputs[::order])
        free = convert_tflite(content, representative_dataset=samples)
        assert sorted(np.isnan(output.largest) for output in free.report.int8.outputs) == [0, 1]
        with pytest.raises(ConversionError, match="outputs are finite, got NaN"):
            convert_tflite(content, representative_dataset=samples, max_output_error=0.5)
