"""Compiles .cu files: kernels for several chips as an object to link, and programs."""

load("//larq_engine:build_defs.bzl", "CUDA_CHIPS", "CUDA_COPTS")

def _gencode(chip):
    arch = chip.split("_")[1]
    if chip.startswith("compute_"):
        return ["-gencode", "arch=compute_%s,code=compute_%s" % (arch, arch)]
    return ["-gencode", "arch=compute_%s,code=sm_%s" % (arch, arch)]

def _run_nvcc(ctx, output, args):
    """Makes `output` of ctx.file.src, and a log of what compiler and assembler say."""
    log = ctx.actions.declare_file(ctx.attr.name + ".log")
    args.add_all(["-I.", "--threads", "2"])
    args.add_all(CUDA_COPTS)
    args.add_all(["-o", output, ctx.file.src])
    ctx.actions.run_shell(
        inputs = depset([ctx.file.src, ctx.file._version] + ctx.files.hdrs),
        outputs = [output, log],
        # The log has each kernel's registers, stack and spills, which a test reads.
        # C75..: the assembler made products of warpgroups wait for each other. It is only a note.
        command = """
if ! external/cuda_toolkit/toolkit/bin/nvcc "$@" >{log} 2>&1 || grep -q "(C75[0-9][0-9])" {log}; then
  cat {log} >&2
  exit 1
fi""".format(log = log.path),
        arguments = [args],
        # nvcc calls gcc as its preprocessor.
        use_default_shell_env = True,
        # The toolkit lies outside the sandbox.
        execution_requirements = {"no-sandbox": "1"},
        mnemonic = "Nvcc",
        progress_message = "Compiling %s with nvcc" % ctx.file.src.short_path,
    )
    return log

_ATTRIBUTES = {
    "src": attr.label(allow_single_file = [".cu"]),
    "hdrs": attr.label_list(allow_files = True),
    "_version": attr.label(default = "@cuda_toolkit//:version.txt", allow_single_file = True),
}

def _cuda_fatbin_impl(ctx):
    fatbin = ctx.actions.declare_file(ctx.attr.name + ".fatbin")
    args = ctx.actions.args()
    args.add("-fatbin")
    for chip in CUDA_CHIPS:
        args.add_all(_gencode(chip))
    log = _run_nvcc(ctx, fatbin, args)
    assembly = ctx.actions.declare_file(ctx.attr.name + ".S")
    # Bazel looks for what a source includes and does not see .incbin, so the source itself says
    # which bytes it is made for: it must be another one when they are.
    ctx.actions.run_shell(
        inputs = [fatbin],
        outputs = [assembly],
        command = "cat >{out} <<EOF\n{text}EOF\nsha256sum {fatbin} | sed 's|^|// |' >>{out}".format(
            out = assembly.path,
            fatbin = fatbin.path,
            text = """\
.section .rodata
.balign 16
.globl {symbol}
.hidden {symbol}
{symbol}: .incbin "{path}"
.globl {symbol}_end
.hidden {symbol}_end
{symbol}_end: .byte 0
.section .note.GNU-stack,"",%progbits
""".format(symbol = ctx.attr.symbol, path = fatbin.path),
        ),
    )
    return [
        DefaultInfo(files = depset([assembly])),
        OutputGroupInfo(fatbin = depset([fatbin]), log = depset([log])),
    ]

_cuda_fatbin = rule(
    implementation = _cuda_fatbin_impl,
    attrs = dict(_ATTRIBUTES, symbol = attr.string()),
)

def _cuda_program_impl(ctx):
    program = ctx.actions.declare_file(ctx.attr.name)
    args = ctx.actions.args()
    for chip in ctx.attr.chips:
        args.add_all(_gencode(chip))
    # NVIDIA's packages have their libraries in lib, where nvcc does not look.
    args.add("-Lexternal/cuda_toolkit/toolkit/lib")
    args.add_all(["-cudart", "static"])
    _run_nvcc(ctx, program, args)
    return [DefaultInfo(executable = program, files = depset([program]))]

cuda_program = rule(
    implementation = _cuda_program_impl,
    attrs = dict(_ATTRIBUTES, chips = attr.string_list()),
    doc = "A program that runs on these chips and brings CUDA's run-time library with it.",
    executable = True,
)

def cuda_fatbin(name, src, hdrs, symbol, **kwargs):
    """A library whose bytes from `symbol` to `symbol`_end are the kernels of `src` for all chips.

    name.fatbin and name.log (what the assembler says of each kernel) are targets as well.
    """
    _cuda_fatbin(name = name + "_code", src = src, hdrs = hdrs, symbol = symbol)
    native.filegroup(name = name + ".fatbin", srcs = [name + "_code"], output_group = "fatbin", **kwargs)
    native.filegroup(name = name + ".log", srcs = [name + "_code"], output_group = "log", **kwargs)
    native.cc_library(
        name = name,
        srcs = [name + "_code"],
        # An input of the assembler, which copies its bytes.
        textual_hdrs = [name + ".fatbin"],
        alwayslink = True,
        **kwargs
    )
