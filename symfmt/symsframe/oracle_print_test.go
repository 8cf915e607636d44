package symsframe

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestPrintLikeObjdump compares the output of Section.Print with objdump 2.47's,
// line by line and ignoring blanks, for each file whose rows objdump printed.
func TestPrintLikeObjdump(t *testing.T) {
	// Addresses by the same rules as above, and rows that relocations changed.
	rules := &ruleSet{someRules("object in 2.47", "copied by lld", "ld -r hits rows"), map[string]int{}}
	var texts, lines int
	for _, path := range expectedTexts(t, objdump247) {
		e := newExpectation(t, path, objdump247)
		if !e.says("Function Index") {
			continue // TestExpectedTexts knows why
		}
		if e.name == "aarch64-v2-reloc.o" {
			continue // rows that ld -r 2.44 made relocations hit: other numbers of lines; TestExpectedTexts compares it
		}
		texts++
		lines += e.comparePrint(t, func(d difference) { rules.explain(t, &d) })
	}
	t.Logf("%d texts, %d lines", texts, lines)
	rules.finish(t)
}

// someRules returns the expectRules with these names.
func someRules(names ...string) (rules []expectRule) {
	for _, r := range expectRules {
		if slices.Contains(names, r.name) {
			rules = append(rules, r)
		}
	}
	return rules
}

// comparePrint reports the differences, and returns the number of lines.
func (e *expectation) comparePrint(t *testing.T, report func(difference)) (lines int) {
	t.Helper()
	var b strings.Builder
	if err := e.section.Print(&b); err != nil {
		t.Fatal(err)
	}
	ours, _, _ := strings.Cut(b.String(), "\n\n  Header at ")
	for line := range strings.Lines(ours) {
		if strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
			t.Errorf("%s: %q ends in blanks", e.name, line)
		}
	}
	theirs := e.printed()
	got := strings.Split(strings.TrimRight(ours, "\n"), "\n")
	if e.says("Assertion `") { // the tool's text ends in a heading
		got = got[:min(len(got), len(theirs))]
	}
	p := &linePair{e: e, report: report, fde: -1}
	for i := range max(len(got), len(theirs)) {
		p.compare(at(got, i), at(theirs, i))
	}
	return len(theirs)
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(none)"
}

// printed returns the tool's text from the section's heading on, as lines.
func (e *expectation) printed() []string {
	_, text, _ := strings.Cut(e.text, "Contents of the SFrame section")
	text, _, _ = strings.Cut(text, "\nexit ")
	lines := strings.Split("Contents of the SFrame section"+strings.TrimRight(text, "\n"), "\n")
	if e.says("Assertion `") {
		for i, line := range lines {
			if isMessage(line) {
				return lines[:i]
			}
		}
	}
	return lines
}

func (e *expectation) says(part string) bool { return strings.Contains(e.text, part) }

// linePair goes through two texts at once. Addresses of a function that differ
// are one difference: they shift its rows.
type linePair struct {
	e        *expectation
	report   func(difference)
	fde, row int
	shift    uint64
	mask     bool
}

func (p *linePair) compare(ours, theirs string) {
	f, g := funcLine.FindStringSubmatch(ours), funcLine.FindStringSubmatch(theirs)
	if f != nil && g != nil {
		p.fde, p.row = p.fde+1, -1
		pc, want := p.e.shownPC(number(f[2], 16)), number(g[2], 16)
		p.shift = want - number(f[2], 16)
		if pc != want {
			p.report(difference{p.e, p.fde, -1, ofPC, hexadecimal(pc), hexadecimal(want)})
		}
		ours = strings.Replace(ours, "0x"+f[2], "0x"+g[2], 1)
	}
	if strings.HasPrefix(ours, "    STARTPC") {
		p.mask = strings.Contains(ours, "[m]")
	}
	r, s := rowLine.FindStringSubmatch(ours), rowLine.FindStringSubmatch(theirs)
	if r != nil && s != nil {
		p.row++
		ours, theirs = p.shifted(r), rowText(s)
	}
	ours, theirs = words(ours), words(theirs)
	if ours != theirs {
		p.report(difference{p.e, p.fde, p.row, ofLine, ours, theirs})
	}
}

// words returns a line with one blank between its words.
func words(line string) string { return strings.Join(strings.Fields(line), " ") }

// rowText returns a row with its columns separated and one sign an offset.
func rowText(m []string) string {
	return strings.ReplaceAll(strings.Join(m[1:], " "), "+-", "-")
}

