package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/walk/fleet"
	"github.com/symtool/symtool/walk/report"
)

// walkDump walks the dump with that name. If the dump cannot be read, or the walk panics, it sets
// Walked.Err and returns no error: a dump that fails each time must not fail its bundle. An error
// that it returns is the worker's.
func (s *shared) walkDump(ctx context.Context, name string) (*walked, error) {
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	defer func() { <-s.slots }()
	start := time.Now()
	file, remove, err := fetch(ctx, name)
	var ours *workerError
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &ours):
		return nil, err
	case err != nil:
		return &walked{Walked: &fleet.Walked{Path: name, Err: err}, release: func() error { return nil }, ms: since(start)}, nil
	}
	y, walker, err := s.walker()
	if err != nil {
		remove()
		return nil, err
	}
	// All bundles share the symbols: a search for them must not stop because this bundle ends.
	w, panicked := safely(name, func() (*fleet.Walked, error) {
		return walkOne(context.WithoutCancel(ctx), walker, file, name)
	})
	if panicked {
		walker = nil // it may be in any state
	}
	return &walked{Walked: w, ms: since(start), release: func() error {
		w.Close()
		remove()
		return s.give(y, walker)
	}}, nil
}

func since(start time.Time) int64 { return time.Since(start).Milliseconds() }

// walkOne is a variable for a test that panics.
var walkOne = func(ctx context.Context, w *fleet.Worker, file, name string) (*fleet.Walked, error) {
	return w.Walk(ctx, file, name)
}

// safely turns an error or a panic of f into the dump's error. f has no context that could end, so
// its error is always about the dump.
func safely(name string, f func() (*fleet.Walked, error)) (w *fleet.Walked, panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			w, panicked = &fleet.Walked{Path: name, Err: fmt.Errorf("%s: panic in the walk: %v", name, p)}, true
		}
	}()
	w, err := f()
	if err != nil {
		w = &fleet.Walked{Path: name, Err: fmt.Errorf("%s: %w", name, err)}
	}
	return w, false
}

// write writes the line of a walked dump, as symtool walk --format jsonl does.
func (c *Config) write(w io.Writer, walked *fleet.Walked) error {
	o := report.DocumentOptions{Dump: walked.Path, Version: version.Version, Registers: c.Registers}
	return report.NewDocument(walked.Result, o).Write(w, report.WriteOptions{})
}

// writeLine writes the line of a dump, or of its failure.
func (c *Config) writeLine(w io.Writer, walked *fleet.Walked) error {
	switch {
	case walked.Err != nil:
		return report.WriteFailure(w, walked.Path, walked.Err)
	case walked.Rendered != nil:
		_, err := w.Write(walked.Rendered)
		return err
	}
	return c.write(w, walked) // too long to have been rendered
}
