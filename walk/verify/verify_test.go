package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// verified walks a dump and judges the symbols.
func verified(t *testing.T, path string, s *walk.SymbolSet, limits Thresholds) (*walk.Result, *Verdict) {
	t.Helper()
	d := walktest.Opened(t, path)
	w := walk.NewWalker(s, walk.Config{})
	r, err := w.Walk(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Judge(context.Background(), w, r, limits)
	if err != nil {
		t.Fatal(err)
	}
	return r, v
}

func verdictText(t *testing.T, v *Verdict) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The symbols of a program hold on other CPUs, through signal handlers, too.
func TestVerifyCPUs(t *testing.T) {
	for cpu, pairs := range map[string]int{"arm": 16, "arm64": 20} {
		dir := testenv.Shared(t, "data", "arch", cpu)
		store := t.TempDir()
		if err := walktest.WriteSymbols(filepath.Join(dir, "prog"), store); err != nil {
			t.Fatal(err)
		}
		_, v := verified(t, filepath.Join(dir, "core"), walks.BothSources(t, store, filepath.Join(dir, "prog")), Default())
		if !v.Holds || len(v.Findings) > 0 || v.Compared < pairs || v.Calls < 10 {
			t.Errorf("%s: %s", cpu, verdictText(t, v))
		}
	}
}

// The cost of a verdict per frame.
func BenchmarkVerify(b *testing.B) {
	crashes := testenv.Shared(b, "data", "crashes")
	s := walks.SymbolSources(b, walktest.CrashStore(b))
	binaries, err := supplier.NewBinaries([]string{crashes}, supplier.BinaryOptions{})
	if err != nil {
		b.Fatal(err)
	}
	s.Binaries = binaries
	r := walks.Dump(b, filepath.Join(crashes, "deeprec", "dump.dmp"), s, walk.Config{})
	w := walk.NewWalker(s, walk.Config{})
	b.ReportAllocs()
	for b.Loop() {
		if v, err := Judge(context.Background(), w, r, Default()); err != nil || !v.Holds {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(r.Stacks[0].Frames)), "ns/frame")
}

// The symbols of every crash case hold: nothing disagrees with the binaries.
func TestVerifyCrashes(t *testing.T) {
	crashes := testenv.Shared(t, "data", "crashes")
	sources := walks.BothSources(t, walktest.CrashStore(t), crashes)
	for _, name := range walktest.CrashCases {
		for _, kind := range []string{"dump.dmp", "core"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				_, v := verified(t, filepath.Join(crashes, name, kind), sources, Default())
				text := verdictText(t, v)
				if !v.Holds || strings.Contains(text, "rules-") || v.Compared < 3 || v.Calls == 0 || v.UnknownCalls > 0 {
					t.Error(text)
				}
				t.Log(v.Conclusion, "-", v.Compared, "pairs,", v.Calls, "calls,", len(v.Findings), "findings")
			})
		}
	}
}

func programBoth(x *walktest.Program, dir string) *walk.SymbolSet {
	return walks.BothSources(x.T, dir, x.Binary)
}

// writable copies the memory of a dump, so that it can be changed.
func writable(d *dump.Dump) {
	for i := range d.Memory.Regions {
		d.Memory.Regions[i].Data = bytes.Clone(d.Memory.Regions[i].Data)
	}
}

// put overwrites the first word above the stack pointer that has the value old.
func put(t *testing.T, d *dump.Dump, old, value uint64) {
	t.Helper()
	sp := d.Threads[0].Context.SP()
	r := d.Memory.Find(sp)
	if r == nil {
		t.Fatal("no stack")
	}
	for off := sp - r.Addr; off+8 <= uint64(len(r.Data)); off += 8 {
		if d.Memory.Order.Uint64(r.Data[off:]) == old {
			d.Memory.Order.PutUint64(r.Data[off:], value)
			return
		}
	}
	t.Fatalf("%#x is not on the stack", old)
}

