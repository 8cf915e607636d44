package unwind

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/internal/bin"
)

// ARM's exception index tables -> STACK CFI. .ARM.exidx has two words for each
// function: its start, and either its unwind instructions or where they are,
// usually .ARM.extab (Exception Handling ABI for the Arm Architecture, IHI
// 0038, "Index table entries", "The generic model", "The compact model").
// exidxop.go executes the instructions.
//
// Rules that the format leaves open, or that differ from other readers:
//
//   - An entry describes the body of a function: after its prologue, before its
//     epilogue. Prologue and epilogue are not described, so a function is one STACK
//     CFI INIT record without rows, which is right wherever the function calls
//     another one. A crash in the prologue itself is walked wrongly.
//   - DWARF therefore takes precedence: an entry applies only where neither .eh_frame
//     nor .debug_frame has a rule, address by address.
//   - An entry extends to the next one, and at most to the end of the section
//     that it starts in, or of the segment if there are no section headers: the
//     table has no sizes. Alignment, and functions of assembly without an entry,
//     belong to the function before them; unwinders read it the same way.
//   - The table need not be sorted. Of entries with the same start, the last one
//     applies; the others belong to functions without code.
//   - "cantunwind" and "refuse to unwind" give no STACK CFI at all. They say that
//     no exception passes, not that the stack ends: compilers write cantunwind
//     for leaf functions of C and for functions that throw nothing, linkers write
//     it for assembly, including memcpy: 2801 of 3521 functions of Debian 12's libc for
//     armhf. ".ra: 0" would cut the stack of every crash there; without a record
//     walkers continue by other means.
//   - Generic model: whatever the personality routine is, the next word has a
//     count in its first byte, which the unwind instructions follow.
//     The ABI leaves this to the routine, but GNU as and LLVM, which write the
//     instructions, know no other layout, and libgcc reads those of C, C++,
//     Objective-C, Rust and Go with the same code. The routine cannot be
//     identified: its address is usually that of a PLT entry. Breakpad leaves out
//     all these functions: in C++, every one that has something to destroy or catch.
//   - Reserved and spare instructions, and those for registers that must not be
//     used, cost the entry and are reported.
//   - The return address is r15 if that was popped, otherwise r14, otherwise lr.
//   - The instructions for the code that authenticates a return address (PACBTI) only
//     move the stack pointer: lr itself is not signed.
//   - Numbers are in the data's byte order, for BE8 too, in which code is
//     little-endian; instructions run from a word's most significant byte.
//   - Bit 0 of a function's address (Thumb) is ignored.

// exidxReader reads the index tables of a file.
type exidxReader struct {
	r       *reader
	entries []exidxEntry
	cie     cieInfo // provides what FDEs have from theirs
	fde     fdeInfo
	words   []byte // bytes of a table, in the order of execution
	frame   exidxFrame
	known   map[string]exidxRules // by instructions
	work    int                   // number of instruction bytes that may still be executed
}

// exidxEntry is an entry of .ARM.exidx. The CPUs that use it have 32-bit addresses.
type exidxEntry struct {
	section int32 // index in Input.Index
	offset  uint32
	lo      uint32
	word    uint32 // the second word
}

// exidxRules is the result of executing instructions.
type exidxRules struct {
	rules   savedState
	unnamed int // number of registers without a name
	refused bool
}

const (
	exidxEntrySize  = 8
	exidxCantUnwind = 1
	exidxHigh       = 1 << 31

	// Entries may share tables: exidxWork bounds the instructions that are
	// executed for a byte of the index, beyond exidxMinWork. Real tables need 1.
	exidxWork    = 16
	exidxMinWork = 1 << 20
)

