package elfobj

import (
	"os"

	"github.com/symtool/symtool/internal/bin"
)

// mapOver is the size from which Map maps a section: below it reading costs less,
// and the memory is negligible.
const mapOver = 4 << 20

// Map returns the contents, uncompressed, as Data does; those of a large section
// are not read but mapped into memory, from the file or from the temporary file
// that they were inflated to, and valid until Release or Close. Drop gives back
// the memory of the parts that were examined; they may be examined again.
//
// If the file shrinks while it is mapped, access to the missing part faults:
// callers must read the bytes under debug.SetPanicOnFault, in a goroutine that
// recovers.
func (s *Section) Map() ([]byte, error) {
	if s.bad != nil || s.reloc != nil || s.size < mapOver || !bin.CanMap {
		return s.Data()
	}
	file, off := s.mapSource()
	if file == nil {
		return s.Data()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mapped == nil {
		before := off % int64(os.Getpagesize())
		m, err := bin.MapFile(file, off-before, s.size+before)
		if err != nil {
			s.mu.Unlock()
			defer s.mu.Lock()
			return s.Data()
		}
		s.mapped, s.before = m, before
	}
	return s.mapped[s.before:][:s.size:s.size], nil
}

// mapSource returns the file that has the contents as they are, and where.
func (s *Section) mapSource() (*os.File, int64) {
	if s.comp == stored {
		file, _ := s.file.r.(*os.File)
		return file, int64(s.Offset)
	}
	if s.size <= s.file.lim.SpillOver {
		return nil, 0
	}
	if _, err := s.openSpilled(); err != nil {
		return nil, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spill, 0
}

// Drop gives back the memory of a mapped section.
func (s *Section) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mapped != nil {
		bin.DropPages(s.mapped)
	}
}

// unmap ends the mapping; s.mu is held.
func (s *Section) unmap() {
	if s.mapped != nil {
		bin.UnmapFile(s.mapped)
		s.mapped = nil
	}
}
