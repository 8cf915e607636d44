package dwarf2sym

import (
	"bytes"
	"context"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/symfmt"
)

// The bodies of a large file are in a temporary file, whose memory is released repeatedly:
// the text is the same as with bodies in Go's memory. If there is no room for the file,
// they are in Go's memory.
func TestScratch(t *testing.T) {
	path, err := GoProgram()
	if err != nil {
		t.Skip(err)
	}
	f := symtest.Open(t, path)
	text := func(jobs int, scratch *object.Scratch) ([]byte, Stats) {
		r := &reader{opts: &Options{}, file: f, jobs: jobs, largeInfo: 1}
		r.report.spill = scratch
		if err := r.read(context.Background()); err != nil {
			t.Fatal(err)
		}
		how, drops := symfmt.WriteOptions{Jobs: jobs}, 0
		if scratch != nil {
			how.Passed = func() { scratch.Drop(); drops++ }
		}
		var b bytes.Buffer
		if err := symfmt.Write(&b, &r.module, how); err != nil {
			t.Fatal(err)
		}
		if scratch != nil && drops < 2 {
			t.Errorf("memory was given back %d times", drops)
		}
		return b.Bytes(), r.report.Stats
	}
	want, wantStats := text(1, nil)
	for _, jobs := range []int{1, 2, 5} {
		for _, dir := range []string{t.TempDir(), "/nowhere"} {
			scratch := &object.Scratch{Dir: dir}
			got, stats := text(jobs, scratch)
			if !bytes.Equal(got, want) || stats != wantStats {
				t.Errorf("jobs %d, in %s: other text, or %+v in place of %+v", jobs, dir, stats, wantStats)
			}
			if err := scratch.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
