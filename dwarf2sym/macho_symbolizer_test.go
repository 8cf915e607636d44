package dwarf2sym_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// machoRules describe where the names of symtool and llvm-symbolizer may differ. Files, lines and the number of frames
// may not.
var machoRules = []struct {
	name, why string
	holds     func(c *machoCase, ours, theirs string, outermost bool) bool
}{
	{
		name: "spelling", why: "the same name: symtool writes spaces and std::string as c++filt does",
		holds: func(_ *machoCase, ours, theirs string, _ bool) bool { return spelling(ours) == spelling(theirs) },
	},
	{
		name: "order", why: "the same letters: types of functions with const or of blocks, and operators, are written as c++filt does",
		holds: func(_ *machoCase, ours, theirs string, _ bool) bool { return letters(ours) == letters(theirs) },
	},
	{
		name: "symbol", why: "llvm prefers the name in the symbol table; symtool takes that of the debug information",
		holds: func(c *machoCase, _, theirs string, outermost bool) bool {
			return outermost && slices.Contains(c.symbols[c.sym.funcAt(c.rva).lo], spelling(theirs))
		},
	},
	{
		name: "scope", why: "llvm gives the plain name of a function without linkage name; symtool puts its namespaces before it",
		holds: func(_ *machoCase, ours, theirs string, _ bool) bool { return strings.HasSuffix(ours, "::"+theirs) },
	},
	{
		name: "nameless", why: "the debug information has no name: symtool writes <name omitted>",
		holds: func(_ *machoCase, ours, theirs string, _ bool) bool { return ours == "<name omitted>" && theirs == "" },
	},
}

// spelling returns a name without the parts that demanglers write differently.
func spelling(name string) string {
	name = strings.ReplaceAll(name, " ", "")
	name = strings.ReplaceAll(name, "std::basic_string<char,std::char_traits<char>,std::allocator<char>>", "std::string")
	return strings.ReplaceAll(name, "std::basic_ostream<char,std::char_traits<char>>", "std::ostream")
}

// letters returns the letters of a name in their order in ASCII, without parentheses.
func letters(name string) string {
	all := slices.DeleteFunc([]byte(spelling(name)), func(b byte) bool { return b == '(' || b == ')' })
	slices.Sort(all)
	return string(all)
}

// sourceName returns a symbol's name in the form used in symbol files.
func sourceName(name string) string {
	out, _ := demangle.AppendSource(nil, name, true)
	return string(out)
}

// machoCase is the symbol file of a Mach-O file, which is compared with llvm-symbolizer's answers.
type machoCase struct {
	sym     *symFile
	base    uint64
	symbols map[uint64][]string // the spelling of names, by RVA
	rva     uint64              // being compared
	used    map[string]int      // rules

	rows, wrong int
}

// newMachoCase dumps a file or, if it is universal, its binary for cpu.
func newMachoCase(t *testing.T, path, cpu string, used map[string]int) *machoCase {
	t.Helper()
	lim := object.DefaultLimits()
	lim.CPU = cpu
	file, err := objfile.Open(path, lim)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	report, err := dwarf2sym.Read(t.Context(), file, dwarf2sym.Options{Demangle: true})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := symfmt.Write(&text, report.Module, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	c := &machoCase{base: file.Base, used: used, symbols: map[uint64][]string{}}
	if c.sym, err = readSymFile(&text); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	err = file.Symbols(object.Symtab, func(s *object.Symbol) {
		name, rva := string(s.Name), s.Addr&^file.ISABit-file.Base
		c.symbols[rva] = append(c.symbols[rva], spelling(name), spelling(sourceName(name)))
	})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return c
}

// compare compares the frames at an address.
func (c *machoCase) compare(t *testing.T, addr uint64, theirs []frame) {
	t.Helper()
	c.rva = addr - c.base
	ours, err := c.sym.resolve(c.rva)
	if err != nil {
		t.Fatal(err)
	}
	c.rows++
	if len(ours) == 0 && len(theirs) == 1 && theirs[0].file == "" {
		c.used["behind the function, whose symbol llvm takes"]++
		return
	}
	same := len(ours) == len(theirs)
	for i := 0; same && i < len(ours); i++ {
		same = ours[i] == theirs[i] || c.rule(ours[i], theirs[i], i == len(ours)-1)
	}
	if same {
		return
	}
	if c.wrong++; c.wrong <= 5 {
		t.Errorf("%#x:\nsymtool %v\nllvm    %v", addr, ours, theirs)
	}
}

// rule finds the rule for a difference.
func (c *machoCase) rule(ours, theirs frame, outermost bool) bool {
	if ours.file != theirs.file || ours.line != theirs.line {
		return false
	}
	for _, r := range machoRules {
		if r.holds(c, ours.name, theirs.name, outermost) {
			c.used[r.name]++
			return true
		}
	}
	return false
}

// recordedRow is a line of a recorded run of llvm-symbolizer.
type recordedRow struct {
	Addr   string          `json:"a"`
	Frames []recordedFrame `json:"s"`
}

// recordedFrame is [function, file, line, column].
type recordedFrame struct{ frame }

// UnmarshalJSON implements json.Unmarshaler.
func (f *recordedFrame) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&f.name, &f.file, &f.line})
}

