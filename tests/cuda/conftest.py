"""Fixtures of tests that need a GPU, or the fake driver (tools/test_fake_gpu.sh)."""

import gc
import os

import pytest

if os.environ.get("LARQ_ENGINE_DEVICE") != "cuda":
    collect_ignore_glob = ["test_*.py"]


def _fake_driver():
    import ctypes

    library = ctypes.CDLL("libcuda.so.1")
    if not hasattr(library, "fake_cuda_reset"):
        return None
    library.fake_cuda_failed_call.restype = ctypes.c_char_p
    library.fake_cuda_calls.restype = ctypes.c_uint64
    library.fake_cuda_fail_call.argtypes = [ctypes.c_uint64, ctypes.c_uint]
    return library


@pytest.fixture
def driver():
    """Yields the fake driver's own functions, after a reset of its counts and failures."""
    gc.collect()  # garbage of earlier tests would count as leaks of this one
    library = _fake_driver()
    if library is None:
        pytest.skip("needs the fake driver")
    library.fake_cuda_reset()
    yield library
    library.fake_cuda_reset()


@pytest.fixture
def assert_no_leaks():
    """Yields a check that all memory is given back, and that all copies were of pinned memory.

    With a real GPU it checks nothing.
    """
    gc.collect()  # garbage of earlier tests would count as leaks of this one
    library = _fake_driver()
    if library is not None:
        library.fake_cuda_reset()

    def check():
        if library is not None:
            assert library.fake_cuda_leaks() == 0
            assert library.fake_cuda_pageable_copies() == 0

    yield check
    if library is not None:
        library.fake_cuda_reset()


@pytest.fixture
def shuffled():
    """Yields a function that sets the fake driver's seed, which orders streams and threads."""
    library = _fake_driver()
    yield library.fake_cuda_set_seed if library is not None else lambda seed: None
    if library is not None:
        library.fake_cuda_reset()
