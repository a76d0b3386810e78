"""The archives of a library and of all that is linked with it, but for some."""

def _linked_archives_impl(ctx):
    apart = depset(transitive = [target.files for target in ctx.attr.apart]).to_list()
    archives = [
        library.static_library or library.pic_static_library
        for linker_input in ctx.attr.library[CcInfo].linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
    ]
    files = [file for file in archives if file not in apart]
    return [DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files))]

linked_archives = rule(
    implementation = _linked_archives_impl,
    attrs = {
        "apart": attr.label_list(),
        "library": attr.label(providers = [CcInfo]),
    },
)
