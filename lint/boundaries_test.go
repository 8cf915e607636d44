package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/rules/coverage"
)

const (
	windows = "MODULE windows x86 0123456789ABCDEF0123456789ABCDEF1 a.pdb\n"
	win     = "STACK WIN 4 1000 40 0 0 0 0 0 0 1 $T0 .raSearchStart = $eip $T0 ^ = $esp $T0 4 + =\n"
)

// inline returns a file with one function and the given INLINEs.
func inline(records string) string {
	return check.Head + "FILE 0 /a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\n" + records + "1000 10 1 0\n"
}

// A value at the limit is accepted; the next one is reported at its field.
func TestBoundaries(t *testing.T) {
	const x86, big = "MODULE Linux x86 0123456789ABCDEF0123456789ABCDEF0 a\n", "100000000"
	for _, c := range []struct{ rules, text, want string }{
		// Sizes: 32 bits, of every field that has one.
		{"SYM125", check.Head + "FUNC 1000 ffffffff ffffffff f\n1000 ffffffff 1 0\nPUBLIC 2000 ffffffff g\nSTACK CFI INIT 1000 ffffffff .cfa: 1\n", ""},
		{"SYM125", check.Head + "FUNC 1000 " + big + " 0 f\n1000 " + big + " 1 0\n", "2:11 3:6"},
		{"SYM125", check.Head + "FUNC m 1000 10 " + big + " f\nPUBLIC m 2000 " + big + " g\nPUBLIC 3000 " + big + " h\n", "2:16 3:15 4:13"},
		{"SYM125", check.Head + "STACK CFI INIT 1000 " + big + " .cfa: 1\n" + big + " " + big + " 1 0\n", "2:21 3:11"},
		{"SYM125", inline("INLINE 0 5 0 0 1000 1 1004 " + big + "\n"), "5:28"},
		{"SYM125", inline("INLINE 0 5 0 1000 1 1004 " + big + "\n"), "5:26"},
		{"SYM125", windows + "STACK WIN 4 1000 " + strings.Repeat("ffffffff ", 7) + "0 0\n", ""},
		{"SYM125", windows + "STACK WIN 4 1000 " + strings.Repeat(big+" ", 7) + "0 0\n", "2:18 2:28 2:38 2:48 2:58 2:68 2:78"},

		// Addresses that linkers use as markers.
		{"SYM305", x86 + "PUBLIC ffffefff 0 f\nFUNC ffffeff0 10 0 g\n", ""},
		{"SYM305", x86 + "PUBLIC fffff000 0 f\nFUNC m ffffeff0 11 0 g\nPUBLIC m 100000000 0 h\n", "2:8 3:17 4:10"},
		{"SYM301", check.Head + "FUNC m 1000 0 0 f\n", "2:13"},
		{"SYM324", check.Head + "PUBLIC m 0 0 f\n", "2:10"},
		{"SYM326", "MODULE Linux arm 0123456789ABCDEF0123456789ABCDEF0 a\n" + "FUNC m 1001 10 0 f\nPUBLIC 2001 0 g\n", "2:8 3:8"},

		// Two functions with the same start, and with the same end.
		{"SYM302,SYM303", check.Head + "FUNC 1000 10 0 f\nFUNC 1000 11 0 g\n", "3:0"},
		{"SYM302,SYM303", check.Head + "FUNC 1000 10 0 f\nFUNC 100f 1 0 g\nFUNC 1010 1 0 h\n", "3:0"},

		// Lines.
		{"SYM306,SYM307,SYM309", check.Head + "FILE 0 a\nFUNC 1000 10 0 f\n1000 8 1 0\n1008 8 2 0\n", ""},
		{"SYM306,SYM307,SYM309", check.Head + "FILE 0 a\nFUNC 1000 10 0 f\nfff 1 1 0\n1000 9 1 0\n1008 9 2 0\n", "4:1 6:1 6:1"},
		{"SYM203", check.Head + "FUNC 1000 10 0 f\n1000 4 1 0\n1004 4 1 0\n1008 4 1 1\nFILE 0 a\nFUNC 2000 10 0 g\n2000 4 1 0\n", "5:10"},
		{"SYM203", check.Head + "FUNC 1000 10 0 f\n1000 4 1 4294967295\n", "3:10"},
		{"SYM206", check.Head + "FUNC 1000 10 0 f\n1000 4 1 0\n1004 4 1 0\n1008 4 1 1\nFILE 0 a\nFUNC 2000 10 0 g\n2000 4 1 0\n", "3:10"},

		// INLINEs.
		{"SYM127,SYM325", inline("INLINE 511 5 0 0 1000 1\n"), "5:18"},
		{"SYM127,SYM325", inline("INLINE 512 5 0 0 1000 1\n"), "5:8"},
		{"SYM126", inline("INLINE 0 5 0 0 1000 2\nINLINE 0 5 0 1002 2\n"), ""},
		{"SYM126", inline("INLINE 0 5 0 1000 2\nINLINE 0 5 0 1002 2\n"), "5:0"},
		{"SYM317", inline("INLINE 0 5 0 0 1000 1 1004 0\n"), "5:28"},
		{"SYM317", inline("INLINE 0 5 0 1000 1 1004 0\n"), "5:26"},
		{"SYM314", inline("INLINE 0 5 0 0 1000 10\n"), ""},
		{"SYM314", inline("INLINE 0 5 0 0 1000 1 1001 10\nINLINE 0 5 0 0 fff 2\nINLINE 0 5 0 0 1011 0\n"), "5:23 6:16 7:16"},
		{"SYM315", inline("INLINE 0 5 0 0 1000 4\nINLINE 1 5 0 0 1000 4\nINLINE 1 5 0 0 1004 1 1005 1\nINLINE 0 5 0 0 1004 4\n"), "7:16"},
		{"SYM325", inline("INLINE 0 5 0 0 1000 4\nINLINE 1 5 0 0 1000 2 1003 2\n"), "6:23"},

		// MODULE.
		{"SYM108", windows + "", ""},
		{"SYM108", "MODULE windows x86 123456780 a\n", ""},
		{"SYM108", "MODULE windows x86 12345678 a\n", "1:20"},
		{"SYM108", "MODULE windows x86 1234567812345678 a\n", ""},
		{"SYM108", "MODULE windows x86 12345678123456789 a\n", "1:20"},
		{"SYM108", "MODULE Linux x86 123456780 a\n", "1:18"},
		{"SYM108", "MODULE Linux x86 0123456789ABCDEF0123456789ABCDEF12345678 a\n", ""},
		{"SYM108", "MODULE Linux x86 0123456789ABCDEF0123456789ABCDEF123456789 a\n", "1:18"},
		{"SYM213", "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF a\nINFO CODE_ID 0123456789ABCDEF0123456789ABCDEF01234567\n", "2:14"},
		{"SYM213", check.Head + "INFO CODE_ID 0123456\nINFO CODE_ID 012345\n", ""},
		{"SYM213", check.Head + "INFO CODE_ID 01234567\n", "2:14"},

		// Names.
		{"SYM115,SYM604", check.Head + "PUBLIC 1000 0 gr\xf6\n", "2:15"},
		{"SYM115,SYM604", check.Head + "PUBLIC 1000 0 \xf6\n", "2:15"},
		{"SYM603", check.Head + "PUBLIC 1000 0 a\u00a0b\n", ""},
		{"SYM603", check.Head + "PUBLIC 1000 0 a\u009fb\n", "2:15"},
		{"SYM602", inline("INLINE 0 5 0 1000 4\n") + "INLINE_ORIGIN 1 0 ??\n", "7:0"},
		{"SYM124", check.Head + "FUNC 1000 10 0 " + strings.Repeat("f", 80<<10-15) + "\n", ""},
		{"SYM124", check.Head + "FUNC 1000 10 0 " + strings.Repeat("f", 80<<10-14) + "\n", "2:1"},

		// Stacks.
		{"SYM440", windows + win + win, ""},
		{"SYM440", strings.Replace(windows, "x86", "arm", 1) + win + win, "2:1"},
		{"SYM440", strings.Replace(windows, "x86", "z80", 1) + win, ""},
		{"SYM439", windows + "STACK WIN 4 1000 40 20 20 0 0 0 0 0 0\nSTACK WIN 4 2000 40 20 21 0 0 0 0 0 0\n", "3:21"},
	} {
		rules, err := SelectRules(strings.Split(c.rules, ","), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range lintWith(t, c.text, func(o *Options) { o.Rules = rules }).Findings {
			got = append(got, fmt.Sprintf("%d:%d", f.Line, f.Col))
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: %s, want %s: %.300q", c.rules, got, c.want, c.text)
		}
	}
}

// Messages of rules whose examples do not show all of them.
func TestMessages(t *testing.T) {
	const init = "STACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	for _, c := range []struct {
		rule, text string
		min        float64
		want       string
	}{
		{"SYM701", check.Head + "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 10 .ra: 1\n", 0, "none of 1 STACK CFI blocks has rules for .cfa and .ra"},
		{"SYM701", windows + "FUNC 1000 10 0 f\nSTACK WIN 3 1000 10 0 0 0 0 0 0 0 0\n", 0, "none of 1 STACK WIN records is usable"},
		{"SYM701", check.Head + "PUBLIC 1000 0 f\nFUNC 1000 10 0 f\n", 0, "no STACK CFI or STACK WIN record"},
		{"SYM701", check.Head, 0, ""},
		{"SYM305", check.Head + "FUNC ffffffffffffeff0 11 0 f\n", 0, "function [ffffffffffffeff0, fffffffffffff001) ends beyond ffffffffffffefff"},
		{"SYM702", check.Head + "FUNC 1000 10 0 f\n", 99, "0.00 % of the code of FUNCs and PUBLICs has call frame information, want 99 %; the largest piece without has 16 bytes, at 1000, line 2"},
		{"SYM702", check.Head, 99, "there is no call frame information, want 99 %"},
		{"SYM702", check.Head + init, 99, coverage.Unmeasured + "; want 99 %"},
		{"SYM702", check.Head + "PUBLIC 1000 0 f\nPUBLIC 1ff0 0 g\n" + init, 99, "50.00 % of the code of FUNCs and PUBLICs has call frame information, want 99 %; the largest piece without has 16 bytes, at 1ff0, line 3"},
		{"SYM702", check.Head + "FUNC 1000 10 0 f\nPUBLIC 2000 0 g\n" + init, 99, "0.39 % of the code of FUNCs and PUBLICs has call frame information, want 99 %; the largest piece without has 4096 bytes, at 2000, line 3"},
		{"SYM702", check.Head + "FUNC 1000 10 0 f\nPUBLIC 2000 0 _fini\n" + init, 99, ""},
		{"SYM702", check.Head + "FUNC 1000 20 0 f\n" + init, 99, "50.00 % of the code of FUNCs and PUBLICs has call frame information, want 99 %; the largest piece without has 16 bytes, at 1000, line 2"},
		{"SYM702", check.Head + "FUNC 1000 20 0 f\n" + init, 50, ""},
		{"SYM702", check.Head + "FUNC 1000 10 0 f\nFUNC 2000 1 0 g\n" + init, 90, "50.00 % of functions have call frame information at their first byte, want 90 %; the largest piece without has 1 byte, at 2000, line 3"},
		{"SYM703", check.Head + "FUNC 1000 10 0 f\n1000 8 1 0\n", 51, "50.00 % of function bytes have lines, want 51 %"},
		{"SYM703", check.Head + "FUNC 1000 10 0 f\n1000 8 1 0\n", 50, ""},
		{"SYM703", check.Head + "PUBLIC 1000 0 f\n", 1, "there are no functions with lines, want 1 %"},
	} {
		r := lintWith(t, c.text, func(o *Options) {
			o.Rules, o.MinCFI, o.MinLines = []*finding.Rule{RuleByID(c.rule)}, c.min, c.min
		})
		var got []string
		for _, f := range r.Findings {
			got = append(got, f.Message)
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s: %q, want %q: %q", c.rule, got, c.want, c.text)
		}
	}
}
