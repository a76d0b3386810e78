"""Android's compiler, from the NDK that ANDROID_NDK_HOME names; read only where something asks for it."""

# The first version whose C++ library has the ranges of C++20.
_OLDEST = 26

_REMEDY = (
    "set it to the folder of an Android NDK for Linux, r%d or newer " +
    "(https://developer.android.com/ndk/downloads)"
) % _OLDEST

def _major_version(ctx, home):
    """The 27 of `Pkg.Revision = 27.2.12479018`, or 0."""
    for line in ctx.read(home + "/source.properties").splitlines():
        key, _, value = line.partition("=")
        major = value.strip().partition(".")[0]
        if key.strip() == "Pkg.Revision" and major.isdigit():
            return int(major)
    return 0

def _find_llvm(ctx):
    home = ctx.os.environ.get("ANDROID_NDK_HOME", "")
    if not home:
        fail("ANDROID_NDK_HOME is not set; " + _REMEDY)
    problem = "ANDROID_NDK_HOME is '%s': expected %s; " + _REMEDY
    if not home.startswith("/"):
        fail(problem % (home, "an absolute path"))
    llvm = home + "/toolchains/llvm/prebuilt/linux-x86_64"
    for needed in [home + "/source.properties", llvm + "/bin/clang"]:
        if not ctx.path(needed).exists:
            fail(problem % (home, "an NDK, there is no " + needed))
    version = _major_version(ctx, home)
    if version < _OLDEST:
        fail(problem % (home, "r%d or newer, got r%d" % (_OLDEST, version)))
    return llvm

def _android_ndk_impl(ctx):
    ctx.template(
        "BUILD",
        Label("//third_party/toolchains:android_ndk.BUILD.tpl"),
        {"{LLVM}": _find_llvm(ctx)},
    )

android_ndk = repository_rule(
    implementation = _android_ndk_impl,
    configure = True,
    doc = "A repository with //:android_arm64, a platform, and //:android_arm64_toolchain.",
    environ = ["ANDROID_NDK_HOME"],
)