// shifted returns our row at the tool's address.
func (p *linePair) shifted(m []string) string {
	if !p.mask {
		m[1] = fmt.Sprintf("%016x", number(m[1], 16)+p.shift)
	}
	return rowText(m)
}

// synthRules are for the hand-made sections and the fixtures.
var synthRules = append(someRules("RA in 2.40", "fixed RA in 2.40"), []expectRule{
	{"gap before FDEs", "libsframe takes the place of a start field as if FDEs began at the header's end", func(d *difference) bool {
		if d.what != ofPC || d.header().FDEOff == 0 {
			return false
		}
		ours, text := d.pcs()
		return text == ours-uint64(d.header().FDEOff)
	}},
	{"7 words", "libsframe reads no row of more than 6 words: objdump shows the one before it again", func(d *difference) bool {
		return d.name == "sframe-text-v3" && d.fde == 1 && d.row == 7
	}},
	{"first header", "objdump reads one header", func(d *difference) bool { return d.what == "headers" && d.name == "sframe-text-v2" }},
}...)

// TestOracleSynthetic puts each hand-made section that is valid into a library
// and compares with objdump on it, and on the fixtures: 2.40 for version 1, 2.47
// for the others.
func TestOracleSynthetic(t *testing.T) {
	testenv.Oracle(t)
	if !testenv.OracleFull() {
		t.Skip("runs programs of another Debian suite: SYMTOOL_ORACLE=full")
	}
	paths, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data", "sframe", "synth"), "ok-*.bin"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d sections, %v", len(paths), err)
	}
	rules := &ruleSet{synthRules, map[string]int{}}
	var all []*expectation
	for _, path := range paths {
		all = append(all, synthetic(t, path))
	}
	for _, name := range []string{"sframe-text-v2", "sframe-text-v3"} {
		all = append(all, dumped(t, objdump247, "x86_64-linux-gnu-", name, testenv.Input(t, name+".elf")))
	}
	all = append(all, dumped(t, objdump240, "", "sframe-text-v1", testenv.Input(t, "sframe-text-v1.elf")))
	var funcs, rows, lines int
	for _, e := range all {
		report := func(d difference) { rules.explain(t, &d) }
		rows += e.compare(report)
		funcs += len(e.funcs)
		if e.tool == objdump247 { // 2.40 lays out less
			lines += e.comparePrint(t, report)
		}
	}
	t.Logf("%d sections, %d functions, %d rows, %d lines", len(all), funcs, rows, lines)
	rules.finish(t)
}

// synthetic replaces the section of a library by a raw one and has it dumped.
func synthetic(t *testing.T, path string) *expectation {
	t.Helper()
	name := strings.TrimSuffix(filepath.Base(path), ".bin")
	tool, library, prefix := objdump247, "amd64-v3-lib.so", "x86_64-linux-gnu-"
	for _, host := range [][3]string{
		{"aarch64be", "aarch64be-v3-lib.so", "aarch64-linux-gnu-"}, {"aarch64", "aarch64-v3-lib.so", "aarch64-linux-gnu-"},
		{"s390x", "s390x-v3-lib.so", "s390x-linux-gnu-"},
	} {
		if strings.Contains(name, host[0]) {
			library, prefix = host[1], host[2]
			break
		}
	}
	if strings.HasPrefix(name, "ok-v1") {
		tool, library = objdump240, strings.Replace(library, "-v3-", "-v1-", 1)
	}
	file := filepath.Join(t.TempDir(), name)
	binutils(t, tool, prefix+"objcopy", "--update-section", ".sframe="+path, testenv.Shared(t, "data", "sframe", "elf", library), file)
	return dumped(t, tool, prefix, name, file)
}

func dumped(t *testing.T, tool, prefix, name, file string) *expectation {
	t.Helper()
	e := &expectation{tool: tool, name: name, text: binutils(t, tool, prefix+"objdump", "--sframe=.sframe", file)}
	e.parse(t)
	e.open(t, file)
	return e
}

// binutils runs a program of binutils 2.40, which is this system's, or 2.47, and
// returns all that it prints.
func binutils(t *testing.T, tool, name string, args ...string) string {
	t.Helper()
	program := testenv.Shared(t, "tools", "suite-tool")
	if tool == objdump240 {
		program = testenv.Tool(t, strings.TrimPrefix(name, "x86_64-linux-gnu-"))
	} else {
		args = append([]string{"sid", name}, args...)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}
