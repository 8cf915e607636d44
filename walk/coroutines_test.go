package walk_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// coroutineFacts are what a program says of its coroutines: "FRAME FUNCTION LINE WAITER", by the frame. Those that have
// finished have line 0.
func coroutineFacts(t *testing.T, text []byte) (facts map[uint64]string, finished int) {
	t.Helper()
	facts = map[uint64]string{}
	for line := range strings.Lines(string(text)) {
		var frame uint64
		var function, waiter string
		var at int
		if _, err := fmt.Sscanf(line, "%v %s %d %s", &frame, &function, &at, &waiter); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if at == 0 {
			finished++
			continue
		}
		facts[frame] = fmt.Sprintf("%s %d %s", function, at, waiter)
	}
	return facts, finished
}

// coroutinesOf returns the coroutines of a walk in the same form.
func coroutinesOf(t *testing.T, res *walk.Result) map[uint64]string {
	t.Helper()
	all := map[uint64]string{}
	for i := range res.Stacks {
		s := &res.Stacks[i]
		if s.Coroutine == nil {
			if s.Thread != res.Dump.RequestingThread() {
				t.Errorf("stack %d is not of coroutines, nor of the thread that crashed", i)
			}
			continue
		}
		if s.Coroutine.State() != "suspended" || s.Coroutine.Addr != s.Frames[0].SP {
			t.Errorf("coroutine %#x is %s, its frame at %#x", s.Coroutine.Addr, s.Coroutine.State(), s.Frames[0].SP)
		}
		for k := range s.Frames {
			f := &s.Frames[k]
			waiter := "(nil)"
			if k+1 < len(s.Frames) {
				waiter = fmt.Sprintf("%#x", s.Frames[k+1].SP)
			}
			all[f.SP] = fmt.Sprintf("%s %d %s", regexp.MustCompile(`^\w*`).FindString(f.Function()), f.Names[0].Line, waiter)
		}
	}
	return all
}

func walkCoroutines(t *testing.T, program string, d *dump.Dump) *walk.Result {
	t.Helper()
	sources := &walk.SymbolSet{Binaries: walktest.Binaries(t, program)}
	t.Cleanup(func() { sources.Close() })
	res, err := walk.NewWalker(sources, walk.Config{Coroutines: true}).Walk(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// compareCoroutines compares the coroutines in a dump with what the program printed.
func compareCoroutines(t *testing.T, program, path string, truth []byte) *walk.Result {
	t.Helper()
	res := walkCoroutines(t, program, walktest.Opened(t, path))
	want, finished := coroutineFacts(t, truth)
	got := coroutinesOf(t, res)
	wrong := 0
	for frame, fact := range want {
		if got[frame] != fact {
			if wrong++; wrong < 10 {
				t.Errorf("coroutine %#x: %q, want %q", frame, got[frame], fact)
			}
		}
	}
	for frame, fact := range got {
		if want[frame] == "" {
			t.Errorf("coroutine %#x: %q is none", frame, fact)
		}
	}
	if res.FinishedCoroutines != finished {
		t.Errorf("%d have finished, want %d", res.FinishedCoroutines, finished)
	}
	return res
}

// The coroutines in a core, and in a minidump with memory, are those that the program printed: function, line of the
// suspension, and which coroutine waits.
func TestCoroutines(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang"} {
		t.Run(compiler, func(t *testing.T) {
			program := testenv.Input(t, "crashes", "coroutines-"+compiler+".elf")
			core := testenv.Unpacked(t, testenv.Input(t, "crashes", "coroutines-"+compiler+".core.gz"))
			truth := testenv.ReadInput(t, "crashes", "coroutines-"+compiler+".txt")
			for _, path := range []string{core, walktest.AsMinidump(t, core)} {
				res := compareCoroutines(t, program, path, truth)
				if len(res.Stacks) < 9 {
					t.Errorf("%s: %d stacks", path, len(res.Stacks))
				}
			}
		})
	}
}

// The variables of a suspended coroutine have the values of its frame. GCC's code has them in memory where it goes on.
func TestCoroutineVariables(t *testing.T) {
	core := testenv.Unpacked(t, testenv.Input(t, "crashes", "coroutines-gcc.core.gz"))
	res := walkCoroutines(t, testenv.Input(t, "crashes", "coroutines-gcc.elf"), walktest.Opened(t, core))
	variables := res.Variables(t.Context())
	var all []string
	for i := range res.Stacks {
		s := &res.Stacks[i]
		if s.Coroutine == nil || len(s.Frames) != 3 {
			continue
		}
		var ids []string
		for k := range s.Frames {
			_, found := variables.Of(i, k)
			for _, v := range slices.Concat(found...) {
				if v.Name == "id" && v.Hidden == 0 && v.Whole() {
					ids = append(ids, fmt.Sprint(res.Dump.Memory.Order.Uint32(v.Bytes)))
				}
			}
		}
		all = append(all, strings.Join(ids, " "))
	}
	slices.Sort(all)
	if want := []string{"0 0 0", "1 1 1", "2 2 2", "3 3 3", "5 5 5", "7 7 7", "8 8 8"}; !slices.Equal(all, want) {
		t.Errorf("id is %q, want %q", all, want)
	}
}

// A coroutine that waits for one that waits for it has a stack that ends where the circle is closed.
func TestCoroutineCircle(t *testing.T) {
	core := testenv.Unpacked(t, testenv.Input(t, "crashes", "coroutines-gcc.core.gz"))
	program := testenv.Input(t, "crashes", "coroutines-gcc.elf")
	d := walktest.Opened(t, core)
	var top, leaf uint64
	for _, s := range walkCoroutines(t, program, d).Stacks {
		if s.Coroutine != nil && len(s.Frames) == 3 && top == 0 {
			leaf, top = s.Frames[0].SP, s.Frames[2].SP
		}
	}
	d.Memory.Regions = slices.Clone(d.Memory.Regions)
	for i := range d.Memory.Regions {
		if r := &d.Memory.Regions[i]; top-r.Addr < uint64(len(r.Data)) {
			r.Data = bytes.Clone(r.Data)
			d.Memory.Order.PutUint64(r.Data[top+24-r.Addr:], leaf) // the promise's waiter
		}
	}
	circles := 0
	for _, s := range walkCoroutines(t, program, d).Stacks {
		if s.End == walk.EndStuck {
			if circles++; len(s.Frames) != 3 || !strings.Contains(s.Why, "wait for each other in a circle") {
				t.Errorf("%d frames, %s", len(s.Frames), s.Why)
			}
		}
	}
	if circles != 1 {
		t.Errorf("%d circles, want 1", circles)
	}
}

// A program without coroutines keeps its threads, and the dump has a problem.
func TestNoCoroutines(t *testing.T) {
	core := testenv.Unpacked(t, testenv.Input(t, "crashes", "stacks.core.gz"))
	d := walktest.Opened(t, core)
	res := walkCoroutines(t, testenv.Input(t, "crashes", "stacks"), d)
	if len(res.Stacks) != len(d.Threads) || len(res.Dump.Problems) != len(d.Problems)+1 {
		t.Errorf("%d stacks, problems %v", len(res.Stacks), res.Dump.Problems)
	}
}
