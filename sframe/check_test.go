package sframe_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/sframe"
)

// E, W and N are severities.
const (
	E = sframe.SeverityError
	W = sframe.SeverityWarning
	N = sframe.SeverityNote
)

// check decodes a section that must decode, and checks it.
func check(t testing.TB, data []byte, p sframe.Profile, ctx sframe.Context) []sframe.Finding {
	t.Helper()
	s, err := sframe.Decode(data, sframe.Options{Code: ctx.Code, Relocated: ctx.Object})
	if err != nil {
		t.Fatal(err)
	}
	return s.Check(p, ctx)
}

// flex returns a flexible row of AMD64 that begins at the function's start.
func flex(words ...byte) []byte { return append([]byte{0, byte(len(words) << 1)}, words...) }

// ruleTests has, for each rule, a section in which it reports a finding at an
// offset, and one in which it reports none; good is v3 if it is nil.
var ruleTests = []struct {
	rule      string
	in        sframe.Profile
	bad       []byte
	at        uint64
	severity  sframe.Severity
	good      []byte
	ctx       sframe.Context
	otherwise string // name of the test, if a rule has several
}{
	{rule: "empty", bad: []byte{}, severity: W},
	{rule: "damage", bad: patch(v3, 0x42, 0x63), at: 0x41, severity: E},
	{rule: "damage", otherwise: "FDEs", bad: patch(v2, 8, 3), at: 8, severity: E, good: v2},
	{rule: "damage", otherwise: "rows outside", bad: patch(v2, 0x25, 1), at: 0x1c, severity: E, good: v2},
	{rule: "headers", bad: slices.Concat(v3, v3), at: 0x58, severity: E},
	{rule: "overlap", bad: patch(v3, 0x24, 0x21), at: 0x2c, severity: E},
	{rule: "version-1", bad: v1, at: 2, severity: N},
	{rule: "version-1", otherwise: "binutils", in: sframe.Binutils, bad: v1, at: 2, severity: E, good: v2},
	{rule: "version-2", in: sframe.Kernel, bad: v2, at: 2, severity: E},
	{rule: "abi-version", bad: raw(1, 1, 4), at: 4, severity: E, good: raw(2, 1, 4)},
	{rule: "flags", bad: patch(v2, 3, 9), at: 3, severity: E, good: patch(v2, 3, 7)},
	{rule: "flags", otherwise: "version 3", bad: patch(v3, 3, 7), at: 3, severity: E},
	{rule: "flag-sorted", in: sframe.Kernel, bad: patch(v3, 3, 4), at: 3, severity: E},
	{rule: "flag-pcrel", in: sframe.Kernel, bad: patch(v3, 3, 1), at: 3, severity: E},
	{rule: "field-relative", bad: patch(v2, 3, 0), at: 3, severity: E, good: v2,
		ctx: sframe.Context{Code: func(lo, _ uint64) bool { return lo == 0x101c || lo == 0x1050 }}},
	{rule: "ld-r", bad: v2, at: 3, severity: E, ctx: sframe.Context{Object: true}},
	{rule: "fixed-fp", bad: patch(v3, 5, 0xf0), at: 5, severity: W},
	{rule: "fixed-ra", bad: patch(v3, 6, 0), at: 6, severity: W},
	{rule: "aux", bad: withAux(v3), at: 7, severity: N},
	{rule: "no-functions", in: sframe.Kernel, bad: raw(3, 5, 3), at: 8, severity: E},
	{rule: "num-fres", bad: patch(v3, 12, 6), at: 12, severity: E},
	{rule: "parts", bad: patch(v3, 24, 0x10), at: 24, severity: E},
	{rule: "parts", otherwise: "order", bad: patch(v3, 20, 0x21), at: 20, severity: E},
	{rule: "fdeoff", in: sframe.Binutils, bad: withGap(v3), at: 20, severity: E},
	{rule: "rows-overlap", bad: patch(v2, 0x38, 3), at: 0x47, severity: W, good: v2},
	{rule: "rows-unused", bad: patch(v2, 0x28, 3), at: 0x4f, severity: N, good: v2},
	{rule: "rows-unchecked", bad: manyShare(100), at: 28 + 100*20, severity: W, good: manyShare(3)},

	{rule: "order", bad: patch(v2, 0x1d, 0x11), at: 0x30, severity: E, good: patch(v2, 3, 0, 3, 0, 0xf8, 0, 2, 0, 0, 0, 5)},
	{rule: "same-start", in: sframe.Kernel, bad: patch(v3, 0x2c, 0xd4), at: 0x2c, severity: E},
	{rule: "start-code", in: sframe.Kernel, bad: patch(v3, 0x1d, 0x1f), at: 0x1c, severity: E,
		ctx: sframe.Context{Code: func(lo, hi uint64) bool { return lo >= 0x1000 && hi <= 0x1030 }}},
	{rule: "code", bad: patch(v3, 0x1d, 0x1f), at: 0x1c, severity: W,
		ctx: sframe.Context{Code: func(lo, hi uint64) bool { return lo >= 0x1000 && hi <= 0x1030 }}},
	{rule: "address-end", bad: patch(v3, 0x2c, 0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), at: 0x2c, severity: E},
	{rule: "size-0", bad: patch(v3, 0x34, 0), at: 0x34, severity: W},
	{rule: "row-type", bad: patch(v3, 0x3e, 3), at: 0x3e, severity: E, good: patch(v3, 0x3e, 2)},
	{rule: "info", bad: patch(v3, 0x3e, 0x40), at: 0x3e, severity: E, good: patch(v3, 0x3e, 0x80)},
	{rule: "info", otherwise: "version 2", bad: patch(v2, 0x2c, 0x80), at: 0x2c, severity: E, good: v2},
	{rule: "key", bad: patch(v3, 0x3e, 0x20), at: 0x3e, severity: N, good: one(2, rawFunc{size: 4, n: 1, info: 0x20, rows: []byte{0, 3, 0}})},
	{rule: "info2", bad: patch(v3, 0x3f, 0x20), at: 0x3f, severity: E},
	{rule: "padding", bad: patch(v2, 0x2f, 1), at: 0x2e, severity: N, good: v2},
	{rule: "block-0", bad: patch(v3, 0x3e, 0x10), at: 0x40, severity: E, good: patch(v3, 0x3e, 0x10, 0, 32)},
	{rule: "block-0", otherwise: "version 2", bad: patch(v2, 0x2c, 0x10), at: 0x2d, severity: E, good: patch(v2, 0x2c, 0x10, 32)},
	{rule: "block-size", bad: patch(v3, 0x3e, 0x10, 0, 21), at: 0x24, severity: W, good: patch(v3, 0x3e, 0x10, 0, 16)},
	{rule: "no-rows", bad: one2(3, rawFunc{size: 4}), at: 0x28, severity: W, good: one(3, rawFunc{size: 4})},
	{rule: "signal-no-rows", bad: one(3, rawFunc{size: 4, info: 0x80}), at: 0x2c, severity: W, good: one(3, rawFunc{size: 4})},

	{rule: "row-first", bad: patch(v3, 0x55, 1), at: 0x55, severity: W},
	{rule: "row-order", bad: patch(v3, 0x48, 0), at: 0x48, severity: E},
	{rule: "row-twice", bad: patch(v3, 0x48, 1), at: 0x48, severity: W},
	{rule: "row-twice", otherwise: "kernel", in: sframe.Kernel, bad: patch(v3, 0x48, 1), at: 0x48, severity: E},
	{rule: "row-same", bad: patch(v3, 0x49, 5), at: 0x48, severity: N},
	{rule: "row-end", bad: patch(v3, 0x4c, 32), at: 0x4c, severity: W},
	{rule: "row-end", otherwise: "PCMASK", bad: patch(v3, 0x3e, 0x10, 0, 20), at: 0x4c, severity: W, good: patch(v3, 0x3e, 0x10, 0, 21)},
	{rule: "row-outside", bad: patch(v3, 0x4c, 33), at: 0x4c, severity: E},
	{rule: "row-outside-block", bad: patch(v3, 0x3e, 0x10, 0, 19), at: 0x4c, severity: E, good: patch(v3, 0x3e, 0x10, 0, 21)},
	{rule: "row-surplus", bad: one(3, rawFunc{size: 4, n: 1, rows: []byte{0, 7, 8, 0xf0, 0}}), at: 0x31, severity: E},
	{rule: "row-surplus", otherwise: "flexible", bad: one(3, rawFunc{size: 4, n: 1, info2: 1, rows: flex(0x39, 8, 2, 0xf8, 2, 0xf0, 5)}), at: 0x31, severity: E},
	{rule: "row-words", in: sframe.Binutils, bad: one(3, rawFunc{size: 4, n: 1, info2: 1, rows: flex(0x39, 8, 2, 0xf8, 2, 0xf0, 5)}), at: 0x31, severity: E},
	{rule: "row-no-words", bad: raw(1, 1, 3, rawFunc{size: 4, n: 1, rows: []byte{0, 0}}), at: 0x2d, severity: W, good: one2(3, rawFunc{size: 4, n: 1, rows: []byte{0, 0}})},
	{rule: "row-fp-as-ra", bad: raw(1, 1, 2, rawFunc{size: 4, n: 1, rows: []byte{0, 5, 16, 0xf0}}), at: 0x2d, severity: N,
		good: raw(1, 1, 2, rawFunc{size: 4, n: 1, rows: []byte{0, 7, 16, 0xf8, 0xf0}})},
	{rule: "row-signed", bad: patch(v3, 0x56, 0x83), at: 0x55, severity: W, good: one(2, rawFunc{size: 4, n: 1, rows: []byte{0, 0x83, 0}})},
	{rule: "cfa-low", bad: patch(v3, 0x57, 0), at: 0x55, severity: W},
	{rule: "cfa-low", otherwise: "s390x", bad: one(4, rawFunc{size: 4, n: 1, rows: []byte{0, 3, 0xf9}}), at: 0x31, severity: W,
		good: one(4, rawFunc{size: 4, n: 1, rows: []byte{0, 3, 0}})},
	{rule: "slot", bad: patch(v3, 0x47, 8), at: 0x44, severity: W},
	{rule: "slot", otherwise: "not a word", bad: patch(v3, 0x47, 0xf1), at: 0x44, severity: W},
	{rule: "plt", bad: patch(v3, 0x57, 16), at: 0x55, severity: W,
		ctx: sframe.Context{Section: func(addr uint64) string { return map[uint64]string{0x1020: ".plt.got"}[addr] }}},

	{rule: "flex-control", bad: one(3, rawFunc{size: 4, n: 1, info2: 1, rows: flex(0x3d, 8)}), at: 0x31, severity: E,
		good: one(3, rawFunc{size: 4, n: 1, info2: 1, rows: flex(0x39, 8)})},
	{rule: "flex-control", otherwise: "number without its bit", bad: one(3, rawFunc{size: 4, n: 1, info2: 1, rows: flex(0x39, 8, 0, 0x32, 0xf0)}), at: 0x31, severity: E,
		good: one(3, rawFunc{size: 4, n: 1, info2: 1, rows: flex(0x39, 8, 0, 0x33, 0xf0)})},
	{rule: "flex-register", bad: one(3, rawFunc{size: 4, n: 1, info2: 1, rows: flex(17<<3|1, 8)}), at: 0x31, severity: W,
		good: one(3, rawFunc{size: 4, n: 1, info2: 1, rows: flex(16<<3|1, 8)})},
	{rule: "flex-padding", in: sframe.Kernel, bad: one(3, rawFunc{size: 4, n: 1, info2: 1, rows: flex(0x39, 8, 0)}), at: 0x31, severity: E,
		good: one(3, rawFunc{size: 4, n: 1, info2: 1, rows: flex(0x39, 8, 0, 2, 0xf0)})},
	{rule: "flex-padding", otherwise: "offset 0", in: sframe.Kernel, bad: one(3, rawFunc{size: 4, n: 1, info2: 1, rows: flex(0x39, 8, 2, 0, 0)}), at: 0x31, severity: E,
		good: one(3, rawFunc{size: 4, n: 1, info2: 1, rows: flex(0x39, 8, 2, 0)})},
	{rule: "flex-top", bad: one(3, rawFunc{size: 4, n: 1, info2: 1, rows: flex(10<<3|1, 0)}), at: 0x31, severity: N,
		good: one(3, rawFunc{size: 4, n: 1, info2: 1, rows: flex(6<<3|3, 0xf8)})},
}

