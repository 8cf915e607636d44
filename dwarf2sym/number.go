package dwarf2sym

import "github.com/symtool/symtool/symfmt"

// numbering gives FILE and INLINE_ORIGIN records their numbers, in order of
// first use by the FUNC records, inlines before lines, as symfmt's Canonicalize
// does: what the workers met in any other order gets the same numbers, and what
// no FUNC uses any more gets none.
type numbering struct {
	m       *symfmt.Module
	names   *nameJoin
	workers []*worker

	files     [][]uint32 // worker -> its number -> common number + 1; 0: not used yet
	origins   [][]uint32
	fileIDs   map[string]uint32
	originIDs map[string]uint32
}

func newNumbering(m *symfmt.Module, names *nameJoin, workers []*worker) *numbering {
	n := &numbering{
		m: m, names: names, workers: workers,
		fileIDs: make(map[string]uint32), originIDs: make(map[string]uint32),
	}
	for _, w := range workers {
		n.files = append(n.files, make([]uint32, len(w.files.list)))
		n.origins = append(n.origins, make([]uint32, len(w.origins)))
	}
	return n
}

// number puts the common numbers into the body of a worker's function. It is
// called once for each function, in their final order.
func (n *numbering) number(f *funcRecord) {
	w := int(f.worker)
	f.body.Renumber(
		func(id symfmt.FileID) symfmt.FileID {
			if n.files[w][id] == 0 {
				n.files[w][id] = n.file(n.workers[w].files.list[id]) + 1
			}
			return symfmt.FileID(n.files[w][id] - 1)
		},
		func(id symfmt.OriginID) symfmt.OriginID {
			if n.origins[w][id] == 0 {
				n.origins[w][id] = n.origin(n.names.final[n.names.global(w, n.workers[w].origins[id])]) + 1
			}
			return symfmt.OriginID(n.origins[w][id] - 1)
		})
}

func (n *numbering) file(path string) uint32 {
	id, ok := n.fileIDs[path]
	if !ok {
		id = uint32(len(n.m.Files))
		n.fileIDs[path] = id
		n.m.Files = append(n.m.Files, symfmt.File{ID: symfmt.FileID(id), Name: path})
	}
	return id
}

func (n *numbering) origin(name string) uint32 {
	id, ok := n.originIDs[name]
	if !ok {
		id = uint32(len(n.m.Origins))
		n.originIDs[name] = id
		n.m.Origins = append(n.m.Origins, symfmt.InlineOrigin{ID: symfmt.OriginID(id), Name: name})
	}
	return id
}
