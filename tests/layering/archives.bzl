"""The archives of a library and of all that is linked with it."""

def _linked_archives_impl(ctx):
    files = [
        library.static_library or library.pic_static_library
        for linker_input in ctx.attr.library[CcInfo].linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
    ]
    return [DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files))]

linked_archives = rule(
    implementation = _linked_archives_impl,
    attrs = {"library": attr.label(providers = [CcInfo])},
)
