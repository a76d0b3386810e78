"""Files made by LCE 0.16.0 give LCE's own outputs, in every host.

`data/` has the files with the inputs and outputs that LCE recorded. Imports nothing but NumPy and
larq_engine, so that it also runs in an environment with only tflite_runtime.
"""

from pathlib import Path

import numpy as np
import pytest

import larq_engine
from tests.hosts import HOSTS
from tests.kernel_rows import KERNELS

_DATA = Path(__file__).parent / "data"
_SHARED = Path(__file__).parents[3] / "shared" / "interop"
_MODELS = sorted(path.stem for path in _DATA.glob("*.tflite"))

# The tolerance is relative plus absolute. `large_k` sums 27648 products, each rounded by the
# multiplier.
_TOLERANCE = 1e-4
_LARGE_K_TOLERANCE = 2e-3

# Quantization step of an int8 output, dequantized at the end of the file: the range is -6 to 6. The
# other int8 files are int8 only up to their first LceQuantize, and end in exact floats.
_OUTPUT_STEP = {"residual_relu_bn_add.int8": 12 / 255}


def test_there_are_files_of_every_kind():
    assert len(_MODELS) >= 19
    assert sum(name.endswith(".int8") for name in _MODELS) >= 4


@pytest.mark.skipif(not _SHARED.is_dir(), reason="the originals are not beside this checkout")
def test_copies_equal_the_originals():
    originals = sorted(path for path in _SHARED.iterdir() if path.suffix in (".tflite", ".npz"))
    assert originals
    for path in originals:
        assert (_DATA / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("model", _MODELS)
def test_output_is_that_of_lce(model, kernel, host):
    with np.load(_DATA / f"{model}.npz") as recorded:
        x, y = recorded["x"], recorded["y"]
    interpreter = larq_engine.Interpreter(_DATA / f"{model}.tflite", kernel=kernel, host=host)
    assert len(x) > 1, "a batch shows more than one sample does"
    whole = interpreter.predict(x)
    single = np.concatenate([interpreter.predict(sample[np.newaxis]) for sample in x])
    for got in (whole, single):
        assert got.dtype == y.dtype
        assert got.shape == y.shape
        _compare(model, got, y)


def _compare(model: str, got: np.ndarray, expected: np.ndarray) -> None:
    step = _OUTPUT_STEP.get(model)
    if step is not None:
        worst = float(np.abs(got - expected).max()) / step
        assert worst <= 1.001, f"{worst} int8 steps from LCE"
    else:
        tolerance = _LARGE_K_TOLERANCE if "large_k" in model else _TOLERANCE
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)
