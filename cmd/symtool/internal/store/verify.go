package store

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
)

// storeVerifyJSON is the document that verify --format json prints.
type storeVerifyJSON struct {
	Store    string             `json:"store"`
	Files    int                `json:"files"`
	Bytes    int64              `json:"bytes"`
	NoDigest int                `json:"without_digest"` // symbol files in which a flipped bit may go unnoticed
	Writing  int                `json:"writing"`        // temporary files of active writers
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
		return cmp.Or(context.Cause(ctx), cli.FileError(r.dir, err))
	}
	doc := storeVerifyJSON{
		Store: r.dir, Files: report.Files, Bytes: report.Bytes, NoDigest: report.NoDigest, Writing: len(report.Writing),
		Findings: []storeFindingJSON{}, Problems: []string{},
	}
	for _, f := range report.Findings {
		r.raise(cli.StatusFindings)
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
			if _, err := fmt.Fprintf(w, "%s: %s: %s\n", text.Printable(f.Path), f.Kind, text.Printable(f.Message)); err != nil {
				return err
			}
		}
		return nil
	})
	if !r.quiet {
		r.msgs.Printf("symtool: %s: %s with %d bytes, %s", r.dir, text.Count(doc.Files, "file"), doc.Bytes, text.Count(len(doc.Findings), "finding"))
	}
	if !r.quiet && doc.NoDigest > 0 {
		r.msgs.Printf("symtool: %s: %s without a digest, in which a flipped bit may go unnoticed (convert --digest adds one)", r.dir, text.Count(doc.NoDigest, "file"))
	}
	if r.verbose && doc.Writing > 0 {
		r.msgs.Printf("symtool: %s: %s being written", r.dir, text.Count(doc.Writing, "file"))
	}
	return err
}
