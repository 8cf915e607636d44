package merge

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/names"
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/internal/intern"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
)

// JoinNames gives the names in all records common numbers, and reads the names that were deferred from d, which is
// nil if there are none. It returns the names by number.
func JoinNames(ctx context.Context, d *units.Data, records []*funcs.Records, jobs int) (*intern.Table, error) {
	tables := make([]*names.Table, len(records))
	for i, r := range records {
		tables[i] = &r.Names
	}
	all, common, err := names.Join(ctx, d, tables, jobs)
	if err != nil {
		return nil, err
	}
	return all, par.Each(ctx, jobs, len(records), func(_ context.Context, _, i int) error {
		records[i].Renumber(&common[i])
		return nil
	})
}

// nameJoin holds each name of all workers and symbols once, and demangles each once.
type nameJoin struct {
	names *intern.Table
	form  NameForm

	costly atomic.Bool // a name stays mangled, as demangling would take too much work
}

// NameForm is the form of names in records.
type NameForm struct {
	Source bool // demangled; otherwise as in the file, without control characters
	Late   bool // names get that form when they are written, and are as in the file until then
}

// finishNames adds the names of the ELF symbols to those of the records, and demangles them. Only names in use reach
// this point, each once, as demangling one costs more than reading a unit of C. In the symbols, names are replaced by
// numbers.
func finishNames(ctx context.Context, in *Input) (*nameJoin, error) {
	j := &nameJoin{names: in.Names, form: in.Form}
	for i := range in.Symbols {
		s := &in.Symbols[i]
		s.ID = j.names.InternString(s.Name)
		s.Linkage, s.Mangled = s.ID, publics.IsMangledName(s.Name) || publics.IsDName(s.Name)
		// The suffixes are missing from linkage names, too.
		if s.Mangled && strings.IndexByte(s.Name, '.') >= 0 {
			s.Linkage = j.names.InternString(text.CutClone(s.Name))
		}
		s.Name = ""
	}
	j.names.Freeze()
	if in.Form.Late {
		return j, nil
	}
	return j, j.demangle(ctx, in.Jobs)
}

// demangle demangles chunk by chunk, allocating new memory for each.
func (j *nameJoin) demangle(ctx context.Context, jobs int) error {
	buffers := make([][]byte, par.Jobs(jobs))
	return par.Each(ctx, jobs, j.names.Chunks(), func(_ context.Context, worker, chunk int) error {
		buffers[worker] = j.names.Rewrite(chunk, buffers[worker], func(dst []byte, raw string) []byte {
			name, costly := demangle.AppendSource(dst, raw, j.form.Source)
			if costly {
				j.costly.Store(true)
			}
			return name
		})
		return nil
	})
}

// final returns a name as it is written or, with late names, as it is in the file.
func (j *nameJoin) final(id names.ID) string { return j.names.At(uint32(id)) }

// Name returns the final name of a symbol.
func (r *Result) Name(id names.ID) string { return r.names.final(id) }

// source returns the name to write.
func (j *nameJoin) source(id names.ID) string {
	if !j.form.Late {
		return j.final(id)
	}
	name, _ := demangle.AppendSource(nil, j.final(id), j.form.Source)
	return string(name)
}

// numbering numbers FILE and INLINE_ORIGIN records in the order in which FUNC records first use them, inlines before
// lines, as symfmt's Canonicalize does: the numbers do not depend on the order in which workers saw names, and names
// that no FUNC uses get no number.
type numbering struct {
	m       *symfmt.Module
	names   *nameJoin
	records []*funcs.Records

	files   [][]uint32   // by worker and its number: common number + 1; 0 if not used yet
	origins []uint32     // by names.ID: common number + 1; 0 if not used yet
	paths   intern.Index // of m.Files
	finals  intern.Index // of m.Origins
}

func newNumbering(m *symfmt.Module, names *nameJoin, records []*funcs.Records) *numbering {
	most := names.names.Len()
	n := &numbering{m: m, names: names, records: records, origins: make([]uint32, most)}
	m.Origins = make([]symfmt.InlineOrigin, 0, most) // growing it would leave four times as much garbage
	for _, r := range records {
		n.files = append(n.files, make([]uint32, r.Files.Len()))
	}
	return n
}

// number writes the common numbers into the body of a worker's function. It is called once for each function, in the
// final order.
func (n *numbering) number(f *funcs.Func) {
	r := n.records[f.Worker]
	files := n.files[f.Worker]
	f.Body.Renumber(
		func(id symfmt.FileID) symfmt.FileID {
			if files[id] == 0 {
				files[id] = n.file(r.Files.At(uint32(id))) + 1
			}
			return symfmt.FileID(files[id] - 1)
		},
		func(id symfmt.OriginID) symfmt.OriginID {
			name := r.Origins[id]
			if n.origins[name] == 0 {
				n.origins[name] = n.origin(name) + 1
			}
			return symfmt.OriginID(n.origins[name] - 1)
		})
}

// file returns the number of a path; several workers may have the same path.
func (n *numbering) file(path string) uint32 {
	hash := intern.Hash(path)
	id, ok := n.paths.Find(hash, func(id uint32) bool { return n.m.Files[id].Name == path })
	if !ok {
		id = n.paths.Add(hash)
		n.m.Files = append(n.m.Files, symfmt.File{ID: symfmt.FileID(id), Name: path})
	}
	return id
}

// origin returns the number of a name: several mangled names may demangle to the same one.
func (n *numbering) origin(number names.ID) uint32 {
	name := n.names.final(number)
	if n.names.form.Late { // they are all different
		return n.addOrigin(name)
	}
	hash := n.names.names.Hash(uint32(number))
	id, ok := n.finals.Find(hash, func(id uint32) bool { return n.m.Origins[id].Name == name })
	if !ok {
		n.finals.Add(hash)
		id = n.addOrigin(name)
	}
	return id
}

func (n *numbering) addOrigin(name string) uint32 {
	id := uint32(len(n.m.Origins))
	n.m.Origins = append(n.m.Origins, symfmt.InlineOrigin{ID: symfmt.OriginID(id), Name: name})
	return id
}
