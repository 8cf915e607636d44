package dwarf2sym

import (
	"context"

	"github.com/symtool/symtool/internal/par"
)

// nameJoin numbers the names of all workers once, and demangles each once.
type nameJoin struct {
	raw   []string // as the debug information has them
	final []string // as they are written
	ids   map[string]nameID
	local [][]nameID // worker -> its nameID -> index in raw
	full  bool
}

// joinNames collects the workers' names and the extra ones (ELF symbols), and
// demangles them with jobs workers. Only names that are in use reach this
// point, each one once: demangling one costs more than reading a unit of C.
func joinNames(ctx context.Context, workers []*worker, extra []elfPub, full bool, jobs int) (*nameJoin, error) {
	total := len(extra)
	for _, w := range workers {
		total += len(w.names.list)
	}
	j := &nameJoin{ids: make(map[string]nameID, total), full: full}
	for _, w := range workers {
		local := make([]nameID, len(w.names.list))
		for i, name := range w.names.list {
			local[i] = j.add(name)
		}
		j.local = append(j.local, local)
		w.names = nameTable{}
	}
	for i := range extra {
		j.add(extra[i].Name)
	}
	j.final = make([]string, len(j.raw))
	return j, j.demangle(ctx, jobs)
}

func (j *nameJoin) add(name string) nameID {
	if id, ok := j.ids[name]; ok {
		return id
	}
	id := nameID(len(j.raw))
	j.raw = append(j.raw, name)
	j.ids[name] = id
	return id
}

// demangleChunk is how many names one task demangles.
const demangleChunk = 512

func (j *nameJoin) demangle(ctx context.Context, jobs int) error {
	chunks := (len(j.raw) + demangleChunk - 1) / demangleChunk
	return par.Each(ctx, jobs, chunks, func(_ context.Context, _, chunk int) error {
		from := chunk * demangleChunk
		for i := from; i < min(from+demangleChunk, len(j.raw)); i++ {
			j.final[i] = demangleName(j.raw[i], j.full)
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
	if id, ok := j.ids[name]; ok {
		return j.final[id]
	}
	return demangleName(name, j.full)
}
