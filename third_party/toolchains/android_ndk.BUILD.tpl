load("@//third_party/toolchains:cross_compiler.bzl", "cross_toolchain")

package(default_visibility = ["//visibility:public"])

LLVM = "{LLVM}"

# Android 5.0 is the first version for 64-bit ARM.
TARGET = "--target=aarch64-linux-android21"

cross_toolchain(
    name = "android_arm64",
    compile_flags = [TARGET],
    compiler = "clang",
    cpu = "aarch64",
    include_directories = [LLVM],
    link_flags = [
        TARGET,
        # Bazel links with `clang`, which links the C++ library only if it runs as `clang++`.
        # Android has no such library, so it is linked into what is built.
        "--driver-mode=g++",
        "-static-libstdc++",
        # Devices from Android 15 on may have pages of 16 KB.
        "-Wl,-z,max-page-size=16384",
    ],
    link_libs = [],
    os = "android",
    tools = {
        "ar": LLVM + "/bin/llvm-ar",
        "cpp": LLVM + "/bin/clang",
        "gcc": LLVM + "/bin/clang",
        "gcov": LLVM + "/bin/llvm-cov",
        "ld": LLVM + "/bin/ld.lld",
        "llvm-cov": LLVM + "/bin/llvm-cov",
        "nm": LLVM + "/bin/llvm-nm",
        "objcopy": LLVM + "/bin/llvm-objcopy",
        "objdump": LLVM + "/bin/llvm-objdump",
        "strip": LLVM + "/bin/llvm-strip",
    },
)