// readIndex writes blocks for code that DWARF does not describe.
func (r *reader) readIndex() {
	if len(r.in.Index) == 0 || r.in.Pdata || r.in.Compact {
		return
	}
	x := exidxReader{r: r, work: exidxMinWork, known: make(map[string]exidxRules)}
	x.cie = cieInfo{ra: r.in.Arch.ReturnAddress, regs: r.regs[0]}
	for i := range r.in.Index {
		x.walk(i)
	}
	x.write(r.uncovered(x.pieces(), r.sortBlocks()))
	r.sortBlocks()
}

// place orders problems after those of the other sections.
func (x *exidxReader) place(section int, offset uint64) entryPos {
	return entryPos{len(x.r.in.Sections) + section, offset}
}

// walk reads the entries of a section.
func (x *exidxReader) walk(section int) {
	s := &x.r.in.Index[section]
	x.work += exidxWork * len(s.Data)
	x.entries = slices.Grow(x.entries, len(s.Data)/exidxEntrySize)
	c := bin.New(s.Name, s.Data, x.r.in.Order)
	for c.Len() >= exidxEntrySize && c.Offset() < 1<<32 {
		at := c.Offset()
		first, word := c.U32(), c.U32()
		x.r.stats.IndexEntries++
		if first&exidxHigh != 0 {
			x.r.problems.add(x.place(section, at), fmt.Sprintf("entry at %#x", at),
				errorf(s.Name, at, "word %#x for a function's start, whose highest bit must be 0", first))
			continue
		}
		lo := prel31(first, s.Addr+at) &^ uint32(x.r.in.Arch.ISABit)
		x.entries = append(x.entries, exidxEntry{int32(section), uint32(at), lo, word})
	}
	if n := c.Len(); n > 0 {
		x.r.problems.add(x.place(section, c.Offset()), "", errorf(s.Name, c.Offset(), "%d bytes after the last entry", n))
	}
}

// prel31 returns the address that a word at place refers to, relative to itself.
func prel31(word uint32, place uint64) uint32 {
	return uint32(int32(word<<1)>>1) + uint32(place)
}

// pieces sorts the entries and returns the code of those that may have rules.
func (x *exidxReader) pieces() []codePiece {
	r := x.r
	slices.SortStableFunc(x.entries, func(a, b exidxEntry) int { return cmp.Compare(a.lo, b.lo) })
	pieces := make([]codePiece, 0, len(x.entries))
	for i := range x.entries {
		e := &x.entries[i]
		lo := uint64(e.lo)
		hi, ok := r.in.CodeEnd(lo)
		if i+1 < len(x.entries) {
			hi = min(hi, uint64(x.entries[i+1].lo))
		}
		switch {
		case e.word == exidxCantUnwind: // even for no code, as linkers end tables with one
			r.stats.CantUnwind++
		case !ok || lo < r.in.Base:
			r.stats.Dead++
		case lo == hi:
			r.stats.Empty++
		default:
			pieces = append(pieces, codePiece{lo, hi, int32(i)})
		}
	}
	return pieces
}

// write writes the blocks of entries; the pieces of one entry follow each other.
func (x *exidxReader) write(pieces []codePiece) {
	w := &x.r.w
	for k := 0; k < len(pieces); {
		end := k + 1
		for end < len(pieces) && pieces[end].fde == pieces[k].fde {
			end++
		}
		if k&1023 == 0 && x.r.ctx.Err() != nil {
			return
		}
		if x.setRules(&x.entries[pieces[k].fde]) {
			w.start(pieces[k:end])
			w.row(pieces[k].lo, pieces[end-1].hi)
			w.close()
		}
		k = end
	}
}

// setRules sets the rules of the VM to those of an entry. It reports whether the entry
// has rules.
func (x *exidxReader) setRules(e *exidxEntry) bool {
	vm, s := &x.r.vm, &x.r.in.Index[e.section]
	x.fde = fdeInfo{entryPos: x.place(int(e.section), uint64(e.offset)), lo: uint64(e.lo)}
	vm.s, vm.cie, vm.fde, vm.what = s, &x.cie, &x.fde, "entry"
	vm.cur.clear()
	vm.dirty = slotMask{}
	code, err := x.code(e)
	if err == nil {
		err = x.run(&code)
	}
	if err != nil {
		x.r.problems.add(x.fde.entryPos, vm.entry(), err)
		return false
	}
	return vm.cur.cfa.kind != ruleNone
}

