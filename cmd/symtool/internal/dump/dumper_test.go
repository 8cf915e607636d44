package dump

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/internal/testenv"
)

// TestPanicIsOneFilesError checks that a panic ends the work on only one file, with a status
// and a message.
func TestPanicIsOneFilesError(t *testing.T) {
	r := &dumpResult{Result: binfile.Result{File: "a.elf", Output: "a.sym"}}
	r.fail(par.Each(context.Background(), 1, 1, func(context.Context, int, int) error { panic("index out of range") }))
	if want := "a.elf: internal error, please report it with the file: panic: index out of range"; r.Error != want {
		t.Errorf("%q, want %q", r.Error, want)
	}
	if r.Status != cli.StatusInput || r.Output != "" {
		t.Errorf("status %d, output %q", r.Status, r.Output)
	}
	var b bytes.Buffer
	d := &dumper{dumpConfig: &dumpConfig{verbose: true, output: "x"}, msgs: cli.NewMessages(&b)}
	d.report(r)
	if !strings.Contains(b.String(), "dumper_test.go") {
		t.Errorf("no stack: %s", b.String())
	}
}

// TestStoreKeepsLittle checks that after a file is written, only its line of the summary is
// kept, without its module and the buffer of its output.
func TestStoreKeepsLittle(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "input", "gcc*.elf"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var last uint64
	for _, times := range []int{1, 11} { // the first run also allocates what is allocated only once
		d := &dumper{dumpConfig: &dumpConfig{store: t.TempDir(), jobs: 1, quiet: true}, stdout: io.Discard, msgs: cli.NewMessages(io.Discard)}
		for range times {
			d.files = append(d.files, files...)
		}
		if err := d.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		now := live()
		if each := (int64(now) - int64(last)) / int64(len(d.files)); last != 0 && each > 8<<10 {
			t.Errorf("%d bytes are kept of each file", each)
		}
		last = now
		runtime.KeepAlive(d)
	}
}

// TestShare checks that all workers together have --jobs threads.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		jobs, workers int
		want          []int
	}{{1, 1, []int{1}}, {8, 1, []int{8}}, {8, 3, []int{3, 3, 2}}, {4, 4, []int{1, 1, 1, 1}}} {
		var got []int
		for w := range c.workers {
			got = append(got, share(c.jobs, c.workers, w))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d jobs, %d workers: %v, want %v", c.jobs, c.workers, got, c.want)
		}
	}
}
