package sframe_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/sframe"
)

// fuzzSeeds adds our own sections and, if present, the shared data.
func fuzzSeeds(f *testing.F) {
	seed := func(data []byte) { f.Add(data, uint64(0x4000), false, uint64(1)) }
	for _, data := range [][]byte{v1, v2, v3, withAux(v3), withGap(v3), append(v3[:len(v3):len(v3)], v2...), manyShare(5)} {
		seed(data)
	}
	for _, test := range ruleTests {
		if len(test.bad) < 200 {
			seed(test.bad)
		}
	}
	for _, dir := range []string{"elf", "synth"} {
		for _, path := range testenv.SharedGlob(f, "data", "sframe", dir, "*") {
			if dir == "elf" {
				if s, ok := elfSample(f, path); ok {
					f.Add(s.data, s.opts.Addr, s.opts.Relocated, uint64(1))
				}
			} else if data, err := os.ReadFile(path); err == nil && filepath.Ext(path) == ".bin" {
				seed(data)
			}
		}
	}
}

// FuzzDecode decodes any bytes and calls everything on the section.
func FuzzDecode(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte, addr uint64, relocated bool, random uint64) {
		o := sframe.Options{Addr: addr, Relocated: relocated, Code: func(lo, hi uint64) bool { return lo <= hi && lo&0x40000 == 0 }}
		s := boundedDecode(t, data, o)
		use(t, data, o)
		if s == nil {
			return
		}
		rng := rand.New(rand.NewPCG(random, 0))
		for range 8 {
			pc := rng.Uint64()
			if n := len(s.FDEs); n != 0 {
				f := &s.FDEs[rng.IntN(n)]
				pc = f.Start + rng.Uint64N(uint64(f.Size)+2) - 1
			}
			if cost(s, pc) < 100_000 {
				checkFind(t, s, pc)
			}
		}
		walk(t, s, rng)
		if rows(s) < 20_000 {
			print(t, s)
			encode(t, s, addr)
		}
	})
}

// rows counts the rows of all functions, which may share them.
func rows(s *sframe.Section) (n uint64) {
	for i := range s.FDEs {
		n += uint64(s.FDEs[i].NumRows) + 1
	}
	return n
}

// print prints the section in both forms.
func print(t *testing.T, s *sframe.Section) {
	if err := s.Print(io.Discard); err != nil {
		t.Error(err)
	}
	var b bytes.Buffer
	if err := s.WriteJSON(&b); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("%v: %s", err, &b)
	}
}

// encode writes the section's functions in both versions. The result must
// decode without problems, encode again to the same bytes, and be acceptable to
// readers, as far as functions do not overlap.
func encode(t *testing.T, s *sframe.Section, addr uint64) {
	if len(s.Headers) == 0 {
		return
	}
	funcs, _ := s.Funcs()
	for _, version := range []uint8{2, 3} {
		target := sframe.Target{Version: version, ABI: s.Headers[0].ABI, Addr: addr}
		data, _, err := sframe.Encode(funcs, target)
		if err != nil {
			t.Fatal(err)
		}
		again, err := sframe.Decode(data, sframe.Options{Addr: addr})
		if err != nil || len(again.Problems) != 0 {
			t.Fatalf("version %d: %v, %v", version, err, again.Problems)
		}
		kept, problems := again.Funcs()
		if len(problems) != 0 {
			t.Fatalf("version %d: %v", version, problems)
		}
		second, problems, err := sframe.Encode(kept, target)
		if err != nil || len(problems) != 0 || !bytes.Equal(second, data) {
			t.Fatalf("version %d: %x, then %x, %v, %v", version, data, second, problems, err)
		}
		encodedWell(t, again, version)
		sameRules(t, funcs, kept)
	}
}

// sameRules checks that functions that were encoded have the same rules at each offset,
// though perhaps not the same rows.
func sameRules(t *testing.T, before, after []sframe.Func) {
	type place struct {
		start uint64
		size  uint32
	}
	was := map[place][]sframe.Func{}
	for _, f := range before {
		p := place{f.Start, f.Size}
		was[p] = append(was[p], f)
	}
	for _, f := range after {
		candidates := was[place{f.Start, f.Size}]
		if len(candidates) == 0 {
			t.Fatalf("a new function: %+v", f)
		} else if len(candidates) > 1 {
			continue // any of them may be kept
		}
		for _, row := range candidates[0].Rows {
			x, y := rulesAt(candidates[0].Rows, row.Start), rulesAt(f.Rows, row.Start)
			if limit := min(f.Size, cmp.Or(f.Block, f.Size)); row.Start < limit && x != y {
				t.Fatalf("function at %#x, at %#x: %v, was %v", f.Start, row.Start, y, x)
			}
		}
	}
}

// rulesAt returns the rules at an offset; for an outermost frame, only the rule
// for the return address.
func rulesAt(rows []sframe.Row, off uint32) (rules [3]sframe.Rule) {
	for _, r := range rows {
		if r.Start > off {
			break
		}
		if rules = [3]sframe.Rule{r.CFA, r.RA, r.FP}; r.Outermost() {
			rules = [3]sframe.Rule{{}, r.RA, {}}
		}
	}
	return rules
}

func encodedWell(t *testing.T, s *sframe.Section, version uint8) {
	profiles := []sframe.Profile{sframe.Spec}
	if version == 3 && len(s.FDEs) != 0 && s.Headers[0].NumFREs != 0 {
		profiles = append(profiles, sframe.Binutils, sframe.Kernel)
	}
	for _, p := range profiles {
		for _, f := range s.Check(p, sframe.Context{}) {
			if f.Severity == E && f.Rule != "overlap" && f.Rule != "address-end" {
				t.Errorf("version %d: %s: %s", version, p, f)
			}
		}
	}
}

// boundedDecode decodes, and checks that memory is bounded by the input.
func boundedDecode(t *testing.T, data []byte, o sframe.Options) *sframe.Section {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := sframe.Decode(data, o)
	runtime.ReadMemStats(&after)
	if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(1<<20+32*len(data)); got > limit {
		t.Errorf("%d bytes of memory for %d", got, len(data))
	}
	if err != nil {
		return nil
	}
	return s
}

// cost returns the number of rows and FDEs that linearFind examines.
func cost(s *sframe.Section, pc uint64) int {
	n := len(s.FDEs)
	if i := s.FindFDE(pc); i >= 0 {
		n += int(s.FDEs[i].NumRows)
	}
	return n
}

// walk unwinds a stack of random words, some of which are addresses of code.
// Each step must end with an error or make progress.
func walk(t *testing.T, s *sframe.Section, rng *rand.Rand) {
	value := func() uint64 {
		if n := len(s.FDEs); n != 0 && rng.IntN(4) != 0 {
			f := &s.FDEs[rng.IntN(n)]
			return f.Start + uint64(rng.IntN(int(f.Size%4096)+1))
		}
		return rng.Uint64()
	}
	mem := func(addr uint64) (uint64, bool) { return value(), addr&0x1000 == 0 }
	regs := func(sframe.Reg) (uint64, bool) { return value(), rng.IntN(2) == 0 }
	frame := sframe.Frame{PC: value(), SP: 0x7000_0000, FP: 0x7000_0010, Interrupted: true}
	for i := 0; i < 20 && cost(s, frame.PC) < 1000; i++ {
		next, err := s.Step(frame, regs, mem)
		if err != nil {
			return
		}
		if !next.Interrupted && next.SP < frame.SP || next.SP == frame.SP && next.PC == frame.PC {
			t.Fatalf("from %+v to %+v", frame, next)
		}
		frame, regs = next, nil
	}
}
