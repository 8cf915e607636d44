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

	files   [][]uint32 // worker -> its number -> common number + 1; 0: not used yet
	origins []uint32   // by nameID, likewise
	paths   hashIndex  // of m.Files
	finals  hashIndex  // of m.Origins
}

func newNumbering(m *symfmt.Module, names *nameJoin, workers []*worker) *numbering {
	n := &numbering{m: m, names: names, workers: workers, origins: make([]uint32, len(names.names.places))}
	for _, w := range workers {
		n.files = append(n.files, make([]uint32, len(w.files.places)))
	}
	return n
}

// number puts the common numbers into the body of a worker's function. It is
// called once for each function, in their final order.
func (n *numbering) number(f *funcRecord) {
	w := n.workers[f.worker]
	files := n.files[f.worker]
	f.body.Renumber(
		func(id symfmt.FileID) symfmt.FileID {
			if files[id] == 0 {
				files[id] = n.file(w.files.at(uint32(id))) + 1
			}
			return symfmt.FileID(files[id] - 1)
		},
		func(id symfmt.OriginID) symfmt.OriginID {
			name := n.names.global(int(f.worker), w.origins[id])
			if n.origins[name] == 0 {
				n.origins[name] = n.origin(n.names.final(name)) + 1
			}
			return symfmt.OriginID(n.origins[name] - 1)
		})
}

// file returns the number of a path, which several workers may have met.
func (n *numbering) file(path string) uint32 {
	hash := hashOf(path)
	id, ok := n.paths.find(hash, func(id uint32) bool { return n.m.Files[id].Name == path })
	if !ok {
		id = n.paths.add(hash)
		n.m.Files = append(n.m.Files, symfmt.File{ID: symfmt.FileID(id), Name: path})
	}
	return id
}

// origin returns the number of a name: several mangled ones may be demangled to it.
func (n *numbering) origin(name string) uint32 {
	hash := hashOf(name)
	id, ok := n.finals.find(hash, func(id uint32) bool { return n.m.Origins[id].Name == name })
	if !ok {
		id = n.finals.add(hash)
		n.m.Origins = append(n.m.Origins, symfmt.InlineOrigin{ID: symfmt.OriginID(id), Name: name})
	}
	return id
}
