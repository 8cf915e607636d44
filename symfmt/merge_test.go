package symfmt

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

const mergeHead = "MODULE Linux x86_64 AB0 a\n"

func TestMerge(t *testing.T) {
	const cfa = ".cfa: $rsp 8 + .ra: .cfa -8 + ^"
	for _, c := range []struct {
		name, a, b, want string
		left             Merged
	}{
		{
			name: "numbers of files and origins",
			a:    "FILE 4294967295 a.c\nFILE 1 b.c\nINLINE_ORIGIN 4294967295 x\nFUNC 1000 10 0 f\nINLINE 0 5 1 4294967295 1000 4\n1000 10 1 4294967295\n",
			b:    "FILE 0 b.c\nFILE 4294967295 c.c\nINLINE_ORIGIN 0 y\nINLINE_ORIGIN 3 x\nFUNC 2000 10 0 g\nINLINE 0 5 4294967295 0 2000 4\nINLINE 0 5 0 3 2004 4\n2000 10 1 0\n",
			want: "FILE 0 b.c\nFILE 1 a.c\nFILE 2 c.c\nINLINE_ORIGIN 0 x\nINLINE_ORIGIN 1 y\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 4\n1000 10 1 1\n" +
				"FUNC 2000 10 0 g\nINLINE 0 5 2 1 2000 4\nINLINE 0 5 0 0 2004 4\n2000 10 1 0\n",
		},
		{
			name: "a file that is used but not declared stays unknown",
			a:    "FUNC 1000 10 0 f\n1000 10 1 7\n", b: "FILE 0 b.c\nFUNC 2000 10 0 g\n2000 8 1 0\n2008 8 1 9\n",
			want: "FILE 0 " + NoFile + "\nFILE 1 b.c\nFUNC 1000 10 0 f\n1000 10 1 0\nFUNC 2000 10 0 g\n2000 8 1 1\n2008 8 1 0\n",
		},
		{
			name: "the same twice",
			a:    "INFO A b\nFILE 1 a.c\nFUNC 1000 10 0 f\n1000 10 1 1\nPUBLIC 2000 0 p\nSTACK WIN 0 1000 1 0 0 0 0 0 0 0 1\nSTACK CFI INIT 1000 10 " + cfa + "\nSTACK CFI 1001 .cfa: $rsp 16 +\n",
			b:    "INFO A b\nFILE 2 a.c\nFUNC 1000 10 0 f\n1000 10 1 2\nPUBLIC 2000 0 p\nSTACK WIN 0 1000 1 0 0 0 0 0 0 0 1\nSTACK CFI INIT 1000 10 " + cfa + "\nSTACK CFI 1001 .cfa: $rsp 16 +\n",
			want: "INFO A b\nFILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 1 0\nPUBLIC 2000 0 p\nSTACK WIN 0 1000 1 0 0 0 0 0 0 0 1\nSTACK CFI INIT 1000 10 " + cfa + "\nSTACK CFI 1001 .cfa: $rsp 16 +\n",
		},
		{
			name: "the first counts for its code",
			a:    "FUNC 1000 10 0 f\nFUNC 2000 0 0 empty\nSTACK CFI INIT 1000 10 " + cfa + "\n",
			b:    "FUNC 1000 10 0 other\nFUNC ff8 9 0 before\nFUNC 100f 9 0 after\nFUNC ff8 8 0 beside\nFUNC 1010 8 0 beside\nFUNC 2000 1 0 at\nFUNC fffffffffffffff0 f 0 last\nSTACK CFI INIT 1000 10 .cfa: $rsp 16 +\nSTACK CFI INIT 1008 18 .cfa: $rsp 16 +\nSTACK CFI INIT 1010 10 " + cfa + "\n",
			want: "FUNC ff8 8 0 beside\nFUNC 1000 10 0 f\nFUNC 1010 8 0 beside\nFUNC 2000 0 0 empty\nFUNC fffffffffffffff0 f 0 last\nSTACK CFI INIT 1000 10 " + cfa + "\nSTACK CFI INIT 1010 10 " + cfa + "\n",
			left: Merged{Funcs: 4, Blocks: 2},
		},
		{
			name: "a FUNC takes the place of a PUBLIC of the other module, not of its own",
			a:    "FUNC 1000 10 0 f\nPUBLIC 1000 0 own\nPUBLIC 2000 0 g\nPUBLIC 3000 0 other\nPUBLIC 4000 0 both\n",
			b:    "FUNC 2000 10 0 g\nFUNC 3000 10 0 h\nPUBLIC 1000 0 f\nPUBLIC 2000 0 own\nPUBLIC 4000 0 both\nPUBLIC 4000 0 also\nPUBLIC 1004 0 inside\n",
			want: "FUNC 1000 10 0 f\nFUNC 2000 10 0 g\nFUNC 3000 10 0 h\nPUBLIC 1000 0 own\nPUBLIC 1004 0 inside\nPUBLIC 2000 0 own\nPUBLIC 4000 0 also\nPUBLIC 4000 0 both\n",
			left: Merged{Publics: 1},
		},
		{
			name: "inlines of the old form with those of the new one",
			a:    "FILE 0 a.c\nINLINE_ORIGIN 0 0 x\nINLINE_ORIGIN 1 -1 y\nFUNC 1000 10 0 f\nINLINE 0 5 0 1000 4\nINLINE 0 6 1 1004 4\n1000 10 1 0\n",
			b:    "FILE 0 b.c\nINLINE_ORIGIN 0 x\nFUNC 2000 10 0 g\nINLINE 0 5 0 0 2000 4\n",
			want: "FILE 0 " + NoFile + "\nFILE 1 a.c\nFILE 2 b.c\nINLINE_ORIGIN 0 x\nINLINE_ORIGIN 1 y\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 4\nINLINE 0 6 0 1 1004 4\n1000 10 1 1\n" +
				"FUNC 2000 10 0 g\nINLINE 0 5 2 0 2000 4\n",
			left: Merged{OriginFiles: 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := tolerant(t, mergeHead+c.a)
			b, _ := tolerant(t, mergeHead+c.b)
			left, err := a.Merge(b)
			if err != nil || left != c.left {
				t.Errorf("left %+v (%v), want %+v", left, err, c.left)
			}
			a.Canonicalize()
			a.Deduplicate()
			if got := textOf(t, a); got != mergeHead+c.want {
				t.Errorf("got\n%s\nwant\n%s", got, mergeHead+c.want)
			}
		})
	}
}

