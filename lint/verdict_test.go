package lint

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/coderange"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/check"
	rules "github.com/symtool/symtool/lint/internal/rules/coverage"
	"github.com/symtool/symtool/symfmt"
)

// wholeReasons are the reasons for a file all of whose code has call frame information.
const wholeReasons = "100 % of the code of FUNCs and PUBLICs has call frame information; 100 % of functions have call frame information at their first byte"

func TestVerdict(t *testing.T) {
	const module = "MODULE Linux x86_64 0 a\n"
	for _, c := range []struct {
		name, text string
		with       func(*Options)
		want       coverage.Verdict
		reasons    string
	}{
		{"nothing", "", nil, coverage.Unusable, "no MODULE record: no reader accepts the file"},
		{"no MODULE", "FUNC 1000 40 0 f\n" + check.Init, nil, coverage.Unusable, "no MODULE record: no reader accepts the file"},
		{"MODULE alone", module, nil, coverage.Unusable, "there are no names and no call frame information"},
		{"variables alone", module + "INFO VAR 1 all full\n", nil, coverage.VariablesOnly, "names and call frame information are in the symbol file beside it"},
		{"useless CFI alone", module + "STACK CFI INIT 0 1 .cfa: $rsp 8 +\n", nil, coverage.Unusable, "there are no names and no call frame information"},
		{"CFI alone", module + check.Init, nil, coverage.NotMeasured, rules.Unmeasured + "; there are no names: frames show addresses only"},
		{"CFI and a function without bytes", module + "FUNC 1000 0 0 f\n" + check.Init, nil, coverage.NotMeasured, rules.Unmeasured + "; no function has lines: frames show functions without files and lines"},
		{"names alone", check.HeadFunc, nil, coverage.SymbolicationOnly, "there is no call frame information: stacks through this module are guessed"},
		{"public symbols", module + "PUBLIC 1000 0 f\n" + check.Init, nil, coverage.GoodForUnwinding,
			"100 % of the code of FUNCs and PUBLICs has call frame information; " +
				"there are only public symbols: a name may be the previous symbol's, and lines are unknown"},
		{"a public symbol without, up to the next", module + "PUBLIC 1000 0 f\nPUBLIC 2000 0 f\nPUBLIC 2010 0 _fini\n" + check.Init, nil, coverage.SymbolicationOnly,
			"80.00 % of the code of FUNCs and PUBLICs has call frame information, less than 95 %; " +
				"there are only public symbols: a name may be the previous symbol's, and lines are unknown"},
		{"a large public symbol beside a small function", check.HeadFunc + "PUBLIC 2000 0 f\nPUBLIC 24c0 0 _fini\n" + check.Init, nil, coverage.SymbolicationOnly,
			"5.00 % of the code of FUNCs and PUBLICs has call frame information, less than 95 %; " +
				"100 % of functions have call frame information at their first byte"},
		{"the last public symbol, up to the end of its page", check.HeadFunc + "PUBLIC 1f00 0 f\n" + check.Init, nil, coverage.SymbolicationOnly,
			"20.00 % of the code of FUNCs and PUBLICs has call frame information, less than 95 %; " +
				"100 % of functions have call frame information at their first byte"},
		{"a public symbol in a function", check.HeadFunc + "PUBLIC 1010 0 f\n" + check.Init, nil, coverage.GoodForUnwinding, wholeReasons},
		{"all", check.HeadFunc + check.Init, nil, coverage.GoodForUnwinding, wholeReasons},
		{"most bytes", module + "FUNC 1000 41 0 f\n1000 41 1 0\n" + check.Init, nil, coverage.GoodForUnwinding,
			"98.46 % of the code of FUNCs and PUBLICs has call frame information; 100 % of functions have call frame information at their first byte"},
		{"most bytes, more demanded", module + "FUNC 1000 41 0 f\n1000 41 1 0\n" + check.Init, func(o *Options) { o.MinCFI = 99.5 }, coverage.SymbolicationOnly,
			"98.46 % of the code of FUNCs and PUBLICs has call frame information, less than 99.5 %; 100 % of functions have call frame information at their first byte"},
		{"fewer demanded", module + "FUNC 1000 80 0 f\n1000 40 1 0\n" + check.Init, func(o *Options) { o.MinCFI, o.MinLines = 50, 60 }, coverage.GoodForUnwinding,
			"50.00 % of the code of FUNCs and PUBLICs has call frame information; 100 % of functions have call frame information at their first byte; " +
				"50.00 % of function bytes have lines, less than 60 %"},
		{"no lines", module + "FUNC 1000 40 0 f\n" + check.Init, nil, coverage.GoodForUnwinding,
			wholeReasons + "; no function has lines: frames show functions without files and lines"},
		{"a C library without debug information", check.HeadFunc + publicSymbols(33) + "PUBLIC 2210 0 _fini\n" + check.Init, nil, coverage.SymbolicationOnly,
			"10.81 % of the code of FUNCs and PUBLICs has call frame information, less than 95 %; " +
				"100 % of functions have call frame information at their first byte"},
		{"start-up code", check.HeadFunc + "PUBLIC 2000 0 _init\nPUBLIC 2020 0 _start\nFUNC 2050 20 0 frame_dummy\nPUBLIC 3000 0 _fini\n" + check.Init, nil, coverage.GoodForUnwinding, wholeReasons},
		{"rows that are of no use", module + "FUNC 1000 40 0 f\n1000 40 1 0\nSTACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 1008 .cfa: .undef\n", nil, coverage.SymbolicationOnly,
			"12.50 % of the code of FUNCs and PUBLICs has call frame information, less than 95 %; 100 % of functions have call frame information at their first byte"},
		{"UTF-16", "\xff\xfe" + strings.Join(strings.Split(check.HeadFunc, ""), "\x00") + "\x00", nil, coverage.Unusable, "the text is in UTF-16: no reader accepts the file"},
		{"refused", "\xef\xbb\xbf" + check.HeadFunc + check.Init + "PUBLIC 2000 0 g", nil, coverage.GoodForUnwinding,
			wholeReasons + "; rust-minidump may refuse the file: see SYM114, SYM120"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := lintWith(t, c.text, c.with).Coverage
			if reasons := strings.Join(got.Reasons, "; "); got.Verdict != c.want || reasons != c.reasons {
				t.Errorf("%s: %s\nwant %s: %s", got.Verdict, reasons, c.want, c.reasons)
			}
		})
	}
}