// run translates instructions, once for all entries with the same instructions.
func (x *exidxReader) run(code *exidxCode) error {
	vm := &x.r.vm
	ops := code.ops
	for len(ops) > 0 && ops[len(ops)-1] == exidxFinish {
		ops = ops[:len(ops)-1]
	}
	known, ok := x.known[string(ops)]
	if !ok {
		refused, err := x.frame.run(code)
		if err != nil {
			return err
		}
		known.refused, known.unnamed = refused, x.frame.unnamed
		if !refused && !x.frame.rules(vm, code) {
			return nil
		}
		vm.cur.save(&known.rules)
		x.known[string(ops)] = known
	}
	x.r.stats.Unnamed += known.unnamed
	if known.refused {
		x.r.stats.CantUnwind++
	}
	vm.cur.load(&known.rules)
	return nil
}

// exidxCode says where unwind instructions are.
type exidxCode struct {
	section string
	offset  uint64 // of the first word with instructions
	skip    int    // number of bytes of that word before the instructions
	ops     []byte
}

// errorf returns an error for the word that has instruction byte i.
func (c *exidxCode) errorf(i int, format string, args ...any) error {
	return errorf(c.section, c.offset+uint64(c.skip+i)&^3, format, args...)
}

// code finds the instructions of an entry.
func (x *exidxReader) code(e *exidxEntry) (exidxCode, error) {
	s := &x.r.in.Index[e.section]
	at := uint64(e.offset) + 4
	if e.word&exidxHigh != 0 {
		c := bin.NewAt(s.Name, s.Data[at:at+4], at, x.r.in.Order)
		return x.table(s.Name, c)
	}
	addr := uint64(prel31(e.word, s.Addr+at))
	t, ok := x.r.in.Tables(addr)
	if !ok || addr < t.Addr || addr-t.Addr >= uint64(len(t.Data)) {
		return exidxCode{}, errorf(s.Name, at, "unwind instructions at %#x, where the file has no data", addr)
	}
	c := bin.New(t.Name, t.Data, x.r.in.Order)
	c.Skip(addr - t.Addr)
	return x.table(t.Name, c)
}

// table reads an exception-handling table entry, up to the last instruction.
func (x *exidxReader) table(section string, c bin.Cursor) (exidxCode, error) {
	code := exidxCode{section: section, offset: c.Offset(), skip: 1}
	x.words = x.words[:0]
	word := x.word(&c)
	more := 0
	switch model := word >> 24; {
	case c.Err() != nil:
	case word&exidxHigh == 0: // generic: the address of a personality routine
		code.offset = c.Offset()
		x.words = x.words[:0]
		more = int(x.word(&c) >> 24)
	case model == 0x80: // __aeabi_unwind_cpp_pr0
	case model == 0x81, model == 0x82: // __aeabi_unwind_cpp_pr1 and pr2
		more, code.skip = int(word>>16&0xff), 2
	default:
		return code, code.errorf(0, "personality routine %#x is reserved", model&0x7f)
	}
	for range more {
		x.word(&c)
	}
	if err := c.Err(); err != nil {
		return code, err
	}
	code.ops = x.words[code.skip:]
	if x.work -= len(code.ops); x.work < 0 {
		return code, code.errorf(0, "entries share tables so often that they have too many instructions")
	}
	return code, nil
}

// word reads a word and keeps its bytes, the most significant one first.
func (x *exidxReader) word(c *bin.Cursor) uint32 {
	w := c.U32()
	x.words = append(x.words, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
	return w
}
