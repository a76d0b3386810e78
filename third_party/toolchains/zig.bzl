"""The compiler of PyPI's ziglang for systems that are not Linux; read only where something asks for it."""

# Bazel gives actions no HOME, where zig would cache what it compiles of the systems' own libraries.
_WRAPPER = """#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR=${TMPDIR:-/tmp}/larq_engine_zig
export ZIG_LOCAL_CACHE_DIR=$ZIG_GLOBAL_CACHE_DIR
exec '%s' %s "$@"
"""

def _zig_impl(ctx):
    zig = ctx.path(Label("//:WORKSPACE")).dirname.get_child(".zig").get_child("ziglang").get_child("zig")
    if not zig.exists:
        fail("expected zig in .zig; install it with `make setup-windows`")
    for name in ["ar", "c++"]:
        ctx.file(name, _WRAPPER % (zig, name), executable = True)
    folder = str(zig.dirname)
    ctx.template(
        "BUILD",
        Label("//third_party/toolchains:zig.BUILD.tpl"),
        {"{TOOLS}": str(ctx.path(".")), "{ZIG}": folder},
    )

zig = repository_rule(
    implementation = _zig_impl,
    configure = True,
    doc = "A repository with //:windows_x86_64 and //:macos_arm64, platforms, and a toolchain of each.",
    local = True,
)
