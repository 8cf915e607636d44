"""symtool.bzl: symbol files for crash reports, in a build by Bazel 4 or later.

Save it as tools/symtool.bzl, put symtool beside it, and in tools/BUILD:

    exports_files(["symtool"])

or, with flags for all targets, or one program for each CPU,

    load(":symtool.bzl", "symtool_program")
    symtool_program(name = "symtool", program = "symtool-amd64", lint_flags = ["--min-cfi", "90"])

Without a word in any other BUILD file, an aspect has symbols of every program and
shared library:

    bazel build //... --aspects=//tools:symtool.bzl%breakpad_symbols_aspect \\
        --output_groups=symbols      # bazel-bin/PACKAGE/NAME.sym

    symbols         symbol files
    check-symbols   lint them beside their binaries: what is wrong stops the build
    symbol-reports  what lint finds, as JSON, which never stops it

Rules, for what needs more:

    load("//tools:symtool.bzl", "breakpad_packages", "breakpad_split", "breakpad_store", "breakpad_symbols", "breakpad_symbols_test")

    breakpad_split(name = "ship", binary = ":app")      # ship.stripped, ship.debug
    breakpad_symbols(
        name = "app_symbols",
        binary = ":ship.stripped",                      # a program or shared library
        debug = ":ship.debug",                          # its debug file, if it has one
        split = [":app.dwp"],                           # .dwo and .dwp files, if any
        module_name = "app",                            # in place of the file's name
    )
    breakpad_symbols_test(name = "app_symbols_test", symbols = ":app_symbols")
    breakpad_packages(
        name = "vendor_symbols",                        # NAME/ID/NAME.sym in a folder
        srcs = ["libz.deb", "libz-dbgsym.deb"],         # packages with those of their debug files
        without_debug_info = "accept",                  # or "skip", or "fail"
    )
    breakpad_store(name = "store", deps = [":app", ":vendor_symbols"])

breakpad_store takes symbols of deps and of the programs and shared libraries that they
are made of, of breakpad_symbols and of breakpad_packages; `bazel build` of breakpad_symbols checks, too,
where validation actions are on (--run_validations).

Debug information is what --copt=-g gives; without -c opt or dbg also --strip=never.
The sources' names are as in the workspace: /proc/self/cwd/ is removed from them.

An action's inputs are the binary, its debug files and symtool, which is one as well.
It has no environment, needs no shell, looks into no folder and asks no server: it
runs in a sandbox and on other machines, and its result is the same there, and is
found in a cache from any folder.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

SymtoolInfo = provider("The program, and its flags in this build.", fields = ["program", "dump_flags", "lint_flags", "lint_config", "report"])

SymbolsInfo = provider("Symbol files.", fields = {
    "modules": "of the target itself: structs of binary, sym, checked, report",
    "all": "depset of the symbol files of the target and of what it is made of",
})

# The folder in which Bazel's compilers run, as debug information names it; headers have the dot.
_PREFIX_MAP = ["--prefix-map", "/proc/self/cwd/=", "--prefix-map", "/proc/self/cwd/./="]

# The kinds of rules whose executable is a binary; that of others may be a script.
_PROGRAMS = ["cc_binary", "cc_test", "d_binary", "go_binary", "go_test", "rust_binary", "rust_test", "swift_binary", "swift_test"]

_REQUIREMENTS = {"block-network": "1"}

def _symtool_program_impl(ctx):
    return [
        DefaultInfo(files = depset([ctx.file.program])),
        SymtoolInfo(
            program = ctx.file.program,
            dump_flags = ctx.attr.dump_flags,
            lint_flags = ctx.attr.lint_flags,
            lint_config = ctx.file.lint_config,
            report = ctx.attr.report,
        ),
    ]

symtool_program = rule(
    implementation = _symtool_program_impl,
    doc = "tools:symtool with flags for all targets of the build.",
    attrs = {
        "program": attr.label(mandatory = True, allow_single_file = True, doc = "may be a select() of the CPU"),
        "dump_flags": attr.string_list(doc = "such as --prefix-map /proc/self/cwd/=my/project/"),
        "lint_flags": attr.string_list(doc = "such as --min-cfi 90"),
        "lint_config": attr.label(allow_single_file = True, doc = "a date in it counts when the action runs, not when it is cached"),
        "report": attr.string(values = ["json", "junit", "sarif"], default = "json", doc = "the format of symbol-reports"),
    },
)

_PROGRAM = {"_symtool": attr.label(default = ":symtool", allow_files = True, cfg = "exec")}

def _symtool(ctx):
    if SymtoolInfo in ctx.attr._symtool:
        return ctx.attr._symtool[SymtoolInfo]
    return SymtoolInfo(program = ctx.files._symtool[0], dump_flags = [], lint_flags = [], lint_config = None, report = "json")

def _run(ctx, symtool, mnemonic, message, args, inputs, outputs):
    args.use_param_file("@%s")
    args.set_param_file_format("shell")
    ctx.actions.run(
        executable = symtool.program,
        arguments = [args],
        inputs = inputs,
        outputs = outputs,
        mnemonic = mnemonic,
        progress_message = message,
        env = {},
        use_default_shell_env = False,
        execution_requirements = _REQUIREMENTS,
    )

def _dump(ctx, symtool, out, binary, debug = None, split = [], flags = []):
    args = ctx.actions.args()
    args.add_all(["dump", "--hermetic"] + _PREFIX_MAP)
    args.add_all(symtool.dump_flags)
    args.add_all([f.dirname for f in split if f.extension == "dwo"], before_each = "--dwo-dir", uniquify = True)
    args.add_all([f for f in split if f.extension == "dwp"], before_each = "--dwp")  # none without --fission
    args.add_all(flags)
    args.add("-o", out)
    args.add(binary)
    inputs = [binary] + split
    if debug:
        args.add(debug)
        inputs.append(debug)
    _run(ctx, symtool, "SymtoolDump", "Dumping symbols of " + binary.short_path, args, inputs, [out])

def _lint(ctx, symtool, sym, binary, flags, mnemonic, message, how, out):
    args = ctx.actions.args()
    args.add("lint")
    inputs = [sym, binary]
    if symtool.lint_config:
        args.add("--config", symtool.lint_config)
        inputs.append(symtool.lint_config)
    args.add_all(symtool.lint_flags + flags + how)
    args.add(out)
    args.add("--binary", binary)
    args.add(sym)
    _run(ctx, symtool, mnemonic, message + binary.short_path, args, inputs, [out])

# _module declares all actions for a binary; only those whose outputs are requested run.
def _module(ctx, name, binary, debug = None, split = [], dump_flags = [], lint_flags = []):
    symtool = _symtool(ctx)
    sym = ctx.actions.declare_file(name + ".sym")
    checked = ctx.actions.declare_file(name + ".sym.checked")
    report = ctx.actions.declare_file(name + ".sym." + symtool.report)
    _dump(ctx, symtool, sym, binary, debug, split, dump_flags)
    _lint(ctx, symtool, sym, binary, lint_flags, "SymtoolCheck", "Checking symbols of ", ["--verdict=false", "--stamp"], checked)
    _lint(ctx, symtool, sym, binary, lint_flags, "SymtoolReport", "Reporting on symbols of ", ["--format", symtool.report, "--fail-on", "never", "-o"], report)
    return struct(binary = binary, sym = sym, checked = checked, report = report, lint_flags = lint_flags)

def _groups(modules, **more):
    return OutputGroupInfo(**dict({
        "symbols": depset([m.sym for m in modules]),
        "check-symbols": depset([m.checked for m in modules]),
        "symbol-reports": depset([m.report for m in modules]),
    }, **more))

def _breakpad_symbols_impl(ctx):
    flags = ctx.attr.dump_flags
    if ctx.attr.module_name:
        flags = ["--name", ctx.attr.module_name] + flags
    m = _module(ctx, ctx.label.name, ctx.file.binary, ctx.file.debug, ctx.files.split, flags, ctx.attr.lint_flags)
    return [
        DefaultInfo(files = depset([m.sym])),
        _groups([m], _validation = depset([m.checked])),
        SymbolsInfo(modules = [m], all = depset([m.sym])),
    ]

breakpad_symbols = rule(
    implementation = _breakpad_symbols_impl,
    attrs = dict({
        "binary": attr.label(mandatory = True, allow_single_file = True),
        "debug": attr.label(allow_single_file = True),
        "split": attr.label_list(allow_files = [".dwo", ".dwp"]),
        "module_name": attr.string(),
        "dump_flags": attr.string_list(),
        "lint_flags": attr.string_list(),
    }, **_PROGRAM),
)

# _binaries returns the files of a target that have symbols: [(name, file)].
def _binaries(target, ctx):
    found = {}
    program = target[DefaultInfo].files_to_run.executable
    if program and ctx.rule.kind in _PROGRAMS:
        found[program.path] = program
    for f in target[DefaultInfo].files.to_list():
        if f.extension == "so" or ".so." in f.basename:
            found[f.path] = f
    package = len(target.label.package) + 1 if target.label.package else 0
    return [
        (f.short_path[package:], f)
        for f in found.values()
        # A file of another target belongs to that target.
        if not f.is_source and f.owner == target.label
    ]

def _breakpad_symbols_aspect_impl(target, ctx):
    if SymbolsInfo in target:  # of breakpad_symbols
        return []
    split = []
    if DebugPackageInfo in target and target[DebugPackageInfo].dwp_file:
        split = [target[DebugPackageInfo].dwp_file]
    modules = [_module(ctx, name, f, split = split) for name, f in _binaries(target, ctx)]
    below = [
        dep[SymbolsInfo].all
        for attribute in _EDGES
        for dep in _list(getattr(ctx.rule.attr, attribute, None))
        if SymbolsInfo in dep
    ]
    # The .so of a cc_library is for tests: programs that link it statically do not need it.
    own = [] if ctx.rule.kind == "cc_library" else [m.sym for m in modules]
    return [
        _groups(modules),
        SymbolsInfo(modules = modules, all = depset(own, transitive = below)),
    ]

_EDGES = ["actual", "data", "deps", "dynamic_deps", "implementation_deps", "srcs"]

def _list(value):
    if type(value) == "list":
        return [v for v in value if type(v) == "Target"]
    return [value] if type(value) == "Target" else []

breakpad_symbols_aspect = aspect(
    implementation = _breakpad_symbols_aspect_impl,
    attr_aspects = _EDGES,
    attrs = _PROGRAM,
)

def _breakpad_packages_impl(ctx):
    store = ctx.actions.declare_directory(ctx.label.name)
    symtool = _symtool(ctx)
    args = ctx.actions.args()
    args.add_all(["dump", "--hermetic", "--accept", "no-binaries"] + _WITHOUT_DEBUG_INFO[ctx.attr.without_debug_info])
    args.add_all(symtool.dump_flags + ctx.attr.dump_flags)
    args.add("--store")
    args.add_all([store], expand_directories = False)
    args.add_all(ctx.files.srcs)
    _run(ctx, symtool, "SymtoolPackages", "Dumping symbols of the packages of " + str(ctx.label), args, ctx.files.srcs, [store])
    return [DefaultInfo(files = depset([store])), SymbolsInfo(modules = [], all = depset([store]))]

# What is missing is reported in each case.
_WITHOUT_DEBUG_INFO = {
    "accept": ["--accept", "no-debug-info"],
    "fail": [],
    "skip": ["--skip-no-debug-info"],
}

breakpad_packages = rule(
    implementation = _breakpad_packages_impl,
    attrs = dict({
        "srcs": attr.label_list(mandatory = True, allow_files = True, doc = "packages and archives of any format that symtool dump reads"),
        "without_debug_info": attr.string(values = ["accept", "fail", "skip"], default = "accept", doc = "of binaries without debug information: dump what they have, fail, or leave them out"),
        "dump_flags": attr.string_list(),
    }, **_PROGRAM),
)

def _breakpad_store_impl(ctx):
    store = ctx.actions.declare_directory(ctx.label.name)
    symbols = depset(transitive = [dep[SymbolsInfo].all for dep in ctx.attr.deps])
    if not symbols.to_list():
        fail("no program or shared library in deps")
    args = ctx.actions.args()
    args.add_all(["store", "add", "--no-sync", "--compress", ctx.attr.compress])
    args.add_all([store], expand_directories = False)
    args.add_all(symbols)
    _run(ctx, _symtool(ctx), "SymtoolStore", "Storing symbols in " + store.short_path, args, symbols, [store])
    return [DefaultInfo(files = depset([store]))]

breakpad_store = rule(
    implementation = _breakpad_store_impl,
    attrs = dict({
        "deps": attr.label_list(mandatory = True, aspects = [breakpad_symbols_aspect]),
        "compress": attr.string(values = ["none", "gzip", "zstd"], default = "none"),
    }, **_PROGRAM),
)

def _breakpad_symbols_test_impl(ctx):
    symtool = _symtool(ctx)
    files = [symtool.program]
    lines = []
    flags = list(symtool.lint_flags)
    if symtool.lint_config:
        flags = ["--config", symtool.lint_config.short_path] + flags
        files.append(symtool.lint_config)
    for m in ctx.attr.symbols[SymbolsInfo].modules:
        line = [symtool.program.short_path, "lint"] + flags + m.lint_flags + ["--binary", m.binary.short_path, m.sym.short_path]
        lines.append(" ".join(["'%s'" % word.replace("'", "'\\''") for word in line]) + " \"$@\" || status=1\n")
        files += [m.binary, m.sym]
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(script, "#!/bin/sh\nstatus=0\n%sexit $status\n" % "".join(lines), is_executable = True)
    return [DefaultInfo(executable = script, runfiles = ctx.runfiles(files = files))]

breakpad_symbols_test = rule(
    implementation = _breakpad_symbols_test_impl,
    attrs = dict({
        "symbols": attr.label(mandatory = True, aspects = [breakpad_symbols_aspect]),
    }, **_PROGRAM),
    test = True,
)

def _objcopy(ctx, objcopy, toolchain, flags, inputs, out):
    args = ctx.actions.args()
    args.add_all(flags)
    args.add(inputs[0])
    args.add(out)
    ctx.actions.run(
        executable = objcopy,
        arguments = [args],
        inputs = depset(inputs, transitive = [toolchain.all_files]),
        outputs = [out],
        mnemonic = "SymtoolSplit",
        progress_message = "Splitting " + inputs[0].short_path,
        env = {},
        execution_requirements = _REQUIREMENTS,
    )

# The debug link has the name of the debug file, not its folder.
def _breakpad_split_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    binary = ctx.file.binary
    debug = ctx.outputs.debug
    stripped = ctx.outputs.stripped
    objcopy = toolchain.objcopy_executable
    _objcopy(ctx, objcopy, toolchain, ["--only-keep-debug"], [binary], debug)
    _objcopy(ctx, objcopy, toolchain, ["--strip-unneeded", "--add-gnu-debuglink=" + debug.path], [binary, debug], stripped)
    return [
        DefaultInfo(files = depset([stripped])),
        OutputGroupInfo(debug = depset([debug]), stripped = depset([stripped])),
    ]

breakpad_split = rule(
    implementation = _breakpad_split_impl,
    attrs = {
        "binary": attr.label(mandatory = True, allow_single_file = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    outputs = {"debug": "%{name}.debug", "stripped": "%{name}.stripped"},
)
