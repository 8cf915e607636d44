//go:build linux || darwin || freebsd

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

func unmapFile(b []byte) { syscall.Munmap(b) }

// dropPages has the system forget which pages of b were looked at. They stay in
// its cache of the file.
func dropPages(b []byte) { syscall.Madvise(b, syscall.MADV_DONTNEED) }
