package cfi

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
)

// flat is a memory in which each word holds its own address.
type flat struct{}

func (flat) ReadWord(addr uint64) (uint64, bool) { return addr, true }

// stackRecords calls f for each STACK record of the shared symbol files, with
// its fields, and the names of its file.
func stackRecords(t testing.TB, f func(n *Names, kind string, fields []string)) {
	t.Helper()
	root := testenv.Shared(t, "data")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "hostile" {
			return filepath.SkipDir // truncated files
		}
		if err != nil || filepath.Ext(path) != ".sym" {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		n := NewNames(nil)
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			fields := strings.Fields(lines.Text())
			if len(fields) > 2 && fields[0] == "MODULE" {
				n = NewNames(arch.ByName(fields[2]))
			}
			if len(fields) > 2 && fields[0] == "STACK" {
				f(n, fields[1], fields[2:])
			}
		}
		return lines.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSharedRules parses all rules of the shared symbol files, prints them
// back, and evaluates each row with all registers known.
func TestSharedRules(t *testing.T) {
	// Where glibc and its loader begin a thread: these rows have no .cfa.
	const incomplete = ".ra: $rip"
	records, row, names := 0, Row{}, map[string]int{}
	stackRecords(t, func(n *Names, kind string, fields []string) {
		if kind != "CFI" {
			return
		}
		records++
		if fields[0] == "INIT" {
			row.Reset()
			fields = fields[2:]
		}
		text := strings.Join(fields[1:], " ")
		rules, err := n.ParseRules(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			return
		}
		if got := rules.String(); got != text {
			t.Errorf("%q is printed as %q", text, got)
		}
		for _, r := range rules {
			if err := r.Expr.Check(); err != nil {
				t.Errorf("%q: %v", text, err)
			}
			names[n.Name(r.Reg)]++
			if !n.Known(r.Reg) {
				t.Errorf("%q: %s is no register of the CPU", text, n.Name(r.Reg))
			}
		}
		row.Apply(rules)
		if row.CFA.IsZero() {
			if text != incomplete {
				t.Errorf("%q: a row without .cfa", text)
			}
			return
		}
		checkRow(t, n, &row)
	})
	if records < 16000 || names[".cfa"] < 13000 {
		t.Errorf("%d records, %d rules for .cfa: fewer than there are", records, names[".cfa"])
	}
}

// checkRow evaluates a row written by a compiler with $rsp at 1<<20; other
// registers hold their number times 4096.
func checkRow(t *testing.T, n *Names, r *Row) {
	t.Helper()
	callee, caller := n.NewRegs(), n.NewRegs()
	for i := range n.Len() {
		callee.Set(Reg(i), uint64(i)<<12)
	}
	callee.Set(n.sp, 1<<20)
	if err := r.Caller(callee, flat{}, caller); err != nil {
		t.Errorf("%s: %v", r, err)
		return
	}
	base, offset, ok := r.CFA.AsOffset()
	if !ok {
		return
	}
	v, _ := callee.Get(base)
	if cfa, _ := caller.Get(n.sp); cfa != v+uint64(offset) && r.Rule(n.sp).IsZero() {
		t.Errorf("%s: stack pointer %#x, want %#x", r, cfa, v+uint64(offset))
	}
	for _, rule := range r.Regs {
		cfa, _ := caller.Get(n.sp)
		if base, offset, ok := rule.Expr.AsLoad(); ok && base == CFA && r.Rule(n.sp).IsZero() {
			if got, ok := caller.Get(rule.Reg); !ok || got != cfa+uint64(offset) {
				t.Errorf("%s: %s is %#x, %v, want %#x", r, n.Name(rule.Reg), got, ok, cfa+uint64(offset))
			}
		}
	}
}

// TestSharedPrograms runs all program strings of the shared symbol files.
func TestSharedPrograms(t *testing.T) {
	// The specification's example, whose first assignment lacks its variable:
	// Breakpad rejects it too.
	const broken = "$eip 4 + ^ = $esp $ebp 8 + = $ebp $ebp ^ ="
	count := 0
	stackRecords(t, func(n *Names, kind string, fields []string) {
		if kind != "WIN" || fields[9] != "1" {
			return
		}
		count++
		text := strings.Join(fields[10:], " ")
		p, err := n.ParseProgram(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			return
		}
		// Some assignments lack the blank after their "=".
		if got := p.String(); got != strings.ReplaceAll(text, "=$", "= $") {
			t.Errorf("%q is printed as %q", text, got)
		}
		vars := n.NewRegs()
		for _, name := range []string{"$ebp", "$esp", ".cbLocals", ".cbSavedRegs", ".cbParams", ".raSearch", ".raSearchStart"} {
			vars.Set(n.intern(name), 4096)
		}
		if err := p.Run(vars, flat{}); (err != nil) != (text == broken) {
			t.Errorf("%q: %v", text, err)
		}
		if text == broken {
			return
		}
		for _, name := range []string{"$eip", "$esp"} {
			if !vars.Assigned(n.Lookup(name)) {
				t.Errorf("%q leaves %s alone", text, name)
			}
		}
	})
	if count < 6700 {
		t.Errorf("%d programs: fewer than there are", count)
	}
}