// publicSymbols returns PUBLIC records of code without call frame information.
func publicSymbols(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "PUBLIC %x 0 p\n", 0x2000+16*i)
	}
	return b.String()
}

const verdictFile = check.HeadFunc + "FUNC 2000 100 0 g\x1b[31m\n2000 80 1 0\nFUNC 3000 10 0 h\nPUBLIC 1004 0 p\n" + check.Init +
	"STACK CFI INIT 2000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"

func TestCoverageJSON(t *testing.T) {
	got, err := json.Marshal(lintText(t, verdictFile).Coverage)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"functions":3,"publics":1,"blocks":2,` +
		`"cfi_code":{"covered":96,"total":336,"of":"records","startup":0,"linkage":0,"padding":0,"data":0},` +
		`"cfi_bytes":{"covered":96,"total":336},"cfi_entries":{"covered":2,"total":3},"cfi_publics":{"covered":1,"total":1},` +
		`"cfi_line_ends":{"covered":1,"total":2,"unsure":1},` +
		`"line_bytes":{"covered":192,"total":336},"line_functions":{"covered":2,"total":3},` +
		`"worst_cfi":[{"rva":"2000","kind":"FUNC","line":4,"size":256,"missing":224},{"rva":"3000","kind":"FUNC","line":6,"size":16,"missing":16}],` +
		`"worst_lines":[{"rva":"2000","kind":"FUNC","line":4,"size":256,"missing":128},{"rva":"3000","kind":"FUNC","line":6,"size":16,"missing":16}],` +
		`"verdict":"symbolication only","reasons":["28.57 % of the code of FUNCs and PUBLICs has call frame information, less than 95 %",` +
		`"66.67 % of functions have call frame information at their first byte, less than 95 %"]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestKnown(t *testing.T) {
	c := lintText(t, check.HeadFunc+"STACK CFI INIT 1000 40 .cfa: $rsp 8 +\nSTACK CFI 1010 .ra: .cfa -8 + ^\nSTACK CFI 1020 .cfa: .undef\nSTACK CFI 1030 .cfa: $rsp 8 +\n").Coverage
	for rva, want := range map[uint64]bool{0xfff: false, 0x1000: false, 0x100f: false, 0x1010: true, 0x101f: true, 0x1020: false, 0x102f: false, 0x1030: true, 0x103f: true, 0x1040: false} {
		if (coderange.In(c.Known, symfmt.RVA(rva), 1) == 1) != want {
			t.Errorf("%x: %v", rva, !want)
		}
	}
	if n := len(c.Known); n != 2 {
		t.Errorf("%d ranges, want 2", n)
	}
}

// Code with wrong rules counts like code without rules.
func TestVerdictContradicted(t *testing.T) {
	for _, c := range []struct {
		blocks, wrong, saved int
		limit                float64
		want                 coverage.Verdict
		reason               string
	}{
		{100, 0, 0, 0, coverage.GoodForUnwinding, ""},
		{100, 4, 1, 0, coverage.GoodForUnwinding, "5 of 100 STACK CFI INITs are contradicted by the code, and lead walks astray: see SYM551, SYM554"},
		{100, 4, 2, 0, coverage.SymbolicationOnly, "6 of 100 STACK CFI INITs are contradicted by the code, and lead walks astray: see SYM551, SYM554"},
		{100, 1, 0, 99.5, coverage.SymbolicationOnly, "1 of 100 STACK CFI INITs are contradicted by the code, and lead walks astray: see SYM551"},
		{1, 3, 0, 0, coverage.SymbolicationOnly, "3 of 1 STACK CFI INIT are contradicted by the code, and lead walks astray: see SYM551"},
	} {
		p := check.New(check.Options{Rules: checks()})
		cov := &coverage.Coverage{Blocks: c.blocks, Verdict: coverage.GoodForUnwinding}
		p.Result.Counts, p.Result.Coverage = map[string]int{"SYM551": c.wrong, "SYM554": c.saved}, cov
		doubts(p, c.limit)
		if got := strings.Join(cov.Reasons, "; "); cov.Verdict != c.want || got != c.reason {
			t.Errorf("%+v: %s: %s", c, cov.Verdict, got)
		}
	}
}
