// Package eval computes the values of a stack frame's variables from the records of symfmt/vars and the
// registers and memory of the frame. It knows nothing of dumps' formats or symbol files, so a debugger can
// use it alone.
package eval

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
)

// Memory is the memory of a program as far as it is known; a *dump.Memory is one.
type Memory interface {
	// Bytes returns up to n bytes at an address. They are not modified.
	Bytes(addr uint64, n int) []byte
	// Next returns the lowest address above addr from which memory is known again, if there is one.
	Next(addr uint64) (next uint64, ok bool)
}

// Frame is the input from which the variables of a stack frame are computed. All its functions must be set; they
// return false for unknown values.
type Frame struct {
	Arch   *arch.Arch
	Order  binary.ByteOrder // of Memory and of registers
	Memory Memory
	Info   *vars.Info // records of the frame's module
	Base   uint64     // address of the module in memory

	// Func and Scopes are Info's entries for the frame's address, which is that of the next instruction or, in a frame
	// that has called another, of the call. Func may be nil.
	Func   *vars.Func
	Scopes []vars.Scope

	// Register returns a register by its index in Arch.Regs, in the byte order of memory.
	Register func(i int) ([]byte, bool)
	// CFA returns the canonical frame address.
	CFA func() (uint64, bool)
	// TLS returns the address of a thread-local variable given its offset, or the reason why it is unknown.
	TLS func(offset uint64) (addr uint64, why string)
	// Caller returns the frame that called this one, and the call site. The error is ErrNoCallSite if the program does
	// not describe it, and otherwise says what the dump lacks.
	Caller func() (*Frame, vars.CallSite, error)

	frameAt *knownBase // nil until it is needed
	spent   int        // operations of all evaluations so far
}

func (f *Frame) ptrSize() int { return f.Arch.PtrSize }

// hasX87 reports whether long double has the x87 format.
func (f *Frame) hasX87() bool { return f.Arch == arch.X86 || f.Arch == arch.X86_64 }

// BigEndian reports whether memory is big-endian.
func (f *Frame) BigEndian() bool { return f.Order == binary.ByteOrder(binary.BigEndian) }

// registerName names a register in messages.
func (f *Frame) registerName(dwarf uint64) string {
	if name, ok := f.Arch.RegName(dwarf); ok {
		return f.Arch.Label(name)
	}
	return fmt.Sprintf("register %d", dwarf)
}

// register returns the bytes of a register by its DWARF number.
func (f *Frame) register(dwarf uint64) ([]byte, *failure) {
	if name, ok := f.Arch.RegName(dwarf); ok {
		if i, ok := f.Arch.RegIndex(name); ok {
			if b, ok := f.Register(i); ok {
				return b, nil
			}
		}
	}
	return nil, unavailable("the value of %s in this frame is not known", f.registerName(dwarf))
}

// Word returns the number of a pointer's size at an address.
func (f *Frame) Word(addr uint64) (uint64, bool) {
	b := f.Memory.Bytes(addr, f.ptrSize())
	if len(b) < f.ptrSize() {
		return 0, false
	}
	return numberOf(generic, b, f.BigEndian()).lo, true
}

// Read returns the size bytes of memory at an address.
func (f *Frame) Read(addr uint64, size int) Value {
	v := Value{Bytes: f.Memory.Bytes(addr, size), Address: addr, InMemory: true}
	if len(v.Bytes) < size || f.hasMark(addr, size) {
		f.readBytes(&v, size)
	}
	return v
}

// readBytes reads memory that the dump may have only in part.
func (f *Frame) readBytes(v *Value, size int) {
	v.Bytes, v.States = make([]byte, size), make([]State, size)
	for i := 0; i < size; {
		addr := v.Address + uint64(i)
		b := f.Memory.Bytes(addr, size-i)
		if len(b) == 0 {
			if v.Why == "" {
				v.Why = fmt.Sprintf("the dump does not have the memory at %#x", addr)
			}
			end := size
			if next, ok := f.Memory.Next(addr); ok && next-addr < uint64(size-i) {
				end = i + int(next-addr)
			}
			for ; i < end; i++ {
				v.States[i] = Unavailable
			}
			continue
		}
		i += copy(v.Bytes[i:], b)
	}
	f.dropMarks(v)
}

// sanitizedWord is the word that Breakpad and Crashpad, when they sanitize the stack, write over words that cannot be
// pointers. It is a mark, not a value.
var sanitizedWord = map[int]uint64{4: 0x0defaced, 8: 0x0defaced0defaced}

// mark returns the bytes of sanitizedWord.
func (f *Frame) mark() []byte {
	return number{size: f.ptrSize(), lo: sanitizedWord[f.ptrSize()]}.bytes(f.BigEndian())
}

// hasMark reports whether the words that contain the size bytes at addr may be marks.
func (f *Frame) hasMark(addr uint64, size int) bool {
	word := uint64(f.ptrSize())
	first := addr &^ (word - 1)
	end := (addr + uint64(size) + word - 1) &^ (word - 1)
	return bytes.Contains(f.Memory.Bytes(first, int(end-first)), f.mark())
}

// dropMarks makes the bytes of marks unavailable.
func (f *Frame) dropMarks(v *Value) {
	word, mark := f.ptrSize(), f.mark()
	first := int(v.Address % uint64(word))
	for at := -first; at < len(v.Bytes); at += word {
		addr := v.Address + uint64(int64(at))
		if !bytes.Equal(f.Memory.Bytes(addr, word), mark) {
			continue
		}
		for i := max(at, 0); i < min(at+word, len(v.Bytes)); i++ {
			v.Bytes[i], v.States[i] = 0, Unavailable
		}
		v.Why = fmt.Sprintf("the writer of the dump erased the word at %#x", addr)
	}
}
