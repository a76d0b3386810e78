"""Compiler and linker flags, stated once. ISA flags appear here and in no other file (tested)."""

# The vectors of WebAssembly.
_SIMD128 = ["-msimd128"]

# -ffp-contract=off: float results must be the same on every ISA, so no compiler may fuse a
# multiply and an add on its own.
# Hidden visibility: the plug-in exports only its C interface, and lives in processes that hold
# other C++ libraries. Warnings become errors in .bazelrc, where a package build can undo it.
# A module of WebAssembly has vectors in all of its code or in none.
LARQ_COPTS = [
    "-Wall",
    "-Wextra",
    "-ffp-contract=off",
    "-fvisibility=hidden",
    "-fvisibility-inlines-hidden",
] + select({
    "//:simd128": _SIMD128,
    "//conditions:default": [],
})

# For code that runs once in a run of the model, not once for each value.
SMALL_COPTS = LARQ_COPTS + ["-Os"]

# gcc 12 vectorises the epilogues and packers only with -O3, and square roots only if they need not
# set errno.
KERNEL_COPTS = LARQ_COPTS + ["-O3", "-fno-math-errno"] + select({
    # Emscripten would leave out inlining where -Os comes first, although -O3 follows.
    "//:wasm": ["-finline-functions"],
    "//conditions:default": [],
})

# For the products on 64-bit words: with vectorisation, gcc 12 keeps the counters of neighbouring
# outputs in SSE registers and moves every count there, at half the speed (74 instead of 150 GMAC/s
# at depth 576).
SCALAR_COPTS = [
    "-fno-tree-vectorize",
    "-fno-tree-slp-vectorize",
]

# Feature name (as in kernel row names) -> the flags for that feature's files.
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
    "simd128": _SIMD128,
    "sme2": [],  # its instructions are written as numbers, because gcc knows SME2 only from 14 on
}

# The chips that kernels are compiled for, and PTX, which the driver compiles for other chips from
# 10.0 on, such as 11.0.
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

# --fmad=false: nvcc would fuse a multiply and an add, which -ffp-contract=off forbids on the CPU.
# The code of all chips is compressed for size, to a ninth.
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

# For targets that need what only Linux has.
LINUX_ONLY = ["@platforms//os:linux"]

# Flags for code that opens libraries at run time.
OPEN_LIBRARIES = select({
    "@platforms//os:windows": [],  # not used there
    "//conditions:default": ["-ldl"],
})

# The plug-in carries its own C++ runtime, because the host process may have loaded an older one. A
# sanitizer intercepts the shared C++ runtime, so sanitized builds share it. The toolchain appends
# `-lstdc++`: --as-needed drops it once the archive has resolved everything.
_STATIC_CXX_RUNTIME = select({
    "//:sanitized": [],
    "@platforms//os:linux": ["-l:libstdc++.a", "-static-libgcc", "-Wl,--as-needed"],
    "//conditions:default": [],  # Android: its toolchain does so everywhere
})

_VERSION_SCRIPT = ["-Wl,--version-script=$(location //larq_engine:exports.lds)"]

# A library without a name of its own would be searched for at the path by which the program was
# linked with it. On macOS and Windows only hidden visibility decides what is exported; zig's linker
# for macOS also exports the operators new and delete.
def _exports(name):
    flags = _VERSION_SCRIPT + ["-Wl,-soname," + name]
    return select({
        "@platforms//os:android": flags,
        "@platforms//os:linux": flags,
        "@platforms//os:macos": ["-Wl,-install_name,@rpath/" + name, "-Wl,-s"],
        "@platforms//os:windows": ["-Wl,-s"],
    })

# Names that only a debugger needs. On macOS and Windows nothing is linked without `-Wl,-s`.
_STRIPPED = select({
    "//:stripped": ["-Wl,--strip-all"],
    "//conditions:default": [],
})

# -L comes before the compiler's own folders, so -lc and others find the stubs of tools/manylinux.
_GLIBC_2_28 = select({
    "//:manylinux": ["-L$(BINDIR)/tools/manylinux", "-Wl,--no-undefined"],
    "//conditions:default": [],
})
_GLIBC_2_28_STUBS = select({
    "//:manylinux": ["//tools/manylinux:glibc_2_28"],
    "//conditions:default": [],
})
_NEWER_THAN_GLIBC_2_28 = select({
    "//:manylinux": ["//tools/manylinux:newer_than_glibc_2_28"],
    "//conditions:default": [],
})

# A program that is linked on a system of today leaves its constructors to its C library, and glibc
# before 2.34 leaves them to the program. The C++ runtime inside must not take the place of a newer
# one that LiteRT's library brings.
_PROGRAM = select({
    "//:manylinux": ["-Wl,--wrap=main", "-Wl,--exclude-libs,ALL"],
    "//conditions:default": [],
})
_FOR_PROGRAMS = select({
    "//:manylinux": ["//tools/manylinux:programs"],
    "//conditions:default": [],
})

