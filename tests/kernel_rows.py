"""Kernel rows that compute a convolution, for tests that must give one result with all of them."""

import ctypes

import larq_engine


def kernel_rows() -> list[str]:
    """Returns the kernel rows that this CPU runs."""
    library = ctypes.CDLL(larq_engine.delegate_path())
    library.larq_engine_kernels.restype = ctypes.c_char_p
    names: bytes = library.larq_engine_kernels()
    return names.decode().split(",")


KERNELS = ["auto", "reference", *kernel_rows()]

# The plug-in takes float convolutions beside binary layers if its row was timed beside a host.
TAKES_FLOAT_CONVOLUTIONS = any(row.endswith("_avx2") for row in kernel_rows())
