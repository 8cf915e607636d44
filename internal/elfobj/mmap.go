//go:build linux

package elfobj

import (
	"os"
	"syscall"
)

// canMap tells whether the system maps files.
const canMap = true

func mapFile(f *os.File, off, n int64) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), off, int(n), syscall.PROT_READ, syscall.MAP_PRIVATE)
}

// mapShared maps what can be written, too: what is written is in the file.
func mapShared(f *os.File, off, n int64) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), off, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func unmapFile(b []byte) { syscall.Munmap(b) }

// dropPages has the system forget which pages of b were looked at. They stay in
// its cache of the file.
func dropPages(b []byte) { syscall.Madvise(b, syscall.MADV_DONTNEED) }
