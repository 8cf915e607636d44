package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
)

// summaryOf sums up dumps of the fixtures, walked with the symbols of one of them.
func summaryOf(t *testing.T, jobs int, names ...string) *Tables {
	t.Helper()
	binaries, err := supplier.NewBinaries([]string{testenv.Input(t, "walk-sources.elf")}, supplier.BinaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := &Runner{Symbols: &walk.SymbolSet{Symbols: binaries}, Jobs: jobs}
	defer b.Symbols.Close()
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join(testenv.Input(t), name))
	}
	s := NewSummary(DefaultRules())
	err = b.Run(context.Background(), paths, func(w *Walked) error {
		w.Path = filepath.Base(w.Path)
		s.Add(w)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Tables()
}

func textOf(t *testing.T, tables *Tables) string {
	t.Helper()
	var b strings.Builder
	if err := tables.WriteText(&b, TextOptions{Crashes: 2, Modules: 2}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSummary(t *testing.T) {
	names := []string{"walk-sources.core.gz", "mini-linux.dmp", "walk-sources.core.gz", "mini-hostile.dmp", "none.dmp", "mini-windows.dmp"}
	tables := summaryOf(t, 1, names...)
	if n := tables.Totals; n.Dumps != 6 || n.OK != 4 || n.Damaged != 1 || n.Failed != 1 || n.Read() != 5 {
		t.Errorf("%+v", n)
	}
	if c := tables.Crashes[0]; c != (CrashRow{Signature: "crash", Dumps: 2, Share: 0.4, Reason: "SIGSEGV / SEGV_MAPERR", Example: "walk-sources.core.gz"}) {
		t.Errorf("%+v", c)
	}
	for i := range tables.Modules {
		m := &tables.Modules[i]
		if i > 0 && m.Cost > tables.Modules[i-1].Cost {
			t.Errorf("%s costs more than the one before", m.Module)
		}
		if m.Module == "walk-sources.elf" && (m.Symbols != StateFound || m.Dumps != 2 || m.Frames != 26 || m.CFI != 24 || m.Cost != 0) {
			t.Errorf("%+v", m)
		}
	}
	text := textOf(t, tables)
	for _, want := range []string{"6 dumps: 4 whole, 1 damaged, 1 not read\n", "\n       2  40.0%  crash\n                 SIGSEGV / SEGV_MAPERR; e.g. walk-sources.core.gz\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nlacks %q", text, want)
		}
	}
	for jobs := range 4 {
		if again := textOf(t, summaryOf(t, jobs+2, names...)); again != text {
			t.Errorf("%d jobs:\n%s\n1 job:\n%s", jobs+2, again, text)
		}
	}
}

func TestDocument(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	schema, err := c.Compile(filepath.Join(testenv.Root(t), "golden", "walk", "fleet", "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tables := range []*Tables{NewSummary(DefaultRules()).Tables(), summaryOf(t, 2, "walk-sources.core.gz", "mini-linux.dmp", "none.dmp")} {
		document, err := json.Marshal(tables.Document("symtool test"))
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", document, err)
		}
	}
}

// Names cannot break out of the data of a page, nor of the text for browsers without scripts.
func TestHTMLHostile(t *testing.T) {
	var b strings.Builder
	if err := manyTables().WriteHTML(&b, HTMLOptions{Generator: "x", Root: `"><script>`, Text: TextOptions{Crashes: 10, Modules: 10_000, Verdicts: 1}}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for what, want := range map[string]int{"<script": 2, "</script": 2, "<img": 0} {
		if n := strings.Count(page, what); n != want {
			t.Errorf("%q is there %d times, want %d", what, n, want)
		}
	}
}

func TestVerdict(t *testing.T) {
	lib := Module{"lib.so", "A0"}
	for want, tables := range map[string]*Tables{
		"no verdict: none of 2 dumps could be read": {Totals: Totals{Dumps: 2, Failed: 2}},
		"nothing contradicts the symbols: no stack of 1 dump has a caller": {
			Totals: Totals{Dumps: 1, OK: 1}, Modules: []ModuleRow{NewModuleRow(lib, Counts{Dumps: 1, Found: 1, Frames: Trusts{Context: 1}})},
		},
		"the symbols hold: 7 callers in 2 dumps, none guessed": {
			Totals: Totals{Dumps: 2, OK: 1, Damaged: 1}, Modules: []ModuleRow{NewModuleRow(lib, Counts{Dumps: 2, Found: 2, Callers: Trusts{CFI: 7}, Ends: 1, CutEnds: 1})},
		},
		"symbols to blame: 3 of 8 callers guessed, 1 end too early, 4 frames without a function, in 1 dump; 75% of it by lib.so A0, which has no symbols": {
			Totals: Totals{Dumps: 1, OK: 1}, Modules: []ModuleRow{
				NewModuleRow(lib, Counts{Dumps: 1, Missing: 1, Callers: Trusts{CFI: 1, Scan: 2}, Unnamed: 4}),
				NewModuleRow(Module{"b.so", ""}, Counts{Dumps: 1, Found: 1, Callers: Trusts{CFI: 4, FramePointer: 1}, Ends: 1}),
			},
		},
		"not decided: 1 of 1 caller guessed, 0 ends too early, 0 frames without a function, in 1 dump; 100% of it by code in no module, which no symbols describe": {
			Totals: Totals{Dumps: 1, OK: 1}, Modules: []ModuleRow{NewModuleRow(Module{}, Counts{Dumps: 1, Callers: Trusts{Scan: 1}})},
		},
	} {
		if got := tables.Verdict(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestState(t *testing.T) {
	for _, c := range []struct {
		counts Counts
		want   SymbolState
	}{
		{Counts{Dumps: 2, Missing: 2, OtherID: 2, Corrupt: 1}, StateCorrupt},
		{Counts{Dumps: 2, Missing: 2, OtherID: 2}, StateOtherID},
		{Counts{Dumps: 2, Found: 2, OtherID: 2}, StateFound}, // the binary's
		{Counts{Dumps: 2, Found: 1, Missing: 1}, StateMissing},
		{Counts{Dumps: 2}, StateMissing}, // there was no place to look
		{Counts{Dumps: 1, Found: 1, Callers: Trusts{Scan: 1}}, StateNoCFI},
		{Counts{Dumps: 1, Found: 1, Callers: Trusts{Scan: 1, CFI: 1}}, StateFound},
		{Counts{Dumps: 1, Found: 1, Callers: Trusts{Scan: 1, Code: 1}}, StateFound},
	} {
		if got := c.counts.state(Module{Name: "a"}); got != c.want {
			t.Errorf("%+v: %q, want %q", c.counts, got, c.want)
		}
	}
}

// Sums do not depend on the order of what is added, and examples are the first dumps.
func TestAdd(t *testing.T) {
	a := Counts{Dumps: 1, Found: 1, Ends: 2, Unnamed: 3, Example: Example{"b", 2}}
	b := Counts{Dumps: 2, CutEnds: 1, Example: Example{"a", 1}}
	none := Counts{Dumps: 1}
	x, y := a, none
	x.Add(b)
	x.Add(none)
	y.Add(b)
	y.Add(a)
	if x != y || x.Example.Dump != "a" || x.Dumps != 4 {
		t.Errorf("%+v and %+v", x, y)
	}
	c, d := Crashes{1, Example{"b", 2}, "SIGBUS"}, Crashes{1, Example{"a", 1}, "SIGSEGV"}
	e := c
	e.Add(d)
	d.Add(c)
	if e != d || e.Reason != "SIGSEGV" || e.Dumps != 2 {
		t.Errorf("%+v and %+v", e, d)
	}
}

// Names of hostile dumps are short and valid.
func TestShortened(t *testing.T) {
	for name, want := range map[string]string{"lib.so": "lib.so", "a\xff": "a\ufffd", strings.Repeat("x", 1<<20): strings.Repeat("x", maxModuleName)} {
		if got := shortened(name); got != want {
			t.Errorf("%.20q: %.20q (%d bytes)", name, got, len(got))
		}
	}
}

// Memory grows with signatures and modules, not with dumps.
func TestManyDumps(t *testing.T) {
	s := NewSummary(DefaultRules())
	for i := range 10_000 {
		s.Add(&Walked{Path: fmt.Sprint(i), Err: errors.New("no")})
	}
	if tables := s.Tables(); tables.Totals.Failed != 10_000 || len(tables.Crashes) != 0 || len(s.crashes)+len(s.modules) != 0 {
		t.Errorf("%+v", tables.Totals)
	}
}
