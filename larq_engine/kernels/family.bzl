"""A family of kernels: its contract, a library for each ISA, and the table and choice above them."""

load("//larq_engine:build_defs.bzl", "ISA_COPTS", "KERNEL_COPTS")

# The folder of an architecture's rows -> the constraint of its files, and the setting of the builds
# that have the rows.
_CPUS = {
    "arm64": ("@platforms//cpu:aarch64", "@platforms//cpu:aarch64"),
    "wasm": ("//third_party/toolchains:wasm32", "//:simd128"),
    "x86": ("@platforms//cpu:x86_64", "@platforms//cpu:x86_64"),
}

def kernel_family(name, prefix, contract, copts_of = {}):
    """Declares the family `name`, in the package of its name.

    The row of an ISA is the file <x86, arm64 or wasm>/<prefix>_<isa>.cc with its header, and in assembler
    also .S; the row that every CPU runs is <prefix>_portable.cc. The files are found by these names
    and take their ISA's flags. tests/layering finds the archives of ISAs by the names given here.

    Args:
      name: the family, and the library of its table, its choice and what they need.
      prefix: how the names of the rows' files begin.
      contract: headers that the rows' files may include: plain data, and functions internal to the
        including file.
      copts_of: more flags for the rows of single ISAs, by their names.
    """
    native.cc_library(
        name = "contract",
        hdrs = contract,
        copts = KERNEL_COPTS,
        visibility = ["//visibility:private"],
        deps = ["//larq_engine/kernels/common:values"],
    )
    portable = ["%s_portable.%s" % (prefix, ending) for ending in ("cc", "h")]
    native.cc_library(
        name = "portable",
        srcs = portable[:1],
        hdrs = portable[1:],
        copts = KERNEL_COPTS + copts_of.get("portable", []),
        visibility = ["//visibility:private"],
        deps = [":contract"],
    )
    rows = {}
    for folder, (cpu, setting) in _CPUS.items():
        start = "%s/%s_" % (folder, prefix)
        isas = [path[len(start):-3] for path in native.glob([start + "*.cc"], allow_empty = True)]
        for isa in isas:
            native.cc_library(
                name = "isa_" + isa,
                srcs = native.glob([start + isa + ".cc", start + isa + ".S"], allow_empty = True),
                hdrs = native.glob([folder + "/*.h", folder + "/*.inc"], allow_empty = True),
                copts = KERNEL_COPTS + ISA_COPTS[isa] + copts_of.get(isa, []),
                target_compatible_with = [cpu],
                visibility = ["//visibility:private"],
                deps = [":contract"],
            )
        rows[setting] = [":isa_" + isa for isa in isas]
    rows["//conditions:default"] = []
    native.cc_library(
        name = name,
        srcs = native.glob(["*.cc"], exclude = portable),
        hdrs = native.glob(["*.h"], exclude = portable + contract),
        copts = KERNEL_COPTS,
        deps = [
            ":contract",
            ":portable",
            "//larq_engine/kernels/common",
            "//larq_engine/kernels/isa",
        ] + select(rows),
    )
