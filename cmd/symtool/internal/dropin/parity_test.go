package dropin_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// parityCase is a binary with its debug files. files has pairs of a fixture and its path. In paths, ABS stands
// for the path of the folder without its first slash, and ID and REST for the digits of the first file's
// build-id.
type parityCase struct {
	name  string
	files []string
	dirs  bool // the debug file is in D, which flags name
	serve bool // the debug file is on a debuginfod server, in D
	lines bool // the debug information has lines
	// unlike means that LLVM's answers differ: see TestOracleDropinsKnowWhatPeersKnow.
	unlike bool
}

// parityCases lists a case for every way in which a binary and its debug files can belong together.
var parityCases = []parityCase{
	{name: "DWARF 5 of gcc", files: []string{"gcc-dwarf5.elf", "a"}, lines: true},
	{name: "DWARF 5 of clang", files: []string{"clang-dwarf5.elf", "a"}, lines: true},
	{name: "DWARF 2", files: []string{"gcc-dwarf2.elf", "a"}, lines: true},
	{name: "hot and cold", files: []string{"hotcold-gcc5.elf", "a"}, lines: true},
	{name: "undeclared code", files: []string{"line0.elf", "a"}, lines: true},
	{name: "Rust", files: []string{"rust-v0.elf", "a"}, lines: true},
	{name: "an object", files: []string{"object-gcc5-types.elf", "a"}, lines: true, unlike: true},
	{name: "a kernel module", files: []string{"module.elf", "a"}, lines: true, unlike: true},
	{name: "a symbol table", files: []string{"nodebug.elf", "a"}},
	{name: "dynamic symbols", files: []string{"nodebug-dynsym.elf", "a"}},
	{name: "MiniDebugInfo", files: []string{"minidebug.elf", "a"}},
	{name: "a link, beside", files: []string{"pair.elf", "a", "pair.debug", "pair.debug"}, lines: true},
	{name: "a link, .debug", files: []string{"pair.elf", "a", "pair.debug", ".debug/pair.debug"}, lines: true},
	{name: "a link, below a folder", files: []string{"pair.elf", "a", "pair.debug", "D/ABS/pair.debug"}, dirs: true, lines: true},
	{name: "a build-id", files: []string{"pair.elf", "a", "pair.debug", "D/.build-id/ID/REST.debug"}, dirs: true, lines: true},
	{name: "a moved file", files: []string{"moved.elf", "a", "moved.debug", "moved.debug"}, lines: true},
	{name: "debuginfod", files: []string{"pair.elf", "a", "pair.debug", "D/buildid/IDREST/debuginfo"}, serve: true, lines: true},
	{name: "dwz 4", files: []string{"dwz4.elf", "a", "dwz4-common.debug", "dwz4-common.debug"}, lines: true},
	{name: "dwz 5", files: []string{"dwz5.elf", "a", "dwz5-common.debug", "dwz5-common.debug"}, lines: true},
	{name: "split, clang 4", files: splitFiles("split-clang4"), lines: true},
	{name: "split, clang 5", files: splitFiles("split-clang5"), lines: true},
	{name: "split, gcc 4", files: splitFiles("split-gcc4"), lines: true},
	{name: "split, gcc 5", files: splitFiles("split-gcc5"), lines: true},
	{name: "dwp, clang 4", files: []string{"split-dwp-clang4.elf", "a", "split-dwp-clang4.elf.dwp", "a.dwp"}, lines: true},
	{name: "dwp, clang 5", files: []string{"split-dwp-clang5.elf", "a", "split-dwp-clang5.elf.dwp", "a.dwp"}, lines: true},
	{name: "dwp, gcc 4", files: []string{"split-dwp-gcc4.elf", "a", "split-dwp-gcc4.elf.dwp", "a.dwp"}, lines: true},
	{name: "dwp of a stripped file", files: []string{"split-pair.elf", "split-pair.elf", "split-pair.debug", "split-pair.debug",
		"split-pair.elf.dwp", "split-pair.elf.dwp"}, lines: true},
	{name: "PE, 64 bits", files: []string{"pe-mingw64.dll", "a.dll"}, lines: true},
	{name: "PE, 32 bits", files: []string{"pe-mingw32.dll", "a.dll"}, lines: true},
	{name: "PDB, x86-64", files: []string{"pdb-x64.exe", "a.exe", "pdb-x64.pdb.gz", "pdb-x64.pdb"}, lines: true, unlike: true},
	{name: "PDB, x86", files: []string{"pdb-x86.exe", "a.exe", "pdb-x86.pdb.gz", "pdb-x86.pdb"}, lines: true, unlike: true},
	{name: "Mach-O without a dSYM", files: []string{"macho-names", "a"}},
	{name: "Mach-O, stripped", files: []string{"macho-arm64", "a"}},
	{name: "a Mach-O object", files: []string{"macho-object.o", "a.o"}, lines: true},
	{name: "a dSYM, arm64", files: []string{"macho-arm64", "a", "macho-arm64.dSYM", "a.dSYM/Contents/Resources/DWARF/a"}, lines: true},
	{name: "a dSYM, x86-64", files: []string{"macho-x86_64", "a", "macho-x86_64.dSYM", "a.dSYM/Contents/Resources/DWARF/a"}, lines: true},
	{name: "a dSYM with C++", files: []string{"macho-names", "a", "macho-names.dSYM", "a.dSYM/Contents/Resources/DWARF/a"}, lines: true},
	{name: "a dSYM below a folder", files: []string{"macho-names", "a", "macho-names.dSYM", "D/x.dSYM/Contents/Resources/DWARF/y"}, dirs: true, lines: true},
	{name: "a debug map", files: []string{"macho-map", "a", "macho-map-main.o", "macho-map-main.o",
		"macho-map-library.a", "macho-map-library.a"}, lines: true},
	{name: "a debug file alone", files: []string{"pair.debug", "a"}, lines: true},
	{name: "a dSYM alone", files: []string{"macho-names.dSYM", "a"}, lines: true},
}

