"""Compiler and linker flags, stated once. ISA flags appear here and in no other file (tested)."""

# -ffp-contract=off: float results must be the same on every ISA, so no compiler may fuse a
# multiply and an add on its own.
# Hidden visibility: the plug-in exports only its C interface, and lives in processes that hold
# other C++ libraries. Warnings become errors in .bazelrc, where a package build can undo it.
LARQ_COPTS = [
    "-Wall",
    "-Wextra",
    "-ffp-contract=off",
    "-fvisibility=hidden",
    "-fvisibility-inlines-hidden",
]

# For code that runs once a run and not once a value.
SMALL_COPTS = LARQ_COPTS + ["-Os"]

# -O3: gcc 12 vectorises the epilogues and packers only there.
KERNEL_COPTS = LARQ_COPTS + ["-O3"]

# For the products on 64-bit words: left alone, gcc 12 keeps the counters of neighbouring outputs in
# SSE registers and moves every count there, at half the speed (74 instead of 150 GMAC/s at depth 576).
SCALAR_COPTS = [
    "-fno-tree-vectorize",
    "-fno-tree-slp-vectorize",
]

# Feature name (as in kernel row names) -> the flags for the files of that feature only.
_AVX2 = ["-mavx2", "-mbmi2", "-mpopcnt"]
_AVX512BW = _AVX2 + ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512"]

ISA_COPTS = {
    "amxint8": _AVX512BW + ["-mamx-tile", "-mamx-int8"],
    "avx2": _AVX2,
    "avx512bw": _AVX512BW,
    "avx512vnni": _AVX512BW + ["-mavx512vnni"],
    "avx512vpopcntdq": _AVX512BW + ["-mavx512vpopcntdq"],
    "dotprod": select({
        "@platforms//os:macos": [],  # every Mac with such a CPU has it
        "//conditions:default": ["-march=armv8.2-a+dotprod"],
    }),
    "fma": ["-mfma"],  # the products of floats, and a test that nothing else is contracted
    "neon": [],  # every 64-bit ARM has it
    "popcnt": ["-mpopcnt"],
    "sme2": [],  # written as words: gcc knows SME2 from 14 on
}

# The chips that kernels are compiled for, and PTX that the driver compiles for all from 10.0 on that
# are not among them, such as 11.0.
CUDA_CHIPS = [
    "sm_75",
    "sm_80",
    "sm_86",
    "sm_89",
    "sm_90a",
    "sm_100",
    "sm_120",
    "compute_100",
]

# --fmad=false: nvcc would fuse a multiply and an add, as -ffp-contract=off forbids on the CPU.
# Compressed for size, the code of all chips is a ninth as large.
CUDA_COPTS = [
    "-std=c++20",
    "-O3",
    "--fmad=false",
    "-Werror",
    "all-warnings",
    "-Xptxas",
    "-v,-warn-spills",
    "--compress-mode=size",
]

# Of targets that need what only Linux has.
LINUX_ONLY = ["@platforms//os:linux"]

# What opens libraries at run time.
OPEN_LIBRARIES = select({
    "@platforms//os:windows": [],  # not used there
    "//conditions:default": ["-ldl"],
})

# The plug-in carries its own C++ runtime, because the host process may have loaded an older one;
# a sanitizer intercepts the shared C++ runtime, so there it stays shared. The toolchain appends
# `-lstdc++`: --as-needed drops it once the archive has resolved everything.
_STATIC_CXX_RUNTIME = select({
    "//:sanitized": [],
    "@platforms//os:linux": ["-l:libstdc++.a", "-static-libgcc", "-Wl,--as-needed"],
    "//conditions:default": [],  # Android: its toolchain does so everywhere
})

_VERSION_SCRIPT = ["-Wl,--version-script=$(location //larq_engine:exports.lds)"]

# Without a name of its own, a program that is linked with the library by its path looks for it at
# that path. Elsewhere hidden visibility alone says what is exported, and zig's linker for macOS
# exports the operators new and delete as well.
def _exports(name):
    flags = _VERSION_SCRIPT + ["-Wl,-soname," + name]
    return select({
        "@platforms//os:android": flags,
        "@platforms//os:linux": flags,
        "@platforms//os:macos": ["-Wl,-install_name,@rpath/" + name, "-Wl,-s"],
        "@platforms//os:windows": ["-Wl,-s"],
    })

# -L comes before the compiler's own folders, so -lc and the like find the stubs of tools/manylinux.
_GLIBC_2_28 = select({
    "//:manylinux": ["-L$(BINDIR)/tools/manylinux", "-Wl,--no-undefined", "-Wl,--strip-all"],
    "//conditions:default": [],
})

def plugin_library(name, deps, **kwargs):
    """A shared library that a foreign process loads: exports.lds says what it shows."""
    native.cc_binary(
        name = name,
        additional_linker_inputs = ["//larq_engine:exports.lds"] + select({
            "//:manylinux": ["//tools/manylinux:glibc_2_28"],
            "//conditions:default": [],
        }),
        linkopts = _STATIC_CXX_RUNTIME + _exports(name) + _GLIBC_2_28,
        linkshared = True,
        deps = deps + select({
            "//:manylinux": ["//tools/manylinux:newer_than_glibc_2_28"],
            "//conditions:default": [],
        }),
        **kwargs
    )

def device_binary(name, linkopts = [], **kwargs):
    """A program that is copied to devices, which may have an older C++ runtime."""
    native.cc_binary(
        name = name,
        linkopts = _STATIC_CXX_RUNTIME + linkopts,
        **kwargs
    )
