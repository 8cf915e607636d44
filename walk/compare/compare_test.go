package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// peerOutline reads a document of rust-minidump, which follows a header in its test
// snapshots.
func peerOutline(t *testing.T, name string) *outline {
	t.Helper()
	data, err := os.ReadFile(testenv.Shared(t, "data", "minidumps", "rust-minidump", "expected", name))
	if err != nil {
		t.Fatal(err)
	}
	return outlineOf(t, string(data[bytes.IndexByte(data, '{'):]))
}

func outlineOf(t *testing.T, text string) *outline {
	t.Helper()
	d := NewReader(strings.NewReader(text), "x.json")
	o, err := d.next()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.next(); err != io.EOF {
		t.Fatal(err)
	}
	return o
}

// plainDocument is a document as decoded by a simple decoder.
type plainDocument struct {
	CrashingThread *struct {
		Index int `json:"threads_index"`
	} `json:"crashing_thread"`
	Threads []struct {
		ID     uint32 `json:"thread_id"`
		Name   string `json:"thread_name"`
		Frames []struct {
			Offset, Module, Function, File, Trust string
			ModuleOffset                          string `json:"module_offset"`
			Line                                  uint32
			Inlines                               []struct {
				Function, File string
				Line           uint32
			}
		}
	}
}

// Documents of rust-minidump are read as encoding/json reads them.
func TestOutlinePeers(t *testing.T) {
	for _, name := range []string{"json-pretty.txt", "json-pretty-symbols.txt", "macos_inlines_json_pretty.txt"} {
		o := peerOutline(t, name)
		data, err := os.ReadFile(testenv.Shared(t, "data", "minidumps", "rust-minidump", "expected", name))
		if err != nil {
			t.Fatal(err)
		}
		var p plainDocument
		if err := json.Unmarshal(data[bytes.IndexByte(data, '{'):bytes.LastIndexByte(data, '}')+1], &p); err != nil {
			t.Fatal(err)
		}
		if len(p.Threads) != len(o.Threads) || p.CrashingThread.Index != o.Crashing {
			t.Errorf("%s: %d threads, %d; want %d, %d", name, len(o.Threads), o.Crashing, len(p.Threads), p.CrashingThread.Index)
		}
		frames := 0
		for i, want := range p.Threads {
			got := o.Threads[i]
			if got.ID != want.ID || !got.HasID || got.Name != want.Name || len(got.Frames) != len(want.Frames) {
				t.Fatalf("%s: thread %d: %+v", name, i, got)
			}
			for k, w := range want.Frames {
				frames++
				g := got.Frames[k]
				text := fmt.Sprintf("%s %s %s %s %s %d", w.Offset, w.Module, w.Function, w.File, w.Trust, w.Line)
				for _, in := range w.Inlines {
					text += fmt.Sprintf(" %s %s %d", in.Function, in.File, in.Line)
				}
				digits := len(w.Offset) - 2
				ours := fmt.Sprintf("0x%0*x %s %s %s %s %d", digits, g.Addr, g.Module, g.Function, g.File, g.Trust, g.Line)
				for _, in := range g.Inlines {
					ours += fmt.Sprintf(" %s %s %d", in.Function, in.File, in.Line)
				}
				if ours != text || w.ModuleOffset != "" && fmt.Sprintf("0x%0*x", digits, g.Offset) != w.ModuleOffset {
					t.Errorf("%s: frame %d.%d: %s, want %s", name, i, k, ours, text)
				}
			}
		}
		t.Logf("%s: %d threads, %d frames", name, len(p.Threads), frames)
	}
}

// Two peers' walks of one dump, without symbols and with them.
func TestComparePeers(t *testing.T) {
	c := compareOutlines(peerOutline(t, "json-pretty.txt"), peerOutline(t, "json-pretty-symbols.txt"))
	assertComparison(t, "peers", c)
	same := compareOutlines(peerOutline(t, "json-pretty-symbols.txt"), peerOutline(t, "json-pretty-symbols.txt"))
	if same.Differs || same.Frames.Same == 0 {
		t.Errorf("%+v", same.Frames)
	}
}