func TestMergeOthers(t *testing.T) {
	for module, want := range map[string]string{
		"MODULE Linux x86_64 AC0 a\n": "not of the same binary: id AC0, and AB0 before",
		"MODULE Linux x86 AB0 a\n":    "not of the same binary: architecture x86, and x86_64 before",
		"MODULE mac x86_64 AB0 a\n":   "not of the same binary: operating system mac, and Linux before",
	} {
		a, b := mustRead(t, []byte(mergeHead)), mustRead(t, []byte(module))
		if _, err := a.Merge(b); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", module, err, want)
		}
	}
	a, b := mustRead(t, []byte(mergeHead)), mustRead(t, []byte("MODULE Linux x86_64 AB0 a.debug\n"))
	if left, err := a.Merge(b); err != nil || a.Name != "a" || len(left.Losses("")) != 0 {
		t.Errorf("%v: %v, %+v", a.Name, err, left)
	}
	// As read from GSYM, and vice versa.
	for _, turned := range []bool{false, true} {
		a, b := mustRead(t, []byte("MODULE unknown unknown AB0 a\n")), mustRead(t, []byte(mergeHead))
		if turned {
			a, b = b, a
		}
		if _, err := a.Merge(b); err != nil || a.OS != "Linux" || a.Arch != "x86_64" {
			t.Errorf("%v: %s %s", err, a.OS, a.Arch)
		}
	}
}

func TestMergedLosses(t *testing.T) {
	got := fmt.Sprint(Merged{1, 2, 3, 4}.Losses("why"))
	want := "[1 FUNC record (why) 2 PUBLIC records (why) 3 STACK CFI INIT records (why) " +
		"4 files of INLINE_ORIGIN records (the other module's INLINE records have call files, and origins then have none)]"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A module that is split at any of its slices is the same after merging; merged with itself it
// is unchanged.
func TestMergeOfParts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	check := func(what string, data []byte) {
		read := func() *Module {
			m, _ := tolerant(t, string(data))
			m.Canonicalize()
			m.Deduplicate()
			return m
		}
		want := textOf(t, read())
		cfi, rest := read(), read()
		cfi.KeepCFI()
		rest.DropCFI()
		same, again := read(), read()
		for _, pair := range [][2]*Module{{cfi, rest}, {same, again}} {
			left, err := pair[0].Merge(pair[1])
			if err != nil || left != (Merged{}) {
				t.Fatalf("%s: %+v, %v", what, left, err)
			}
			pair[0].Canonicalize()
			pair[0].Deduplicate()
			if got := textOf(t, pair[0]); got != want {
				t.Fatalf("%s: got\n%s\nwant\n%s", what, clip(got), clip(want))
			}
		}
	}
	for name, data := range symbolFiles(t) {
		check(name, data)
	}
	for seed := range uint64(generated / 10) {
		var b bytes.Buffer
		if err := Write(&b, newGenerator(seed).module(), WriteOptions{Jobs: 1}); err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprint("seed ", seed), b.Bytes())
	}
}

func clip(s string) string {
	const most = 4000
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// Every record of two modules is in the merged module, or is counted as lost.
func TestMergeCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	for seed := range uint64(generated / 10) {
		a, b := newGenerator(seed).module(), newGenerator(seed+1_000_000).module()
		a.Canonicalize()
		b.OS, b.Arch, b.ID = a.OS, a.Arch, a.ID
		records := len(a.Funcs) + len(a.CFI.Blocks)
		others := len(b.Funcs) + len(b.CFI.Blocks)
		equal := make(map[string]bool)
		for line := range strings.Lines(textOf(t, a)) {
			equal[line] = true
		}
		left, err := a.Merge(b)
		if err != nil {
			t.Fatal(err)
		}
		kept := len(a.Funcs) + len(a.CFI.Blocks) - records
		if kept+left.Funcs+left.Blocks > others || kept+left.Funcs+left.Blocks < others-len(equal) {
			t.Fatalf("seed %d: %d kept, %+v left out of %d", seed, kept, left, others)
		}
		a.Canonicalize()
		if again, _ := tolerant(t, textOf(t, a)); !again.Equal(a) {
			t.Fatalf("seed %d: what was merged is read as something else", seed)
		}
	}
}
