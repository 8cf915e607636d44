package elfobj

import (
	"encoding/binary"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// Formats: debug/gosym and, for the fields that it does not read, type _func of src/runtime/runtime2.go and step in
// src/runtime/symtab.go.

// The magic numbers of Go 1.18 and 1.20, which later versions use, too. Older tables have addresses instead of
// offsets, and are not read.
const (
	goMagic118 = 0xfffffff0
	goMagic120 = 0xfffffff1
)

// The words of the header after its first 8 bytes.
const (
	goFuncs     = 0 // number of functions
	goText      = 2 // address to which offsets of code are relative; 0 since Go 1.26
	goNames     = 3 // offsets of tables from the header: names,
	goNamesEnd  = 4 // the end of the names,
	goStepTable = 6 // values by steps through code,
	goEntries   = 7 // functions
	goWords     = 8
)

// Indices, in the runtime's description of a module, of the words with the address of the table and of the code.
const (
	goModuleTable = 0
	goModuleText  = 22
)

// maxGoSteps is the maximum number of steps that are read per byte of the table, as functions may share them. Real
// programs need less than 1.
const maxGoSteps = 4

// goTable is the table, and the symbols and frames made from it.
type goTable struct {
	f     *File
	s     *Section
	code  *Section // .text
	arch  *arch.Arch
	order binary.ByteOrder

	data, names, steps []byte
	entries            []byte // functions by address, each with the offset of its description
	quantum            uint64 // bytes of the shortest instruction
	text               uint64
	flags              int // offset of the flags in a function's description
	left               int // steps that may still be read

	frames, symbols []byte
}

// goSymbols returns the table as an ELF file. It returns nil if the file has no table of a supported version, or has
// .symtab and .debug_frame anyway.
func (f *File) goSymbols() (*object.File, error) {
	t := &goTable{f: f, s: f.Header(object.GoTable), code: f.Header(".text"), arch: arch.ByELF(f.Machine, f.Class), order: f.Order}
	symbols, frames := !f.HasSymbols(object.Symtab), !f.hasData(".debug_frame")
	if t.s == nil || !t.s.HasData() || t.code == nil || t.arch == nil || t.arch.PtrSize != int(f.pick(4, 8)) || !symbols && !frames {
		return nil, nil
	}
	data, err := t.s.Data()
	if err != nil {
		return nil, err
	}
	t.data = data
	if ok, err := t.header(); err != nil || !ok {
		return nil, err
	}
	if err := t.functions(); err != nil {
		return nil, err
	}
	if !symbols {
		t.symbols = nil
	}
	if !frames {
		t.frames = nil
	}
	return t.file()
}

func (f *File) hasData(name string) bool {
	s := f.Header(name)
	return s != nil && s.HasData()
}

// header reads the header. It reports false for an unsupported version.
func (t *goTable) header() (bool, error) {
	c := bin.New(t.s.Name, t.data, t.order)
	magic := c.U32()
	t.flags = 37
	switch {
	case c.Err() != nil:
		return false, inFile(c.Err(), t.f)
	case magic == goMagic120:
		t.flags = 41 // since Go 1.20, a function's description includes its first line
	case magic != goMagic118:
		return false, nil
	}
	c.U16()
	t.quantum = uint64(c.U8())
	if size := int(c.U8()); size != t.arch.PtrSize {
		c.Fail("addresses of %d bytes, want %d", size, t.arch.PtrSize)
	}
	var words [goWords]uint64
	for i := range words {
		words[i] = c.Uint(t.arch.PtrSize)
	}
	if err := c.Err(); err != nil {
		return false, inFile(err, t.f)
	}
	size := uint64(len(t.data))
	if words[goNames] > words[goNamesEnd] || words[goNamesEnd] > size || words[goStepTable] > size || words[goEntries] > size {
		return false, t.s.errorf(8, "tables at %#x to %#x, %#x and %#x, the section has %#x bytes", words[goNames], words[goNamesEnd], words[goStepTable], words[goEntries], size)
	}
	t.names, t.steps, t.entries = t.data[words[goNames]:words[goNamesEnd]], t.data[words[goStepTable]:], t.data[words[goEntries]:]
	if n := words[goFuncs]; n > uint64(len(t.entries))/8 {
		return false, t.s.errorf(8, "%d functions, but there are %d bytes for them", n, len(t.entries))
	}
	t.left = maxGoSteps*len(t.data) + minNames
	at := t.s.Addr + 8 + goText*uint64(t.arch.PtrSize)
	if t.text = words[goText]; t.text == 0 {
		t.text = t.f.Pointer(at)
	}
	return true, t.findText(int(words[goFuncs]))
}

// findText finds the address to which offsets of code are relative, if the header does not give it, and makes room
// for n functions.
func (t *goTable) findText(n int) error {
	if t.text == 0 {
		t.text = t.moduleText()
	}
	if t.text == 0 {
		return t.s.errorf(8+goText*uint64(t.arch.PtrSize), "the header does not say where code begins, nor does a description of the module: .go.module has none of this table")
	}
	t.symbols = make([]byte, t.symbolSize(), (n+1)*t.symbolSize())
	t.frames = t.cie()
	return nil
}

// moduleText returns where code begins according to the description of the module, or 0.
func (t *goTable) moduleText() uint64 {
	s := t.f.Header(".go.module")
	if s == nil || !s.HasData() {
		return 0
	}
	data, err := s.Data()
	if err != nil {
		return 0
	}
	word := func(i uint64) uint64 {
		c := bin.New(s.Name, data, t.order)
		c.Skip(i * uint64(t.arch.PtrSize))
		if v := c.Uint(t.arch.PtrSize); v != 0 || c.Err() != nil {
			return v
		}
		return t.f.Pointer(s.Addr + i*uint64(t.arch.PtrSize))
	}
	if word(goModuleTable) != t.s.Addr {
		return 0
	}
	return word(goModuleText)
}

// functions creates the symbol and the frame of each function.
func (t *goTable) functions() error {
	n := (cap(t.symbols) - 1) / t.symbolSize()
	limit := t.f.in.Limits.HeldBytes(t.f.Size)
	for i := range n {
		entry := bin.NewAt(t.s.Name, t.entries[8*i:], uint64(len(t.data)-len(t.entries)+8*i), t.order)
		lo, at, next := uint64(entry.U32()), entry.U32(), uint64(entry.U32())
		f := bin.NewAt(t.s.Name, t.entries[min(uint64(at), uint64(len(t.entries))):], uint64(len(t.data)-len(t.entries))+uint64(at), t.order)
		f.U32()
		name := f.U32()
		f.Skip(8)
		steps := f.U32()
		f.Skip(uint64(t.flags) - 20)
		top := f.U8()&1 != 0
		for _, c := range []*bin.Cursor{&entry, &f} {
			if err := c.Err(); err != nil {
				return inFile(err, t.f)
			}
		}
		if next <= lo || !t.code.Holds(t.text+lo) {
			continue
		}
		size, err := t.frame(t.text+lo, next-lo, steps, top)
		if err != nil {
			return err
		}
		t.symbol(name, t.text+lo, size)
		if int64(len(t.frames)+len(t.symbols)) > limit {
			return t.s.errorf(8*uint64(i), "functions before this one have rules of more than %d bytes", limit)
		}
	}
	return nil
}

// goStep is a range of a function's code, up to the offset end from its start, and its value.
type goStep struct {
	end   uint64
	value int64
}

// stepsAt calls fn with the steps at an offset of the table of steps, for a function of size bytes.
func (t *goTable) stepsAt(offset uint32, size uint64, fn func(lo uint64, s goStep)) error {
	c := bin.NewAt(t.s.Name, t.steps[min(uint64(offset), uint64(len(t.steps))):], uint64(len(t.data)-len(t.steps))+uint64(offset), t.order)
	at := goStep{value: -1}
	for first := true; ; first = false {
		d := c.ULEB()
		if d == 0 && !first || c.Err() != nil {
			return inFile(c.Err(), t.f)
		}
		if t.left--; t.left < 0 {
			return t.s.errorf(c.Offset(), "functions share their steps so often that they have more than %d for each byte", maxGoSteps)
		}
		lo := at.end
		at.value += int64(int32(uint32(d>>1) ^ -uint32(d&1)))
		at.end = lo + c.ULEB()*t.quantum
		if c.Err() == nil && (at.end <= lo || at.end > size) {
			c.Fail("steps up to %#x of a function of %#x bytes", at.end, size)
		}
		if c.Err() == nil {
			fn(lo, at)
		}
	}
}

// frame adds the rules of a function. It returns the function's size without the padding that follows it.
func (t *goTable) frame(addr, size uint64, steps uint32, top bool) (uint64, error) {
	if steps == 0 {
		return size, nil
	}
	start := len(t.frames)
	t.frames = t.uints(t.frames, 4, 0, 0) // the length, and the offset of the CIE
	t.frames = t.uints(t.frames, t.arch.PtrSize, addr, 0)
	link, end := t.arch.RA != "", uint64(0)
	if link && top {
		t.frames = appendULEB(append(t.frames, dwCFAUndefined), t.arch.ReturnAddress)
	}
	err := t.stepsAt(steps, size, func(lo uint64, s goStep) {
		if lo > 0 {
			t.frames = t.uints(append(t.frames, dwCFAAdvance4), 4, lo-end)
		}
		end = lo
		t.row(s.value, link, top)
		size = s.end
	})
	for (len(t.frames)-start)%8 != 4 {
		t.frames = append(t.frames, dwCFANop)
	}
	t.order.PutUint32(t.frames[start:], uint32(len(t.frames)-start-4))
	t.uints(t.frames[:start+8+t.arch.PtrSize], t.arch.PtrSize, size)
	return size, err
}
