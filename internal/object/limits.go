package object

import (
	"math"
	"sync/atomic"
)

// Limits limits what a file may cost. The zero value allows nothing to be read;
// start from DefaultLimits.
type Limits struct {
	// Base is the number of bytes that the sections of any file, however small, may take.
	Base int64
	// HeldRatio limits the bytes of sections that are in memory at one time,
	// inflated or not, to Base + HeldRatio times the file's size.
	HeldRatio int64
	// DiskRatio limits the bytes in temporary files in the same way.
	DiskRatio int64
	// SpillOver is the inflated size in bytes above which Section.Open puts a
	// compressed section into a temporary file.
	SpillOver int64
	// TempDir is the folder for temporary files; empty means os.TempDir.
	TempDir string
	// Core accepts core dumps.
	Core bool
	// Image means that the bytes are the beginning of a file as it is mapped
	// in a process: they have no section headers, whatever the ELF header says.
	Image bool
	// CPU selects one of the binaries in a file with several, by the name of its CPU; ID by its build-id, which
	// takes precedence.
	CPU string
	ID  []byte
	// Opened, if non-nil, is called with the path of each file that is opened, including those that are then
	// rejected.
	Opened func(path string)
}

// DefaultLimits returns limits that are safe for files from any source.
//
// A compressed debug section inflates 2- to 20-fold, but a whole file rarely more
// than 4-fold, because code and less compressible sections dilute it; and sections
// over 32 MiB are read from a temporary file and are not held in memory. A limit
// of 4 times the file plus 16 MiB, which lets a file of 1 MB inflate 20-fold,
// therefore never stops an honest file, while 500 KB of zeros that would inflate
// to gigabytes (zlib: 1032-fold, zstd: 30,000-fold) give an error before the first
// byte is inflated. Disk space is cheaper: 32-fold.
func DefaultLimits() Limits {
	return Limits{Base: 16 << 20, HeldRatio: 4, DiskRatio: 32, SpillOver: 32 << 20}
}

// HeldBytes returns the number of bytes that the sections of a file of size bytes may take in memory.
func (l Limits) HeldBytes(size int64) int64 { return addMul(l.Base, l.HeldRatio, size) }

// DiskBytes returns the number of bytes that they may take in temporary files.
func (l Limits) DiskBytes(size int64) int64 { return addMul(l.Base, l.DiskRatio, size) }

// addMul returns base + ratio*size, or MaxInt64 if that is less. No argument is negative.
func addMul(base, ratio, size int64) int64 {
	base, ratio, size = max(base, 0), max(ratio, 0), max(size, 0)
	if ratio > 0 && size > (math.MaxInt64-base)/ratio {
		return math.MaxInt64
	}
	return base + ratio*size
}

// Budget is a number of bytes that may be charged concurrently.
type Budget struct{ left atomic.Int64 }

// Set sets the budget to n bytes.
func (b *Budget) Set(n int64) { b.left.Store(n) }

// Left returns the number of bytes left.
func (b *Budget) Left() int64 { return b.left.Load() }

// Take charges n bytes. It returns false, and charges nothing, if fewer are left.
func (b *Budget) Take(n int64) bool {
	for {
		left := b.left.Load()
		if n > left {
			return false
		}
		if b.left.CompareAndSwap(left, left-n) {
			return true
		}
	}
}

// Give returns n bytes to the budget.
func (b *Budget) Give(n int64) { b.left.Add(n) }
