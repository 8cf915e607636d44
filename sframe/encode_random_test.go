package sframe

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// equivalent reports whether two functions have the same rules at every address.
func equivalent(a, b Func) bool {
	return a.Start == b.Start && a.Size == b.Size && a.Block == b.Block && a.KeyB == b.KeyB && a.Signal == b.Signal &&
		slices.Equal(spans(a), spans(b))
}

// spans lists the rules in force wherever they change. Rows may repeat, and
// may lie after the end.
func spans(f Func) (out []Row) {
	end := f.Size
	if f.Block > 0 {
		end = min(end, f.Block)
	}
	for i, r := range f.Rows {
		next := end
		if i+1 < len(f.Rows) {
			next = min(end, f.Rows[i+1].Start)
		}
		if r.Start >= next {
			continue
		}
		if r.RA.Kind == Undefined {
			r.CFA, r.RA, r.FP, r.Signed = Rule{}, Rule{Kind: Undefined}, Rule{}, false
		}
		if r.RA.Kind == Same {
			r.RA = Rule{}
		}
		if r.FP.Kind == Same {
			r.FP = Rule{}
		}
		if len(out) == 0 || at(0, out[len(out)-1]) != at(0, r) {
			out = append(out, r)
		}
	}
	return out
}

// randomFunc returns a random function. If any is set, it may have rules that no section
// can represent.
func randomFunc(r *rand.Rand, abi ABI, version uint8, any bool) Func {
	f := Func{Size: 1 + r.Uint32N(1<<(1+r.UintN(20))), Signal: version == 3 && r.IntN(8) == 0}
	f.KeyB = abi.info().keys && r.IntN(4) == 0
	end := f.Size
	if r.IntN(8) == 0 {
		f.Block = 1 + r.Uint32N(255)
		end = min(end, f.Block)
	}
	flex := version == 3 && r.IntN(3) == 0
	start := uint32(0)
	for range 1 + r.IntN(20) {
		if start >= end {
			break
		}
		row := randomRow(r, abi, version, flex)
		if any && r.IntN(16) == 0 {
			row = Row{CFA: anyRule(r), RA: anyRule(r), FP: anyRule(r)}
		}
		row.Start = start
		f.Rows = append(f.Rows, row)
		if r.IntN(3) > 0 { // otherwise the next row has the same start
			start += 1 + r.Uint32N(1+end/8)
		}
	}
	return f
}

func randomOffset(r *rand.Rand) int64 {
	n := int64(int32(r.Uint32()) >> r.UintN(31))
	if n == 0 {
		return -8
	}
	return n
}

func anyRule(r *rand.Rand) Rule {
	rule := Rule{Kind(r.UintN(4)), Reg(r.Uint32() >> r.UintN(32)), int64(r.Uint64()) >> r.UintN(64)}
	if r.IntN(3) == 0 {
		rule.Reg = CFA
	}
	return rule
}

// randomRow returns a random row that the version can represent for the ABI.
func randomRow(r *rand.Rand, abi ABI, version uint8, flex bool) Row {
	a := abi.info()
	if r.IntN(20) == 0 {
		return Row{RA: Rule{Kind: Undefined}}
	}
	row := Row{Signed: a.keys && r.IntN(2) == 0}
	row.CFA = Rule{Value, a.sp, randomOffset(r)/16*a.scale + a.bias}
	if r.IntN(2) == 0 {
		row.CFA.Reg = a.fp
	}
	even := func() Rule { return Rule{Memory, CFA, cmp.Or(randomOffset(r)&^1, -8)} }
	if a.fixedRA != 0 {
		row.RA = Rule{Memory, CFA, int64(a.fixedRA)}
	} else if r.IntN(2) == 0 {
		row.RA = even()
	}
	if r.IntN(2) == 0 && (a.fixedRA != 0 || a.padRA || row.RA.Kind == Memory) {
		row.FP = even()
	}
	if a.slotRegs && r.IntN(4) == 0 {
		row.FP = Rule{Value, Reg(r.Uint32N(80)), 0}
	}
	if flex && r.IntN(2) == 0 {
		row.CFA.Kind = Value + Kind(r.UintN(2))
		row.CFA.Reg = Reg(r.Uint32() >> (3 + r.UintN(29)))
		row.FP = Rule{Value + Kind(r.UintN(2)), Reg(r.Uint32() >> (3 + r.UintN(29))), randomOffset(r)}
		if r.IntN(2) == 0 {
			row.RA = Rule{Memory, CFA, int64(r.IntN(3) - 1)}
		}
	}
	return row
}

// randomFuncs returns random functions that do not overlap, unsorted.
func randomFuncs(r *rand.Rand, abi ABI, version uint8, any bool) []Func {
	funcs := make([]Func, r.IntN(30))
	start := uint64(r.Uint32() >> 2)
	for i := range funcs {
		funcs[i] = randomFunc(r, abi, version, any)
		funcs[i].Start = start
		start += uint64(funcs[i].Size) + uint64(r.IntN(3))
	}
	r.Shuffle(len(funcs), func(i, j int) { funcs[i], funcs[j] = funcs[j], funcs[i] })
	return funcs
}

