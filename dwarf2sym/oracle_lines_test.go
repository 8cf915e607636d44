package dwarf2sym_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"debug/elf"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/dwarf2sym/internal/callframe/cfitest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// The output of symtool dump agrees with llvm-symbolizer at every address where a row of
// the line table or a range of a function or inlined function starts or ends: the
// functions there, inlined into each other, and the file and line of each. Rules
// (oracle_rules_test.go) say where the two may differ. The output also conforms to the
// grammar (oracle_grammar_test.go) and is accepted by symfmt.
func TestOracleLines(t *testing.T) {
	testenv.Oracle(t)
	for _, tool := range []string{"llvm-symbolizer-22", "llvm-dwarfdump-22", "c++filt"} {
		testenv.Tool(t, tool)
	}
	symtool := symtoolBinary(t)
	table := &agreement{}
	// A group of its own, which ends when its parallel tests have ended.
	t.Run("of", func(t *testing.T) {
		compare := func(name string, of func(t *testing.T) subject) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := of(t)
				c := compareLines(t, symtool, s)
				if s.cfi {
					c.cfiRows = cfitest.Compare(t, s.file)
				}
				table.add(name, c)
			})
		}
		compare("libc", libcFiles)
		compare("go", func(t *testing.T) subject { return subject{file: goProgram(t), least: large} })
		if testenv.OracleFull() {
			compare("symtool", func(*testing.T) subject { return subject{file: symtool, least: large} })
		}
		for _, b := range matrix {
			if b.fast || testenv.OracleFull() {
				compare(b.name, b.build)
			}
		}
		for _, c := range fixtures(t) {
			compare(c.name, func(t *testing.T) subject {
				if why, ok := notCompared[c.name]; ok {
					t.Skip(why)
				}
				if _, ok := isObject(t, c.file); ok {
					t.Skip("relocatable: TestOracleObjects links it first")
				}
				return subject{file: c.file, debug: c.debug, rowsOnly: slices.Contains(rowsOnly, c.name), damaged: c.name == "line-v2", least: 1}
			})
		}
	})
	t.Logf("\n%s", table)
}

// subject is a binary to compare.
type subject struct {
	file, debug string // debug: the separate debug file, or ""
	twin        string // the same program, if debug/dwarf must read that instead
	unread      bool   // llvm-symbolizer cannot read it, and reads the twin instead
	rowsOnly    bool   // debug/dwarf does not read it
	cfi         bool   // also compare CFI
	damaged     bool   // something is lost, which is reported with status 3
	least       int    // minimum number of rows
}

// files returns the binary and its debug file.
func (s *subject) files() []string {
	if s.debug == "" {
		return []string{s.file}
	}
	return []string{s.file, s.debug}
}

// large is the minimum number of rows of a real program: a comparison of fewer would mean
// little.
const large = 10_000

// notCompared lists the fixtures that have nothing to compare, or that llvm
// does not read.
var notCompared = map[string]string{
	"nodebug":             noDebugInfo,
	"nodebug-dynsym":      noDebugInfo,
	"uncovered-stripped":  noDebugInfo,
	"minidebug":           noDebugInfo,
	"eh":                  noDebugInfo,
	"eh-encodings":        noDebugInfo,
	"debug-frame":         noDebugInfo,
	"frame-both-cie1":     noDebugInfo,
	"frame-both-cie3":     noDebugInfo,
	"frame-both-cie4":     noDebugInfo,
	"symbols":             noDebugInfo,
	"exidx":               noDebugInfo,
	"exidx-be8":           noDebugInfo,
	"exidx-cxx":           noDebugInfo,
	"exidx-lld":           noDebugInfo,
	"sframe-text-v1":      noDebugInfo,
	"sframe-text-v2":      noDebugInfo,
	"sframe-text-v3":      noDebugInfo,
	"sframe-text-segment": noDebugInfo,
	"dwz4":                "llvm knows no supplementary files (TestSupplementKeepsAll)",
	"dwz5":                "llvm knows no supplementary files (TestSupplementKeepsAll)",
	"types-nolink-clang4": "debug/dwarf, which supplies the scopes of names, knows no types by signature (TestOracleTypeUnits)",
	"types-nolink-clang5": "debug/dwarf, which supplies the scopes of names, knows no types by signature (TestOracleTypeUnits)",

	"split-types-dwp-clang4": "debug/dwarf, which supplies the scopes of names, reads no packages (TestOraclePackedTypes)",
	"split-types-dwp-clang5": "debug/dwarf, which supplies the scopes of names, reads no packages (TestOraclePackedTypes)",

	"zero-dead":           "llvm takes dropped functions, whose addresses are 0, for the code that is there",
	"bad-form":            "llvm and debug/dwarf do not read it, and it has no line table",
	"bad-cycle":           "no line table",
	"split-gcc4":          elsewhere,
	"split-gcc5":          elsewhere,
	"split-clang4":        elsewhere,
	"split-clang5":        elsewhere,
	"split-types-gcc4":    elsewhere,
	"split-types-gcc5":    elsewhere,
	"split-types-clang4":  elsewhere,
	"split-types-clang5":  elsewhere,
	"split-single":        elsewhere,
	"split-inlining":      elsewhere,
	"split-missing":       "a .dwo file is missing, and one is stale",
	"lang-swift":          "no line table",
	"compressed-zlib-gnu": "llvm no longer reads .zdebug sections",
}

