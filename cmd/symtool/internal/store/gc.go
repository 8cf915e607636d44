package store

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve/store"
)

// removalWords maps the reasons for a removal to words for messages.
var removalWords = map[string]string{
	"leftover": "from an interrupted write",
	"empty":    "an empty folder",
	"age":      "too old",
	"number":   "more versions than are kept",
	"size":     "the store is too large",
}

// storeGCJSON is the document that gc --format json prints.
type storeGCJSON struct {
	Store    string             `json:"store"`
	DryRun   bool               `json:"dry_run"`
	Removed  []storeRemovalJSON `json:"removed"`
	Versions int                `json:"versions"`
	Files    int                `json:"files"`
	Bytes    int64              `json:"bytes"`
	Left     int64              `json:"bytes_left"`
	Future   []storeFutureJSON  `json:"future,omitempty"`
}

// storeFutureJSON is a file dated in the future, which would keep its version from ever
// becoming old.
type storeFutureJSON struct {
	Path string    `json:"path"`
	Time time.Time `json:"time"`
}

type storeRemovalJSON struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Why   string `json:"why"`
}

// gc removes the versions that the policy does not keep.
func (r *storeRun) gc(ctx context.Context) error {
	doc := storeGCJSON{Store: r.dir, DryRun: r.policy.DryRun, Removed: []storeRemovalJSON{}}
	r.policy.Removed = func(x store.Removal) {
		doc.Removed = append(doc.Removed, storeRemovalJSON{filepath.ToSlash(x.Path), x.Bytes, x.Why})
	}
	c, err := r.store.Collect(ctx, r.policy, time.Now())
	if err != nil {
		return cmp.Or(context.Cause(ctx), cli.FileError(r.dir, err))
	}
	for _, p := range c.Problems {
		r.fail(&cli.StatusError{Status: cli.StatusOutput, Err: p.Err})
	}
	if n := len(c.Future); n > 0 {
		first := c.Future[0]
		r.msgs.Warnf("symtool: %s: %s dated in the future, which gc counts as the newest until then, such as %s (%s)", r.dir, text.Count(n, "file"), first.Path, first.Time.UTC().Format(time.RFC3339))
	}
	for _, e := range c.Future {
		doc.Future = append(doc.Future, storeFutureJSON{filepath.ToSlash(e.Path), e.Time.UTC()})
	}
	r.reportLayouts(c.Layouts, "counted, and none removed")
	doc.Versions, doc.Files, doc.Bytes, doc.Left = c.Versions, c.Files, c.Bytes, c.Left
	if over := c.Left - r.policy.MaxSize; r.policy.MaxSize >= 0 && over > 0 {
		r.raise(cli.StatusFindings)
		r.msgs.Warnf("symtool: %s: still %d bytes over --max-size: --keep-last keeps the rest", r.dir, over)
	}
	if r.json {
		return r.printJSON(&doc)
	}
	if r.quiet {
		return nil
	}
	return r.print(func(w io.Writer) error {
		_, err := io.WriteString(w, doc.text())
		return err
	})
}

func (d *storeGCJSON) text() string {
	var b strings.Builder
	did := "removed"
	if d.DryRun {
		did = "would remove"
	}
	for _, x := range d.Removed {
		fmt.Fprintf(&b, "%s %s (%s)\n", did, x.Path, removalWords[x.Why])
	}
	fmt.Fprintf(&b, "%s %s, %s with %d bytes; %d bytes are left\n", did, text.Count(d.Versions, "version"), text.Count(d.Files, "file"), d.Bytes, d.Left)
	return b.String()
}
