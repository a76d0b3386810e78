"""The ways to compute a convolution, for tests that must give one result in all of them."""

import ctypes

import larq_engine


def kernel_rows() -> list[str]:
    """The kernel rows that this CPU runs."""
    library = ctypes.CDLL(larq_engine.delegate_path())
    library.larq_engine_kernels.restype = ctypes.c_char_p
    names: bytes = library.larq_engine_kernels()
    return names.decode().split(",")


KERNELS = ["auto", "reference", *kernel_rows()]

# Float convolutions beside binary layers are the plug-in's where it has a row for the CPU.
TAKES_FLOAT_CONVOLUTIONS = any(row.endswith("_avx2") for row in kernel_rows())
