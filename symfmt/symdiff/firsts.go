package symdiff

// firsts are the first line numbers of the source files of one function. Most
// functions have a handful of files, for which a scan beats a map.
type firsts struct {
	list  []firstLine
	index map[hash]int32 // files after the first maxScanned
	last  int
}

type firstLine struct {
	file  hash
	num   uint32
	index int32
}

const maxScanned = 16

func (f *firsts) reset() {
	if len(f.list) > maxScanned {
		clear(f.index)
	}
	f.list, f.last = f.list[:0], 0
}

func (f *firsts) len() int { return len(f.list) }

// get finds a file, or returns nil.
func (f *firsts) get(file hash) *firstLine {
	if f.last < len(f.list) && f.list[f.last].file == file {
		return &f.list[f.last]
	}
	for i := range f.list[:min(len(f.list), maxScanned)] {
		if f.list[i].file == file {
			f.last = i
			return &f.list[i]
		}
	}
	if len(f.list) <= maxScanned {
		return nil
	}
	i, ok := f.index[file]
	if !ok {
		return nil
	}
	f.last = int(i)
	return &f.list[i]
}

// add adds a file, which must be new.
func (f *firsts) add(file hash, num uint32) {
	i := int32(len(f.list))
	f.list = append(f.list, firstLine{file, num, i})
	if i >= maxScanned {
		if f.index == nil {
			f.index = map[hash]int32{}
		}
		f.index[file] = i
	}
}
