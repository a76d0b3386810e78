"""C++ tests: what all of them share."""

load("//larq_engine:build_defs.bzl", "LARQ_COPTS", "LINUX_ONLY")

def cpp_test(name, deps = [], size = "small", srcs = None, copts = LARQ_COPTS, linkopts = [], **attributes):
    """Declares a test of the file of its name, with GoogleTest, unless it is told otherwise."""
    native.cc_test(
        name = name,
        size = size,
        srcs = srcs or [name + ".cc"],
        copts = copts,
        linkopts = linkopts + select({
            # One script that Node runs; see tools/node.js.
            "//:wasm": [
                "--profiling-funcs",  # traces name functions
                "-sALLOW_MEMORY_GROWTH",
                "-sEXIT_RUNTIME",
                "-sEXPORTED_RUNTIME_METHODS=ENV",
                "-sSINGLE_FILE",
            ],
            "//conditions:default": [],
        }),
        deps = deps + ["@googletest//:gtest_main"],
        **attributes
    )

def emulated_gpu_cpp_test(**attributes):
    """Declares a test that runs kernels on the emulated GPU.

    The emulated GPU is the same on every CPU, and takes minutes on an emulated one.
    """
    cpp_test(
        target_compatible_with = ["@platforms//cpu:x86_64"] + LINUX_ONLY,
        **attributes
    )
