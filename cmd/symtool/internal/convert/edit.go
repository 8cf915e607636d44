package convert

import (
	"fmt"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// edit is the set of changes that convert makes to symbols.
type edit struct {
	noInlines bool
	noCFI     bool
	onlyCFI   bool
	prefixes  []srcmap.Prefix
	maps      cli.MapConfig
	name      string // new name of the module, or ""
	digest    bool   // add a digest even to symbol files whose input has none
	noDigest  bool   // write no digest
}

// change makes the changes of edit, and those that the output requires: canonical order, no
// duplicates.
func (c *converter) change(name string, m *symfmt.Module) {
	e := &c.edit
	dropped := 0
	if e.onlyCFI {
		dropped += m.KeepCFI()
	}
	if e.noInlines {
		dropped += m.DropInlines()
	}
	if e.noCFI {
		dropped += m.DropCFI()
	}
	c.mapFiles(name, m)
	if e.name != "" {
		m.Name = e.name
	}
	m.Digest = (m.Digest || e.digest) && !e.noDigest
	c.LostCallFiles = 0
	if c.oldInlines {
		c.LostCallFiles = m.OldInlines()
	}
	m.Canonicalize()
	same := m.Deduplicate()
	if c.Verbose {
		c.Msgs.Printf("symtool: %s: %s left out as requested, %s", name, text.Count(dropped, "record"), text.Count(same, "duplicate"))
	}
}

// mapFiles renames FILEs according to the --map flags.
func (c *converter) mapFiles(name string, m *symfmt.Module) {
	e := &c.edit
	if e.maps.Mapping == nil {
		if len(e.prefixes) > 0 {
			m.MapFiles(func(path string) string { return srcmap.ReplacePrefix(e.prefixes, path) })
		}
		return
	}
	var problems []bin.Problem
	m.MapFiles(func(path string) string {
		f := e.maps.Mapping.Map(e.prefixes, path, "")
		if f.Err != nil {
			problems = append(problems, symfmt.Problem{Lost: f.Lost(), Err: f.Err})
		} else if f.File != "" {
			c.mapped = append(c.mapped, *f)
		}
		return f.Name
	})
	c.ReportProblems(name, problems, cli.StatusInput)
}

// merge merges the symbols of one binary into one module.
func (c *converter) merge(inputs []*formats.Input, all []*formats.Symbols) (*symfmt.Module, error) {
	m := all[0].Module
	for i, s := range all[1:] {
		name := inputs[i+1].Name
		left, err := m.Merge(s.Module)
		if err != nil {
			return nil, cli.InputError(name, fmt.Errorf("%w, and of %s", err, inputs[0].Name))
		}
		if err := c.Lose(name, left.Losses("there is something else before it")); err != nil {
			return nil, err
		}
	}
	return m, nil
}