func assertComparison(t *testing.T, name string, c *Comparison) {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, c); err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	testenv.Golden(t).Assert(t, name+".txt", b.Bytes())
	testenv.Golden(t).Assert(t, name+".json", append(data, '\n'))
}

// The walk of a program by its symbols, and by symbols with a wrong rule, by
// frame pointers, and without names.
func TestCompareWalks(t *testing.T) {
	x := walktest.NewProgram(t)
	outline := func(s *walk.SymbolSet) *outline {
		r, err := walk.NewWalker(s, walk.Config{}).Walk(context.Background(), walktest.Opened(t, x.Core))
		if err != nil {
			t.Fatal(err)
		}
		return outlineFrom(r, "walk-sources.core")
	}
	good := outline(walks.SymbolSources(t, x.Store))
	wrong := x.EditedStore("wrong-cfa", "STACK CFI 2b8 .cfa: $rbp 16 +\n", "")
	renamed := x.EditedStore("renamed", " aligned\n", " aligned2\n")
	empty := x.ChangedStore("empty", walktest.OtherModule)
	bare := x.ChangedStore("bare", walktest.NoRules)
	for name, c := range map[string]*Comparison{
		"same":          compareOutlines(good, outline(walks.BothSources(t, x.Store, x.Binary))),
		"wrong":         compareOutlines(good, outline(walks.SymbolSources(t, wrong))),
		"renamed":       compareOutlines(good, outline(walks.SymbolSources(t, renamed))),
		"frame-pointer": compareOutlines(good, outline(walks.SymbolSources(t, bare))),
		"better":        compareOutlines(outline(walks.SymbolSources(t, empty)), good),
	} {
		assertComparison(t, name, c)
	}
}

// documentOf writes an outline in the schema.
func documentOf(o *outline) string {
	type object = map[string]any
	var threads []any
	for _, t := range o.Threads {
		frames := []any{}
		for _, f := range t.Frames {
			var inlines []any
			for _, in := range f.Inlines {
				inlines = append(inlines, object{"function": in.Function, "file": in.File, "line": in.Line})
			}
			frames = append(frames, object{
				"offset": fmt.Sprintf("%#x", f.Addr), "module_offset": fmt.Sprintf("%#x", f.Offset), "module": f.Module, "function": f.Function,
				"file": f.File, "line": f.Line, "trust": f.Trust.String(), "inlines": inlines, "registers": object{"rip": []any{1, object{}}},
				"symtool": object{"sp": fmt.Sprintf("%#x", f.SP), "technique": "cfi"},
			})
		}
		threads = append(threads, object{"thread_id": t.ID, "thread_name": t.Name, "frames": frames})
	}
	doc := object{"threads": threads, "status": "OK", "modules": []any{object{"filename": "a"}}, "symtool": object{"dump": o.Dump}}
	if o.Crashing >= 0 {
		doc["crashing_thread"] = object{"threads_index": o.Crashing, "frames": []any{object{}}}
	}
	data, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return string(data) + "\n"
}

// An outline that is written and read again is the same.
func TestOutlineRoundTrip(t *testing.T) {
	x := walktest.NewProgram(t)
	r, err := walk.NewWalker(walks.SymbolSources(t, x.Store), walk.Config{}).Walk(context.Background(), walktest.Opened(t, x.Core))
	if err != nil {
		t.Fatal(err)
	}
	want := outlineFrom(r, "walk-sources.core")
	got := outlineOf(t, documentOf(want))
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}

func TestOutlineErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{``, "EOF"},
		{`[]`, `x.json:0x0: found an array, want the JSON of a walk, an object`},
		{`7`, `x.json:0x0: found a number, want the JSON of a walk, an object`},
		{`{}`, `x.json:0x2: the document has no "threads": want the JSON of a walk`},
		{`{"threads": 7}`, `x.json:0xc: want an array for "/threads", found a number`},
		{`{"threads": [7]}`, `x.json:0xd: want an object for "/threads/0", found a number`},
		{`{"threads": [{"frames": {}}]}`, `x.json:0x18: want an array for "/threads/0/frames", found an object`},
		{`{"threads": [{"thread_id": -1}]}`, `x.json:0x1b: want a 32-bit number for "/threads/0/thread_id", found a number -1`},
		{`{"threads": [{"thread_id": "1"}]}`, `x.json:0x1b: want a 32-bit number for "/threads/0/thread_id", found a string`},
		{`{"threads": [{"frames": [{"offset": 12}]}]}`, `x.json:0x24: want an address such as "0x1234" for "/threads/0/frames/0/offset", found a number`},
		{`{"threads": [{"frames": [{"offset": "0xg"}]}]}`, `x.json:0x24: want an address such as "0x1234" for "/threads/0/frames/0/offset", found a string`},
		{`{"threads": [{"frames": [{"module": {}}]}]}`, `x.json:0x24: want a string for "/threads/0/frames/0/module", found an object`},
		{`{"threads": [{"frames": [{"symtool": []}]}]}`, `x.json:0x25: want an object for "/threads/0/frames/0/symtool", found an array`},
		{`{"threads": [`, `x.json:0xd: the document ends in the middle`},
		{`{"threads": [}`, `x.json:0xd: invalid character '}' at start of value`},
		{`{"threads": [{"frames": [{"line": 4294967296}]}]}`, `x.json:0x22: want a 32-bit number for "/threads/0/frames/0/line", found a number 4294967296`},
		{`{"threads": [{"frames": [{"line": 1.5}]}]}`, `x.json:0x22: want a 32-bit number for "/threads/0/frames/0/line", found a number 1.5`},
		{`{"threads": [{"frames": [{"inlines": [{"function": true}]}]}]}`, `x.json:0x33: want a string for "/threads/0/frames/0/inlines/0/function", found a boolean`},
		{`{"a": ` + strings.Repeat("[", 20000), `x.json:0x2715: exceeded max depth`},
		{`{"a": "` + strings.Repeat("x", maxToken+1<<20), `x.json:0x4: a value of more than 16777216 bytes`},
	} {
		_, err := NewReader(strings.NewReader(c.text), "x.json").next()
		if err == nil || err.Error() != c.want {
			t.Errorf("%.60s: %v, want %s", c.text, err, c.want)
		}
		var place *Error
		if err != io.EOF && (!errors.As(err, &place) || errors.Unwrap(place) == nil) {
			t.Errorf("%.60s: %T", c.text, err)
		}
	}
}

// lines returns documents one after another, each of a dump with one frame.
func lines(names ...string) *Reader {
	text := ""
	for _, name := range names {
		name, function, _ := strings.Cut(name, "=")
		f := OutlineFrame{Addr: 0x1000, Trust: walk.TrustCFI, Function: function}
		text += documentOf(&outline{Dump: name, Crashing: -1, Threads: []outlineThread{{ID: 1, Frames: []OutlineFrame{f}}}})
	}
	return NewReader(strings.NewReader(text), "x.json")
}

