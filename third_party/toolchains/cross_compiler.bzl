"""A C++ compiler that builds for another machine, as a platform and a toolchain for it."""

load("@bazel_tools//tools/cpp:unix_cc_toolchain_config.bzl", "cc_toolchain_config")

# These are the flags that Bazel sets for the compiler that it finds itself.
_COMPILE_FLAGS = ["-fstack-protector", "-fno-omit-frame-pointer"]
_OPT_COMPILE_FLAGS = ["-g0", "-O2", "-DNDEBUG", "-ffunction-sections", "-fdata-sections"]
_OPT_LINK_FLAGS = ["-Wl,--gc-sections"]
_UNFILTERED_COMPILE_FLAGS = [
    "-no-canonical-prefixes",
    "-Wno-builtin-macro-redefined",
    "-D__DATE__=\"redacted\"",
    "-D__TIMESTAMP__=\"redacted\"",
    "-D__TIME__=\"redacted\"",
]

# Bazel asks for the path of each, even if it is not used.
_TOOLS = ["ar", "cpp", "gcc", "gcov", "ld", "llvm-cov", "nm", "objcopy", "objdump", "strip"]

def cross_toolchain(name, cpu, os, compiler, tools, include_directories, compile_flags, link_flags, link_libs):
    """Declares //...:NAME, a platform, and NAME_toolchain, the compiler for it.

    Args:
      name: the platform's name.
      cpu: a value of @platforms//cpu, or the label of another one.
      os: a value of @platforms//os.
      compiler: gcc or clang.
      tools: paths of gcc, ld and so on.
      include_directories: where the compiler's own headers are.
      compile_flags: what selects the machine.
      link_flags: the same for linking.
      link_libs: libraries that the compiler leaves out.
    """
    constraints = [cpu if ":" in cpu else "@platforms//cpu:" + cpu, "@platforms//os:" + os]
    native.platform(name = name, constraint_values = constraints)
    cc_toolchain_config(
        name = name + "_config",
        abi_libc_version = "local",
        abi_version = "local",
        compile_flags = compile_flags + _COMPILE_FLAGS,
        compiler = compiler,
        cpu = cpu,
        cxx_builtin_include_directories = include_directories,
        host_system_name = "local",
        link_flags = link_flags,
        link_libs = link_libs,
        opt_compile_flags = _OPT_COMPILE_FLAGS,
        opt_link_flags = _OPT_LINK_FLAGS,
        target_libc = os,
        target_system_name = name,
        tool_paths = tools,
        toolchain_identifier = name,
        unfiltered_compile_flags = _UNFILTERED_COMPILE_FLAGS,
    )
    native.filegroup(name = name + "_no_files")
    native.cc_toolchain(
        name = name + "_compiler",
        all_files = name + "_no_files",
        compiler_files = name + "_no_files",
        dwp_files = name + "_no_files",
        linker_files = name + "_no_files",
        objcopy_files = name + "_no_files",
        strip_files = name + "_no_files",
        supports_param_files = 0,
        toolchain_config = name + "_config",
    )
    native.toolchain(
        name = name + "_toolchain",
        exec_compatible_with = ["@platforms//os:linux"],
        target_compatible_with = constraints,
        toolchain = name + "_compiler",
        toolchain_type = "@bazel_tools//tools/cpp:toolchain_type",
    )

def debian_cross_compiler(name, cpu, triple):
    """The cross compiler of Debian's package g++-TRIPLE."""
    cross_toolchain(
        name = name,
        compile_flags = [],
        compiler = "gcc",
        cpu = cpu,
        include_directories = ["/usr/lib/gcc-cross/" + triple, "/usr/%s/include" % triple],
        link_flags = [],
        link_libs = ["-lstdc++", "-lm"],
        os = "linux",
        tools = {
            tool: "/usr/bin/%s-%s" % (triple, tool)
            for tool in _TOOLS
        },
    )
