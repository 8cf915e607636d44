// Package jit finds what JIT compilers say about the code that they have made: perf maps (/tmp/perf-PID.map) and jitdump
// files (jit-PID.dump, which the process maps, so that tools find it). Use a Finder.
package jit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/jitdump"
	"github.com/symtool/symtool/symfmt/symlist"
	"github.com/symtool/symtool/walk/dump"
)

// Finder finds files about generated code. The zero value finds none.
type Finder struct {
	Files   []string // perf maps and jitdump files of the dump, which need no checks
	AtPaths bool     // look where a process leaves such files
	PID     int      // the running process that the dump was made of, or 0
}

// Code is what a file says about generated code. Its addresses are those of the process.
type Code struct {
	Path    string
	Symbols resolve.Symbols
}

// Find returns the code in files about the process of a dump, those with lines first. A file that cannot be read, or
// that is another process's, is a problem; it is none if there is no file.
func (f *Finder) Find(ctx context.Context, d *dump.Dump) (all []Code, problems []symfmt.Problem) {
	for _, c := range f.candidates(d) {
		code, found, err := c.read(ctx, d)
		switch {
		case errors.Is(err, os.ErrNotExist) && !c.named:
		case err != nil:
			problems = append(problems, symfmt.Problem{Lost: "names of generated code", Err: err})
		default:
			all, problems = append(all, code), append(problems, found...)
		}
	}
	return all, problems
}

// candidate is a file that may be about the process.
type candidate struct {
	path  string    // of the file here
	shown string    // in messages and outputs
	named bool      // by the user
	began time.Time // when the process began; zero if unknown
	live  bool
}

// candidates returns the files in the order in which they are asked.
func (f *Finder) candidates(d *dump.Dump) (list []candidate) {
	for _, path := range f.Files {
		list = append(list, candidate{path: path, shown: path, named: true})
	}
	if !f.AtPaths || !d.System.OS.IsLinux() {
		return list
	}
	at, pid, began := "", int(d.Process.ID), d.Process.Started
	if f.PID != 0 {
		at = fmt.Sprintf("/proc/%d/root", f.PID)
		pid, began = inContainer(f.PID), beganAt(f.PID)
	}
	add := func(path string) {
		list = append(list, candidate{path: at + path, shown: path, began: began, live: f.PID != 0})
	}
	seen := map[string]bool{}
	for i := range d.Maps {
		if path := d.Maps[i].Path; isJITDump(path) && !seen[path] {
			seen[path] = true
			add(path)
		}
	}
	if f.PID != 0 || d.Process.HasID {
		add(fmt.Sprintf("/tmp/perf-%d.map", pid))
	}
	return list
}

// isJITDump reports whether a mapping is that of a jitdump file, by the name that perf requires.
func isJITDump(path string) bool {
	number, ok := strings.CutPrefix(filepath.Base(path), "jit-")
	number, isDump := strings.CutSuffix(number, ".dump")
	_, err := strconv.ParseUint(number, 10, 32)
	return ok && isDump && err == nil && filepath.IsAbs(path)
}

// read reads a file, and reports whether it is the process's.
func (c *candidate) read(ctx context.Context, d *dump.Dump) (code Code, problems []symfmt.Problem, err error) {
	st, err := os.Stat(c.path)
	if err != nil {
		return code, nil, err
	}
	if !st.Mode().IsRegular() {
		return code, nil, &bin.Error{File: c.shown, Msg: "not a regular file"}
	}
	f, err := os.Open(c.path)
	if err != nil {
		return code, nil, err
	}
	defer f.Close()
	head := make([]byte, 1<<10)
	n, _ := f.ReadAt(head, 0) // an error is that of the reader
	head = head[:n]
	switch {
	case jitdump.Match(head):
		return c.readDump(ctx, d, f, st)
	case c.named && !symlist.MatchPerfMap(head):
		return code, nil, &bin.Error{File: c.shown, Msg: "neither a perf map (START SIZE name) nor a jitdump file"}
	case !c.named && n == 0: // nothing has been compiled yet
		return code, nil, os.ErrNotExist
	}
	if err := c.checkMap(d, st.ModTime()); err != nil {
		return code, nil, err
	}
	result, err := symlist.Read(ctx, f, st.Size(), symlist.ReadOptions{Format: symlist.PerfMap, File: c.shown})
	if err != nil {
		return code, nil, err
	}
	result.Module.Funcs = jitdump.InForce(result.Module.Funcs)
	return c.code(result)
}

// checkMap returns an error if a perf map that was found by its name cannot be the process's: it is older than the
// process, or newer than the dump.
func (c *candidate) checkMap(d *dump.Dump, modified time.Time) error {
	const exact = 2 * time.Second // of the times of dumps and file systems
	written := d.Time
	if written.IsZero() {
		written = d.Modified
	}
	switch {
	case c.named:
	case !c.began.IsZero() && modified.Before(c.began.Add(-exact)):
		return &bin.Error{File: c.shown, Msg: fmt.Sprintf("last written at %s, before the process began at %s: it is another process's", second(modified), second(c.began))}
	case !c.live && !written.IsZero() && modified.After(written.Add(exact)):
		return &bin.Error{File: c.shown, Msg: fmt.Sprintf("last written at %s, after the dump at %s: it may be another process's; name it with --jit if it is not", second(modified), second(written))}
	}
	return nil
}

func second(t time.Time) string { return t.UTC().Format(time.DateTime) + " UTC" }

// readDump reads a jitdump file.
func (c *candidate) readDump(ctx context.Context, d *dump.Dump, f *os.File, st os.FileInfo) (code Code, problems []symfmt.Problem, err error) {
	o := jitdump.Options{File: c.shown}
	if !c.live {
		if o.At, o.Modified = d.Time, st.ModTime(); o.At.IsZero() {
			o.At = d.Modified
		}
	}
	result, err := jitdump.Read(ctx, f, st.Size(), o)
	if err != nil {
		return code, nil, err
	}
	if m := result.Module; d.Arch != nil && m.Arch != "" && m.Arch != d.Arch.Name {
		return code, nil, &bin.Error{File: c.shown, Msg: fmt.Sprintf("the code is that of %s, the dump's CPU is %s", m.Arch, d.Arch.Name)}
	}
	return c.code(result)
}

// code returns what was read from a file. A process that runs, or that crashed, need not have written all of the last
// line or record: that is no problem.
func (c *candidate) code(r *symfmt.Result) (Code, []symfmt.Problem, error) {
	problems := slices.DeleteFunc(r.Problems, func(p symfmt.Problem) bool { return p.Err == r.Cut })
	return Code{c.shown, resolve.FromModule(r.Module, resolve.ModuleOptions{Path: c.shown})}, problems, nil
}
