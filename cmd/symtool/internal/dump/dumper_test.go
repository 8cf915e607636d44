package dump

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/par"
)

// A panic is the end of one file, with a status and a message of its own.
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

// The threads of all workers together are as many as --jobs.
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
