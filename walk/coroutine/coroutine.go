// Package coroutine finds the C++20 coroutines that are suspended in the memory of a dump: their frames, which begin
// with the addresses of two functions that the compiler made, where each goes on, and which of them waits for which.
// It knows the frames of GCC and clang.
package coroutine

import (
	"encoding/binary"
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
	for _, r := range d.Memory.Regions {
		s.region(r)
	}
	if d.Memory.More != nil {
		s.rest()
	}
	return s.frames
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

// rest scans the writable memory of a process that is not in the dump.
func (s *scanner) rest() {
	for i := range s.d.Maps {
		m := &s.d.Maps[i]
		for at := m.Addr; m.Write && at-m.Addr < m.Size; {
			n := int(min(chunk, m.Size-(at-m.Addr)))
			data := s.d.Memory.Bytes(at, n)
			if len(data) == 0 || s.inRegions(at) {
				at += 4096
				continue
			}
			s.region(dump.Region{Addr: at, Data: data})
			at += uint64(len(data))
		}
	}
}

// inRegions reports whether the dump itself has an address, so that it was scanned.
func (s *scanner) inRegions(addr uint64) bool {
	own := dump.Memory{Regions: s.d.Memory.Regions}
	return own.Find(addr) != nil
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

func (s *scanner) word(b []byte) uint64 {
	if s.size == 4 {
		return uint64(s.d.Memory.Order.Uint32(b))
	}
	if s.d.Memory.Order == binary.LittleEndian {
		return binary.LittleEndian.Uint64(b) // inlined, unlike the interface's method
	}
	return s.d.Memory.Order.Uint64(b)
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