// Each case is a verdict, and what it must contain.
func TestVerify(t *testing.T) {
	x := walktest.NewProgram(t)
	strict := Default()
	otherID := func(m *symfmt.Module) { m.ID = strings.Repeat("AB", 16) + "0" }
	for _, c := range []struct {
		name    string
		sources *walk.SymbolSet
		limits  Thresholds
		change  func(*dump.Dump)
		holds   bool
		blame   Blame
		kinds   string // of errors
	}{
		{name: "holds", sources: walks.BothSources(t, x.Store, x.Binary), limits: strict, holds: true},
		{name: "symbols-alone", sources: walks.SymbolSources(t, x.Store), limits: strict, holds: true},
		{name: "binary-alone", sources: walks.BinarySources(t, x.Binary), limits: strict, holds: true},
		{name: "missing", sources: walks.SymbolSources(t, x.ChangedStore("empty", walktest.OtherModule)), limits: strict, blame: BlameSymbols, kinds: "missing-symbols"},
		{name: "missing-allowed", sources: walks.SymbolSources(t, x.ChangedStore("empty", walktest.OtherModule)), limits: Thresholds{MinCFI: 100, AllowMissing: []string{"walk-*"}}, holds: true},
		{name: "other-id", sources: walks.SymbolSources(t, x.ChangedStore("other", otherID)), limits: strict, blame: BlameSymbols, kinds: "other-id"},
		{name: "other-id-binary", sources: programBoth(x, x.ChangedStore("other", otherID)), limits: strict, holds: true},
		{name: "no-rules", sources: programBoth(x, x.ChangedStore("bare", walktest.NoRules)), limits: strict, blame: BlameSymbols, kinds: "no-rules"},
		{name: "no-rules-alone", sources: walks.SymbolSources(t, x.ChangedStore("bare", walktest.NoRules)), limits: strict, blame: BlameSymbols, kinds: "cfi-share"},
		{name: "few-enough", sources: walks.SymbolSources(t, x.ChangedStore("bare", walktest.NoRules)), limits: Thresholds{MinCFI: 0}, holds: true},
		{name: "overwritten", sources: walks.BothSources(t, x.Store, x.Binary), limits: strict, blame: BlameDump, kinds: "no-call", change: func(d *dump.Dump) {
			put(t, d, 0x4002f5, 0x4002f6) // into the middle of an instruction
		}},
		{name: "overwritten-nowhere", sources: walks.BothSources(t, x.Store, x.Binary), limits: strict, blame: BlameDump, kinds: "no-call", change: func(d *dump.Dump) {
			put(t, d, 0x4002f5, 0x1234567)
		}},
		{name: "memory", sources: walks.BothSources(t, x.Store, x.Binary), limits: strict, blame: BlameDump, kinds: "stack-memory", change: func(d *dump.Dump) {
			r := d.Memory.Find(d.Threads[0].Context.SP())
			r.Data = r.Data[:d.Threads[0].Context.SP()-r.Addr+32]
		}},
		{name: "no-context", sources: walks.BothSources(t, x.Store, x.Binary), limits: strict, blame: BlameDump, kinds: "no-context", change: func(d *dump.Dump) {
			d.Threads[0].Context, d.Crash = nil, nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := walktest.Opened(t, x.Core)
			if c.change != nil {
				writable(d)
				c.change(d)
			}
			w := walk.NewWalker(c.sources, walk.Config{})
			r, err := w.Walk(context.Background(), d)
			if err != nil {
				t.Fatal(err)
			}
			v, err := Judge(context.Background(), w, r, c.limits)
			if err != nil {
				t.Fatal(err)
			}
			checkVerdict(x, t, c.name, v)
			var kinds []string
			for _, f := range v.Findings {
				if f.Severity == SeverityError && !slices.Contains(kinds, f.Kind) {
					kinds = append(kinds, f.Kind)
				}
			}
			if got := strings.Join(kinds, " "); v.Holds != c.holds || v.Blame != c.blame || got != c.kinds {
				t.Errorf("holds %v, blame %q, %q; want %v, %q, %q", v.Holds, v.Blame, got, c.holds, c.blame, c.kinds)
			}
		})
	}
}

