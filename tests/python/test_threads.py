"""Interpreters in several threads: one for each thread, and one for all."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

# The import comes first because the first use starts a process (`lscpu`), and a fork in one of
# several busy threads hangs under ThreadSanitizer.
import numpy.testing

import larq_engine
from tests import oracle
from tests.model_builder import bconv_model
from tests.oracle import Conv

_THREADS = 4
_ROUNDS = 20


def case(seed: int) -> tuple[bytes, np.ndarray, np.ndarray]:
    """Makes a model of its own shape, data of several samples, and the result."""
    rng = np.random.default_rng(seed)
    conv = Conv((1, 6 + seed, 7, 64), (3, 3), 16 + seed)
    filters = oracle.signs(rng.standard_normal(conv.filter_shape))
    x = rng.standard_normal((2 + seed, *conv.input_shape[1:])).astype(np.float32)
    ones, zeros = np.ones(16 + seed, np.float32), np.zeros(16 + seed, np.float32)
    expected = oracle.dot_products(conv.with_batch(len(x)), oracle.signs(x), filters)
    return bconv_model(conv, filters, ones, zeros), x, expected


def test_an_interpreter_in_each_thread():
    def work(seed: int) -> int:
        model, x, expected = case(seed)
        for threads in (1, 2):
            interpreter = larq_engine.Interpreter(model, num_threads=threads)
            for _ in range(_ROUNDS):
                numpy.testing.assert_array_equal(interpreter.predict(x), expected)
                numpy.testing.assert_array_equal(interpreter.predict(x[:1]), expected[:1])
        return seed

    with ThreadPoolExecutor(_THREADS) as pool:
        assert list(pool.map(work, range(_THREADS))) == list(range(_THREADS))


def test_one_interpreter_for_all_threads():
    model, x, expected = case(3)
    interpreter = larq_engine.Interpreter(model, num_threads=2)

    def work(samples: int) -> int:
        for _ in range(_ROUNDS):
            got = interpreter.predict(x[:samples])
            numpy.testing.assert_array_equal(got, expected[:samples])
        return samples

    with ThreadPoolExecutor(_THREADS) as pool:
        assert list(pool.map(work, [1, 2, 3, 4])) == [1, 2, 3, 4]


def test_interpreters_made_and_dropped_in_threads():
    def work(round_: int) -> np.ndarray:
        return larq_engine.Interpreter(model).predict(x)

    model, x, expected = case(0)
    with ThreadPoolExecutor(_THREADS) as pool:
        for got in pool.map(work, range(_THREADS * _ROUNDS)):
            numpy.testing.assert_array_equal(got, expected)