// splitFiles returns a fixture with its .dwo files beside it.
func splitFiles(name string) (files []string) {
	files = []string{name + ".elf", name + ".elf"}
	for _, unit := range []string{"hotcold", "nest", "second"} {
		dwo := name + ".elf-" + unit + ".dwo"
		files = append(files, dwo, dwo)
	}
	return files
}

// parity is a case whose files are in a folder.
type parity struct {
	path  string // of the binary
	base  uint64 // address from which RVAs count
	rvas  []symfmt.RVA
	flags map[string][]string // flags of resolve and of the programs for the folder of debug files; nil if no flag names it
}

// TestDropinsKnowWhatResolveKnows checks that symtool under the names of other programs answers like resolve:
// with the same functions, inlined calls, files and lines for the same addresses, wherever the debug
// information is.
func TestDropinsKnowWhatResolveKnows(t *testing.T) {
	for _, c := range parityCases {
		t.Run(c.name, func(t *testing.T) {
			p := c.place(t)
			want := p.resolved(t)
			checkLines(t, want, c.lines)
			for _, name := range peerNames {
				if p.flags == nil || p.flags[name] != nil {
					p.compare(t, name, want, "resolve", p.answered(t, name, symtoolAs(name)))
				}
			}
		})
	}
}

// peerNames are the programs that are compared; peerTools are Debian's names for them.
var (
	peerNames = []string{"llvm-symbolizer", "eu-addr2line", "addr2line"}
	peerTools = map[string]string{"llvm-symbolizer": "llvm-symbolizer-22", "eu-addr2line": "eu-addr2line", "addr2line": "addr2line"}
)