func TestCompareDocuments(t *testing.T) {
	for _, c := range []struct {
		a, b      string
		want      string // compared, in order
		different string
		only      string
	}{
		{"x=f y=g", "x=f y=g", "x y", "", ""},
		{"x=f y=g z=h", "z=h y=k x=f", "y z x", "y", ""},
		{"x=f y=g", "y=g", "y", "", "x |"},
		{"x=f", "v=f w=g x=h", "x", "x", "| v w"},
		{"=f =g", "=f =h", " ", "#2", ""},
		{"x=f y=g", "=f =h", "x y", "y", ""},
		{"=f =g", "x=f y=h", "x y", "y", ""},
		{"x=f", "y=f", "x", "", ""}, // one each
		{"x=f x=g", "x=f x=g", "x x", "", ""},
	} {
		var order []string
		s, err := Documents(lines(strings.Fields(c.a)...), lines(strings.Fields(c.b)...), func(x *Comparison) error {
			order = append(order, x.Dump)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		only := strings.TrimSpace(strings.Join(s.OnlyA, " ") + " | " + strings.Join(s.OnlyB, " "))
		if only == "|" {
			only = ""
		}
		if got := strings.Join(order, " "); got != c.want || strings.Join(s.Changed, " ") != c.different || only != c.only || s.Dumps != len(order) {
			t.Errorf("%s with %s: %q, differ %q, only %q; want %q, %q, %q", c.a, c.b, got, s.Changed, only, c.want, c.different, c.only)
		}
		if s.Clean() != (c.different == "" && c.only == "") {
			t.Errorf("%s with %s: clean %v", c.a, c.b, s.Clean())
		}
	}
	var b bytes.Buffer
	s, err := Documents(lines("x=f", "y=g", "z=h"), lines("x=f", "y=k", "v\x1b=h"), func(*Comparison) error { return nil })
	if err != nil || WriteSummary(&b, s) != nil {
		t.Fatal(err)
	}
	want := "2 dumps compared, 1 differ; 2 frames: 1 same, 1 changed\ndiffer:\n  y\nin A only:\n  z\nin B only:\n  v\\x1b\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	if _, err := Documents(lines(), lines("x=f"), nil); err == nil || err.Error() != "x.json:0x0: the file is empty" {
		t.Error(err)
	}
}

// framesAt returns the frames of a stack in the notation "address@sp".
func framesAt(text string) (all []OutlineFrame) {
	for _, s := range strings.Fields(text) {
		var f OutlineFrame
		fmt.Sscanf(s, "%x@%x", &f.Addr, &f.SP)
		all = append(all, f)
	}
	return all
}

func TestAlignFrames(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"1 2 3", "", ""},
		{"1 2 3", "1 2 3", "0:0 1:1 2:2"},
		{"1 2 3", "1 3", "0:0 2:1"},
		{"1 3", "1 2 3", "0:0 1:2"},
		{"1 2 3", "1 4 3", "0:0 2:2"},
		{"1 2 3 4 5", "9 2 8 4 7", "1:1 3:3"},
		{"5@10 5@20 5@30", "5@20 5@30", "1:0 2:1"}, // recursion
		{"5@10 5@20 5@30 6@40", "5@10 5@30 6@40", "0:0 2:1 3:2"},
		{"1@10 2@20 3@30", "1@10 2@28 3@30", "0:0 1:1 2:2"}, // a wrong stack pointer
		{"1@10 2@20 3@30", "1 2 3", "0:0 1:1 2:2"},          // unknown stack pointers
	} {
		var got []string
		for _, p := range alignFrames(framesAt(c.a), framesAt(c.b)) {
			got = append(got, fmt.Sprintf("%d:%d", p.a, p.b))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q with %q: %v, want %s", c.a, c.b, got, c.want)
		}
	}
}

// Pairs never cross and are at the same address; where few frames were lost
// from a long stack, all the others are pairs.
func TestAlignLong(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	a := make([]OutlineFrame, 20_000)
	for i := range a {
		a[i] = OutlineFrame{Addr: uint64(1 + random.IntN(50)), SP: uint64(i+1) * 16}
	}
	var b []OutlineFrame
	for i, f := range a {
		if i%97 != 5 {
			b = append(b, f)
		}
	}
	b[3].Addr, b[len(b)-3].Addr = 99, 99
	pairs := alignFrames(a, b)
	if want := len(b) - 2; len(pairs) != want {
		t.Errorf("%d pairs, want %d", len(pairs), want)
	}
	if !slices.IsSortedFunc(pairs, func(x, y framePair) int {
		if x.a < y.a && x.b < y.b {
			return -1
		}
		return 1
	}) {
		t.Error("pairs cross")
	}
	for _, p := range pairs {
		if a[p.a].Addr != b[p.b].Addr {
			t.Fatal(p)
		}
	}
}

