package dwarf2sym

import (
	"context"

	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/symfmt"
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

// joinRefs numbers the workers' files and origins together. Numbers in order of
// first use come later, with symfmt's Canonicalize.
func joinRefs(m *symfmt.Module, workers []*worker, names *nameJoin, mapPath func(string) string) (files, origins [][]uint32) {
	fileIDs := make(map[string]uint32)
	originIDs := make(map[nameID]uint32)
	for i, w := range workers {
		fileOf := make([]uint32, len(w.files.list))
		for k, path := range w.files.list {
			path = mapPath(path)
			id, ok := fileIDs[path]
			if !ok {
				id = uint32(len(m.Files))
				fileIDs[path] = id
				m.Files = append(m.Files, symfmt.File{ID: symfmt.FileID(id), Name: path})
			}
			fileOf[k] = id
		}
		originOf := make([]uint32, len(w.origins))
		for k, name := range w.origins {
			if name = names.global(i, name); int(name) >= len(names.final) {
				continue // of a unit that was given up before its names were found
			}
			id, ok := originIDs[name]
			if !ok {
				id = uint32(len(m.Origins))
				originIDs[name] = id
				m.Origins = append(m.Origins, symfmt.InlineOrigin{ID: symfmt.OriginID(id), Name: names.final[name]})
			}
			originOf[k] = id
		}
		files, origins = append(files, fileOf), append(origins, originOf)
	}
	return files, origins
}

// renumber puts the common numbers into the workers' bodies.
func renumber(workers []*worker, files, origins [][]uint32) {
	for i, w := range workers {
		for k := range w.funcs {
			w.funcs[k].body.Renumber(
				func(id symfmt.FileID) symfmt.FileID { return symfmt.FileID(files[i][id]) },
				func(id symfmt.OriginID) symfmt.OriginID { return symfmt.OriginID(origins[i][id]) })
		}
	}
}
