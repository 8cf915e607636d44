package symfmt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

const head = "MODULE Linux x86 12 a\nFILE 0 a.c\nFILE 1 b.c\nINLINE_ORIGIN 0 inl\n"

// show prints a module for comparison in tests.
func show(m *Module) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %s %v\n", m.OS, m.Arch, m.ID, m.Name, m.Infos)
	fmt.Fprintf(&b, "%v %v\n", m.Files, m.Origins)
	for i := range m.Funcs {
		f := &m.Funcs[i]
		fmt.Fprintf(&b, "func %x+%x %x %q %v:", f.RVA, f.Size, f.ParamSize, f.Name, f.Multiple)
		for in := range f.Inlines() {
			fmt.Fprintf(&b, " %v", *in)
		}
		for l := range f.Lines() {
			fmt.Fprintf(&b, " %v", l)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%v %v\n", m.Publics, m.Wins)
	for _, c := range m.CFI.Blocks {
		fmt.Fprintf(&b, "cfi %x+%x %s:", c.RVA, c.Size, m.CFI.Rules.Text(c.Init))
		for _, r := range m.CFI.Rows[c.First : c.First+c.Count] {
			fmt.Fprintf(&b, " %x %s;", r.RVA, m.CFI.Rules.Text(r.Rules))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestRead(t *testing.T) {
	text := "MODULE windows x86_64 AB1 a b.exe\nINFO CODE_ID FF a b.exe\nINFO X\n" +
		"FILE 7 c:\\x y.c\nINLINE_ORIGIN 3 inl <T>\n" +
		"FUNC m 1000 20 4 f\n1000 10 5 7\nINLINE 0 5 7 3 1008 4 1010 2\n1010 10 6 7\n" +
		"PUBLIC 2000 0 p\nFUNC 3000 1 0 g\n" +
		"STACK WIN 4 1000 20 1 2 3 4 5 6 1 $eip  4 + ^ =\nSTACK WIN 0 3000 1 0 0 0 0 0 0 0 1\n" +
		"STACK CFI INIT 1000 20 .cfa:  $rsp 8 +\t.ra: .cfa -8 + ^\nSTACK CFI 1001 .cfa: $rsp 16 +\n"
	want := "windows x86_64 AB1 a b.exe [{CODE_ID FF a b.exe} {X }]\n" +
		"[{7 c:\\x y.c}] [{3 false inl <T> 0}]\n" +
		"func 1000+20 4 \"f\" true: {0 5 7 3 false [{4104 4} {4112 2}]} {4096 16 5 7} {4112 16 6 7}\n" +
		"func 3000+1 0 \"g\" false:\n" +
		"[{8192 0 p false}] [{4 4096 32 1 2 3 4 5 6 true $eip  4 + ^ = false} {0 12288 1 0 0 0 0 0 0 false  true}]\n" +
		"cfi 1000+20 .cfa: $rsp 8 + .ra: .cfa -8 + ^: 1001 .cfa: $rsp 16 +;\n"
	if got := show(mustRead(t, []byte(text))); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestReadFaults covers records that do not fit together. Each text has one
// fault, which the strict reader returns and the tolerant one reports; kept
// is a part of the tolerant reader's result.
func TestReadFaults(t *testing.T) {
	tests := []struct{ name, text, want, lost, kept string }{
		{"no MODULE", "FILE 0 a.c\nFILE 1 b.c\n", "1:1: FILE: no MODULE record before it", "", "[{0 a.c} {1 b.c}]"},
		{"MODULE behind", "INFO A b\nMODULE Linux x86 12 a\n", "1:1: INFO: no MODULE record before it", "", "Linux x86 12 a [{A b}]"},
		{"two MODULEs", "MODULE Linux x86 12 a\nMODULE mac ppc 34 b\n", "2:1: MODULE: second MODULE record", "MODULE", "Linux x86 12 a"},
		{"bad MODULE", "MODULE Linux x86\nFILE 0 a\n", "1:17: MODULE: id is missing", "MODULE", "[{0 a}]"},
		{"MODULE without a name", "MODULE Linux x86 12\n", "1:20: MODULE: name is empty", "", "Linux x86 12  "},
		{"FILE twice", head + "FILE 1 c.c\n", "5:6: FILE: number 1 is already used by an earlier FILE", "FILE", "[{0 a.c} {1 b.c}]"},
		{"INLINE_ORIGIN twice", head + "INLINE_ORIGIN 0 x\n", "5:15: INLINE_ORIGIN: number 0 is already used by an earlier INLINE_ORIGIN", "INLINE_ORIGIN", "[{0 false inl 0}]"},
		{"FILE without a name", head + "FILE 2 \nFUNC 1 1 0 f\n1 1 1 2\n", "5:8: FILE: name is empty", "", "{2 }]"},
		{"INLINE_ORIGIN without a name", head + "INLINE_ORIGIN 2\nFUNC 1 1 0 f\nINLINE 0 1 0 2 1 1\n", "5:16: INLINE_ORIGIN: name is empty", "", "{0 1 0 2 false [{1 1}]}"},
		{"FUNC without a name", head + "FUNC 1 1 0\n1 1 5 1\n", "5:11: FUNC: name is empty", "", `func 1+1 0 "" false: {1 1 5 1}`},
		{"line before FUNC", head + "1 1 1 0\n2 1 1 0\nFUNC 1 1 0 f\n3 1 1 0\n", "5:1: line record: no FUNC before it", "2 records", `"f" false: {3 1 1 0}`},
		{"INLINE before FUNC", head + "INLINE 0 1 0 0 1 1\n", "5:1: INLINE: no FUNC before it", "1 record", ""},
		{"bad FUNC", head + "FUNC 1 1 0 f\n1 1 1 0\nFUNC x 1 0 g\n2 1 1 0\nINLINE 0 1 0 0 1 1\n3 1 1 0\nFUNC 5 1 0 h\n5 1 1 0\n",
			`7:6: FUNC: address "x": want hexadecimal digits`, "FUNC and 3 records after it", "func 1+1 0 \"f\" false: {1 1 1 0}\nfunc 5+1 0 \"h\" false: {5 1 1 0}\n"},
		{"bad FUNC alone", head + "FUNC x 1 0 g\n", `5:6: FUNC: address "x": want hexadecimal digits`, "FUNC", ""},
		{"bad line", head + "FUNC 1 1 0 f\n1 1 1 0\n2 2 2\n3 1 1 0\n", "7:6: line record: file is missing", "line record", "{1 1 1 0} {3 1 1 0}"},
		{"unknown record", head + "FUNC 1 1 0 f\nFOO bar\n1 1 1 0\n", `6:1: unknown record "FOO"`, "line", `"f" false: {1 1 1 0}`},
		{"file of a line", head + "FUNC 1 1 0 f\n1 1 1 0\n2 1 1 9\n3 1 1 9\n", "7:7: line record: file 9 is not declared", "its name, for 2 records", "{2 1 1 9} {3 1 1 9}"},
		{"file of a line, declared behind", head + "FUNC 1 1 0 f\n1 1 1 9\nFILE 9 c.c\n", "6:7: line record: file 9 is not declared", "", "{9 c.c}]"},
		{"file of a call", head + "FUNC 1 1 0 f\nINLINE 0 1 9 0 1 1\n", "6:12: INLINE: file 9 is not declared", "its name, for 1 record", "{0 1 9 0 false [{1 1}]}"},
		{"origin", head + "FUNC 1 1 0 f\nINLINE 0 1 0 40 1 1\n1 1 1 0\n", "6:14: INLINE: origin 40 is not declared", "its name, for 1 record", "{0 1 0 40 false [{1 1}]}"},
		{"origin, old form", head + "INLINE_ORIGIN 1 0 g\nFUNC 1 1 0 f\nINLINE 0 1 1 1 1\n", "4:17: INLINE_ORIGIN: no file number before the name, which the old form of INLINE records requires", "", ""},
		{"both forms", head + "FUNC 1 1 0 f\nINLINE 0 1 0 0 1 1\nINLINE 0 1 0 1 1\n", "7:1: INLINE: old form (without a call file) after records of the new form", "", "{0 1 0 0 true [{1 1}]}"},
		{"both forms, old first", head + "FUNC 1 1 0 f\nINLINE 0 1 0 1 1\nINLINE 0 1 0 0 1 1\n", "7:1: INLINE: new form (with a call file) after records of the old form", "", "{0 false inl 0}"},
		{"old form, file of an origin", "MODULE Linux x86 12 a\nINLINE_ORIGIN 0 5 inl\nFUNC 1 1 0 f\nINLINE 0 1 0 1 1\n", "2:17: INLINE_ORIGIN: file 5 is not declared", "", "[{0 true inl 5}]"},
		{"old form, nameless origin", "MODULE Linux x86 12 a\nINLINE_ORIGIN 0 -1\nFUNC 1 1 0 f\nINLINE 0 1 0 1 1\n", "2:17: INLINE_ORIGIN: name is empty", "", "[{0 true  -1}]"},
		{"CFI before INIT", head + "STACK CFI 10 .cfa: 1\nSTACK CFI 11 .cfa: 1\n", "5:1: STACK CFI: no STACK CFI INIT before it", "2 records", ""},
		{"CFI behind a bad INIT", head + "STACK CFI INIT 10 10 .cfa: 1\nSTACK CFI INIT 20 .cfa: 1\nSTACK CFI 11 .cfa: 2\nSTACK CFI INIT 30 10 .cfa: 1\nSTACK CFI 31 .cfa: 4\n",
			`6:19: STACK CFI INIT: size ".cfa:": want hexadecimal digits`, "STACK CFI INIT and 1 record after it", "cfi 10+10 .cfa: 1:\ncfi 30+10 .cfa: 1: 31 .cfa: 4;\n"},
		{"CFI behind its INIT", head + "STACK CFI INIT 10 10 .cfa: 1\nSTACK CFI 20 .cfa: 2\nSTACK CFI 1f .cfa: 3\n", "6:11: STACK CFI: address 20 is outside its STACK CFI INIT, 10 bytes from 10", "STACK CFI", "cfi 10+10 .cfa: 1: 1f .cfa: 3;"},
		{"CFI below its INIT", head + "STACK CFI INIT 10 10 .cfa: 1\nSTACK CFI f .cfa: 2\n", "6:11: STACK CFI: address f is outside its STACK CFI INIT, 10 bytes from 10", "STACK CFI", "cfi 10+10 .cfa: 1:\n"},
		{"CFI at its INIT", head + "STACK CFI INIT 10 10 .cfa: 1\nSTACK CFI 10 .cfa: 2\n", "6:11: STACK CFI: address 10 is not above the previous record's, 10", "", "cfi 10+10 .cfa: 1: 10 .cfa: 2;"},
		{"CFI going back", head + "STACK CFI INIT 10 10 .cfa: 1\nSTACK CFI 12 .cfa: 2\nSTACK CFI 11 .cfa: 3\n", "7:11: STACK CFI: address 11 is not above the previous record's, 12", "", " 12 .cfa: 2; 11 .cfa: 3;"},
		{"CFI in an INIT of no size", head + "STACK CFI INIT 10 0 .cfa: 1\nSTACK CFI 10 .cfa: 2\n", "6:11: STACK CFI: address 10 is outside its STACK CFI INIT, 0 bytes from 10", "STACK CFI", "cfi 10+0 .cfa: 1:\n"},
		{"CFI at the end of addresses", head + "STACK CFI INIT fffffffffffffff0 10 .cfa: 1\nSTACK CFI ffffffffffffffff .cfa: 2\nSTACK CFI 0 .cfa: 2\n", "7:11: STACK CFI: address 0 is outside its STACK CFI INIT, 10 bytes from fffffffffffffff0", "STACK CFI", "cfi fffffffffffffff0+10 .cfa: 1: ffffffffffffffff .cfa: 2;"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := read(strings.NewReader(tt.text), ReadOptions{})
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || err.Error() != tt.want {
				t.Errorf("strict: error %v, want %s", err, tt.want)
			}
			m, report, err := read(strings.NewReader(tt.text), ReadOptions{Tolerant: true})
			if err != nil {
				t.Fatalf("tolerant: %v", err)
			}
			want := strings.Replace(tt.want, "is not declared", "is not declared before its use", 1)
			if !strings.Contains(tt.name, "declared behind") {
				want = tt.want
			}
			if p := report.Problems; len(p) != 1 || p[0].Err.Error() != want || p[0].Lost != tt.lost {
				t.Errorf("tolerant: problems %v, want %s (lost: %s)", p, want, tt.lost)
			}
			if got := show(m); !strings.Contains(got, tt.kept) {
				t.Errorf("tolerant: module\n%swant in it\n%s", got, tt.kept)
			}
		})
	}
}

func TestReadNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "\r\n  \n\t\n", "\xef\xbb\xbf"} {
		for _, tolerant := range []bool{false, true} {
			_, _, err := read(strings.NewReader(text), ReadOptions{File: "a.sym", Tolerant: tolerant})
			if err == nil || !strings.HasPrefix(err.Error(), "a.sym:1:1: not a symbol file: no record in ") {
				t.Errorf("%q, tolerant %v: error %v", text, tolerant, err)
			}
		}
	}
	_, _, err := read(strings.NewReader("\x7fELF\x02\x01\x01\nxyz\n"), ReadOptions{Tolerant: true})
	if err == nil || err.Error() != "1:1: not a symbol file: no record in 2 lines, want MODULE first" {
		t.Errorf("error %v", err)
	}
}

// TestOriginsAnywhere pins that an INLINE_ORIGIN may follow its use: the
// specification asks for prior FILE records only.
func TestOriginsAnywhere(t *testing.T) {
	m := mustRead(t, []byte("MODULE Linux x86 12 a\nFILE 0 a.c\nFUNC 1 1 0 f\nINLINE 0 1 0 5 1 1\nINLINE_ORIGIN 5 inl\n"))
	if name, ok := m.OriginNames().Name(5); !ok || name != "inl" {
		t.Errorf("origin 5 is %q, %v", name, ok)
	}
}

// TestInlineForms pins that the INLINE records decide how INLINE_ORIGINs are read.
func TestInlineForms(t *testing.T) {
	const origins = "MODULE Linux x86 12 a\nFILE 0 a.c\nINLINE_ORIGIN 0 0 of 9\nINLINE_ORIGIN 1 -1 lambda\nFUNC 1 1 0 f\n"
	tests := []struct {
		name, inline string
		want         []InlineOrigin
	}{
		{"old", "INLINE 0 1 0 1 1\n", []InlineOrigin{{ID: 0, HasFile: true, Name: "of 9"}, {ID: 1, HasFile: true, Name: "lambda", File: -1}}},
		{"new", "INLINE 0 1 0 0 1 1\n", []InlineOrigin{{ID: 0, Name: "0 of 9"}, {ID: 1, Name: "-1 lambda"}}},
		{"new, call file -1", "INLINE 0 1 -1 0 1 1\n", []InlineOrigin{{ID: 0, Name: "0 of 9"}, {ID: 1, Name: "-1 lambda"}}},
		{"none", "", []InlineOrigin{{ID: 0, Name: "0 of 9"}, {ID: 1, Name: "-1 lambda"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := mustRead(t, []byte(origins+tt.inline)).Origins; !slices.Equal(got, tt.want) {
				t.Errorf("origins %v, want %v", got, tt.want)
			}
		})
	}
}

func TestProblemsAreInOrder(t *testing.T) {
	text := head + "FUNC 1 1 0 f\nINLINE 0 1 0 77 1 1\n1 1 1 88\nBAD\n1 1 1 99\n"
	_, report, err := read(strings.NewReader(text), ReadOptions{Tolerant: true})
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, p := range report.Problems {
		var syntax *SyntaxError
		if !errors.As(p.Err, &syntax) || syntax.Line < last {
			t.Errorf("problem %v behind line %d", p, last)
		}
		last = syntax.Line
	}
	if len(report.Problems) != 4 {
		t.Errorf("problems %v, want 4", report.Problems)
	}
}

// TestReadMemory pins that numbers in the text do not size anything.
func TestReadMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	text := "MODULE Linux x86 12 a\nFILE 4294967295 a\nFILE 4000000000 b\nINLINE_ORIGIN 4294967295 i\n" +
		"FUNC 0 ffffffffffffffff 0 f\nINLINE 4294967295 4294967295 4294967295 4294967295 0 ffffffffffffffff\n" +
		"0 ffffffffffffffff 4294967295 4000000000\nSTACK CFI INIT 0 ffffffffffffffff .cfa: 1\n"
	got := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			mustRead(b, []byte(text))
		}
	})
	if got.AllocedBytesPerOp() > 2<<20 {
		t.Errorf("%d bytes for a text of %d", got.AllocedBytesPerOp(), len(text))
	}
}

