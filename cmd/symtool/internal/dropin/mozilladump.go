package dropin

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
)

// mozillaOptions lists the options that only Mozilla's dump_syms has.
var mozillaOptions = []option{
	{short: "s", long: "store", value: "DIR", text: "write to DIR/NAME/ID/NAME.sym; with -o to both, which reads FILE twice"},
	{long: "inlines", text: "write INLINE and INLINE_ORIGIN records, which are omitted otherwise"},
	{long: "check-cfi", text: "fail if there is no STACK CFI; the symbol file is written all the same"},
	{long: "mapping-var", value: "VAR=VALUE", flag: "--map-var=", text: "as dump --map-var"},
	{long: "mapping-src", value: "REGEX", text: "as dump --map, with the --mapping-dest of the same place"},
	{long: "mapping-dest", value: "TEMPLATE", text: "see --mapping-src"},
	{long: "mapping-file", value: "FILE", flag: "--map-file=", text: "as dump --map-file"},
	{long: "extra-info", value: "TEXT", flag: "--info=", text: "also write the record INFO TEXT"},
	{long: "no-generator", flag: "--no-generator", text: "omit INFO GENERATOR"},
	{long: "keep-mangled", flag: "--demangle=none", text: "do not demangle names"},
	{short: "j", value: "N", flag: "--jobs=", text: "use N threads"},
	{long: "verbose", value: "LEVEL", text: "print messages up to LEVEL: off, error, warn (default), info, debug, trace"},
	{short: "a", long: "arch", value: "ARCH", text: "of a universal file of macOS, read the binary for ARCH (default: this\nmachine's); nothing for other files"},
	{long: "list-arch", text: "print the CPUs of universal files"},
	{short: "t", long: "type", value: "TYPE", text: "nothing, as with dump_syms 2"},
	{long: "symbol-server", value: "CONFIG", text: "fetch a missing PDB from the servers of CONFIG: srv*CACHE*URL, several\nseparated by ;"},
	{long: "debug-id", value: "ID", refused: "name the file, which is not fetched by its id"},
	{long: "code-id", value: "ID", refused: "name the file, which is not fetched by its id"},
}

// anyCFI is a percentage for --min-cfi that any STACK CFI reaches.
const anyCFI = "0.000001"

// mozillaDump returns the plan for a command line of Mozilla's program.
func mozillaDump(l *commandLine) (*plan, error) {
	if l.has("list-arch") {
		text, err := listCPUs(l.operands)
		return &plan{answer: text}, err
	}
	args := append([]string{"dump"}, l.flags()...)
	if l.has("verbose") {
		args = append(args, "--log-level="+mozillaLevel(l.last("verbose")))
	}
	if !l.has("inlines") {
		args = append(args, "--no-inlines")
	}
	if l.has("check-cfi") {
		args = append(args, "--check-cfi", "--min-cfi="+anyCFI)
	}
	args, err := withMappings(args, l)
	if err != nil {
		return nil, err
	}
	servers, err := symbolServers(l.last("symbol-server"))
	if err != nil {
		return nil, err
	}
	args = append(args, servers...)
	modules := modulesOf(l.operands)
	if len(modules) > 1 && (!l.has("store") || l.has("output")) {
		return nil, fmt.Errorf("%d binaries: want one with its debug file, or only --store", len(modules))
	}
	p := &plan{strict: l.has("check-cfi")}
	for _, m := range modules {
		p.calls = append(p.calls, outputs(slices.Concat(args, cpuFlag(l, m.file), m.args()), l)...)
	}
	return p, nil
}

// module is a binary of a command line, and its debug file or "".
type module struct{ file, debug string }

func (m module) args() []string {
	if m.debug != "" {
		return []string{"--debug-file=" + m.debug, "--", m.file}
	}
	return []string{"--", m.file}
}

// modulesOf returns the binaries among files. Two files with the same build-id are a binary and its
// debug file, in either order.
func modulesOf(files []string) (modules []module) {
	var ids [][]byte
	for _, path := range files {
		id, hasCode := identify(path)
		k := slices.IndexFunc(ids, func(other []byte) bool { return len(id) > 0 && bytes.Equal(id, other) })
		switch {
		case k < 0 || modules[k].debug != "":
			modules, ids = append(modules, module{file: path}), append(ids, id)
		case hasCode:
			modules[k] = module{file: path, debug: modules[k].file}
		default:
			modules[k].debug = path
		}
	}
	return modules
}

// identify returns the build-id of a file, and whether it has code. For a file that cannot be read,
// it returns nil and false; dump reports the error.
func identify(path string) (id []byte, hasCode bool) {
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		return nil, false
	}
	defer f.Close()
	return f.BuildID(), f.HasCode()
}

// outputs returns a call of dump for each output that a command line of Mozilla's program requests.
func outputs(args []string, l *commandLine) (calls [][]string) {
	to := func(flag string) []string { return slices.Insert(slices.Clone(args), 1, flag) }
	if dir := l.last("store"); dir != "" {
		calls = append(calls, to("--store="+dir))
	}
	switch file := l.last("output"); {
	case file != "":
		calls = append(calls, to("--output="+file))
	case calls == nil:
		calls = append(calls, to("--output=-"))
	}
	return calls
}

// withMappings adds the flags for options about the names of source files.
func withMappings(args []string, l *commandLine) ([]string, error) {
	sources, templates := l.values("mapping-src"), l.values("mapping-dest")
	if len(sources) != len(templates) {
		return nil, fmt.Errorf("want as many --mapping-src as --mapping-dest, not %d and %d", len(sources), len(templates))
	}
	for i, source := range sources {
		args = append(args, "--map="+source+"="+templates[i])
	}
	return args, nil
}

// mozillaLevel returns the level of messages. Unknown words mean error, as in Mozilla's program.
func mozillaLevel(word string) string {
	if slices.Contains([]string{"off", "warn", "info", "debug", "trace"}, word) {
		return word
	}
	return "error"
}

// cpuFlag returns the flag that selects the CPU in a file with several binaries.
func cpuFlag(l *commandLine, file string) []string {
	switch all := objfile.CPUs(file); {
	case len(all) < 2:
		return nil
	case l.has("arch"):
		return []string{"--arch=" + l.last("arch")}
	}
	return []string{"--arch=" + thisCPU()}
}

// thisCPU returns this machine's CPU by its name in MODULE records.
func thisCPU() string {
	if runtime.GOARCH == "amd64" {
		return "x86_64"
	}
	return runtime.GOARCH
}

// cpusOf returns the names of the CPUs of the binaries in a file.
func cpusOf(file string) ([]string, error) {
	if all := objfile.CPUs(file); len(all) > 0 {
		return all, nil
	}
	f, err := objfile.Open(file, object.DefaultLimits())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	name := f.CPU
	if f.Arch != nil {
		name = f.Arch.Name
	}
	return []string{cmp.Or(f.ModuleCPU, name)}, nil
}

// listCPUs returns the text that --list-arch prints.
func listCPUs(files []string) (string, error) {
	var b strings.Builder
	for _, file := range files {
		cpus, err := cpusOf(file)
		if err != nil {
			return "", err
		}
		plural := "s"
		if len(cpus) == 1 {
			plural = ""
		}
		fmt.Fprintf(&b, "%s contains the following architecture%s:\n%s\n", filepath.Base(file), plural, strings.Join(cpus, ", "))
	}
	return b.String(), nil
}
