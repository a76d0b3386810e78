"""Compiles a .cu file for several chips, and makes its kernels an object to link."""

load("//larq_engine:build_defs.bzl", "CUDA_CHIPS", "CUDA_COPTS")

def _gencode(chip):
    arch = chip.split("_")[1]
    if chip.startswith("compute_"):
        return ["-gencode", "arch=compute_%s,code=compute_%s" % (arch, arch)]
    return ["-gencode", "arch=compute_%s,code=sm_%s" % (arch, arch)]

def _cuda_fatbin_impl(ctx):
    fatbin = ctx.actions.declare_file(ctx.attr.name + ".fatbin")
    log = ctx.actions.declare_file(ctx.attr.name + ".log")
    args = ctx.actions.args()
    args.add_all(["-fatbin", "-I.", "--threads", "2"])
    args.add_all(CUDA_COPTS)
    for chip in CUDA_CHIPS:
        args.add_all(_gencode(chip))
    args.add_all(["-o", fatbin, ctx.file.src])
    ctx.actions.run_shell(
        inputs = depset([ctx.file.src, ctx.file._version] + ctx.files.hdrs),
        outputs = [fatbin, log],
        # The log has each kernel's registers, stack and spills, which a test reads.
        command = "external/cuda_toolkit/toolkit/bin/nvcc \"$@\" >%s 2>&1 || { cat %s >&2; exit 1; }" %
                  (log.path, log.path),
        arguments = [args],
        # nvcc calls gcc as its preprocessor.
        use_default_shell_env = True,
        # The toolkit lies outside the sandbox.
        execution_requirements = {"no-sandbox": "1"},
        mnemonic = "Nvcc",
        progress_message = "Compiling %s for %d chips" % (ctx.file.src.short_path, len(CUDA_CHIPS)),
    )
    assembly = ctx.actions.declare_file(ctx.attr.name + ".S")
    ctx.actions.write(assembly, """\
.section .rodata
.balign 16
.globl {symbol}
.hidden {symbol}
{symbol}: .incbin "{path}"
.globl {symbol}_end
.hidden {symbol}_end
{symbol}_end: .byte 0
.section .note.GNU-stack,"",%progbits
""".format(symbol = ctx.attr.symbol, path = fatbin.path))
    return [
        DefaultInfo(files = depset([assembly])),
        OutputGroupInfo(fatbin = depset([fatbin]), log = depset([log])),
    ]

_cuda_fatbin = rule(
    implementation = _cuda_fatbin_impl,
    attrs = {
        "src": attr.label(allow_single_file = [".cu"]),
        "hdrs": attr.label_list(allow_files = True),
        "symbol": attr.string(),
        "_version": attr.label(default = "@cuda_toolkit//:version.txt", allow_single_file = True),
    },
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
