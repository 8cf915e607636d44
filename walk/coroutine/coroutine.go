// Package coroutine finds the C++20 coroutines that are suspended in the memory of a dump: their frames, which begin
// with the addresses of two functions that the compiler made, where each goes on, and which of them waits for which.
// It knows the frames of GCC and clang.
package coroutine

import (
	"encoding/binary"
	"iter"
	"strings"

	"github.com/symtool/symtool/walk/dump"
)

// Role is what a function that the compiler made of a coroutine does.
type Role uint8

// The roles.
const (
	NoRole  Role = iota // it is not such a function
	Resumes             // it goes on with the coroutine
	Destroys
)

// suffixes are what the compilers append to the linkage name of a coroutine: GCC actor and destroy, clang the others.
// A frame that was not allocated on the heap has cleanup instead of destroy.
var suffixes = []struct {
	text string
	role Role
}{{".actor", Resumes}, {".resume", Resumes}, {".destroy", Destroys}, {".cleanup", Destroys}}

// RoleOf returns the role of a function with a name, mangled or not, and what its name has in common with those of the
// coroutine's other functions.
func RoleOf(function string) (role Role, of string) {
	name, bracket := strings.CutSuffix(function, "]")
	for _, s := range suffixes {
		if of, ok := strings.CutSuffix(name, s.text); ok {
			if bracket {
				of, ok = strings.CutSuffix(of, " [clone ")
			}
			if ok {
				return s.role, of
			}
		}
	}
	return NoRole, ""
}

// Frame is the frame of a coroutine.
type Frame struct {
	Addr    uint64
	Resume  uint64 // address of the function that goes on; 0 at the final suspension point
	Destroy uint64
}

// Finished reports whether the coroutine has reached its final suspension point.
func (f *Frame) Finished() bool { return f.Resume == 0 }

// Function identifies the coroutine to which a function belongs.
type Function struct {
	Module int // index in Dump.Modules
	Of     string
}

// maxFunctions limits the addresses that Scan remembers.
const maxFunctions = 1 << 20

// Scan returns the frames in the memory of a dump, by address. function returns the role of the function that begins at
// an address, and its coroutine; it is called once for each address unless there are very many. Constants of modules
// are not frames: clang keeps the addresses of a coroutine's functions in a table.
func Scan(d *dump.Dump, function func(addr uint64) (Role, Function)) []Frame {
	s := &scanner{d: d, function: function, known: map[uint64]known{}, size: d.Arch.PtrSize, lo: ^uint64(0)}
	for i := range d.Modules {
		m := &d.Modules[i]
		s.lo, s.hi = min(s.lo, m.Addr), max(s.hi, m.Addr+m.Size)
	}
	for r := range Regions(d) {
		s.region(r.Region)
	}
	return s.frames
}

// Region is a piece of a dump's memory.
type Region struct{ dump.Region }

// Regions yields the memory of a dump and, of a process, the writable memory that is not in the dump.
func Regions(d *dump.Dump) iter.Seq[Region] {
	return func(yield func(Region) bool) {
		for _, r := range d.Memory.Regions {
			if !yield(Region{r}) {
				return
			}
		}
		if d.Memory.More != nil {
			rest(d, yield)
		}
	}
}

// Words yields the aligned words of a region with their addresses.
func (r Region) Words(d *dump.Dump, size int) iter.Seq2[uint64, uint64] {
	return func(yield func(at, word uint64) bool) {
		first := -r.Addr % uint64(size)
		if first > uint64(len(r.Data)) {
			return
		}
		at := r.Addr + first
		for data := r.Data[first:]; len(data) >= size; data = data[size:] {
			if !yield(at, wordOf(data, size, d.Memory.Order)) {
				return
			}
			at += uint64(size)
		}
	}
}

type known struct {
	role Role
	of   Function
}

type scanner struct {
	d        *dump.Dump
	function func(uint64) (Role, Function)
	known    map[uint64]known
	size     int
	lo, hi   uint64 // where modules are
	frames   []Frame
}

// chunk is how much of a process is read at once.
const chunk = 1 << 20

// rest yields the writable memory of a process that is not in the dump.
func rest(d *dump.Dump, yield func(Region) bool) {
	own := dump.Memory{Regions: d.Memory.Regions}
	for i := range d.Maps {
		m := &d.Maps[i]
		for at := m.Addr; m.Write && at-m.Addr < m.Size; {
			n := int(min(chunk, m.Size-(at-m.Addr)))
			data := d.Memory.Bytes(at, n)
			if len(data) == 0 || own.Find(at) != nil {
				at += 4096
				continue
			}
			if !yield(Region{dump.Region{Addr: at, Data: data}}) {
				return
			}
			at += uint64(len(data))
		}
	}
}

// region finds the frames in a region.
func (s *scanner) region(r dump.Region) {
	size := uint64(s.size)
	first := -r.Addr % size
	if uint64(len(r.Data)) < first+2*size {
		return
	}
	data, at := r.Data[first:], r.Addr+first
	resume := s.word(data)
	for data = data[size:]; uint64(len(data)) >= size; data = data[size:] {
		destroy := s.word(data)
		if destroy-s.lo < s.hi-s.lo && (resume == 0 || resume-s.lo < s.hi-s.lo) {
			s.pair(at, resume, destroy)
		}
		resume, at = destroy, at+size
	}
}

func (s *scanner) word(b []byte) uint64 { return wordOf(b, s.size, s.d.Memory.Order) }

func wordOf(b []byte, size int, order binary.ByteOrder) uint64 {
	if size == 4 {
		return uint64(order.Uint32(b))
	}
	if order == binary.LittleEndian {
		return binary.LittleEndian.Uint64(b) // inlined, unlike the interface's method
	}
	return order.Uint64(b)
}

// pair adds a frame if two words at an address are the functions of one coroutine.
func (s *scanner) pair(at, resume, destroy uint64) {
	end := s.at(destroy)
	if end.role != Destroys || s.d.ModuleAt(at) >= 0 {
		return
	}
	if resume != 0 {
		if start := s.at(resume); start.role != Resumes || start.of != end.of {
			return
		}
	}
	s.frames = append(s.frames, Frame{Addr: at, Resume: resume, Destroy: destroy})
}

// at returns what is known about the function at an address.
func (s *scanner) at(addr uint64) known {
	k, ok := s.known[addr]
	if !ok {
		if len(s.known) >= maxFunctions {
			clear(s.known)
		}
		k.role, k.of = s.function(addr)
		s.known[addr] = k
	}
	return k
}