// checkVerdict compares both forms of a verdict with their golden files.
func checkVerdict(x *walktest.Program, t *testing.T, name string, v *Verdict) {
	t.Helper()
	text := verdictText(t, v)
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for form, b := range map[string][]byte{"txt": []byte(text), "json": append(data, '\n')} {
		b = bytes.ReplaceAll(b, []byte(x.Dir), []byte("DIR"))
		b = bytes.ReplaceAll(b, []byte(x.Binary), []byte("BINARY"))
		testenv.Golden(t).Assert(t, name+"."+form, b)
	}
}

// A wrong rule is reported with the answers of .eh_frame, .sframe and the frame pointer or, without
// the binary, with only the frame pointer's.
func TestVerifyWrongRule(t *testing.T) {
	x := walktest.NewProgram(t)
	for _, c := range []struct {
		name, old, with string
		pc              walk.Address
		both, alone     string // sources that disagree
	}{
		{"wrong-cfa", "STACK CFI 329 .cfa: $rbp 16 +", "STACK CFI 329 .cfa: $rbp 24 +", 0x40032d, "eh_frame sframe frame-pointer", "frame-pointer"},
		{"wrong-saved", "STACK CFI 321 .cfa: $rsp 16 + $rbp: .cfa -16 + ^", "STACK CFI 321 .cfa: $rsp 16 + $rbp: .cfa -24 + ^", 0x40032d, "eh_frame sframe frame-pointer", "frame-pointer"},
		{"lost-row", "STACK CFI 2b8 .cfa: $rbp 16 +\n", "", 0x4002e3, "eh_frame sframe frame-pointer", "frame-pointer"},
	} {
		wrong := x.EditedStore(c.name, c.old, c.with)
		for want, sources := range map[string]*walk.SymbolSet{c.both: walks.BothSources(t, wrong, x.Binary), c.alone: walks.SymbolSources(t, wrong)} {
			_, v := verified(t, x.Core, sources, Default())
			got := map[walk.Address][]string{}
			for _, f := range v.Findings {
				for _, x := range append([]Finding{f}, f.Follows...) {
					if len(x.Sides) > 0 {
						got[x.PC] = append(got[x.PC], x.Sides[1].Source)
					}
				}
			}
			if strings.Join(got[c.pc], " ") != want {
				t.Errorf("%s: %v of %v, want %s", c.name, got[c.pc], c.pc, want)
			}
			if want == c.both {
				checkVerdict(x, t, c.name, v)
			}
		}
	}
}

func TestVerifyBadPattern(t *testing.T) {
	limits := Thresholds{AllowMissing: []string{"lib[a"}}
	if _, err := Judge(context.Background(), walk.NewWalker(&walk.SymbolSet{}, walk.Config{}), &walk.Result{}, limits); err == nil || err.Error() != "bad pattern lib[a: syntax error in pattern" {
		t.Error(err)
	}
}

// A stack that was cut because its dump's budget was exhausted does not hold.
func TestVerifyBudget(t *testing.T) {
	x := walktest.NewProgram(t)
	w := walk.NewWalker(walks.BothSources(t, x.Store, x.Binary), walk.Config{})
	r, err := w.Walk(t.Context(), walktest.Opened(t, x.Core))
	if err != nil {
		t.Fatal(err)
	}
	s := &r.Stacks[0]
	s.Frames, s.End = s.Frames[:3], walk.EndBudget
	if v, err := Judge(t.Context(), w, r, Thresholds{}); err != nil || v.Holds || v.Blame != BlameDump {
		t.Errorf("%v: %s", err, verdictText(t, v))
	}
}

func TestMain(m *testing.M) { os.Exit(walktest.RunTests(m)) }
