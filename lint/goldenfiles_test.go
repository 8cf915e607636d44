package lint

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/symfmt"
)

// lintReal checks a file with all rules.
func lintReal(t *testing.T, path, name string) *finding.Report {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The goldens of dwarf2sym list the reader's problems after the symbols.
	symbols, _, _ := bytes.Cut(text, []byte("\n# "))
	if len(symbols) < len(text) {
		symbols = append(symbols, '\n')
	}
	r, err := Run(context.Background(), symfmt.TextRecords(bytes.NewReader(symbols)), Options{File: name})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The output of symtool dump has no errors, and has warnings only where something is missing from
// the binary.
func TestDumpHasNoErrors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil || len(files) < 150 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	// Rules of severity warning, and why their findings are true.
	allowed := map[string]string{
		"SYM109": "a file without a build-id and without code has an id of zeros",
		"SYM701": "built without .eh_frame: there is nothing to unwind with",
		"SYM705": "there is a section of unwind information alone in the binary",
	}
	noID := 0
	for _, file := range files {
		for _, f := range lintReal(t, file, filepath.Base(file)).Findings {
			if f.Severity == finding.Error || f.Severity == finding.Warning && allowed[f.Rule.ID] == "" {
				t.Error(f.String())
			}
			if f.Rule.ID == "SYM109" {
				noID++
			}
		}
	}
	if noID != 2 {
		t.Errorf("%d files without an id, want the 2 of .sframe alone that have no code", noID)
	}
}

// peerReasons gives the reason why the findings of each rule in the peers' files are true, as
// checked in the files.
var peerReasons = map[string]string{
	"SYM105": "rust-minidump's files and Breakpad's tests have PUBLIC in front of FUNC",
	"SYM120": "linux_inline.new.sym ends in \"43 0 \" without a line end",
	"SYM126": "linux_inline.old.sym is Breakpad's test of the old form",
	"SYM208": "dump_syms for Windows writes all files of the PDB, used or not; module2.sym is a test",
	"SYM301": "module1.sym has Test_Zero_Size_Function_Is_Ignored",
	"SYM306": "the lines of Function2_1 in module2.sym, at 2000, are at 1000",
	"SYM310": "dump_syms for Windows writes lines of size 0",
	"SYM311": "compilers give code that belongs to no line the number 0",
	"SYM312": "Function2_2 of module2.sym has no lines at its addresses",
	"SYM313": "INLINE 9 behind INLINE 3 in crash-client.sym, which is in order of addresses",
	"SYM315": "INLINE 2 at [e81, e9b) behind INLINE 1 at [e81, e88) in crash-client.sym",
	"SYM321": "PUBLICs in the middle of assembly functions of Windows",
	"SYM323": "Breakpad's kernel32.sym has its PUBLICs in no order",
	"SYM324": "the PUBLIC at address 0 of crash-client.sym",
	"SYM402": "crash-client.sym has INIT ca10 40, and INIT ca10 5 to ca40 5 in it",
	"SYM405": "dump_syms for Linux writes blocks in the order of .eh_frame",
	"SYM410": "the block of __restore_rt has .ra: $rip alone: its .cfa is a DWARF expression that dump_syms drops",
	"SYM418": ".cfa: $rdi 0 + in longjmp and setcontext, .cfa: $rcx 8 + at the end of _Unwind_RaiseException and its kind, which is how these work",
	"SYM420": "functions without symbols, such as the PLT",
	"SYM433": "STACK WIN 4 1005b a1 and STACK WIN 4 1005c b2; in kernel32.sym Breakpad drops 503 of 3703 records of 85195 bytes: " +
		"12275 of these get another program, 8264 other sizes, 852 none where no frame pointer helps",
	"SYM436": "$eip 4 + ^ = in Breakpad's tests: $eip has no value before, and nothing is assigned to",
	"SYM438": "STACK WIN 4 8e31 with 1c bytes of parameters, FUNC 8e31 with 20",
	"SYM610": "tests with names such as file1_1.cc",
	"SYM612": "built below /home",
	"SYM701": "Breakpad's test of inlined calls has no STACK CFI",
	"SYM706": "code that STACK WIN records do not cover",
}

// The findings in the peers' symbol files: how many there are of each rule, with the reason, and
// the verdict.
func TestPeerFiles(t *testing.T) {
	data := testenv.Shared(t, "data")
	var files []string
	for _, glob := range []string{"minidumps/*/symbols/*/*/*.sym", "symfiles/*.sym"} {
		found, err := filepath.Glob(filepath.Join(data, filepath.FromSlash(glob)))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	var b strings.Builder
	seen := map[string]bool{}
	for _, file := range files {
		name, _ := filepath.Rel(data, file)
		r := lintReal(t, file, filepath.Base(file))
		fmt.Fprintf(&b, "%s: %s\n", filepath.ToSlash(name), r.Coverage.Verdict)
		for _, c := range r.ByRule() {
			i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == c.Rule })
			fmt.Fprintf(&b, "  %s %-7v %5d  %s\n", c.Rule.ID, c.Severity, c.Count, r.Findings[i].String())
			seen[c.Rule.ID] = true
			if peerReasons[c.Rule.ID] == "" {
				t.Errorf("%s: %s has no reason: check the finding, and add one", name, c.Rule.ID)
			}
		}
	}
	b.WriteString("\nWhy:\n")
	for _, rule := range Rules() {
		if seen[rule.ID] {
			fmt.Fprintf(&b, "  %s %s: %s\n", rule.ID, rule.Title, peerReasons[rule.ID])
		} else if peerReasons[rule.ID] != "" {
			t.Errorf("%s has a reason, but no finding", rule.ID)
		}
	}
	testenv.Golden(t).Assert(t, "peers.txt", []byte(b.String()))
}

// The page about the rules is generated from them.
func TestPage(t *testing.T) {
	testenv.Golden(t).Assert(t, "rules.md", []byte(Page()))
	for _, rule := range Rules() {
		text := explain(rule)
		for _, want := range []string{rule.ID, rule.Title, rule.Spec, rule.Family().Name} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is explained without %q", rule.ID, want)
			}
		}
		if !strings.Contains(List(), "  "+rule.ID+" ") {
			t.Errorf("%s is not in the list", rule.ID)
		}
	}
}