// eachRecorded calls fn with the recorded answers.
func eachRecorded(t *testing.T, path string, fn func(addr uint64, frames []frame)) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewScanner(z); in.Scan(); {
		var row recordedRow
		if err := json.Unmarshal(in.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		addr, err := strconv.ParseUint(row.Addr, 0, 64)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var frames []frame
		for _, f := range row.Frames {
			frames = append(frames, f.frame)
		}
		fn(addr, frames)
	}
}

// recordedBinary returns the binary that a recorded file describes, and its CPU if the binary is universal.
func recordedBinary(recorded string) (path, cpu string) {
	folder := filepath.Dir(filepath.Dir(recorded))
	name, _, _ := strings.Cut(filepath.Base(recorded), ".symbolizer.json")
	for _, cpu := range []string{"", "x86_64", "arm64"} {
		whole := strings.TrimSuffix(name, "."+cpu)
		bundle := filepath.Join(folder, whole, "Contents", "Resources", "DWARF", strings.TrimSuffix(whole, ".dSYM"))
		for _, path := range []string{bundle, filepath.Join(folder, whole)} {
			if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
				return path, cpu
			}
		}
	}
	return "", ""
}

// At each row of their line tables, functions, lines and inlined functions of the shared Mach-O files are those that
// llvm-symbolizer reported.
func TestMachORecorded(t *testing.T) {
	used := map[string]int{}
	root, rows := testenv.Shared(t, "data", "macho"), 0
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".symbolizer.json.gz") {
			return err
		}
		t.Run(strings.TrimPrefix(path, root), func(t *testing.T) {
			binary, cpu := recordedBinary(path)
			c := newMachoCase(t, binary, cpu, used)
			eachRecorded(t, path, func(addr uint64, frames []frame) { c.compare(t, addr, frames) })
			rows += c.rows
			if c.wrong > 0 {
				t.Errorf("%d of %d rows differ", c.wrong, c.rows)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range machoRules {
		if used[r.name] == 0 {
			t.Errorf("rule %s is not needed", r.name)
		}
	}
	t.Logf("%d rows; frames by rule: %v", rows, used)
}

// The same for the committed files, and llvm-symbolizer as it is now.
func TestOracleMachO(t *testing.T) {
	testenv.Oracle(t)
	paths, err := filepath.Glob(filepath.Join(testenv.Input(t), "macho-*.dSYM"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	used := map[string]int{}
	for _, path := range append(paths, testenv.Input(t, "macho-object.o")) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			cpus := objfile.CPUs(path)
			if cpus == nil {
				cpus = []string{""}
			}
			for _, cpu := range cpus {
				c := compareMachO(t, path, cpu, used)
				t.Logf("%s: %d rows, %d differ; frames by rule: %v", cpu, c.rows, c.wrong, used)
			}
		})
	}
}

// compareMachO compares the frames at each row of the lines of a file with those of llvm-symbolizer.
func compareMachO(t *testing.T, path, cpu string, used map[string]int) *machoCase {
	t.Helper()
	c := newMachoCase(t, path, cpu, used)
	thin := thinned(t, path, cpu)
	addrs := lineRows(t, thin)
	for i, frames := range llvmFrames(t, thin, addrs) {
		for k := range frames {
			frames[k].name = sourceName(frames[k].name)
		}
		c.compare(t, addrs[i], frames)
	}
	return c
}

// thinned returns a file or, if it is universal, a file with only its binary for cpu.
func thinned(t *testing.T, path, cpu string) string {
	t.Helper()
	if cpu == "" {
		return path
	}
	out := filepath.Join(t.TempDir(), cpu)
	run(t, testenv.Tool(t, "llvm-lipo-22"), "-thin", cpu, "-output", out, path)
	return out
}
