"""These tests need the fake driver in the place of NVIDIA's: tools/test_fake_gpu.sh runs them."""

import gc
import os

import pytest

if os.environ.get("LARQ_ENGINE_DEVICE") != "cuda":
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def driver():
    """The fake driver's own functions, with nothing counted so far and no call that fails."""
    import ctypes

    gc.collect()  # what tests before left to it would count as leaks of this one
    library = ctypes.CDLL("libcuda.so.1")
    library.fake_cuda_failed_call.restype = ctypes.c_char_p
    library.fake_cuda_calls.restype = ctypes.c_uint64
    library.fake_cuda_fail_call.argtypes = [ctypes.c_uint64, ctypes.c_uint]
    library.fake_cuda_reset()
    yield library
    library.fake_cuda_reset()
