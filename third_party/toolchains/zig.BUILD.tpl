load("@//third_party/toolchains:cross_compiler.bzl", "cross_toolchain")

package(default_visibility = ["//visibility:public"])

_TOOLS = {
    "ar": "{TOOLS}/ar",
    "cpp": "{TOOLS}/c++",
    "gcc": "{TOOLS}/c++",
    "gcov": "/bin/false",
    "ld": "{TOOLS}/c++",
    "llvm-cov": "/bin/false",
    "nm": "/bin/false",
    "objcopy": "/bin/false",
    "objdump": "/bin/false",
    "strip": "/bin/false",
}

[cross_toolchain(
    name = name,
    compile_flags = target,
    compiler = "clang",
    cpu = cpu,
    include_directories = ["{ZIG}"],
    link_flags = target,
    link_libs = [],
    os = os,
    tools = _TOOLS,
) for name, cpu, os, target in [
    # macOS 11.0 is the first version for this CPU.
    ("macos_arm64", "aarch64", "macos", ["-target", "aarch64-macos.11.0"]),
    ("windows_x86_64", "x86_64", "windows", ["-target", "x86_64-windows-gnu"]),
]]
