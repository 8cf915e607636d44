package object

import (
	"os"
	"sync"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/scratch"
)

// Scratch is memory in an unlinked temporary file: after Drop, data that are
// written once and read much later do not count as the process's memory, and Go's
// garbage collector does not scan them. It may be used concurrently. The zero value
// is empty, with its file in os.TempDir.
type Scratch struct {
	Dir string // folder of the file; "" for os.TempDir

	mu     sync.Mutex
	file   *os.File
	size   int64 // of the file
	mapped [][]byte
	free   []byte // the free part of the last piece
	failed bool   // the file could not be created, or the disk is full
}

// scratchPiece is the number of bytes of the file that are mapped at a time.
const scratchPiece = 4 << 20

// Alloc returns n zeroed bytes that may be used until Close. If the system
// cannot map files, or the disk is full, they are allocated by Go.
func (s *Scratch) Alloc(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > len(s.free) && (s.failed || n > scratchPiece/4 || !s.grow()) {
		return make([]byte, n)
	}
	b := s.free[:n:n]
	s.free = s.free[n:]
	return b
}

// grow maps another piece of the file. It reports false if that failed. The caller holds s.mu.
func (s *Scratch) grow() bool {
	piece, err := s.another()
	if err != nil {
		s.failed = true
		return false
	}
	s.mapped = append(s.mapped, piece)
	s.free = piece
	return true
}

func (s *Scratch) another() ([]byte, error) {
	if s.file == nil {
		file, err := scratch.File(s.Dir)
		if err != nil {
			return nil, err
		}
		s.file = file
	}
	// The zeros are written so that a full disk causes an error now, not a fault
	// when the memory is used.
	if _, err := s.file.WriteAt(make([]byte, scratchPiece), s.size); err != nil {
		return nil, err
	}
	piece, err := bin.MapShared(s.file, s.size, scratchPiece)
	if err == nil {
		s.size += scratchPiece
	}
	return piece, err
}

// Drop releases the memory of what was written and read. The bytes stay in the
// file, and are read from it when they are accessed again.
func (s *Scratch) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, piece := range s.mapped {
		bin.DropPages(piece)
	}
}

// Close releases the file. It invalidates what Alloc returned.
func (s *Scratch) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, piece := range s.mapped {
		bin.UnmapFile(piece)
	}
	s.mapped, s.free, s.failed = nil, nil, true
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return file.Close()
}