// withAux adds 8 bytes after the header, which move starts that are relative
// to their fields.
func withAux(b []byte) []byte {
	return slices.Concat(patch(b, 7, 8)[:28], make([]byte, 8), b[28:])
}

// withGap inserts 8 bytes between the header and the FDEs, and so the rows.
func withGap(b []byte) []byte {
	return slices.Concat(patch(patch(b, 20, 8), 24, b[24]+8)[:28], make([]byte, 8), b[28:])
}

// manyShare returns a section with n functions that share the same n*20 rows.
func manyShare(n int) []byte {
	var rows []byte
	for range n * 20 {
		rows = append(rows, leafRow...)
	}
	funcs := make([]rawFunc, n)
	for i := range funcs {
		funcs[i] = rawFunc{start: int64(0x1000 + i*16), size: 16, n: n * 20}
	}
	funcs[n-1].rows = rows
	return raw(2, 1, 3, funcs...)
}

func TestRules(t *testing.T) {
	tested := map[string]bool{}
	for _, test := range ruleTests {
		tested[test.rule] = true
		t.Run(strings.TrimSuffix(test.rule+"/"+test.otherwise, "/"), func(t *testing.T) {
			var at []uint64
			for _, f := range check(t, test.bad, test.in, test.ctx) {
				if f.Rule != test.rule {
					continue
				}
				at = append(at, f.Offset)
				if f.Severity != test.severity {
					t.Errorf("bad: %s, want it %s", f, test.severity)
				}
				if f.Msg == "" || f.Ref == "" {
					t.Errorf("bad: %s says too little", f)
				}
			}
			if !slices.Equal(at, []uint64{test.at}) {
				t.Errorf("bad: found at %#x, want %#x", at, test.at)
			}
			good := test.good
			if good == nil {
				good = v3
			}
			for _, f := range check(t, good, test.in, test.ctx) {
				if f.Rule == test.rule {
					t.Errorf("good: %s", f)
				}
			}
		})
	}
	ids := sframe.RuleIDs()
	if len(ids) != sframe.RuleCount() {
		t.Errorf("%d names for %d rules", len(ids), sframe.RuleCount())
	}
	for id := range ids {
		if !tested[id] {
			t.Errorf("rule %s has no test", id)
		}
	}
}

