package symfmt

// idIndex finds the position of a record by its number. Numbers are usually
// dense, but may be arbitrary.
type idIndex struct {
	dense []uint32 // position + 1 by number
	far   map[uint32]uint32
	n     uint32 // number of positions assigned
}

// Numbers below 4 per record are kept in the slice, so that its size depends on
// how many records there are and not on their numbers.
const (
	densePerRecord = 4
	denseAlways    = 1024
)

// add gives id the next position unless it already has one, and reports whether it did.
func (x *idIndex) add(id uint32) bool {
	pos := x.n
	x.n++
	if _, ok := x.find(id); ok {
		return false
	}
	if id >= uint32(len(x.dense)) && uint64(id) < denseAlways+densePerRecord*uint64(x.n) {
		for id >= uint32(len(x.dense)) {
			x.dense = append(x.dense, 0)
		}
	}
	if id < uint32(len(x.dense)) {
		x.dense[id] = pos + 1
		return true
	}
	if x.far == nil {
		x.far = make(map[uint32]uint32)
	}
	x.far[id] = pos
	return true
}

// find returns the position of the first record with number id.
func (x *idIndex) find(id uint32) (pos uint32, ok bool) {
	if id < uint32(len(x.dense)) && x.dense[id] != 0 {
		return x.dense[id] - 1, true
	}
	pos, ok = x.far[id]
	return pos, ok
}

func (m *Module) fileIndex() (x idIndex) {
	for i := range m.Files {
		x.add(uint32(m.Files[i].ID))
	}
	return x
}

func (m *Module) originIndex() (x idIndex) {
	for i := range m.Origins {
		x.add(uint32(m.Origins[i].ID))
	}
	return x
}

// FileNames finds the names of FILE records by number. If two have the same
// number, it finds the first.
type FileNames struct {
	files []File
	index idIndex
}

// FileNames returns an index of the current names of the files.
func (m *Module) FileNames() *FileNames { return &FileNames{m.Files, m.fileIndex()} }

// Name returns the name of file id, and whether it is declared.
func (n *FileNames) Name(id FileID) (string, bool) {
	pos, ok := n.index.find(uint32(id))
	if !ok {
		return "", false
	}
	return n.files[pos].Name, true
}

// OriginNames finds the names of INLINE_ORIGIN records by number. If two have
// the same number, it finds the first.
type OriginNames struct {
	origins []InlineOrigin
	index   idIndex
}

// OriginNames returns an index of the current names of the origins.
func (m *Module) OriginNames() *OriginNames { return &OriginNames{m.Origins, m.originIndex()} }

// Name returns the name of origin id, and whether it is declared.
func (n *OriginNames) Name(id OriginID) (string, bool) {
	pos, ok := n.index.find(uint32(id))
	if !ok {
		return "", false
	}
	return n.origins[pos].Name, true
}
