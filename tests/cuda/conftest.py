"""These tests need a GPU, or the fake driver in the place of NVIDIA's (tools/test_fake_gpu.sh)."""

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
    """The fake driver's own functions, with nothing counted so far and no call that fails."""
    gc.collect()  # what tests before left to it would count as leaks of this one
    library = _fake_driver()
    if library is None:
        pytest.skip("needs the fake driver")
    library.fake_cuda_reset()
    yield library
    library.fake_cuda_reset()


@pytest.fixture
def assert_no_leaks():
    """Called where all memory is given back, and no copy was of memory that is not pinned.

    A GPU does not say.
    """
    gc.collect()  # what tests before left to it would count as leaks of this one
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
    """Called with a seed: another order of streams and threads. A GPU has its own."""
    library = _fake_driver()
    yield library.fake_cuda_set_seed if library is not None else lambda seed: None
    if library is not None:
        library.fake_cuda_reset()