// The sections that the table assumes to be good have no findings.
func TestCheckGood(t *testing.T) {
	for p := sframe.Spec; p <= sframe.Kernel; p++ {
		for _, f := range check(t, v3, p, sframe.Context{}) {
			t.Errorf("%s: %s", p, f)
		}
	}
	for _, f := range check(t, v2, sframe.Spec, sframe.Context{}) {
		t.Errorf("version 2: %s", f)
	}
}

func TestProfiles(t *testing.T) {
	for p := sframe.Spec; p <= sframe.Kernel; p++ {
		if got, ok := sframe.ParseProfile(p.String()); got != p || !ok {
			t.Errorf("%s: got %s, %v", p, got, ok)
		}
	}
	if p, ok := sframe.ParseProfile("gnu"); ok {
		t.Errorf("gnu is %s", p)
	}
}

func TestFindingString(t *testing.T) {
	f := sframe.Finding{Offset: 0x42, Severity: W, Rule: "row-twice", Msg: "row at 3", Ref: "2.4"}
	if got, want := f.String(), "0x42: warning: row at 3 [row-twice] (2.4)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A mistake that is everywhere is reported a few times and then counted. Findings
// are always in the same order.
func TestFindingsBounded(t *testing.T) {
	const n = 1000
	rows := bytes.Repeat([]byte{7, 0x83, 8}, n)
	data := one(3, rawFunc{size: 8, n: n, rows: rows})
	found := check(t, data, sframe.Spec, sframe.Context{})
	count := map[string]int{}
	for _, f := range found {
		count[f.Rule]++
	}
	for _, rule := range []string{"row-twice", "row-signed"} {
		if count[rule] != sframe.MaxFindings+1 {
			t.Errorf("%d of %s, want %d and one that counts the others", count[rule], rule, sframe.MaxFindings)
		}
	}
	more := fmt.Sprintf("%d more of this rule", n-sframe.MaxFindings)
	if !slices.ContainsFunc(found, func(f sframe.Finding) bool {
		return f.Rule == "row-signed" && f.Msg == more && f.Offset == 0x31+3*sframe.MaxFindings
	}) {
		t.Errorf("nothing says %q: %v", more, found)
	}
	if !slices.IsSortedFunc(found, func(a, b sframe.Finding) int { return int(a.Offset) - int(b.Offset) }) {
		t.Error("not in order")
	}
	if again := check(t, data, sframe.Spec, sframe.Context{}); !slices.Equal(found, again) {
		t.Error("another order the second time")
	}
}

// The section is as large as for a program with 100 MB of code.
func TestCheckSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("20 MB")
	}
	const size = 20 << 20
	funcs := make([]rawFunc, size/(20+15))
	for i := range funcs {
		funcs[i] = rawFunc{start: int64(i) * 0x20, size: 0x20, n: 4, rows: pushRows}
	}
	s, err := sframe.Decode(raw(2, 1, 3, funcs...), sframe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	watch := testenv.StartWatch()
	found := s.Check(sframe.Spec, sframe.Context{})
	took := watch.Took()
	t.Logf("%d functions in %v", len(funcs), took)
	if took > 5*time.Second { // 0.3 s on an idle machine
		t.Errorf("took %v", took)
	}
	for _, f := range found {
		t.Error(f)
	}
}