def many_files_library(name, srcs, **kwargs):
    """A library whose files are compiled one by one, or as one file with --define=in_one_file=1.

    Headers take three quarters of the time in which a file is compiled, and one file reads them
    once. So builds that compile everything anew choose that. Two files may not define the same name
    in their anonymous namespaces, but for functions with other parameters.
    """
    in_one = name + "_in_one"
    native.genrule(
        name = in_one,
        srcs = srcs,
        outs = [in_one + ".cc"],
        cmd = "for file in $(SRCS); do echo \"#include \\\"$$file\\\"\"; done > $@",
    )
    native.cc_library(
        name = name,
        srcs = select({
            "//:in_one_file": [in_one],
            "//conditions:default": srcs,
        }),
        textual_hdrs = select({
            "//:in_one_file": srcs,
            "//conditions:default": [],
        }),
        **kwargs
    )

def plugin_library(name, deps, **kwargs):
    """A shared library that a foreign process loads: exports.lds says what it shows."""
    native.cc_binary(
        name = name,
        additional_linker_inputs = ["//larq_engine:exports.lds"] + _GLIBC_2_28_STUBS,
        linkopts = _STATIC_CXX_RUNTIME + _exports(name) + _GLIBC_2_28 + _STRIPPED,
        linkshared = True,
        deps = deps + _NEWER_THAN_GLIBC_2_28,
        **kwargs
    )

def device_binary(name, deps, additional_linker_inputs = [], linkopts = [], **kwargs):
    """A program that is copied to devices, which may have an older C++ runtime."""
    native.cc_binary(
        name = name,
        additional_linker_inputs = additional_linker_inputs + _GLIBC_2_28_STUBS,
        linkopts = _STATIC_CXX_RUNTIME + linkopts + _GLIBC_2_28 + _STRIPPED + _PROGRAM,
        deps = deps + _NEWER_THAN_GLIBC_2_28 + _FOR_PROGRAMS,
        **kwargs
    )

def static_binary(name, **kwargs):
    """A program that needs no library of the system's.

    It can open none, either: no_dynamic_loader.cc is among its sources. So nothing comes of the
    linker's warning that dlopen needs the libraries of this system, which GNU's linker gives because
    the C library itself has calls of it.
    """
    native.cc_binary(
        name = name,
        # Bazel links a program of objects for shared libraries with -pie, which gcc takes together
        # with -static for a program that the dynamic loader starts.
        linkopts = ["-static", "-no-pie"] + _STRIPPED,
        **kwargs
    )

# JavaScript calls these of larq_engine_model.h, and takes memory for their arguments.
_WASM_EXPORTS = ["_free", "_malloc"] + ["_larq_engine_model_" + name for name in [
    "allocate",
    "graph",
    "input",
    "inputs",
    "open",
    "output",
    "outputs",
    "profile_read",
    "profile_start",
    "resize",
    "run",
    "signatures",
]]

# Functions for workers, and what each of them sets in its own instance of the module.
_WASM_THREAD_EXPORTS = [
    "_larq_engine_add_worker",
    "_larq_engine_serve",
    "_larq_engine_thread_trapped",
    "___wasm_init_tls",
]
_WASM_THREAD_GLOBALS = ["__stack_pointer", "__tls_align", "__tls_size"]

_WASM_LIBRARIES = "/usr/share/emscripten/cache/sysroot/lib/wasm32-emscripten/"

# Emscripten links threads only into modules with its own JavaScript, which would not let ours start
# the workers. So its libraries for threads are named here. libc.a needs libcompiler_rt.a, which
# needs libc.a.
_WASM_THREAD_LIBRARIES = [_WASM_LIBRARIES + name for name in [
    "crt1_reactor.o",
    "libc++-mt-except.a",
    "libc++abi-mt-except.a",
    # The one for threads keeps what a catch clause reads for each thread, and clang 14 reads it as
    # one of all threads: each type would be another than expected. Only one thread throws.
    "libunwind-except.a",
    "libc-mt-optz.a",
    "libemmalloc-mt-noerrno.a",
    "libcompiler_rt-mt.a",
    "libc-mt-optz.a",
    "libstandalonewasm-memgrow.a",
]]

_WASM_THREAD_FLAGS = (
    ["-nostdlib", "-sIMPORTED_MEMORY", "-Wl,--shared-memory"] +
    # libunwind-except.a was compiled without atomics, and the linker would refuse it.
    ["-Wl,--no-check-features"] +
    ["-Wl,--export=" + name for name in _WASM_THREAD_GLOBALS] +
    _WASM_THREAD_LIBRARIES
)

def wasm_module(name, deps, threads = False, **kwargs):
    """A module for browsers and Node, without JavaScript around it."""
    exports = _WASM_EXPORTS + (_WASM_THREAD_EXPORTS if threads else [])
    native.cc_binary(
        name = name,
        linkopts = [
            "-Oz",  # 7 KB less than -O2 with brotli, and runs take as long
            "--no-entry",
            "-sALLOW_MEMORY_GROWTH",
            "-sEXPORTED_FUNCTIONS=" + ",".join(exports),
            # threads.js has the same limits.
            "-sINITIAL_MEMORY=16MB",
            "-sMAXIMUM_MEMORY=2GB",
            "-sTOTAL_STACK=1MB",
            # An instance gets the rest from JavaScript, and cannot be made without it.
            "-sERROR_ON_UNDEFINED_SYMBOLS=0",
            "-sWARN_ON_UNDEFINED_SYMBOLS=0",
        ] + (_WASM_THREAD_FLAGS if threads else ["-sMALLOC=emmalloc"]),
        target_compatible_with = ["//third_party/toolchains:wasm32"],
        deps = deps,
        **kwargs
    )