// TestOracleDropinsKnowWhatPeersKnow checks that symtool under the names of the programs finds what the
// programs themselves find. Answers without the debug information, which the programs often do not find or
// read, are not compared, and neither are these:
//
//   - binutils and elfutils about files that are not ELF, and elfutils about names of Rust, which it does not demangle;
//   - binutils about inlined functions without a linkage name, which get the name of the symbol around them;
//   - any about objects with several sections at 0: each takes another section for an address;
//   - LLVM about PDBs: see TestOracleSymbolizer in symfmt/pdb.
func TestOracleDropinsKnowWhatPeersKnow(t *testing.T) {
	testenv.Oracle(t)
	compared := map[string]int{}
	for _, c := range parityCases {
		t.Run(c.name, func(t *testing.T) {
			p := c.place(t)
			for _, name := range peerNames {
				if p.flags != nil && p.flags[name] == nil || c.unlike || name != "llvm-symbolizer" && !c.elf() {
					continue
				}
				tool := testenv.Tool(t, peerTools[name])
				theirs := p.answered(t, name, func(t *testing.T, args []string, in string) string {
					cmd := exec.CommandContext(t.Context(), tool, args...)
					cmd.Stdin = strings.NewReader(in)
					out, _ := cmd.Output() // an unknown address may count as a failure
					return string(out)
				})
				for i, frames := range theirs {
					if slices.ContainsFunc(frames, func(k known) bool {
						return k.name == "" || strings.HasPrefix(k.name, "_R") || !filepath.IsAbs(k.file) || k.line == 0
					}) ||
						name == "addr2line" && len(frames) > 1 && plainFunction(frames[0].name) == plainFunction(frames[len(frames)-1].name) {
						theirs[i] = nil
					}
				}
				ours := p.answered(t, name, symtoolAs(name))
				for i := range theirs {
					if len(theirs[i]) < len(ours[i]) { // without inlined functions
						theirs[i] = nil
					} else if len(theirs[i]) > 0 {
						compared[name]++
					}
				}
				p.compare(t, name, theirs, "the program", ours)
			}
		})
	}
	for _, name := range peerNames {
		if compared[name] < 1000 {
			t.Errorf("%s: only %d answers were compared", name, compared[name])
		}
	}
}

// elf reports whether the binary is an ELF file.
func (c *parityCase) elf() bool {
	return strings.HasSuffix(c.files[0], ".elf") || strings.HasSuffix(c.files[0], ".debug")
}

// place copies the files of a case, starts its server, and chooses addresses.
func (c *parityCase) place(t *testing.T) *parity {
	t.Helper()
	dir := t.TempDir()
	debug := filepath.Join(dir, "D")
	p := &parity{path: placeFiles(t, dir, c.files)}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Setenv("DEBUGINFOD_CACHE_PATH", filepath.Join(dir, "cache"))
	t.Setenv("DEBUGINFOD_URLS", "")
	if c.serve {
		t.Setenv("DEBUGINFOD_URLS", testenv.Serve(t, http.FileServer(http.Dir(debug)).ServeHTTP))
	}
	if c.dirs {
		p.flags = map[string][]string{"resolve": {"--binaries", dir, "--module", filepath.Base(p.path)},
			"llvm-symbolizer": {"--debug-file-directory", debug}, "eu-addr2line": {"--debuginfo-path", debug}}
	}
	p.chooseAddresses(t, debug)
	return p
}

// placeFiles copies fixtures below dir, and returns the path of the first.
func placeFiles(t *testing.T, dir string, files []string) (first string) {
	t.Helper()
	id := "0000"
	if f, err := objfile.Open(testenv.Input(t, files[0]), object.DefaultLimits()); err == nil {
		if len(f.BuildID()) > 2 {
			id = hex.EncodeToString(f.BuildID())
		}
		f.Close()
	}
	in := strings.NewReplacer("ABS", strings.TrimPrefix(dir, "/"), "ID", id[:2], "REST", id[2:])
	for i := 0; i < len(files); i += 2 {
		data := testenv.ReadInput(t, files[i])
		if strings.HasSuffix(files[i], ".gz") {
			data = testenv.Gunzip(t, testenv.Input(t, files[i]))
		}
		to := filepath.Join(dir, in.Replace(files[i+1]))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		testenv.WriteFile(t, to, data)
		if i == 0 {
			first = to
		}
	}
	return first
}

