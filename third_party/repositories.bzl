"""External repositories. A build downloads nothing: sources come from the system's packages.

Bazel's own tool packages name a few rule repositories, which Bazel would fetch from the network.
Bazel 4 needs only the rule names out of them, which it has as native rules, so the stubs in
third_party/offline/ are enough. Later versions need the real ones (and ship or fetch them
themselves), so the stubs are used with Bazel 4 only.
"""

load("//third_party/cuda:cuda_toolkit.bzl", "cuda_toolkit")
load("//third_party/toolchains:android_ndk.bzl", "android_ndk")
load("//third_party/toolchains:zig.bzl", "zig")

_STUBBED = ["remote_coverage_tools", "rules_cc", "rules_java"]

def larq_engine_repositories():
    # Debian's Bazel 4.2.3 is built without a version string.
    if native.bazel_version == "" or native.bazel_version.startswith("4."):
        for name in _STUBBED:
            native.local_repository(name = name, path = "third_party/offline/" + name)

    # Debian and Ubuntu: `apt-get install googletest`; elsewhere unpack a release to this path.
    native.new_local_repository(
        name = "googletest",
        build_file = "//third_party:googletest.BUILD",
        path = "/usr/src/googletest",
    )

    # Needed for --config=android_arm64 only.
    android_ndk(name = "android_ndk")

    # Needed for --config=windows_x86_64 and --config=macos_arm64 only.
    zig(name = "zig")

    # NVIDIA's compiler, if it is installed.
    cuda_toolkit(name = "cuda_toolkit")
