"""Rule: libraries to link with, in place of the glibc that came with the compiler."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

_CC_TOOLCHAIN = "@bazel_tools//tools/cpp:toolchain_type"

def _stub_libraries(ctx):
    libraries = [
        ctx.actions.declare_file(name)
        for name in ["libc.so", "libdl.so", "libm.so", "libpthread.so"]
    ]
    ctx.actions.run_shell(
        arguments = [
            ctx.file._generator.path,
            find_cpp_toolchain(ctx).compiler_executable,
            libraries[0].dirname,
        ],
        # A genrule's $(CC) is this machine's compiler even when the build is for another machine.
        command = 'exec python3 "$@"',
        inputs = [ctx.file._generator],
        outputs = libraries,
        use_default_shell_env = True,
    )
    return DefaultInfo(files = depset(libraries))

stub_libraries = rule(
    implementation = _stub_libraries,
    attrs = {
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_generator": attr.label(allow_single_file = True, default = "stub_libraries.py"),
    },
    toolchains = [_CC_TOOLCHAIN],
)
