package dwarf2sym

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/symfmt"
)

// nameJoin numbers the names of all workers once, and demangles each once.
type nameJoin struct {
	names stringTable
	local [][]nameID // worker -> its nameID -> number; those of the first worker stay
	full  bool

	costly atomic.Bool // a name stays mangled, as it would take too much
}

// joinNames collects the workers' names and those of the ELF symbols, and
// demangles them with jobs workers. Only names that are in use reach this
// point, each one once: demangling one costs more than reading a unit of C. The
// symbols get the numbers of their names in place of the names.
func joinNames(ctx context.Context, workers []*worker, symbols []elfPub, full bool, jobs int) (*nameJoin, error) {
	j := &nameJoin{full: full}
	for i, w := range workers {
		var local []nameID
		if i == 0 {
			j.names = w.names.stringTable
		} else {
			local = j.add(&w.names.stringTable)
		}
		j.local = append(j.local, local)
		w.names = nameTable{}
	}
	for i := range symbols {
		s := &symbols[i]
		s.id = nameID(j.names.internString(s.Name))
		s.linkage, s.mangled = s.id, isMangledName(s.Name) || isDName(s.Name)
		// Linkage names do not have these suffixes either.
		if s.mangled && strings.IndexByte(s.Name, '.') >= 0 {
			s.linkage = nameID(j.names.internString(symfmt.CutClone(s.Name)))
		}
		s.Name = ""
	}
	j.names.hashIndex = hashIndex{}
	return j, j.demangle(ctx, jobs)
}

// add adds the names of a worker, and returns their numbers.
func (j *nameJoin) add(t *stringTable) []nameID {
	local := make([]nameID, len(t.places))
	for n := range local {
		local[n] = nameID(j.names.internHashed(t.at(uint32(n)), t.hashes[n]))
	}
	return local
}

// demangle demangles chunk by chunk, each of which gets new memory.
func (j *nameJoin) demangle(ctx context.Context, jobs int) error {
	buffers := make([][]byte, par.Jobs(jobs))
	return par.Each(ctx, jobs, len(j.names.chunks), func(_ context.Context, worker, chunk int) error {
		buffers[worker] = j.names.rewrite(chunk, buffers[worker], func(dst []byte, raw string) []byte {
			name, costly := appendSource(dst, raw, j.full)
			if costly {
				j.costly.Store(true)
			}
			return name
		})
		return nil
	})
}

// final returns a name as it is written.
func (j *nameJoin) final(id nameID) string { return j.names.at(uint32(id)) }

func (j *nameJoin) global(worker int, id nameID) nameID {
	local := j.local[worker]
	switch {
	case worker == 0:
		return id
	case int(id) < len(local):
		return local[id]
	}
	return 0
}
