package lint

import (
	"bytes"
	"os"
	"slices"
	"testing"
)

func TestCallSteps(t *testing.T) {
	for _, c := range []struct {
		name, code string
		step       callStep
		size       int
		kind       callKind
		target     uint64
	}{
		{"call", "\xe8\x10\x00\x00\x00", callAMD64, 5, callDirect, 0x1015},
		{"call back", "\xe8\xf0\xff\xff\xff", call386, 5, callDirect, 0xff5},
		{"call of __tls_get_addr", "\x66\x48\xe8\x00\x00\x00\x00", callAMD64, 7, callDirect, 0x1007},
		{"call of 16 bits", "\x66\xe8\x00\x00", call386, 4, callNone, 0},
		{"call of a register", "\x41\xff\xd7", callAMD64, 3, callIndirect, 0},
		{"notrack call of memory", "\x3e\xff\x94\xc8\x00\x01\x00\x00", callAMD64, 8, callIndirect, 0},
		{"far call", "\x9a\x00\x00\x00\x00\x07\x00", call386, 7, callIndirect, 0},
		{"far call", "\x9a\x00\x00\x00\x00\x07\x00", callAMD64, 0, callNone, 0},
		{"jump", "\xff\xe0", callAMD64, 2, callNone, 0},
		{"no such instruction", "\xff\xff", callAMD64, 0, callNone, 0},
		{"cut off", "\xe8\x10\x00", callAMD64, 0, callNone, 0},
		{"mov of an address", "\x48\xa1\x01\x02\x03\x04\x05\x06\x07\x08", callAMD64, 10, callNone, 0},
		{"mov of a short address", "\x67\xa1\x01\x02", call386, 4, callNone, 0},
		{"16-bit ModRM", "\x67\x8b\x86\x01\x02", call386, 5, callNone, 0},
		{"vzeroupper", "\xc5\xf8\x77", callAMD64, 3, callNone, 0},
		{"EVEX", "\x62\xf3\x7d\x48\x25\xc0\xff", callAMD64, 7, callNone, 0},
		{"les", "\xc4\x00", call386, 2, callNone, 0},
		{"bound", "\x62\x00", call386, 2, callNone, 0},
		{"16 bytes", "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\xe8\x00\x00\x00\x00", callAMD64, 0, callNone, 0},
		{"bl", "\x02\x00\x00\x94", callARM64, 4, callDirect, 0x1008},
		{"blr", "\x20\x00\x3f\xd6", callARM64, 4, callIndirect, 0},
		{"blraaz", "\x3f\x08\x3f\xd6", callARM64, 4, callIndirect, 0},
		{"br", "\x20\x00\x1f\xd6", callARM64, 4, callNone, 0},
		{"A32 bl", "\x02\x00\x00\xeb", callARM, 4, callDirect, 0x1010},
		{"A32 blx", "\xfe\xff\xff\xfb", callARM, 4, callDirect, 0x1002},
		{"A32 blx of a register", "\x33\xff\x2f\xe1", callARM, 4, callIndirect, 0},
		{"T32 bl", "\x00\xf0\x02\xf8", callThumb, 4, callDirect, 0x1008},
		{"T32 bl back", "\xff\xf7\xfe\xff", callThumb, 4, callDirect, 0x1000},
		{"T32 blx", "\x00\xf0\x02\xe8", callThumb, 4, callDirect, 0x1008},
		{"T32 blx of a register", "\x98\x47", callThumb, 2, callIndirect, 0},
		{"T32 b.w", "\x00\xf0\x02\xb8", callThumb, 4, callNone, 0},
	} {
		size, kind, target := c.step([]byte(c.code), 0x1000)
		if size != c.size || kind != c.kind || target != c.target {
			t.Errorf("%s %x: %d %d 0x%x, want %d %d 0x%x", c.name, c.code, size, kind, target, c.size, c.kind, c.target)
		}
	}
}

// Any bytes have a length that they have, for all CPUs.
func FuzzCallSteps(f *testing.F) {
	f.Add([]byte("\x66\x48\xe8\x00\x00\x00\x00\x0f"))
	f.Add([]byte("\x00\xf0\x02\xe8\xc4\xe2\x70"))
	f.Fuzz(func(t *testing.T, code []byte) {
		for i, step := range []callStep{callAMD64, call386, callARM64, callARM, callThumb} {
			if n, _, _ := step(code, 0x1000); n < 0 || n > 15 || n > len(code) {
				t.Errorf("%d: %d of %x", i, n, code)
			}
		}
	})
}

// goldenCalls are return addresses of test binaries, those with call frame
// information first.
var goldenCalls = map[string]Share{
	"gcc-O0": {5, 5}, "cpu-i686": {15, 15}, "cpu-arm64-pac": {7, 7}, "cpu-arm": {6, 6}, "cpu-thumb": {6, 6}, "exidx-lld": {74, 76}, "dwz4": {25, 25},
}

func TestCallsGoldens(t *testing.T) {
	seen := 0
	goldenPairs(t, func(t *testing.T, name, elfPath, symPath string) {
		want, ok := goldenCalls[name]
		if !ok {
			return
		}
		seen++
		text, err := os.ReadFile(symPath)
		if err != nil {
			t.Fatal(err)
		}
		f := openELF(t, elfPath)
		if c := lintBinary(t, text, f, Options{Rules: []*Rule{}}).Coverage; c.Calls == nil || *c.Calls != want {
			t.Errorf("%v, want %v", c.Calls, want)
		}
		// Without STACK CFI there is none, and another CPU's file is of another binary.
		bare := bytes.Join(slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n")), func(l []byte) bool { return bytes.HasPrefix(l, []byte("STACK")) }), nil)
		if c := lintBinary(t, bare, f, Options{Rules: []*Rule{}}).Coverage; c.Calls == nil || *c.Calls != (Share{0, want.Total}) {
			t.Errorf("without STACK CFI: %v, want 0 of %d", c.Calls, want.Total)
		}
		if c := lintBinary(t, []byte(publicHead), f, Options{Rules: []*Rule{}}).Coverage; c.Calls != nil {
			t.Errorf("of another binary: %v", c.Calls)
		}
	})
	if seen != len(goldenCalls) {
		t.Errorf("%d of %d files", seen, len(goldenCalls))
	}
}

// What a limit demands of the return addresses.
func TestMinCFICalls(t *testing.T) {
	for _, c := range []struct {
		limit   float64
		verdict Verdict
		found   int
		reason  string
	}{
		{0, GoodForUnwinding, 0, "97.37 % of return addresses have call frame information"},
		{97, GoodForUnwinding, 0, "97.37 % of return addresses have call frame information"},
		{98, SymbolicationOnly, 1, "97.37 % of return addresses have call frame information, less than 98 %"},
	} {
		cov := &Coverage{Functions: 1, All: CodeShare{Share: Share{99, 100}}, Entries: Share{1, 1}, Calls: &Share{74, 76}, known: ranges{{RVA: 0, Size: 99}}}
		cov.judge(&Facts{HasModule: true}, c.limit, 0)
		p := &Pass{Facts: &Facts{}, Options: Options{MinCFI: c.limit, MaxPerRule: 1}, report: &Report{Counts: map[string]int{}}, rule: coverageRules[1]}
		checkMinCFI(p, cov)
		if n := p.report.Counts["SYM702"]; cov.Verdict != c.verdict || n != c.found || !slices.Contains(cov.Reasons, c.reason) {
			t.Errorf("%v: %s, %d findings, want %s, %d: %q", c.limit, cov.Verdict, n, c.verdict, c.found, cov.Reasons)
		}
	}
}
