package lint

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/symfmt"
)

// damage is one way to break a file. do returns the index of the line at which the rule must report, or -1 if the
// file has no suitable place.
type damage struct {
	name, id string
	do       func(s *symLines) int
}

// damages are all kinds of damage.
var damages = slices.Concat(structureDamages, textDamages, cfiDamages, winDamages)

// symLines is a symbol file to damage: its lines, without line ends.
type symLines struct {
	lines  []string
	rng    *rand.Rand
	change func(text string) string // changes the text as a whole, unless nil
}

func (s *symLines) text() string {
	text := strings.Join(s.lines, "\n") + "\n"
	if s.change != nil {
		text = s.change(text)
	}
	return text
}

// kind returns the keyword of the record, or "line" for a line record.
func (s *symLines) kind(i int) string {
	if i < 0 || i >= len(s.lines) {
		return ""
	}
	word, rest, _ := strings.Cut(s.lines[i], " ")
	if word == "STACK" {
		word, _, _ = strings.Cut(rest, " ")
		return "STACK " + word
	}
	if word != "" && strings.Trim(word, "0123456789abcdefABCDEF") == "" {
		return "line"
	}
	return word
}

// fields returns the fields of a record without "m".
func (s *symLines) fields(i int) []string {
	return strings.Fields(strings.Replace(s.lines[i], " m ", " ", 1))
}

func (s *symLines) hex(i, field int) uint64 {
	v, err := strconv.ParseUint(s.fields(i)[field], 16, 64)
	if err != nil {
		panic(err)
	}
	return v
}

// set changes a field.
func (s *symLines) set(i, field int, format string, args ...any) {
	f := s.fields(i)
	f[field] = fmt.Sprintf(format, args...)
	s.lines[i] = strings.Join(f, " ")
}

func (s *symLines) insert(i int, line string) { s.lines = slices.Insert(s.lines, i, line) }
func (s *symLines) remove(i int)              { s.lines = slices.Delete(s.lines, i, i+1) }

// pick returns a random record of a kind, or -1 if the file has none. also, if non-nil, must accept the record.
func (s *symLines) pick(kind string, also func(i int) bool) int {
	all := s.all(kind, also)
	if len(all) == 0 {
		return -1
	}
	return all[s.rng.IntN(len(all))]
}

// all returns the records of a kind.
func (s *symLines) all(kind string, also func(i int) bool) (all []int) {
	for i := range s.lines {
		if s.kind(i) == kind && (also == nil || also(i)) {
			all = append(all, i)
		}
	}
	return all
}

// find returns the first record from i on for which ok is true, or -1.
func (s *symLines) find(i int, ok func(i int) bool) int {
	for ; i < len(s.lines); i++ {
		if ok(i) {
			return i
		}
	}
	return -1
}

// newInline reports whether line i is an INLINE of the new form.
func (s *symLines) newInline(i int) bool { return s.kind(i) == "INLINE" && len(s.fields(i))%2 == 1 }

// inside reports whether INLINE i is of level 1, with all its ranges inside one range of INLINE parent.
func (s *symLines) inside(i, parent int) bool {
	for k := 5; k < len(s.fields(i)); k += 2 {
		from, held := s.hex(i, k), false
		for j := 5; j < len(s.fields(parent)); j += 2 {
			start, end := s.hex(parent, j), s.hex(parent, j)+s.hex(parent, j+1)
			held = held || start <= from && from+s.hex(i, k+1) <= end
		}
		if !held {
			return false
		}
	}
	return s.fields(i)[1] == "1"
}

// function returns the FUNC that line i belongs to.
func (s *symLines) function(i int) int {
	for i > 0 && s.kind(i) != "FUNC" {
		i--
	}
	return i
}

// realFiles returns symbol files of this project and of others.
func realFiles(t testing.TB) (paths []string) {
	paths, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no symbol files", err)
	}
	paths = slices.Insert(paths, 0, testenv.Input(t, "crashes", "win.sym")) // the file with STACK WIN
	return append(paths, sharedFiles(t)...)
}

// sharedFiles returns the symbol files of the peers' minidumps, or none if they are not available.
func sharedFiles(t testing.TB) []string {
	return testenv.SharedGlob(t, "data", "minidumps", "*", "symbols", "*", "*", "*.sym")
}

// readSym reads a symbol file of the test data, and terminates its last line.
func readSym(t testing.TB, path string) string {
	return strings.TrimSuffix(string(testenv.SymbolFile(t, path)), "\n") + "\n"
}