// chooseAddresses chooses the starts of functions, and other addresses in the code.
func (p *parity) chooseAddresses(t *testing.T, debug string) {
	t.Helper()
	f, err := objfile.Open(p.path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Kind != object.Relocatable { // for object files, resolve counts addresses from 0
		p.base = f.Base
	}
	read, err := dwarf2sym.ReadFile(t.Context(), p.path, dwarf2sym.Options{DebugDirs: []string{debug}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range read.Module.Funcs {
		rva := read.Module.Funcs[i].RVA
		p.rvas = append(p.rvas, rva, rva+1)
	}
	const samples = 200 // samples per section
	for _, code := range read.Extents.Code {
		for at := uint64(0); at < code.Size; at += 1 + code.Size/samples {
			p.rvas = append(p.rvas, code.RVA+symfmt.RVA(at))
		}
	}
	slices.Sort(p.rvas)
	p.rvas = slices.Compact(p.rvas)
}

// known is what is known about a frame.
type known struct {
	name, file string
	line       int
}

// asWellKnown reports whether other has everything that is known in k. Names may have different
// forms, from the debug information or from the symbol table.
func (k known) asWellKnown(other known) bool {
	return plainFunction(k.name) == plainFunction(other.name) && (k.file == "" || k.file == "??" || k.file == other.file && k.line == other.line)
}

var (
	brackets = regexp.MustCompile(`\([^()]*\)|<[^<>]*>|\{[^{}]*\}|\[[^\[\]]*\]`)
	twins    = regexp.MustCompile(`\btwin_(one|two)\b`) // one function with two names; LLVM prints the one that is last in the table
	variant  = regexp.MustCompile(`(\w)(\.[\w.]+)?( const)?$`)
)

// plainFunction returns the last part of a function's name, without parameters, template arguments and the
// suffixes that compilers add to the name of a copy.
func plainFunction(name string) string {
	name = twins.ReplaceAllString(name, "twin")
	name = strings.ReplaceAll(name, "operator()", "operator_call")
	for without := ""; ; name = without {
		if without = brackets.ReplaceAllString(name, ""); without == name {
			break
		}
	}
	name = variant.ReplaceAllString(strings.Join(strings.Fields(name), " "), "$1")
	if at := strings.Index(name, "operator"); at >= 0 {
		return name[at:]
	}
	return name[strings.LastIndexAny(name, ": ")+1:]
}

func (k known) String() string { return fmt.Sprintf("%s at %s:%d", k.name, k.file, k.line) }

// resolved returns the frames that resolve prints for the addresses, innermost first.
func (p *parity) resolved(t *testing.T) (all [][]known) {
	t.Helper()
	args := []string{"symtool", "resolve", "--format", "json", "--binaries", p.path}
	if p.flags != nil {
		args = append(args[:4], p.flags["resolve"]...)
	}
	var out, messages bytes.Buffer
	if status := app.Run(t.Context(), args, strings.NewReader(p.questions()), &out, &messages); status > cli.StatusFindings {
		t.Fatalf("%q: status %d\n%s", args, status, messages.String())
	}
	for line := range strings.Lines(out.String()) {
		var answer struct {
			Frames []struct {
				Function, File string
				Line           int
			}
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		var frames []known
		for _, f := range answer.Frames {
			frames = append(frames, known{f.Function, f.File, f.Line})
		}
		all = append(all, frames)
	}
	if len(all) != len(p.rvas) {
		t.Fatalf("%d answers, want %d", len(all), len(p.rvas))
	}
	return all
}

// questions returns the addresses, one per line.
func (p *parity) questions() string {
	var in strings.Builder
	for _, rva := range p.rvas {
		fmt.Fprintf(&in, "%#x\n", p.base+uint64(rva))
	}
	return in.String()
}

// symtoolAs returns a function that returns what symtool prints under the name of a program.
func symtoolAs(name string) func(t *testing.T, args []string, in string) string {
	return func(t *testing.T, args []string, in string) string {
		t.Helper()
		var out, messages bytes.Buffer
		args = append([]string{"symtool", "as", name}, args...)
		if status := app.Run(t.Context(), args, strings.NewReader(in), &out, &messages); status > cli.StatusFindings || messages.Len() > 0 {
			t.Errorf("%q: status %d\n%s", args, status, messages.String())
		}
		return out.String()
	}
}

// answered is like resolved, for a program.
func (p *parity) answered(t *testing.T, name string, ask func(t *testing.T, args []string, in string) string) (all [][]known) {
	t.Helper()
	args := slices.Clone(p.flags[name])
	if name == "llvm-symbolizer" {
		args = append(args, "--output-style=JSON", "-e", p.path)
	} else {
		args = append(args, "-f", "-C", "-i", "-a", "--pretty-print", "-e", p.path)
	}
	for line := range strings.Lines(ask(t, args, p.questions())) {
		line = strings.TrimSuffix(line, "\n")
		if name == "llvm-symbolizer" {
			all = append(all, llvmFrames(t, line))
			continue
		}
		if _, answer, first := strings.Cut(line, ": "); first && strings.HasPrefix(line, "0x") {
			all, line = append(all, nil), answer
		}
		last := &all[len(all)-1]
		*last = append(*last, parsePretty(t, strings.TrimPrefix(line, " (inlined by) ")))
	}
	if len(all) != len(p.rvas) {
		t.Fatalf("%s: %d answers, want %d", name, len(all), len(p.rvas))
	}
	return all
}

// llvmFrames returns the frames of an answer in JSON.
func llvmFrames(t *testing.T, line string) (frames []known) {
	t.Helper()
	var answer struct {
		Symbol []struct {
			FunctionName, FileName string
			Line                   int
		}
	}
	if err := json.Unmarshal([]byte(line), &answer); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	for _, f := range answer.Symbol {
		frames = append(frames, known{f.FunctionName, f.FileName, f.Line})
	}
	return frames
}

// prettyPlace matches the location that addr2line -p prints after a function.
var prettyPlace = regexp.MustCompile(`^(.*?)(?: at)? ([^ ]*?):(\d+|\?)(?::\d+)?(?: \(discriminator \d+\))?$`)

func parsePretty(t *testing.T, line string) known {
	t.Helper()
	m := prettyPlace.FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("unexpected answer %q", line)
	}
	k := known{name: m[1], file: m[2]}
	k.line, _ = strconv.Atoi(m[3]) // or "?"
	if k.file == "??" {
		k.file = ""
	}
	if k.name == "??" {
		k.name = ""
	}
	return k
}

// checkLines checks that answers have functions, and lines if they should.
func checkLines(t *testing.T, answers [][]known, want bool) {
	t.Helper()
	names, lines := 0, 0
	for _, frames := range answers {
		for _, f := range frames {
			if f.name != "" {
				names++
			}
			if f.line > 0 {
				lines++
			}
		}
	}
	if names == 0 || (lines > 0) != want {
		t.Fatalf("resolve knows %d names and %d lines of %d", names, lines, len(answers))
	}
}

// compare checks that got has everything that is known in want.
func (p *parity) compare(t *testing.T, name string, want [][]known, who string, got [][]known) {
	t.Helper()
	wrong := 0
	for i := range want {
		if slices.EqualFunc(want[i], got[i][:min(len(want[i]), len(got[i]))], known.asWellKnown) {
			continue
		}
		if wrong++; wrong < 4 {
			t.Errorf("%s: %#x:\n  %v, %s knows\n  %v", name, p.base+uint64(p.rvas[i]), got[i], who, want[i])
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d answers have less", name, wrong, len(want))
	}
}
