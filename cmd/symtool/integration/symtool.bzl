"""symtool.bzl: symbol files for crash reports, in a build by Bazel 4 or later.

    load("//tools:symtool.bzl", "breakpad_symbols", "breakpad_symbols_test")

    breakpad_symbols(
        name = "app_symbols",
        binary = ":app",                    # a program or shared library, one file
        debug = ":app.debug",               # its separate debug file, if it has one
        split = [":app_dwo"],               # .dwo and .dwp files, if it has any
        module_name = "app",                # MODULE's name, in place of the file's
        dump_flags = ["--prefix-map", "/proc/self/cwd/="],
        symtool = "//tools:symtool",        # the program: a file, so that it is an input
    )
    breakpad_symbols_test(name = "app_symbols_test", symbols = ":app_symbols")

makes app_symbols.sym, which `bazel test` lints beside its binary. The same check is in
the output group check-symbols (bazel build --output_groups=check-symbols). All that a
command reads is declared, it asks no server and looks into no folder of the host: it
runs in a sandbox and on other machines, and its result is the same there.
"""

SymbolsInfo = provider("The symbol file of a binary.", fields = ["sym", "binary", "symtool", "checked"])

def _breakpad_symbols_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".sym")
    inputs = [ctx.file.binary] + ctx.files.split
    args = ctx.actions.args()
    args.add("dump")
    args.add("--no-debuginfod")
    args.add("--debug-dir=")
    args.add("-o", out)
    if ctx.attr.module_name:
        args.add("--name", ctx.attr.module_name)
    args.add_all([f.dirname for f in ctx.files.split if f.extension == "dwo"], before_each = "--dwo-dir", uniquify = True)
    for f in ctx.files.split:
        if f.extension == "dwp":
            args.add("--dwp", f)
    args.add_all(ctx.attr.dump_flags)
    args.add(ctx.file.binary)
    if ctx.file.debug:
        args.add(ctx.file.debug)
        inputs.append(ctx.file.debug)
    args.use_param_file("@%s")
    args.set_param_file_format("shell")
    ctx.actions.run(
        executable = ctx.executable.symtool,
        arguments = [args],
        inputs = inputs,
        outputs = [out],
        mnemonic = "SymtoolDump",
        progress_message = "Dumping symbols of %s" % ctx.file.binary.short_path,
    )

    checked = ctx.actions.declare_file(ctx.label.name + ".checked")
    lint = ctx.actions.args()
    lint.add(checked)
    lint.add(ctx.executable.symtool)
    lint.add_all(["lint", "--verdict=false"])
    lint.add_all(ctx.attr.lint_flags)
    lint.add("--binary", ctx.file.binary)
    lint.add(out)
    ctx.actions.run_shell(
        command = "stamp=$1; shift; \"$@\" && : >\"$stamp\"",
        tools = [ctx.executable.symtool],
        arguments = [lint],
        inputs = [ctx.file.binary, out],
        outputs = [checked],
        mnemonic = "SymtoolLint",
        progress_message = "Checking symbols of %s" % ctx.file.binary.short_path,
    )
    return [
        DefaultInfo(files = depset([out])),
        OutputGroupInfo(**{"symbols": depset([out]), "check-symbols": depset([checked])}),
        SymbolsInfo(sym = out, binary = ctx.file.binary, symtool = ctx.executable.symtool, checked = checked),
    ]

breakpad_symbols = rule(
    implementation = _breakpad_symbols_impl,
    attrs = {
        "binary": attr.label(mandatory = True, allow_single_file = True),
        "debug": attr.label(allow_single_file = True),
        "split": attr.label_list(allow_files = [".dwo", ".dwp"]),
        "module_name": attr.string(),
        "dump_flags": attr.string_list(),
        "lint_flags": attr.string_list(),
        "symtool": attr.label(mandatory = True, allow_single_file = True, executable = True, cfg = "exec"),
    },
)

def _breakpad_symbols_test_impl(ctx):
    info = ctx.attr.symbols[SymbolsInfo]
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(script, "#!/bin/sh\nexec '%s' lint --binary '%s' '%s'\n" % (
        info.symtool.short_path,
        info.binary.short_path,
        info.sym.short_path,
    ), is_executable = True)
    return [DefaultInfo(
        executable = script,
        runfiles = ctx.runfiles(files = [info.symtool, info.binary, info.sym]),
    )]

breakpad_symbols_test = rule(
    implementation = _breakpad_symbols_test_impl,
    attrs = {"symbols": attr.label(mandatory = True, providers = [SymbolsInfo])},
    test = True,
)