// FuzzOutline reads any bytes as a document, compares the result with itself and with
// an empty walk, and writes the comparison.
func FuzzOutline(f *testing.F) {
	f.Add([]byte(`{"threads": [{"thread_id": 7, "frames": [{"offset": "0x1000", "trust": "scan", "inlines": [{"function": "f"}]}]}], "symtool": {"dump": "x"}}`))
	f.Add([]byte(`{"threads": null, "crashing_thread": {"threads_index": 9}}{"threads": []}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := NewReader(bytes.NewReader(data), "x")
		for {
			o, err := d.next()
			if err != nil {
				return
			}
			if c := compareOutlines(o, o); c.Differs && !repeatsIDs(o) {
				t.Fatalf("%s differs from itself: %+v", data, c)
			}
			for _, c := range []*Comparison{compareOutlines(o, &outline{}), compareOutlines(&outline{}, o)} {
				var b bytes.Buffer
				if err := Write(&b, c); err != nil || strings.ContainsAny(b.String(), "\x1b\x07\x00") {
					t.Fatalf("%v %q", err, b.String())
				}
				if _, err := json.Marshal(c); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func repeatsIDs(o *outline) bool {
	seen := map[uint32]bool{}
	for _, t := range o.Threads {
		if seen[t.ID] {
			return true
		}
		seen[t.ID] = true
	}
	return false
}

// BenchmarkOutline measures reading and comparing a document with a deep stack.
func BenchmarkOutline(b *testing.B) {
	o := &outline{Crashing: 0, Threads: []outlineThread{{ID: 1, HasID: true}}}
	for i := range 100_000 {
		o.Threads[0].Frames = append(o.Threads[0].Frames, OutlineFrame{Addr: uint64(0x1000 + i%7), SP: uint64(i) * 48, Trust: walk.TrustCFI,
			Module: "prog", Function: fmt.Sprint("f", i%7), File: "prog.c", Line: uint32(i % 7)})
	}
	text := documentOf(o)
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := NewReader(strings.NewReader(text), "x").next(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("compare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if compareOutlines(o, o).Differs {
				b.Fatal()
			}
		}
	})
}

// Goroutines are paired by their ids, because those that no thread runs have no thread's id. Other stacks are paired by
// the thread's id.
func TestGoroutines(t *testing.T) {
	const stack = `{"thread_id":%d,"symtool":{"goroutine":{"id":%d}},"frames":[{"offset":"0x10","function":"%s","trust":"cfi"}]}`
	document := func(stacks ...string) string {
		return `{"threads":[` + strings.Join(stacks, ",") + `,{"thread_id":7,"frames":[{"offset":"0x20","function":"crash","trust":"cfi"}]}]}`
	}
	one, two, three := fmt.Sprintf(stack, 7, 1, "main"), fmt.Sprintf(stack, 0, 2, "wait"), fmt.Sprintf(stack, 0, 3, "sleep")
	a := outlineOf(t, document(one, two, three))
	for _, c := range []struct{ b, want string }{
		{document(one, two, three), "x.json: 4 frames: 4 same\n"},
		{document(three, two, one), "x.json: 4 frames: 4 same\n"},
		{document(one, three), "x.json: 4 frames: 3 same, 1 lost\n  goroutine 2 (in A only): 1 frame: 0 same, 1 lost\n    lost    A#0       0x10 wait, cfi\n"},
	} {
		a.Dump = "x.json"
		var b bytes.Buffer
		if err := Write(&b, compareOutlines(a, outlineOf(t, c.b))); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.b, &b, c.want)
		}
	}
}
