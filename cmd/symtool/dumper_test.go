package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/par"
)

func manyProblems(n int) *dumpResult {
	r := &dumpResult{binaryResult: binaryResult{File: "a.elf"}}
	for i := range n {
		r.problem(bin.Problem{Lost: fmt.Sprintf("unit %d", i), Err: &bin.Error{Section: ".debug_info", Offset: uint64(i), Msg: "version 77"}})
	}
	return r
}

// A damaged file does not flood the terminal.
func TestProblemsAreBounded(t *testing.T) {
	for _, c := range []struct {
		problems int
		verbose  bool
		lines    int
		last     string
	}{
		{shownProblems, false, shownProblems, "symtool: a.elf: .debug_info+0x9: version 77 (lost: unit 9)"},
		{shownProblems + 1, false, shownProblems + 1, "symtool: and 1 more problem, which --verbose shows"},
		{1000, false, shownProblems + 1, "symtool: and 990 more problems, which --verbose shows"},
		{1000, true, 1000, "symtool: a.elf: .debug_info+0x3e7: version 77 (lost: unit 999)"},
	} {
		var b bytes.Buffer
		reportLines(newMessages(&b), manyProblems(c.problems).lines, c.verbose)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != c.lines || lines[len(lines)-1] != c.last {
			t.Errorf("%d problems, verbose %v: %d lines, the last %q", c.problems, c.verbose, len(lines), lines[len(lines)-1])
		}
	}
}

// The file is named once, by whoever knows it.
func TestNamed(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("bad"), "a.elf: bad"},
		{&bin.Error{Section: ".debug_info", Offset: 1, Msg: "bad"}, "a.elf: .debug_info+0x1: bad"},
		{&bin.Error{File: "b.elf", Msg: "bad"}, "b.elf: bad"},
		{fmt.Errorf("unit: %w", &bin.Error{File: "b.elf", Msg: "bad"}), "unit: b.elf: bad"},
		{&fs.PathError{Op: "read", Path: "c.elf", Err: errors.New("bad")}, "read c.elf: bad"},
		{&fs.PathError{Op: "open", Path: "c.elf", Err: errors.New("bad")}, "c.elf: bad"},
	} {
		if got := inputError("a.elf", c.err).Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A panic is the end of one file, with a status and a message of its own.
func TestPanicIsOneFilesError(t *testing.T) {
	r := &dumpResult{binaryResult: binaryResult{File: "a.elf", Output: "a.sym"}}
	r.fail(par.Each(context.Background(), 1, 1, func(context.Context, int, int) error { panic("index out of range") }))
	if want := "a.elf: internal error, please report it with the file: panic: index out of range"; r.Error != want {
		t.Errorf("%q, want %q", r.Error, want)
	}
	if r.Status != statusInput || r.Output != "" {
		t.Errorf("status %d, output %q", r.Status, r.Output)
	}
	var b bytes.Buffer
	d := &dumper{dumpConfig: &dumpConfig{verbose: true, output: "x"}, msgs: newMessages(&b)}
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
