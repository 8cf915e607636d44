//go:build linux

package bin

import (
	"os"
	"syscall"
)

// CanMap reports whether the system can map files into memory.
const CanMap = true

// MapFile maps n bytes of a file, starting at a multiple of the page size. If
// the file shrinks, accesses to the missing part fault: callers must read the
// bytes under debug.SetPanicOnFault, in a goroutine that recovers.
func MapFile(f *os.File, off, n int64) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), off, int(n), syscall.PROT_READ, syscall.MAP_PRIVATE)
}

// MapShared is like MapFile, for reading and writing: writes to the memory change the file.
func MapShared(f *os.File, off, n int64) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), off, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// UnmapFile ends a mapping.
func UnmapFile(b []byte) { syscall.Munmap(b) }

// DropPages releases the pages of b that were accessed from this process's
// memory. They stay in the system's cache of the file.
func DropPages(b []byte) { syscall.Madvise(b, syscall.MADV_DONTNEED) }
