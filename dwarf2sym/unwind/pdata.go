package unwind

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/symtool/symtool/symfmt/arch"
)

// .pdata and .xdata of Windows -> STACK CFI (Microsoft, "x64 exception handling" and "ARM64
// exception handling"). .pdata has an entry for each piece of code: where it begins, and how its
// prologue is undone. pdatax64.go and pdataarm64.go execute the codes, and pdataepilog.go finds
// the epilogues that version 1 of x64's codes does not describe.
//
// Rules that the formats leave open, or that differ from other readers:
//
//   - Rows are exact at every instruction: a code of x64 takes effect at its offset, one of arm64 is
//     an instruction of 4 bytes. Breakpad and Mozilla write one rule for the whole of a function,
//     which is wrong in its prologue and its epilogues.
//   - .pdata takes precedence: it is what the process itself unwinds with. GCC writes .debug_frame, too,
//     which is wrong at the returns of functions with a frame register. DWARF fills the gaps. Only
//     Go's linker does the opposite: it writes one rule for functions with a frame pointer in .pdata, and
//     exact rows in .debug_frame.
//   - Of nested entries the inner one applies: LLVM writes entries that cover others, which are
//     chained to them.
//   - Code that no entry covers is a leaf, as the system sees it: the return address is where a call
//     leaves it. Padding there has no rules, nor does code that changes the stack pointer or calls:
//     compilers omit the entries of functions through which no exception passes. A file without
//     entries has no leaves, either.
//   - An entry without codes says that its code is a leaf. Assembly that moves the stack pointer also has such
//     entries, with a handler that knows its frames: there, rows follow the instructions (pdataflow.go).
//   - A chained entry begins where all prologues that it is chained to are complete. Its saves are at
//     offsets from the stack pointer after its own prologue.
//   - The caller's frame is unknown if it is a record of the system (arm64's trap frames and
//     contexts): such code has no rules. x64's machine frames are known.
//   - If there is a frame register, the CFA is an offset from it.

// Entries of a damaged file may share codes: pdataWork bounds the steps executed for each byte of .pdata, beyond
// pdataMinWork. Real files need 4.
const (
	pdataWork    = 64
	pdataMinWork = 1 << 20
)

// pdataReader reads the exception directory of a file.
type pdataReader struct {
	r       *reader
	section *Section // .pdata
	entries []pdataEntry
	cie     cieInfo // provides what FDEs have from theirs
	fde     fdeInfo
	work    int // number of steps that may still be executed
	scan    uint64
	stopped bool
	flow    *compactReader // follows instructions; nil until needed

	// For the entry being written:
	lo    uint64 // start of the row being built
	frame pdataFrame
	steps []pdataStep // of an epilogue
	ops   []arm64Op
	infos []x64Info
}

// pdataEntry is a piece of code, and what describes it.
type pdataEntry struct {
	lo, hi uint64
	offset uint64 // in .pdata
	info   uint32 // RVA of .xdata, or packed codes
}

// pdataFrame is a row. Registers have their DWARF numbers, and places are offsets from the CFA.
type pdataFrame struct {
	base   uint8 // register that the CFA is relative to
	off    int64 // of the CFA from base
	sp     int64 // of the CFA from the stack pointer, as far as the codes say
	ra     int64 // place of the return address; 0 if it is in its register
	signed bool  // arm64: the return address is signed
	lost   bool  // the CFA is unknown: there is no rule
	saved  uint32
	at     [32]int64 // places of the registers in saved
}

// save records that a register is saved at a place.
func (f *pdataFrame) save(reg uint8, at int64) {
	f.saved |= 1 << reg
	f.at[reg] = at
}

// grow lowers the stack pointer.
func (f *pdataFrame) grow(sp uint8, n int64) {
	f.sp += n
	if f.base == sp {
		f.off = f.sp
	}
}

// pdataStep is an instruction of an epilogue, and the frame before it.
type pdataStep struct {
	addr  uint64
	frame pdataFrame
}

// readPdata writes the blocks of entries. It returns nil if there is no .pdata.
func (r *reader) readPdata() *pdataReader {
	if !r.in.Pdata {
		return nil
	}
	p := &pdataReader{r: r, section: &r.in.Index[0], scan: 4*r.in.CodeBytes + pdataMinWork}
	p.work = pdataMinWork + pdataWork*len(p.section.Data)
	p.cie = cieInfo{ra: r.in.Arch.ReturnAddress, regs: r.regs[0]}
	run := p.x64
	switch r.in.Arch {
	case arch.X86_64:
		p.readEntries(12, p.entryX64)
	case arch.ARM64:
		p.readEntries(8, p.entryARM64)
		run = p.arm64
	default:
		r.problems.add(p.place(0), "STACK CFI", errorf(p.section.Name, 0, "unwind codes of %s are not read", r.in.Arch.Name))
		return nil
	}
	p.write(r.uncovered(p.pieces(), r.sortBlocks()), run)
	r.sortBlocks()
	return p
}

// place orders problems after those of the other sections.
func (p *pdataReader) place(offset uint64) entryPos {
	return entryPos{len(p.r.in.Sections), offset}
}

