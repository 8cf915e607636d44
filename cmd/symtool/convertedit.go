package main

import (
	"fmt"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// edit is a set of changes that convert makes in symbols.
type edit struct {
	noInlines bool
	noCFI     bool
	onlyCFI   bool
	prefixes  []srcmap.Prefix
	maps      mapConfig
	name      string // of the module, "" for its own
}

// change makes the changes, and those that the output needs: canonical order, no duplicates.
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
	c.lostCallFiles = 0
	if c.oldInlines {
		c.lostCallFiles = m.OldInlines()
	}
	m.Canonicalize()
	same := m.Deduplicate()
	if c.verbose {
		c.msgs.printf("symtool: %s: %s left out as asked for, %s", name, count(dropped, "record"), count(same, "duplicate"))
	}
}

// mapFiles renames FILEs by the --map flags.
func (c *converter) mapFiles(name string, m *symfmt.Module) {
	e := &c.edit
	if e.maps.mapping == nil {
		if len(e.prefixes) > 0 {
			m.MapFiles(func(path string) string { return srcmap.ReplacePrefix(e.prefixes, path) })
		}
		return
	}
	var problems []bin.Problem
	m.MapFiles(func(path string) string {
		f := e.maps.mapping.Map(e.prefixes, path, "")
		if f.Err != nil {
			problems = append(problems, f.Problem())
		} else if f.File != "" {
			c.mapped = append(c.mapped, *f)
		}
		return f.Name
	})
	c.reportProblems(name, problems, statusInput)
}

// merge joins the symbols of one binary.
func (c *converter) merge(inputs []*input, all []*symbols) (*symfmt.Module, error) {
	m := all[0].module
	for i, s := range all[1:] {
		name := inputs[i+1].name
		left, err := m.Merge(s.module)
		if err != nil {
			return nil, inputError(name, fmt.Errorf("%w, and of %s", err, inputs[0].name))
		}
		if err := c.lose(name, left.Losses("there is something else before it")); err != nil {
			return nil, err
		}
	}
	return m, nil
}