// tolerant reads text with the tolerant reader.
func tolerant(t testing.TB, text string) (*Module, Report) {
	t.Helper()
	m, report, err := read(strings.NewReader(text), ReadOptions{Tolerant: true})
	if err != nil {
		t.Fatal(err)
	}
	return m, report
}

// TestLinesBehindPublic: "the function described by the last preceding FUNC
// record" (specification, "Line records").
func TestLinesBehindPublic(t *testing.T) {
	m := mustRead(t, []byte(head+"FUNC 1 9 0 f\n1 1 1 0\nPUBLIC 20 0 p\nINFO A b\n2 1 2 0\n"))
	if _, lines := m.Funcs[0].Body.Counts(); lines != 2 || len(m.Publics) != 1 {
		t.Errorf("%d lines, want 2", lines)
	}
}

func TestLoneCR(t *testing.T) {
	m := mustRead(t, []byte(head+"FUNC 1 9 0 f\rg\r\n"))
	if m.Funcs[0].Name != "f\rg" {
		t.Errorf("name %q, want it whole", m.Funcs[0].Name)
	}
	if text := mustWrite(t, m, 1); !strings.HasSuffix(string(text), "FUNC 1 9 0 f g\n") {
		t.Errorf("written as %q", text)
	}
}

// read is Read, for tests.
func read(r io.Reader, o ReadOptions) (*Module, Report, error) {
	result, err := Read(context.Background(), r, o)
	if err != nil {
		return nil, Report{}, err
	}
	return result.Module, result.Report, nil
}

func TestReadCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, strings.NewReader("MODULE Linux x86_64 0 a\nPUBLIC 10 0 p\n"), ReadOptions{Tolerant: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
