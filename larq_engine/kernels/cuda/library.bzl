"""The library of the kernels for GPUs."""

load("//larq_engine:build_defs.bzl", "LARQ_COPTS", "plugin_library")
load("//third_party/cuda:nvcc.bzl", "cuda_fatbin")
load("@cuda_toolkit//:found.bzl", "FOUND")

def kernels_library(src, hdrs):
    """Defines liblarq_engine_cuda.so with the kernels of `src`, if nvcc is found.

    `fatbin`, the kernels as nvcc made them, and `image`, what the library is linked from, are
    targets as well.
    """
    if not FOUND:
        return
    cuda_fatbin(
        name = "fatbin",
        src = src,
        hdrs = hdrs,
        symbol = "larq_engine_cuda_code",
    )
    native.cc_library(
        name = "image",
        srcs = ["//larq_engine/kernels/cuda:image.cc"],
        copts = LARQ_COPTS,
        alwayslink = True,
        deps = [
            ":fatbin",
            "//larq_engine:version",
            "//larq_engine/kernels/cuda:args",
        ],
    )
    plugin_library(
        name = "liblarq_engine_cuda.so",
        deps = [":image"],
    )
