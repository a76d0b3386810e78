"""NVIDIA's compiler, where there is one; everything else builds without it.

FOUND of @cuda_toolkit//:found.bzl says whether there is one: the folder that CUDA_HOME names, what
`tools/setup.sh cuda` installed, or the usual place of an installation.
"""

_VERSION = "release 13."

def _find_home(ctx):
    named = ctx.os.environ.get("CUDA_HOME", "")
    if named:
        if not ctx.path(named + "/bin/nvcc").exists:
            fail("CUDA_HOME is '%s': expected a CUDA toolkit, there is no bin/nvcc in it" % named)
        return named
    own = str(ctx.path(Label("//:WORKSPACE")).dirname) + "/.cuda/nvidia/cu13"
    for home in [own, "/usr/local/cuda"]:
        if ctx.path(home + "/bin/nvcc").exists:
            return home
    return None

def _cuda_toolkit_impl(ctx):
    home = _find_home(ctx)
    version = ""
    if home:
        result = ctx.execute([home + "/bin/nvcc", "--version"])
        version = result.stdout + result.stderr
        if result.return_code != 0 or _VERSION not in version:
            # Others compile other kernels than the tests looked at.
            print("no CUDA back end: expected nvcc 13, got %s/bin/nvcc that says: %s" % (home, version))  # buildifier: disable=print
            home = None
    if home:
        ctx.symlink(home, "toolkit")
    ctx.file("version.txt", version)
    ctx.file("found.bzl", "FOUND = %s\n" % bool(home))
    ctx.file("BUILD", """
exports_files(["version.txt"])

# The driver's interface, for tests: nothing is linked.
cc_library(
    name = "headers",
    hdrs = glob(["toolkit/include/cuda.h"], allow_empty = True),
    includes = ["toolkit/include"],
    visibility = ["//visibility:public"],
)
""")

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    configure = True,
    environ = ["CUDA_HOME"],
    local = True,
)
