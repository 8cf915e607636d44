package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"
)

// storeVerifyJSON is what verify --format json prints.
type storeVerifyJSON struct {
	Store    string             `json:"store"`
	Files    int                `json:"files"`
	Bytes    int64              `json:"bytes"`
	Writing  int                `json:"writing"` // temporary files of writers that are at work
	Findings []storeFindingJSON `json:"findings"`
	Problems []string           `json:"problems"`
}

type storeFindingJSON struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// verify reads all files of the store.
func (r *storeRun) verify(ctx context.Context) error {
	report, err := r.store.Verify(ctx, r.jobs, time.Now())
	if err != nil {
		return cmp.Or(context.Cause(ctx), fileError(r.dir, err))
	}
	doc := storeVerifyJSON{
		Store: r.dir, Files: report.Files, Bytes: report.Bytes, Writing: len(report.Writing),
		Findings: []storeFindingJSON{}, Problems: []string{},
	}
	for _, f := range report.Findings {
		r.raise(statusFindings)
		doc.Findings = append(doc.Findings, storeFindingJSON{filepath.ToSlash(f.Path), f.Kind, f.Message})
	}
	for _, p := range report.Problems {
		doc.Problems = append(doc.Problems, p.String())
	}
	r.reportProblems(report.Problems)
	if r.json {
		return r.printJSON(&doc)
	}
	err = r.print(func(w io.Writer) error {
		for _, f := range doc.Findings {
			if _, err := fmt.Fprintf(w, "%s: %s: %s\n", printable(f.Path), f.Kind, printable(f.Message)); err != nil {
				return err
			}
		}
		return nil
	})
	if !r.quiet {
		r.msgs.printf("symtool: %s: %s with %d bytes, %s", r.dir, count(doc.Files, "symbol file"), doc.Bytes, count(len(doc.Findings), "finding"))
	}
	if r.verbose && doc.Writing > 0 {
		r.msgs.printf("symtool: %s: %s being written", r.dir, count(doc.Writing, "file"))
	}
	return err
}
