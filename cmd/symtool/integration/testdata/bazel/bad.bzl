"""Actions as they should not be: the checks of the execution log are to find each."""

def _impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".sym")
    binary = ctx.file.binary
    ctx.actions.run(
        executable = ctx.file.symtool,
        arguments = ["dump"] + [f.replace("{binary}", binary.path) for f in ctx.attr.flags] + ["-o", out.path] +
                    ([binary.path] if ctx.attr.operand else []),
        inputs = ([binary] if ctx.attr.declared else []) + ctx.files.more,
        outputs = [out],
        mnemonic = "SymtoolDump",
        env = ctx.attr.env,
        use_default_shell_env = ctx.attr.shell_env,
        execution_requirements = {tag: "1" for tag in ctx.attr.requirements},
    )
    return [DefaultInfo(files = depset([out]))]

bad = rule(
    implementation = _impl,
    attrs = {
        "binary": attr.label(allow_single_file = True),
        "symtool": attr.label(default = "//tools:symtool", allow_single_file = True),
        "flags": attr.string_list(default = ["--hermetic"]),
        "operand": attr.bool(default = True),
        "declared": attr.bool(default = True),
        "more": attr.label_list(allow_files = True),
        "env": attr.string_dict(),
        "shell_env": attr.bool(),
        "requirements": attr.string_list(),
    },
)