// readEntries reads the entries, of size bytes each. entry sets the end of the code, or leaves it 0 for an entry
// without code.
func (p *pdataReader) readEntries(size int, entry func(e *pdataEntry, words []byte) error) {
	data := p.section.Data
	p.entries = make([]pdataEntry, 0, len(data)/size)
	for off := 0; off+size <= len(data); off += size {
		words := data[off : off+size]
		begin := binary.LittleEndian.Uint32(words)
		if begin == 0 && binary.LittleEndian.Uint32(words[4:]) == 0 {
			continue // padding
		}
		p.r.stats.IndexEntries++
		e := pdataEntry{lo: p.r.in.Base + uint64(begin), offset: uint64(off)}
		err := entry(&e, words)
		switch {
		case err != nil:
			p.problem(&e, err)
		case p.r.in.Exec != nil && !p.r.in.Exec(e.lo):
			p.r.stats.Dead++
		case e.hi <= e.lo:
			p.r.stats.Empty++
		default:
			p.entries = append(p.entries, e)
		}
	}
	if n := len(data) % size; n > 0 {
		p.r.problems.add(p.place(uint64(len(data)-n)), "", errorf(p.section.Name, uint64(len(data)-n), "%d bytes after the last entry", n))
	}
}

func (p *pdataReader) problem(e *pdataEntry, err error) {
	p.r.problems.add(p.place(e.offset), fmt.Sprintf("entry at %#x for %#x", e.offset, e.lo), err)
}

// pieces sorts the entries and returns the code of each entry without the code of entries nested in it.
func (p *pdataReader) pieces() []codePiece {
	// Of entries with the same start, the one that ends first is the inner one.
	slices.SortStableFunc(p.entries, func(a, b pdataEntry) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi))
	})
	r := p.r
	own := r.fdes
	r.fdes = make([]fdeInfo, len(p.entries))
	for i, e := range p.entries {
		r.fdes[i] = fdeInfo{entryPos: p.place(e.offset), lo: e.lo, hi: e.hi}
	}
	pieces := r.pieces(0, len(r.fdes))
	r.fdes = own
	return pieces
}

// write writes the blocks of entries; the pieces of one entry follow each other.
func (p *pdataReader) write(pieces []codePiece, run func(e *pdataEntry) error) {
	w := &p.r.w
	for k := 0; k < len(pieces); {
		end := k + 1
		for end < len(pieces) && pieces[end].fde == pieces[k].fde {
			end++
		}
		if k&1023 == 0 && p.r.ctx.Err() != nil {
			return
		}
		e := &p.entries[pieces[k].fde]
		p.start(e.lo, e.offset)
		w.start(pieces[k:end])
		if err := run(e); err != nil {
			p.problem(e, err)
		}
		w.close()
		k = end
	}
}

// start prepares the VM for an entry.
func (p *pdataReader) start(lo, offset uint64) {
	vm := &p.r.vm
	p.fde = fdeInfo{entryPos: p.place(offset), lo: lo}
	vm.s, vm.cie, vm.fde, vm.what = p.section, &p.cie, &p.fde, "entry"
	vm.cur.clear()
	vm.dirty = slotMask{}
	p.lo = lo
}

// from ends the current row before addr, where f begins to apply.
func (p *pdataReader) from(addr uint64, f *pdataFrame) {
	if addr > p.lo {
		p.flush(addr)
	}
	p.frame = *f
}

// flush writes the current row up to addr.
func (p *pdataReader) flush(addr uint64) {
	if addr <= p.lo {
		return
	}
	p.set(&p.frame)
	p.r.w.row(p.lo, addr)
	p.lo = addr
}

// set sets the rules of the VM to those of a frame.
func (p *pdataReader) set(f *pdataFrame) {
	vm := &p.r.vm
	if vm.cur.cfa = (regRule{kind: ruleReg, ref: uint32(f.base), val: f.off}); f.lost {
		vm.cur.cfa = regRule{}
	}
	vm.cur.signed = f.signed
	put := func(slot int, rule regRule) {
		if vm.cur.regs[slot] != rule {
			vm.cur.put(slot, rule)
			vm.dirty.add(slot)
		}
	}
	for reg := range uint64(len(f.at)) {
		slot := p.cie.regs.slot(reg)
		switch {
		case slot == slotRA || reg == p.cie.ra:
		case f.saved>>reg&1 != 0:
			put(slot, regRule{kind: ruleAt, val: f.at[reg]})
		default:
			put(slot, regRule{})
		}
	}
	rule := regRule{}
	if f.ra != 0 {
		rule = regRule{kind: ruleAt, val: f.ra}
	}
	put(slotRA, rule)
}

// bytesAt returns the file's contents in memory from an RVA to the end of its section, and the section.
func (p *pdataReader) bytesAt(rva uint32) (Section, []byte, bool) {
	addr := p.r.in.Base + uint64(rva)
	t, ok := p.r.in.Tables(addr)
	if !ok || addr < t.Addr || addr-t.Addr >= uint64(len(t.Data)) {
		return Section{}, nil, false
	}
	return t, t.Data[addr-t.Addr:], true
}

// charge charges n steps. It returns an error if the limit is exceeded.
func (p *pdataReader) charge(n int) error {
	if p.work -= n; p.work < 0 {
		return errorf(p.section.Name, 0, "entries share codes so often that they have too many")
	}
	return nil
}
