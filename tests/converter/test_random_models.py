"""Any Larq model converts, answers as Keras does, and is binary wherever its quantizers are.

Without --full only a sample of the models runs. A failing model is printed as an expression:
`build_model(Model(...))` makes it again.
"""

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings

import larq_engine
from tests.converter import random_models
from tests.converter.frameworks import require_keras
from tests.kernel_rows import KERNELS

require_keras()

from tests.converter.random_layers import build_model  # noqa: E402

# Hypothesis begins each run with the same, smallest model; from the eleventh on it also makes
# variations of earlier ones. With ten others a run, all are drawn anew, and several processes can
# share them.
RUNS, SAMPLE = 30, 2
MODELS_OF_A_RUN = 10


def check_report(report: larq_engine.ConversionReport, expected: Counter[tuple[str, str]]) -> None:
    """Asserts what layers became; some may have lost their names in a merge with what follows."""
    became = Counter((layer.name, layer.became) for layer in report.layers)
    names = {name for name, _ in expected}
    named = Counter({key: count for key, count in became.items() if key[0] in names})
    assert named <= expected, f"expected {expected}, got\n{report}"
    unnamed = Counter(kind for name, kind in (became - named).elements())
    assert unnamed == Counter(kind for _, kind in (expected - named).elements()), (
        f"expected {expected}, got\n{report}"
    )


def check_other_runs(converted: bytes, inputs: np.ndarray, got: np.ndarray, seed: int) -> None:
    """Asserts the same results without fusing, with one of the kernels, and with two threads."""
    kernel = KERNELS[seed % len(KERNELS)]
    for options in ({"fuse": False}, {"kernel": kernel, "num_threads": 2}):
        other = larq_engine.Interpreter(converted, **options).predict(inputs)
        np.testing.assert_array_equal(other, got, err_msg=str(options))


def check(description: random_models.Model) -> None:
    built = build_model(description)
    converted = larq_engine.convert_keras_model(built.keras)
    check_report(converted.report, built.expected)
    got = larq_engine.Interpreter(converted).predict(built.inputs)
    check_other_runs(converted, built.inputs, got, description.seed)
    expected = built.keras(built.inputs).numpy()
    if built.exact:
        np.testing.assert_array_equal(got, expected)
    else:
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("run", range(RUNS if metafunc.config.getoption("full") else SAMPLE))


def test_converted_models_answer_as_keras_does(run: int, request: pytest.FixtureRequest) -> None:
    test = given(random_models.models())(check)
    test = seed(f"{request.config.getoption('seed')}, run {run}")(test)
    settings(
        max_examples=1 + MODELS_OF_A_RUN,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )(test)()
