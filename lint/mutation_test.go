package lint

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// symLines is a symbol file to damage: its lines, without their ends.
type symLines struct {
	lines []string
	rng   *rand.Rand
}

func (s *symLines) text() string { return strings.Join(s.lines, "\n") + "\n" }

// kind is the record's word, "line" for a line record.
func (s *symLines) kind(i int) string {
	if i < 0 || i >= len(s.lines) {
		return ""
	}
	word, rest, _ := strings.Cut(s.lines[i], " ")
	if word == "STACK" {
		word, _, _ = strings.Cut(rest, " ")
		return "STACK " + word
	}
	if isHex(word) {
		return "line"
	}
	return word
}

// fields are the fields of a record of which "m" is left out.
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

// pick is a random record of a kind, -1 if there is none; also may be nil.
func (s *symLines) pick(kind string, also func(i int) bool) int {
	var all []int
	for i := range s.lines {
		if s.kind(i) == kind && (also == nil || also(i)) {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return -1
	}
	return all[s.rng.IntN(len(all))]
}

// find is the first record from i on for which ok is true, -1 without.
func (s *symLines) find(i int, ok func(i int) bool) int {
	for ; i < len(s.lines); i++ {
		if ok(i) {
			return i
		}
	}
	return -1
}

// newInline tells whether line i is an INLINE of the new form.
func (s *symLines) newInline(i int) bool { return s.kind(i) == "INLINE" && len(s.fields(i))%2 == 1 }

// function is the FUNC that line i belongs to.
func (s *symLines) function(i int) int {
	for i > 0 && s.kind(i) != "FUNC" {
		i--
	}
	return i
}

// realFiles are symbol files of this project and of others.
func realFiles(t testing.TB) (paths []string) {
	paths, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no symbol files", err)
	}
	return append(paths, sharedFiles()...)
}

// sharedFiles are those of the peers' minidumps, none where they are not there.
func sharedFiles() []string {
	shared, _ := filepath.Glob(filepath.Join(os.Getenv("SYMTOOL_SHARED"), "data", "minidumps", "*", "symbols", "*", "*", "*.sym"))
	return shared
}

// readSym reads a symbol file of the test data, of which a golden file has notes
// behind it that begin with "# ".
func readSym(t testing.TB, path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if i := strings.Index(text, "\n# "); i >= 0 {
		text = text[:i+1]
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

func lintAll(t testing.TB, text string) *Report {
	r, err := Run(context.Background(), strings.NewReader(text), Options{File: "a.sym", MaxPerRule: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// toldOnce are rules with one finding a file.
var toldOnce = []string{"SYM117", "SYM118", "SYM122", "SYM123", "SYM210", "SYM211", "SYM308", "SYM310"}

// Each kind of damage at random places of real files is found, with the right
// rule and line.
func TestMutations(t *testing.T) {
	found, tried := map[string]int{}, map[string]int{}
	for n, path := range realFiles(t) {
		text := readSym(t, path)
		base := lintAll(t, text)
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) < 3 {
			continue // no symbols
		}
		rounds := 3
		if len(text) > 1<<20 {
			rounds = 1
		}
		check := func(name, id, broken string, line int) {
			tried[name]++
			has := func(f Finding) bool { return f.Rule.ID == id && f.Line == line }
			if r := lintAll(t, broken); slices.ContainsFunc(r.Findings, has) {
				found[name]++
			} else {
				t.Errorf("%s: %s: no %s at line %d: %v", filepath.Base(path), name, id, line, r.Counts)
			}
		}
		for k, d := range damages {
			if base.Counts[d.id] > 0 && slices.Contains(toldOnce, d.id) {
				continue
			}
			for round := range rounds {
				s := &symLines{slices.Clone(lines), rand.New(rand.NewPCG(uint64(n), uint64(k<<8|round)))}
				if i := d.do(s); i >= 0 {
					check(d.name, d.id, s.text(), i+1)
				}
			}
		}
		for _, d := range textDamages {
			check(d.name, d.id, d.do(text), d.line(len(lines)))
		}
	}
	all, ok := 0, 0
	for _, d := range damages {
		t.Logf("%-28s %s %d of %d", d.name, d.id, found[d.name], tried[d.name])
		all, ok = all+tried[d.name], ok+found[d.name]
		if tried[d.name] < 10 {
			t.Errorf("%s: tried %d times alone", d.name, tried[d.name])
		}
	}
	for _, d := range textDamages {
		t.Logf("%-28s %s %d of %d", d.name, d.id, found[d.name], tried[d.name])
		all, ok = all+tried[d.name], ok+found[d.name]
	}
	t.Logf("%d kinds of damage: %d of %d found", len(damages)+len(textDamages), ok, all)
}