// Random functions decode as they were encoded: every function is unchanged, or
// named in a problem if the section cannot represent it.
func TestEncodeRandom(t *testing.T) {
	runs := 500
	if testing.Short() {
		runs = 20
	}
	for abi := AArch64BE; abi <= S390X; abi++ {
		for _, version := range []uint8{2, 3} {
			for _, any := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s V%d any=%v", abi, version, any), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(abi), uint64(version)))
					for range runs {
						testRandom(t, r, randomFuncs(r, abi, version, any), Target{Version: version, ABI: abi, Addr: uint64(r.Uint32() >> 2)}, any)
					}
				})
			}
		}
	}
}

func testRandom(t *testing.T, r *rand.Rand, funcs []Func, target Target, any bool) {
	data, problems := mustEncode(t, funcs, target)
	if problems != nil && !any {
		t.Fatalf("%v", problems)
	}
	lost := map[string]bool{}
	for _, p := range problems {
		lost[p.Lost] = true
	}
	s, back := decodeClean(t, data, target.Addr)
	if len(back)+len(problems) != len(funcs) {
		t.Fatalf("%d functions and %d problems of %d", len(back), len(problems), len(funcs))
	}
	for _, f := range funcs {
		i := slices.IndexFunc(back, func(b Func) bool { return b.Start == f.Start })
		if i < 0 && lost[fmt.Sprintf("function at %#x", f.Start)] {
			continue
		}
		if i < 0 || !equivalent(f, back[i]) {
			t.Fatalf("of %+v came back %+v", f, back)
		}
		for range 4 {
			compareFind(t, s, f, r.Uint32N(f.Size))
		}
	}
	strictlyValid(t, s)
	again, problems := mustEncode(t, back, target)
	if !bytes.Equal(data, again) || problems != nil {
		t.Fatalf("what was decoded is encoded in another way: %v", problems)
	}
}

// strictlyValid checks the requirements of the strictest reader, the one proposed for
// the Linux kernel, for version 3; we require the same of version 2.
func strictlyValid(t *testing.T, s *Section) {
	h := &s.Headers[0]
	if h.Flags != Sorted|PCRelative || len(h.Aux) != 0 || h.FDEOff != 0 || s.sorted != nil {
		t.Fatalf("%+v", h)
	}
	rows := uint32(0)
	for i := range s.FDEs {
		f := &s.FDEs[i]
		if i > 0 && f.Start <= s.FDEs[i-1].Start {
			t.Fatalf("FDE %d at %#x, behind %#x", i, f.Start, s.FDEs[i-1].Start)
		}
		r, last := s.Rows(i), -1
		for ; r.Next(); rows++ {
			if int(r.Row.Start) <= last || r.Row.Start >= f.Size || r.Form.Surplus != 0 || r.Form.Words > 6 {
				t.Fatalf("%+v: row %+v, %+v behind one at %#x", f, r.Row, r.Form, last)
			}
			last = int(r.Row.Start)
		}
	}
	if rows != h.NumFREs || len(s.FDEs) != int(h.NumFDEs) {
		t.Fatalf("%d FDEs and %d rows, the header says %d and %d", len(s.FDEs), rows, h.NumFDEs, h.NumFREs)
	}
}

// compareFind compares a look-up with the functions' rows.
func compareFind(t *testing.T, s *Section, f Func, off uint32) {
	_, got, err := s.Find(f.Start + uint64(off))
	if f.Block != 0 {
		off %= f.Block
	}
	var want Row
	for _, r := range spans(f) {
		if r.Start <= off {
			want = r
		}
	}
	got.Start = want.Start
	if err != nil || got != want {
		t.Fatalf("at %#x+%#x: %+v, %v; want %+v", f.Start, off, got, err, want)
	}
}

// Functions may have any numbers in their fields: there is no panic, and the section
// decodes.
func TestEncodeHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		funcs := make([]Func, r.IntN(6))
		for i := range funcs {
			f := &funcs[i]
			*f = Func{Start: r.Uint64() << r.UintN(64), Size: r.Uint32() >> r.UintN(32), KeyB: r.IntN(2) == 0, Signal: r.IntN(2) == 0}
			f.Block = r.Uint32() >> r.UintN(32) * uint32(r.IntN(2))
			for range r.IntN(6) {
				f.Rows = append(f.Rows, Row{r.Uint32() >> r.UintN(32), anyRule(r), anyRule(r), anyRule(r), r.IntN(2) == 0})
			}
		}
		target := Target{Version: uint8(2 + r.IntN(2)), ABI: ABI(1 + r.IntN(4)), Addr: r.Uint64() << r.UintN(64)}
		data, _ := mustEncode(t, funcs, target)
		decodeClean(t, data, target.Addr)
	}
}
