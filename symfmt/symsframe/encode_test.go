package symsframe

import (
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/symfmt/damage"

	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/sframe"
)

// corpus calls use for the section of each shared file, and for each shared raw section
// that is not damaged on purpose.
func corpus(t *testing.T, use func(t *testing.T, name string, s *sframe.Section, size int)) {
	paths, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data", "sframe", "elf"), "*"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no files", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file, err := elfobj.Open(path, object.DefaultLimits())
			f := file.Object()
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			s, err := Open(f)
			if errors.Is(err, ErrNone) || err == nil && len(s.Headers) == 0 {
				return // intended: there was no CFI, or nothing to merge
			}
			if err != nil {
				t.Fatal(err)
			}
			use(t, filepath.Base(path), s, int(f.Section(".sframe").Size()))
		})
	}
	paths, err = filepath.Glob(filepath.Join(testenv.Shared(t, "data", "sframe", "synth"), "ok-*"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no sections", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := sframe.Decode(data, sframe.Options{Addr: 0x4000})
			if err != nil {
				t.Fatal(err)
			}
			use(t, filepath.Base(path), s, len(data))
		})
	}
}

// losses lists what a version cannot carry, by file of the corpus: the text that each
// problem contains, for both versions or for version 2 alone.
var losses = map[string]struct{ both, v2 []string }{
	// ld 2.40 wrote two FDEs for .plt.got at one place.
	"amd64-v1-pltgot-ibt.so": {both: []string{"another function, of 34 bytes, starts there (lost: function at 0x1040)"}},
	// A function of size 0 covers nothing.
	"amd64-v1-unrep.o": {both: []string{"its size is 0 (lost: function"}},
	"amd64-v2-unrep.o": {both: []string{"its size is 0 (lost: function"}},
	// ld -r of binutils before 2.45 wrote garbage.
	"aarch64-v1-reloc.o": {both: []string{"size code 3 (lost", "size code 3 (lost", "size code 3 (lost", "size code 3 (lost", "row at +0x48 after one at +0xff (lost"}},
	"aarch64-v2-reloc.o": {both: []string{"size code 3 (lost", "size code 3 (lost", "size code 3 (lost", "size code 3 (lost"}},
	"amd64-v2-reloc.o":   {both: []string{"size code 3 (lost", "size code 3 (lost", "size code 3 (lost"}},
	// FLEX and signal frames came with version 3.
	"amd64-v3-drap.o":      {v2: []string{"row at +0x5: version 2 has no form for CFA: r10+0 (lost: function"}},
	"ok-v3-aarch64.bin":    {v2: []string{"row at +0x4: version 2 has no form for CFA: r9+272 (lost: function"}},
	"ok-v3-s390x-flex.bin": {v2: []string{"row at +0xc: version 2 has no form for CFA: r14+320 (lost: function"}},
	"s390x-v3-unrep.o": {v2: []string{
		"row at +0x4: version 2 has no form for CFA: r14+160 (lost: function",
		"version 2 has no mark for it (lost: signal frame of the function",
	}},
}

// Every function of every file has the same rules at each address after it was written in
// versions 2 and 3, or its loss is expected.
func TestConvertCorpus(t *testing.T) {
	var addresses, functions int
	corpus(t, func(t *testing.T, name string, s *sframe.Section, _ int) {
		for _, version := range []uint8{2, 3} {
			data, problems, err := s.Convert(version)
			if err != nil {
				t.Fatal(err)
			}
			back, err := sframe.Decode(data, sframe.Options{Addr: s.Addr})
			if err != nil || back.Problems != nil {
				t.Fatal(err, back.Problems)
			}
			want := losses[name].both
			if version == 2 {
				want = append(want[:len(want):len(want)], losses[name].v2...)
			}
			match := func(p damage.Problem, want string) bool { return strings.Contains(p.String(), want) }
			if !slices.EqualFunc(problems, want, match) {
				t.Errorf("V%d: %v, want %v", version, problems, want)
			}
			functions += len(back.FDEs)
			for i := range s.FDEs {
				if !slices.ContainsFunc(problems, func(p damage.Problem) bool { return p.Lost == fmt.Sprintf("function at %#x", s.FDEs[i].Start) }) {
					addresses += compareFunc(t, s, back, i)
				}
			}
		}
	})
	t.Logf("%d functions, %d addresses", functions, addresses)
}

// compareFunc compares what two sections say of FDE i of the first, and returns
// the number of addresses.
func compareFunc(t *testing.T, s, back *sframe.Section, i int) (n int) {
	was := &s.FDEs[i]
	k := back.FindFDE(was.Start)
	if k < 0 {
		t.Fatalf("no function at %#x", was.Start)
	}
	is := &back.FDEs[k]
	signal := was.Signal && back.Headers[0].Version == 3
	if is.Start != was.Start || is.Size != was.Size || is.Block != was.Block || is.Mask != was.Mask || is.KeyB != was.KeyB || is.Signal != signal {
		t.Fatalf("%+v became %+v", was, is)
	}
	for pc := was.Start; was.Contains(pc) && s.FindFDE(pc) == i; pc++ {
		_, a, errA := s.Find(pc)
		_, b, errB := back.Find(pc)
		a.Start, b.Start = 0, 0
		if a.Outermost() && b.Outermost() {
			a, b = sframe.Row{}, sframe.Row{}
		}
		if a != b || errA != errB {
			t.Fatalf("at %#x %+v, %v became %+v, %v", pc, a, errA, b, errB)
		}
		n++
	}
	return n
}

// Encode's output for sections that as, ld and mold wrote in version 3 is never
// larger.
func TestEncodeSize(t *testing.T) {
	var before, after int
	corpus(t, func(t *testing.T, name string, s *sframe.Section, size int) {
		if s.Headers[0].Version != 3 || strings.HasPrefix(name, "ok-") {
			return
		}
		data, _, err := s.Convert(3)
		if err != nil {
			t.Fatal(err)
		}
		before += size
		after += len(data)
		why, expected := smaller[name]
		switch {
		case len(data) > size:
			t.Errorf("%d bytes, want at most %d", len(data), size)
		case len(data) < size != expected:
			t.Errorf("%d bytes of %d, expected a difference: %v (%s)", len(data), size, expected, why)
		}
	})
	t.Logf("%d bytes of %d", after, before)
}

// smaller lists the files for which Encode's output is smaller, and why.
var smaller = map[string]string{
	"aarch64-v3-big.o":    "starts are as wide as the last row needs, not as the function's size",
	"amd64-v3-big-linked": "starts are as wide as the last row needs, not as the function's size",
	"amd64-v3-lld.so":     "one header, where lld put three sections one after another",
	"s390x-v3-basic-O2.o": "no zeros behind the rows",
	"s390x-v3-callers.o":  "no zeros behind the rows",
	"s390x-v3-unrep.o":    "rows that repeat the one before are left out; no zeros behind the rows",
}