func lintAll(t testing.TB, text string) *finding.Report {
	r, err := Run(context.Background(), symfmt.TextRecords(strings.NewReader(text)), Options{File: "a.sym", MaxPerRule: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reportedOnce are the rules with one finding per file.
var reportedOnce = []string{"SYM113", "SYM114", "SYM116", "SYM117", "SYM118", "SYM120", "SYM122", "SYM123", "SYM210", "SYM211", "SYM308", "SYM310"}

// mutationSeed returns SYMTOOL_MUTATION_SEED, which selects the places that are damaged.
func mutationSeed(t testing.TB) uint64 {
	text := os.Getenv("SYMTOOL_MUTATION_SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal("SYMTOOL_MUTATION_SEED:", err)
	}
	return seed
}

// mutationTest damages files and counts what is found.
type mutationTest struct {
	found, tried map[string]int // by name of the damage
	seed         uint64
}

func newMutations(t testing.TB) *mutationTest {
	return &mutationTest{map[string]int{}, map[string]int{}, mutationSeed(t)}
}

// damage applies each kind of damage to a file several times.
func (m *mutationTest) damage(t *testing.T, name, text string, rounds int) {
	base := lintAll(t, text)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 3 {
		return // no symbols
	}
	type place struct{ id, text string }
	before := map[place]bool{}
	for i := range base.Findings {
		if f := &base.Findings[i]; f.Line > 0 && f.Line <= len(lines) {
			before[place{f.Rule.ID, lines[f.Line-1]}] = true
		}
	}
	for _, d := range damages {
		if base.Counts[d.id] > 0 && slices.Contains(reportedOnce, d.id) {
			continue
		}
		for round := range rounds {
			h := fnv.New64a()
			fmt.Fprintln(h, name, d.name, round)
			s := &symLines{lines: slices.Clone(lines), rng: rand.New(rand.NewPCG(m.seed, h.Sum64()))}
			at := d.do(s)
			if at < 0 || before[place{d.id, s.lines[at]}] {
				continue
			}
			m.tried[d.name]++
			r := lintAll(t, s.text())
			if slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule.ID == d.id && f.Line == at+1 }) {
				m.found[d.name]++
			} else {
				t.Errorf("%s: %s: no %s at line %d: %.200s: %v", name, d.name, d.id, at+1, s.lines[at], r.Counts)
			}
		}
	}
}

// log prints the rates. Each kind must have been tried at least least times, except the kinds in without, for which
// the files have no record.
func (m *mutationTest) log(t *testing.T, least int, without ...damage) {
	tried, found := 0, 0
	for _, d := range damages {
		n, ok := m.tried[d.name], m.found[d.name]
		tried, found = tried+n, found+ok
		t.Logf("%-38s %s %4d of %4d found, %5.1f %%", d.name, d.id, ok, n, 100*float64(ok)/float64(max(n, 1)))
		if n < least && !slices.ContainsFunc(without, func(w damage) bool { return w.name == d.name }) {
			t.Errorf("%s: tried only %d times", d.name, n)
		}
	}
	t.Logf("%d kinds of damage, seed %d: %d of %d found, %.1f %%", len(damages), m.seed, found, tried, 100*float64(found)/float64(max(tried, 1)))
}

// Damage of each kind, at random places in real files, is found with the right rule and line: in symtool dump's
// output for the test binaries, and in other programs' symbol files.
func TestMutations(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	m := newMutations(t)
	for i, path := range realFiles(t) {
		if i%2 == 1 && !testenv.OracleFull() {
			continue // half of the files suffice
		}
		text := readSym(t, path)
		rounds := 2
		if testenv.OracleFull() {
			rounds = 10
		}
		if len(text) > 1<<16 {
			rounds /= 2
		}
		m.damage(t, filepath.Base(path), text, rounds)
	}
	m.log(t, 2)
}

// The same in large files: in symtool dump's output for a C++ program, for symtool itself if there is time, or in the
// file in SYMTOOL_MUTATION_SYM.
func TestMutationsLarge(t *testing.T) {
	m := newMutations(t)
	if path := os.Getenv("SYMTOOL_MUTATION_SYM"); path != "" {
		m.damage(t, filepath.Base(path), readSym(t, path), 1)
	} else {
		testenv.Oracle(t)
		m.damage(t, "templates.sym", string(testenv.Dump(t, testenv.Templates(t))), 1)
		if testenv.OracleFull() {
			m.damage(t, "symtool.sym", string(testenv.Dump(t, testenv.Symtool(t))), 1) // a Go binary with all its libraries
		}
	}
	m.log(t, 0)
	if len(m.tried) < 50 { // Go has no files that only calls refer to, and saves no registers
		t.Errorf("only %d kinds of damage", len(m.tried))
	}
}
