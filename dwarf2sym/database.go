package dwarf2sym

import (
	"context"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/pdb"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// ReadPDB returns the symbols of a PDB without its binary. It lacks the unwind rules of x86-64 and arm64, which are
// in the binary.
func ReadPDB(ctx context.Context, f *pdb.File, o Options) (*Result, error) {
	o.PDB = f
	described, err := o.readPDB(ctx)
	if err != nil {
		return nil, err
	}
	m := described.Module
	for _, with := range []struct {
		field *string
		value string
	}{{&m.Name, o.Name}, {&m.ID, o.ID}, {&m.OS, o.OS}} {
		if with.value != "" {
			*with.field = with.value
		}
	}
	if o.Generator != "" {
		m.Infos = append(m.Infos, symfmt.Info{Key: "GENERATOR", Value: o.Generator})
	}
	if o.CFIOnly {
		m.Files, m.Origins, m.Funcs, m.Publics = nil, nil, nil, nil
	}
	r := &Result{Module: m, Problems: described.Problems}
	r.Stats.countPDB(m)
	return r, nil
}

// addPDB adds what the PDB describes to the binary's module, which otherwise holds only unwind rules and exported
// functions.
func (r *Result) addPDB(ctx context.Context, o *Options) error {
	described, err := o.readPDB(ctx)
	if err != nil {
		return err
	}
	pdb.Complete(r.Module, described.Module)
	r.Problems = slices.Concat(described.Problems, r.Problems)
	r.NoDebugInfo = false
	r.Stats.countPDB(r.Module)
	return nil
}

// readPDB reads the PDB, with names as the options require.
func (o *Options) readPDB(ctx context.Context) (*symfmt.Result, error) {
	if o.Mapping != nil {
		return nil, &bin.Error{File: o.PDB.Path, Msg: "a mapping does not apply to the source files of a PDB: replace prefixes of their names instead"}
	}
	described, err := o.PDB.Read(ctx, pdb.Options{Jobs: o.Jobs, NoInlines: o.NoInlines, RawNames: !o.Demangle, Contents: true})
	if err != nil {
		return nil, err
	}
	if o.Vars.Params || o.Vars.Locals {
		lost := symfmt.Problem{Lost: "variables", Err: &bin.Error{File: o.PDB.Path, Msg: "variables of a PDB are not read"}}
		described.Problems = append([]symfmt.Problem{lost}, described.Problems...)
	}
	m := described.Module
	for i := range m.Files {
		m.Files[i].Name = srcmap.ReplacePrefix(o.PrefixMap, m.Files[i].Name)
	}
	if o.NoCFI {
		m.Wins = nil
	}
	return described, nil
}

// countPDB counts the records that came from a PDB.
func (s *Stats) countPDB(m *symfmt.Module) {
	s.count(m)
	s.StackWins = len(m.Wins)
	s.Inlines, s.Lines = 0, 0
	for i := range m.Funcs {
		inlines, lines := m.Funcs[i].Body.Counts()
		s.Inlines, s.Lines = s.Inlines+inlines, s.Lines+lines
	}
}
