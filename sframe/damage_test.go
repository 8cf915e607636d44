package sframe_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt/damage"
)

// use calls everything on a section. Damage must be reported with an offset
// in the section.
func use(t testing.TB, data []byte, o sframe.Options) {
	t.Helper()
	s, err := sframe.Decode(data, o)
	if err != nil {
		inside(t, data, err)
		return
	}
	for _, p := range s.Problems {
		inside(t, data, p.Err)
	}
	left := 64*len(data) + 1000 // limit on rows, which functions may share
	for i := range s.FDEs {
		f := &s.FDEs[i]
		for _, pc := range [...]uint64{f.Start - 1, f.Start, f.Start + uint64(f.Size)/2, f.Start + uint64(f.Size) - 1, f.Start + uint64(f.Size)} {
			if left < 0 {
				break
			}
			left -= int(f.NumRows) + len(s.FDEs)
			checkFind(t, s, pc)
		}
		useRows(t, data, s, i, &left)
	}
	for p := sframe.Spec; p <= sframe.Kernel; p++ {
		for _, f := range s.Check(p, sframe.Context{Code: o.Code, Object: o.Relocated}) {
			if f.Offset > uint64(len(data)) {
				t.Errorf("of %d bytes: %s", len(data), f)
			}
		}
	}
}

// useRows reads a function's rows.
func useRows(t testing.TB, data []byte, s *sframe.Section, i int, left *int) {
	t.Helper()
	rows := s.Rows(i)
	for n := uint32(0); rows.Next(); n++ {
		if n >= s.FDEs[i].NumRows {
			t.Fatalf("FDE %d: more rows than its %d", i, n)
		}
		if end := rows.Form.Offset + 2 + uint64(rows.Form.Words*rows.Form.WordSize); end > uint64(len(data)) {
			t.Fatalf("FDE %d: row %d ends at %#x, of %d bytes", i, n, end, len(data))
		}
		if *left--; *left < 0 {
			return
		}
	}
	if err := rows.Err(); err != nil {
		inside(t, data, err)
	}
}

// inside checks that an error has an offset inside the section, or at its end.
func inside(t testing.TB, data []byte, err error) {
	t.Helper()
	at := new(damage.Error)
	if !errors.As(err, &at) || at.Offset > uint64(len(data)) || at.Msg == "" {
		t.Errorf("of %d bytes: %v", len(data), err)
	}
}

// damageSamples returns samples of each version and ABI, including rare features.
func damageSamples(t testing.TB) (out []sample) {
	t.Helper()
	names := map[string]bool{
		"amd64-v1-pltgot-ibt.so": true, "amd64-v2-pltgot.so": true, "amd64-v2-lld.so": true, "amd64-v2llvm-callers.o": true,
		"amd64-v3-drap.o": true, "amd64-v3-pltgot-ibt.so": true, "aarch64-v1-unrep.o": true, "aarch64be-v2-callers.o": true,
		"aarch64-v3-basic-O2-pac.o": true, "s390x-v3-unrep.o": true,
	}
	for _, s := range elfSamples(t) {
		if names[s.name] {
			out = append(out, s)
		}
	}
	if len(out) != len(names) {
		t.Fatalf("%d of %d files", len(out), len(names))
	}
	return out
}

// A section truncated anywhere is read up to there, and the truncation is reported.
func TestTruncated(t *testing.T) {
	n := 0
	for _, sample := range damageSamples(t) {
		for size := range sample.data {
			data := sample.data[:size:size]
			use(t, data, sample.opts)
			n++
			s, err := sframe.Decode(data, sample.opts)
			if size > 0 && err == nil && len(s.Problems) == 0 && !endsHere(sample, size) {
				t.Errorf("%s: %d of %d bytes, and no problem", sample.name, size, len(sample.data))
			}
		}
	}
	t.Logf("%d sections", n)
}

// endsHere reports whether a section could end at size: between two sections
// that lld put one after the other.
func endsHere(s sample, size int) bool {
	return s.name == "amd64-v2-lld.so" && size >= 0x1cc && size <= 0x1d0
}

// Bytes are set to extreme and to random values.
func TestFlipped(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	n := 0
	for _, sample := range damageSamples(t) {
		for at, was := range sample.data {
			for _, b := range [...]byte{0, 1, 0x7f, 0x80, 0xff, was ^ 1<<rng.IntN(8), byte(rng.IntN(256))} {
				if b != was {
					use(t, patch(sample.data, at, b), sample.opts)
					n++
				}
			}
		}
	}
	t.Logf("%d sections", n)
}