const (
	noDebugInfo = "no debug information"
	elsewhere   = "llvm looks for the .dwo files in /src only; TestOracleSplit compares such builds"
)

// rowsOnly lists the fixtures that debug/dwarf does not read.
var rowsOnly = []string{"forms", "clang-dwarf64", "split-dwp-gcc4", "split-dwp-clang4", "split-dwp-clang5", "split-pair"}

// symtoolBinary builds the program. SYMTOOL_BINARY names one that is already built.
func symtoolBinary(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("SYMTOOL_BINARY"); path != "" {
		return path
	}
	return testenv.Symtool(t)
}

// goProgram returns a Go program much smaller than symtool.
func goProgram(t *testing.T) string {
	t.Helper()
	path, err := dwarf2sym.GoProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// libcFiles returns this machine's libc and its separate debug file.
func libcFiles(t *testing.T) subject {
	t.Helper()
	found, _ := filepath.Glob("/lib/*-linux-gnu*/libc.so.6")
	if len(found) == 0 {
		t.Skip("no /lib/*-linux-gnu*/libc.so.6")
	}
	libc := found[0]
	f, err := elf.Open(libc)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	note, err := f.Section(".note.gnu.build-id").Data()
	if err != nil || len(note) < 17 {
		t.Fatalf("%s: build-id of %d bytes: %v", libc, len(note), err)
	}
	id := hex.EncodeToString(note[16:])
	debug := testenv.File(t, filepath.Join("/usr/lib/debug/.build-id", id[:2], id[2:]+".debug"), "libc6-dbg")
	return subject{file: libc, debug: debug, least: large}
}

// compareLines compares the symbol file of one binary.
func compareLines(t *testing.T, symtool string, of subject) *comparison {
	start := time.Now()
	args := []string{"dump", of.file}
	if of.debug != "" {
		args = append(args, of.debug)
	}
	status := 0
	if of.damaged {
		status = 3
	}
	text := runStatus(t, status, symtool, args...)
	dumped := time.Now()
	accepted(t, text)
	c, err := compareText(t, text, of)
	if err != nil {
		t.Fatalf("symtool %s: %v", strings.Join(args, " "), err)
	}
	t.Logf("%d rows, %d ends of ranges: %d addresses, %d frames; %d addresses agree", c.rows, c.edges, c.addresses, c.frames, c.agree)
	t.Logf("symtool %v, the others and the comparison %v", dumped.Sub(start).Round(time.Millisecond), time.Since(dumped).Round(time.Millisecond))
	if c.rows < of.least {
		t.Errorf("%d rows, want %d or more", c.rows, of.least)
	}
	c.report(t)
	compareResolved(t, symtool, text, c, of.files()...)
	return c
}

// accepted fails the test unless the readers of symbol files accept the text.
func accepted(t *testing.T, text []byte) {
	t.Helper()
	if err := checkGrammar(bytes.NewReader(text)); err != nil {
		t.Errorf("the grammar: %v", err)
	}
	if _, err := symfmt.Read(context.Background(), bytes.NewReader(text), symfmt.ReadOptions{}); err != nil {
		t.Errorf("symfmt: %v", err)
	}
}

// compareText compares a symbol file with the contents of the binary.
func compareText(t *testing.T, text []byte, of subject) (*comparison, error) {
	t.Helper()
	sym, err := readSymFile(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	obj := cmp.Or(of.debug, of.file)
	rows, dies := lineRows(t, obj), &dieFacts{}
	if !of.rowsOnly {
		dies = readDIEs(t, cmp.Or(of.twin, obj))
	}
	// Addresses are those of the file with the debug information: the other file may have
	// been moved.
	base := loadBase(t, obj)
	addrs := slices.Concat(rows, dies.edges, sym.edges(base))
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	read := obj
	if of.unread {
		read = of.twin
	}
	theirs := llvmFrames(t, withoutSymbols(t, read), addrs)
	c := &comparison{
		damaged: of.damaged, asked: addrs, theirs: theirs,
		sym: sym, base: base, machine: machineOf(t, obj), code: codeOf(t, obj), names: demangled(t, slices.Concat(theirs, dies.foldedNames())), symbols: elfNames(t, obj), dies: dies,
		rows: len(rows), edges: len(dies.edges), addresses: len(addrs), counts: map[string]int{}, kinds: map[string]bool{},
	}
	for i, addr := range addrs {
		ours, err := sym.resolve(addr - base)
		c.at(addr, theirs[i], ours, err)
	}
	return c, nil
}

// comparison counts where the tools agree and what rules explain.
type comparison struct {
	damaged bool      // part of the binary is lost, which is reported
	asked   []uint64  // the addresses
	theirs  [][]frame // llvm's frames at each
	sym     *symFile
	base    uint64
	machine elf.Machine
	code    [][2]uint64
	names   map[string]*mangled // by linkage name
	dies    *dieFacts
	symbols map[uint64][]*mangled // the ELF symbols at an address

	rows, edges, addresses int
	frames, agree          int            // frames of llvm, and addresses without a difference
	cfiRows                int            // rows compared, if CFI is compared, too
	counts                 map[string]int // rule -> frames
	unexplained            int

	resolved, publics int             // addresses that symtool resolve was asked for; of these, where a PUBLIC is
	kinds             map[string]bool // of the differences in examples: one of each
	examples          []string
}

// at compares llvm's frames at one address with ours, or with the reason why there are
// none.
func (c *comparison) at(addr uint64, llvm, ours []frame, err error) {
	d := &difference{c: c, addr: addr, rva: addr - c.base, raw: llvm, ours: ours}
	d.theirs = make([]frame, len(llvm))
	for i, f := range llvm {
		f.name = c.names[f.name].gnu
		d.theirs[i] = f
	}
	if len(d.theirs) == 1 && d.theirs[0] == (frame{}) {
		d.theirs = nil // llvm's form of an empty answer
	}
	c.frames += len(llvm)
	if err == nil && slices.Equal(d.ours, d.theirs) {
		c.agree++
		return
	}
	if err == nil {
		if used := d.explain(); used != nil {
			for _, rule := range used {
				c.counts[rule]++
			}
			return
		}
	}
	c.unexplained++
	if text, kind := d.text(err), d.kind(err); !c.kinds[kind] && len(c.examples) < maxExamples {
		c.kinds[kind] = true
		c.examples = append(c.examples, text)
	}
}

const maxExamples = 20

// report prints the rules' counts, and fails with the differences that no rule explains.
func (c *comparison) report(t *testing.T) {
	for _, r := range slices.Concat(addressRules, frameRules) {
		if n := c.counts[r.name]; n > 0 {
			t.Logf("rule %s, %d frames: %s", r.name, n, r.why)
		}
	}
	if c.agree == 0 {
		t.Error("no address agrees")
	}
	if c.unexplained == 0 {
		return
	}
	t.Errorf("%d addresses differ, and no rule says why; %d kinds of them:", c.unexplained, len(c.examples))
	for _, e := range c.examples {
		t.Error(e)
	}
}

// difference is an address where symtool and llvm-symbolizer disagree.
type difference struct {
	c      *comparison
	addr   uint64
	rva    uint64
	ours   []frame
	theirs []frame // names demangled
	raw    []frame // as llvm-symbolizer gave them
}

// kind returns the same text for similar differences.
func (d *difference) kind(err error) string {
	if err != nil || len(d.ours) != len(d.theirs) {
		return fmt.Sprint(err != nil, len(d.ours)-len(d.theirs), d.addr>>10)
	}
	kind := ""
	for i := range d.ours {
		if d.left(i) {
			kind += d.ours[i].name + "\n" + d.theirs[i].name + "\n"
		}
	}
	return kind
}

// left reports whether frame i differs without a rule that explains it.
func (d *difference) left(i int) bool {
	return i >= len(d.ours) || i >= len(d.theirs) || d.ours[i] != d.theirs[i] && (len(d.ours) != len(d.theirs) || d.explainFrame(i) == "")
}

// text shows the frames that no rule explains, counted from the innermost one.
func (d *difference) text(err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "address %#x, RVA %x: symtool has %d frames, llvm %d", d.addr, d.rva, len(d.ours), len(d.theirs))
	if err != nil {
		fmt.Fprintf(&b, "\n  symtool: %v", err)
	}
	for i := range max(len(d.ours), len(d.theirs)) {
		if d.left(i) {
			b.WriteString(frameText("symtool", d.ours, i))
			b.WriteString(frameText("llvm", d.theirs, i))
		}
	}
	return b.String()
}

func frameText(who string, frames []frame, i int) string {
	if i >= len(frames) {
		return ""
	}
	f := frames[i]
	return fmt.Sprintf("\n  %-8s%d  %s\n            %s:%d", who, i, f.name, f.file, f.line)
}
