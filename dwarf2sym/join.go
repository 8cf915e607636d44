package dwarf2sym

import (
	"context"

	"github.com/symtool/symtool/internal/par"
)

// nameJoin numbers the names of all workers once, and demangles each once.
type nameJoin struct {
	raw   stringTable // as the debug information has them
	final []string    // as they are written
	local [][]nameID  // worker -> its nameID -> number in raw
	full  bool
}

// joinNames collects the workers' names and the extra ones (ELF symbols), and
// demangles them with jobs workers. Only names that are in use reach this
// point, each one once: demangling one costs more than reading a unit of C.
func joinNames(ctx context.Context, workers []*worker, extra []elfPub, full bool, jobs int) (*nameJoin, error) {
	j := &nameJoin{full: full}
	total := len(extra)
	for _, w := range workers {
		total += len(w.names.list)
	}
	j.raw.expect(total)
	for _, w := range workers {
		local := make([]nameID, len(w.names.list))
		for i, name := range w.names.list {
			local[i] = nameID(j.raw.internString(name))
		}
		j.local = append(j.local, local)
		w.names = nameTable{}
	}
	for i := range extra {
		j.raw.internString(extra[i].Name)
	}
	j.final = make([]string, len(j.raw.list))
	return j, j.demangle(ctx, jobs)
}

// demangleChunk is how many names one task demangles.
const demangleChunk = 512

func (j *nameJoin) demangle(ctx context.Context, jobs int) error {
	chunks := (len(j.raw.list) + demangleChunk - 1) / demangleChunk
	return par.Each(ctx, jobs, chunks, func(_ context.Context, _, chunk int) error {
		from := chunk * demangleChunk
		for i := from; i < min(from+demangleChunk, len(j.raw.list)); i++ {
			j.final[i] = demangleName(j.raw.list[i], j.full)
		}
		return nil
	})
}

func (j *nameJoin) global(worker int, id nameID) nameID {
	if local := j.local[worker]; int(id) < len(local) {
		return local[id]
	}
	return 0
}

// other returns the written form of a name that was added as an extra one.
func (j *nameJoin) other(name string) string {
	if id, ok := j.raw.find(name); ok {
		return j.final[id]
	}
	return demangleName(name, j.full)
}
