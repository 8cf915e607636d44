package store

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve/store"
)

// storeListJSON is the document that ls --format json prints.
type storeListJSON struct {
	Store   string            `json:"store"`
	Bytes   int64             `json:"bytes"`
	Modules []storeModuleJSON `json:"modules"`
}

type storeModuleJSON struct {
	Name     string             `json:"name"`
	Versions []storeVersionJSON `json:"versions"`
}

type storeVersionJSON struct {
	ID    string    `json:"id"`
	Bytes int64     `json:"bytes"`
	Time  time.Time `json:"time"`
	Files []string  `json:"files"`
}

// ls lists the store, or the modules that it lacks.
func (r *storeRun) ls(_ context.Context) error {
	if r.missing != "" {
		return r.lsMissing()
	}
	l, err := r.store.List(time.Now())
	if err != nil {
		return cli.FileError(r.dir, err)
	}
	r.reportProblems(l.Problems)
	r.reportLayouts(l.Layouts(), "listed")
	doc := r.listing(l)
	if r.json {
		return r.printJSON(doc)
	}
	return r.print(func(w io.Writer) error {
		for _, m := range doc.Modules {
			for _, v := range m.Versions {
				_, err := fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", text.Printable(m.Name), text.Printable(v.ID), v.Bytes,
					v.Time.Format(time.RFC3339), text.Printable(strings.Join(v.Files, " ")))
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// listing groups versions by module.
func (r *storeRun) listing(l *store.Listing) *storeListJSON {
	doc := &storeListJSON{Store: r.dir, Modules: []storeModuleJSON{}}
	last := -1
	for _, v := range l.Versions {
		files := slices.Concat(v.Files, v.Programs)
		if len(files) == 0 {
			continue
		}
		one := storeVersionJSON{ID: v.ID, Bytes: v.Bytes(), Time: v.Time().UTC().Truncate(time.Second)}
		for _, e := range files {
			one.Files = append(one.Files, filepath.Base(e.Path))
		}
		if last < 0 || doc.Modules[last].Name != v.Name {
			doc.Modules = append(doc.Modules, storeModuleJSON{Name: v.Name})
			last++
		}
		m := &doc.Modules[last]
		switch {
		case !r.last || len(m.Versions) == 0:
			m.Versions = append(m.Versions, one)
			doc.Bytes += one.Bytes
		case !one.Time.Before(m.Versions[0].Time):
			doc.Bytes += one.Bytes - m.Versions[0].Bytes
			m.Versions[0] = one
		}
	}
	return doc
}

// storeMissingJSON is the document that ls --missing --format json prints.
type storeMissingJSON struct {
	Store   string        `json:"store"`
	Asked   int           `json:"asked"`
	Missing []cli.Absence `json:"missing"`
}

// lsMissing prints the modules in a list that are not in the store, without duplicates and in the
// order of the list.
func (r *storeRun) lsMissing() error {
	name, in := r.missing, r.stdin
	if name == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return cli.FileError(name, err)
		}
		defer f.Close()
		in = f
	}
	doc := storeMissingJSON{Store: r.dir, Missing: []cli.Absence{}}
	seen := map[store.Place]bool{}
	err := store.ReadWanted(in, func(p store.Place) error {
		if seen[p] {
			return nil
		}
		seen[p] = true
		doc.Asked++
		path, err := r.store.Has(p)
		if path == "" && err == nil {
			doc.Missing = append(doc.Missing, cli.Absence{Name: p.Name, ID: p.ID})
		}
		return err
	})
	if err != nil {
		return cli.FileError(name, err)
	}
	if len(doc.Missing) > 0 {
		r.raise(cli.StatusFindings)
	}
	if r.json {
		return r.printJSON(&doc)
	}
	return r.print(func(w io.Writer) error {
		for _, m := range doc.Missing {
			if _, err := fmt.Fprintf(w, "%s/%s\n", text.Printable(m.Name), m.ID); err != nil {
				return err
			}
		}
		return nil
	})
}
