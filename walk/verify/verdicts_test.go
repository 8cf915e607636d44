package verify

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// judged walks a dump, after a change, and judges the symbols. Binaries also give
// the code that a core has left out, as in the command.
func judged(t *testing.T, core string, s *walk.SymbolSet, binaries []string, change func(*dump.Dump), limits Thresholds) (*walk.Result, *Verdict) {
	t.Helper()
	file, err := dumpfile.Open(t.Context(), core, dumpfile.Options{Core: elfcore.Options{Binaries: binaries}})
	if err != nil {
		t.Fatal(err)
	}
	d := file.Dump
	t.Cleanup(func() { file.Close() })
	if change != nil {
		change(d)
	}
	w := walk.NewWalker(s, walk.Config{})
	r, err := w.Walk(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Judge(context.Background(), w, r, limits)
	if err != nil {
		t.Fatal(err)
	}
	checkConclusion(t, v)
	return r, v
}

// functionsOf returns the functions of all stacks: those of one stack separated by spaces,
// and a run of the same function once.
func functionsOf(r *walk.Result) string {
	var stacks []string
	for i := range r.Stacks {
		var names []string
		for k := range r.Stacks[i].Frames {
			name := r.Stacks[i].Frames[k].Function()
			if name == "" {
				name = "?"
			}
			names = append(names, name)
		}
		stacks = append(stacks, strings.Join(slices.Compact(names), " "))
	}
	return strings.Join(stacks, "; ")
}

const symbolsHold Blame = "nobody"

// verdictCases are the crashes of golden/input/verdicts, with the stacks that follow from their
// source, as far as these can be known, and what is to blame if a stack is incomplete.
var verdictCases = []struct {
	name, stacks          string
	symbols, binary, both Blame
	kind                  string // of the first finding
}{
	{"complete", "crash recurse main _start", symbolsHold, symbolsHold, symbolsHold, ""},
	{"bare", "crash bare main _start", BlameSymbols, symbolsHold, BlameBinary, KindShare}, // by rules from instructions in the dump
	{"overflow", "crash handler __restore_rt overflow main _start", symbolsHold, symbolsHold, symbolsHold, ""},
	{"threads", "crash clone3; clone3 threads main _start", symbolsHold, symbolsHold, symbolsHold, ""},
	{"null", "? jump main _start", symbolsHold, symbolsHold, symbolsHold, ""},
	{"smashed", "smash", NoBlame, NoBlame, BlameDump, KindNoCall},
	{"cleared", "smash", NoBlame, NoBlame, BlameDump, KindBroken},
	{"switched", "crash runtime.mcall", symbolsHold, symbolsHold, symbolsHold, ""}, // where a stack of Go's scheduler begins
	{"injected", "down runtime.sigpanic crash main _start", symbolsHold, symbolsHold, symbolsHold, ""},
	{"bottom", "crash recurse __libc_start_main", symbolsHold, symbolsHold, symbolsHold, ""},
}

// writeTables writes the symbols of a program to a store, without rules of instructions.
func writeTables(t *testing.T, program, store string) {
	t.Helper()
	m, err := walktest.SymbolsOf(program)
	if err != nil {
		t.Fatal(err)
	}
	m.CFI.Blocks = slices.DeleteFunc(m.CFI.Blocks, func(b symfmt.CFIBlock) bool { return b.Marks&symfmt.MarkCode != 0 })
	if err := walktest.WriteModule(m, store); err != nil {
		t.Fatal(err)
	}
}

// Symbols hold only if every stack follows from the source. Otherwise the right module is to blame,
// with symbols, the binary, or both.
func TestVerdicts(t *testing.T) {
	for _, c := range verdictCases {
		program := testenv.Input(t, "verdicts", "verdicts.elf")
		if c.name == "bottom" {
			program = testenv.Input(t, "verdicts", "bottom.elf")
		}
		core, store := testenv.Input(t, "verdicts", c.name+".core.gz"), t.TempDir()
		writeTables(t, program, store)
		for supply, want := range map[string]struct {
			sources  *walk.SymbolSet
			binaries []string
			blame    Blame
		}{
			"symbols": {walks.SymbolSources(t, store), nil, c.symbols},
			"binary":  {walks.BinarySources(t, program), []string{program}, c.binary},
			"both":    {walks.BothSources(t, store, program), []string{program}, c.both},
		} {
			t.Run(c.name+"/"+supply, func(t *testing.T) {
				r, v := judged(t, core, want.sources, want.binaries, nil, Default())
				blame := v.Blame
				if v.Holds {
					blame = symbolsHold
				}
				if got := functionsOf(r); got != c.stacks || blame != want.blame || !v.Holds && v.Findings[0].Kind != c.kind {
					t.Errorf("stacks %q, blame %q; want %q, %q\n%s", got, blame, c.stacks, want.blame, verdictText(t, v))
				}
			})
		}
	}
}

// Without the program's symbols nothing holds, and all other findings follow from that.
func TestVerdictsMissing(t *testing.T) {
	program := testenv.Input(t, "verdicts", "verdicts.elf")
	m, err := walktest.SymbolsOf(program)
	if err != nil {
		t.Fatal(err)
	}
	m.ID = strings.Repeat("AB", 16) + "0"
	other := t.TempDir()
	if err := walktest.WriteModule(m, other); err != nil {
		t.Fatal(err)
	}
	for _, c := range verdictCases {
		if c.name == "bottom" {
			continue
		}
		core := testenv.Input(t, "verdicts", c.name+".core.gz")
		for kind, store := range map[string]string{KindMissing: t.TempDir(), KindOtherID: other} {
			_, v := judged(t, core, walks.SymbolSources(t, store), nil, nil, Default())
			errs := slices.DeleteFunc(slices.Clone(v.Findings), func(x Finding) bool { return x.Severity != SeverityError })
			if v.Holds || v.Blame != BlameSymbols || errs[0].Kind != kind || len(errs) > 1 && errs[1].Module == errs[0].Module {
				t.Errorf("%s without symbols: %s", c.name, verdictText(t, v))
			}
		}
	}
}

// A thread that has not begun has no caller: it is after clone3's system call, on an
// empty stack.
func TestVerdictNewThread(t *testing.T) {
	program := testenv.Input(t, "verdicts", "verdicts.elf")
	for name, c := range map[string]struct {
		result uint64
		stacks string
	}{
		"new": {0, "crash clone3; clone3"},
		"old": {4, "crash clone3; clone3 threads main _start"},
	} {
		begun := func(d *dump.Dump) {
			x := d.Threads[1].Context
			x.Set("$rax", c.result)
			if c.result == 0 {
				x.Set("$rsp", d.Threads[0].Context.SP()-4096)
			}
		}
		r, v := judged(t, testenv.Input(t, "verdicts", "threads.core.gz"), walks.BinarySources(t, program), []string{program}, begun, Default())
		if got := functionsOf(r); got != c.stacks || !v.Holds {
			t.Errorf("%s: %q, want %q\n%s", name, got, c.stacks, verdictText(t, v))
		}
	}
}

// A program's own function may be called clone: it has a caller by its rules.
func TestVerdictOwnClone(t *testing.T) {
	program, store := testenv.Input(t, "verdicts", "verdicts.elf"), t.TempDir()
	m, err := walktest.SymbolsOf(program)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(m.Funcs, func(f symfmt.Func) bool { return f.Name == "recurse" })
	m.Funcs[i].Name = "clone"
	if err := walktest.WriteModule(m, store); err != nil {
		t.Fatal(err)
	}
	r, v := judged(t, testenv.Input(t, "verdicts", "complete.core.gz"), walks.SymbolSources(t, store), nil, nil, Default())
	if got := functionsOf(r); got != "crash clone main _start" || !v.Holds {
		t.Errorf("%q\n%s", got, verdictText(t, v))
	}
}

// The code that a signal handler returns to may not be in the core: the stack continues
// by the frame that the system made.
func TestVerdictWithoutTrampoline(t *testing.T) {
	program, core := testenv.Input(t, "crashes", "calls-s390x.elf"), testenv.Input(t, "crashes", "calls-s390x.core.gz")
	want, v := judged(t, core, walks.BinarySources(t, program), []string{program}, nil, Default())
	i := slices.IndexFunc(want.Stacks[0].Frames, func(f walk.Frame) bool { return f.Handler })
	if !v.Holds || i < 0 {
		t.Fatal(verdictText(t, v))
	}
	pc := want.Stacks[0].Frames[i].PC
	without := func(d *dump.Dump) {
		region := d.Memory.Find(pc)
		d.Memory.Regions = slices.DeleteFunc(slices.Clone(d.Memory.Regions), func(r dump.Region) bool { return r.Addr == region.Addr })
		d.Maps = slices.DeleteFunc(slices.Clone(d.Maps), func(m dump.Mapping) bool { return m.Contains(pc) })
	}
	got, v := judged(t, core, walks.BinarySources(t, program), []string{program}, without, Default())
	if !v.Holds || functionsOf(got) != functionsOf(want) {
		t.Errorf("%q, want %q\n%s", functionsOf(got), functionsOf(want), verdictText(t, v))
	}
}

// With everything available, the symbols of a crash with a library hold. If the library is
// missing or of another build, it is to blame; a stack that is lost after a library that
// may be missing is reported.
func TestVerdictLibrary(t *testing.T) {
	dir := testenv.Input(t, "crashes")
	program, library, old := filepath.Join(dir, "stacks"), filepath.Join(dir, "libnet.so.1"), filepath.Join(dir, "old", "libnet.so.1")
	for _, dumped := range []string{"stacks.core.gz", "stacks.dmp.gz"} {
		for name, c := range map[string]struct {
			binaries []string
			allowed  []string
			holds    bool
			kind     string
		}{
			"all":     {[]string{program, library}, nil, true, ""},
			"missing": {[]string{program}, nil, false, KindMissing},
			"old":     {[]string{program, old}, nil, false, KindOtherID},
			"allowed": {[]string{program}, []string{"libnet*", "linux-gate*"}, true, ""},
		} {
			_, v := judged(t, filepath.Join(dir, dumped), walks.BinarySources(t, c.binaries...), nil, nil, Thresholds{MinCFI: 100, AllowMissing: c.allowed})
			if v.Holds != c.holds || !v.Holds && (v.Findings[0].Kind != c.kind || v.Findings[0].Module != "libnet.so.1") {
				t.Errorf("%s, %s: %s", dumped, name, verdictText(t, v))
			}
		}
	}
}

// The symbols of a crash through a signal handler hold on every CPU. Without the binary, nothing
// shows on x86-64 that a function is what the handler returns to.
func TestVerdictCPUs(t *testing.T) {
	for _, cpu := range walktest.CallsCPUs {
		program, core, store := testenv.Input(t, "crashes", "calls-"+cpu+".elf"), testenv.Input(t, "crashes", "calls-"+cpu+".core.gz"), t.TempDir()
		if err := walktest.WriteSymbols(program, store); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(store, "*", "*", "*.sym"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		for supply, s := range map[string]*walk.SymbolSet{"symbols": walks.SymbolSources(t, files[0]), "binary": walks.BinarySources(t, program), "both": walks.BothSources(t, files[0], program)} {
			binaries := []string{program}
			if supply == "symbols" {
				binaries = nil
			}
			_, v := judged(t, core, s, binaries, nil, Default())
			if want := supply != "symbols" || cpu != "x86_64"; v.Holds != want || !want && v.Blame != BlameSymbols {
				t.Errorf("%s, %s: %s", cpu, supply, verdictText(t, v))
			}
		}
	}
}

// Where a stack begins, as in Go's mcall, the symbols of the functions that it called are judged,
// too.
func TestVerdictAboveStart(t *testing.T) {
	program, store := testenv.Input(t, "verdicts", "verdicts.elf"), t.TempDir()
	m, err := walktest.SymbolsOf(program)
	if err != nil {
		t.Fatal(err)
	}
	m.CFI = symfmt.CFITable{}
	if err := walktest.WriteModule(m, store); err != nil {
		t.Fatal(err)
	}
	sources := walks.SymbolSources(t, store)
	sources.Binaries = walktest.Binaries(t, program)
	_, v := judged(t, testenv.Input(t, "verdicts", "switched.core.gz"), sources, []string{program}, nil, Default())
	if v.Holds || v.Blame != BlameSymbols || v.Findings[0].Kind != KindNoRules {
		t.Error(verdictText(t, v))
	}
}

// A stack that ends in a function without rules does not hold either where neither
// the dump nor a binary has the code, as in many cores and minidumps.
func TestVerdictWithoutCode(t *testing.T) {
	store := t.TempDir()
	writeTables(t, testenv.Input(t, "verdicts", "verdicts.elf"), store)
	for name, blame := range map[string]Blame{"complete": symbolsHold, "bare": BlameSymbols, "switched": symbolsHold, "overflow": symbolsHold, "threads": symbolsHold} {
		without := func(d *dump.Dump) {
			d.Memory.Regions = slices.DeleteFunc(slices.Clone(d.Memory.Regions), func(r dump.Region) bool {
				m := d.MappingAt(r.Addr)
				return m != nil && m.Exec
			})
		}
		_, v := judged(t, testenv.Input(t, "verdicts", name+".core.gz"), walks.SymbolSources(t, store), nil, without, Default())
		if v.Holds != (blame == symbolsHold) || !v.Holds && v.Blame != blame || v.Calls > 0 {
			t.Errorf("%s: %s", name, verdictText(t, v))
		}
	}
}

// The thread that wrote the dump is not walked, and does not count for the symbols.
func TestVerdictWriter(t *testing.T) {
	program := testenv.Input(t, "verdicts", "verdicts.elf")
	writer := func(d *dump.Dump) { d.HasWriter, d.Writer = true, d.Threads[1].ID }
	_, v := judged(t, testenv.Input(t, "verdicts", "threads.core.gz"), walks.BinarySources(t, program), []string{program}, writer, Default())
	if !v.Holds || v.Broken > 0 || v.Counts.Callers != 1 {
		t.Error(verdictText(t, v))
	}
}

// Verdicts on other programs' dumps, of Windows and Linux: the symbols of a store hold if
// they are complete; otherwise the missing ones are to blame.
func TestVerdictsShared(t *testing.T) {
	minidumps := testenv.Shared(t, "data", "minidumps")
	for name, c := range map[string]struct {
		blame Blame
		kind  string
	}{
		"breakpad/minidump2.dmp":                        {symbolsHold, ""},
		"breakpad/linux_null_read_av.dmp":               {symbolsHold, ""},
		"breakpad/linux_overflow.dmp":                   {symbolsHold, ""},
		"breakpad/linux_inline.dmp":                     {BlameSymbols, KindMissing},
		"breakpad/linux_divide_by_zero.dmp":             {BlameSymbols, KindMissing},
		"breakpad/read_av_conditional.dmp":              {BlameSymbols, KindMissing},
		"breakpad/tiny-exe-with-cet-xsave.dmp":          {BlameSymbols, KindMissing},
		"rust-minidump/test.dmp":                        {BlameSymbols, KindMissing},
		"rust-minidump/simple-crashpad.dmp":             {BlameSymbols, KindMissing},
		"rust-minidump/pipeline-inlines-macos-segv.dmp": {BlameSymbols, KindMissing},
	} {
		path := filepath.Join(minidumps, filepath.FromSlash(name))
		_, v := judged(t, path, walks.SymbolSources(t, filepath.Join(filepath.Dir(path), "symbols")), nil, nil, Default())
		if v.Holds != (c.blame == symbolsHold) || !v.Holds && (v.Blame != c.blame || v.Findings[0].Kind != c.kind) {
			t.Errorf("%s: %s", name, verdictText(t, v))
		}
	}
}

// In every crash case of the shared data, the symbols of each module in turn are removed:
// that module is to blame wherever a stack goes through it, and no other is.
func TestVerdictsModuleMissing(t *testing.T) {
	crashes := testenv.Shared(t, "data", "crashes")
	for _, name := range walktest.CrashCases {
		for _, kind := range []string{"dump.dmp", "core"} {
			for _, missing := range []string{"prog", "libc.so.6"} {
				store := withoutModule(t, walktest.CrashStore(t), missing)
				r, v := judged(t, filepath.Join(crashes, name, kind), walks.SymbolSources(t, store), nil, nil, Default())
				if v.Holds || v.Blame != BlameSymbols || v.Findings[0].Kind != KindMissing || v.Findings[0].Module != missing {
					t.Errorf("%s/%s without %s: %s\n%s", name, kind, missing, functionsOf(r), verdictText(t, v))
				}
				for _, x := range v.Findings[1:] {
					if x.Severity == SeverityError {
						t.Errorf("%s/%s without %s: %s: %s", name, kind, missing, x.Kind, x.Text)
					}
				}
			}
		}
	}
}

// withoutModule returns a store without a module's symbols.
func withoutModule(t *testing.T, store, name string) string {
	t.Helper()
	dir := t.TempDir()
	entries, err := os.ReadDir(store)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == name {
			continue
		}
		if err := os.Symlink(filepath.Join(store, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The symbols of a core without the program's name are found in a store by its build-id,
// under any name.
func TestVerdictUnnamed(t *testing.T) {
	program, store := testenv.Input(t, "verdicts", "verdicts.elf"), t.TempDir()
	if err := walktest.WriteSymbols(program, store); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(store, "verdicts.elf"), filepath.Join(store, "renamed")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(store, "renamed", "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.Rename(files[0], filepath.Join(filepath.Dir(files[0]), "renamed.sym")); err != nil {
		t.Fatal(err)
	}
	unnamed := func(d *dump.Dump) {
		m := &d.Modules[d.Main]
		m.Path, m.DebugFile = "", ""
	}
	r, v := judged(t, testenv.Input(t, "verdicts", "complete.core.gz"), walks.SymbolSources(t, store), nil, unnamed, Default())
	if got := functionsOf(r); got != "crash recurse main _start" || !v.Holds {
		t.Errorf("%q\n%s", got, verdictText(t, v))
	}
}
