package code

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// Follows reports whether rules are derived from the instructions of a file: ELF files for these CPUs (not x32) that are
// linked, but for Linux's kernel, much of whose code is not called.
func Follows(f *object.File) bool {
	return cpus[f.Arch] != nil && f.Order == binary.LittleEndian && f.AddrSize == cpus[f.Arch].word && f.Format == "ELF" && f.Kind != object.Relocatable &&
		f.Section(".orc_unwind") == nil
}

// Derived is what Derive added.
type Derived struct {
	Size  uint64 // bytes of code that have rules by it
	Limit uint64 // if more code than this has no rules, so that none of it was followed; or 0
}

// Derive adds to the rules of an ELF file those of code that has none, from its instructions.
func Derive(t *symfmt.CFITable, files []object.Companion) (n Derived, err error) {
	f := files[0]
	if !Follows(f.File) {
		return n, nil
	}
	// Code is mapped: if the file shrinks, an access faults.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func(t0 symfmt.CFITable) {
		if p := recover(); p != nil {
			if _, fault := p.(interface{ Addr() uintptr }); !fault {
				panic(p)
			}
			*t, n = t0, Derived{}
			err = &bin.Error{File: f.Path, Msg: "the file changed while its code was followed"}
		}
	}(*t)
	d := newDeriver(f.File)
	d.described(t)
	if any, size := d.starts(files); size > maxSize {
		return Derived{Limit: maxSize}, nil
	} else if !any {
		return n, nil
	}
	d.imports()
	t.Rules.SetArch(f.Arch)
	n = appendRules(t, &d.in, f.Base)
	slices.SortFunc(t.Blocks, func(a, b symfmt.CFIBlock) int { return cmp.Compare(a.RVA, b.RVA) })
	return n, nil
}

// deriver collects what is known about the code of a binary.
type deriver struct {
	file  *object.File
	parts []execcode.Part
	in    input
	never map[uint64]bool // functions that do not return
	named bool            // there is a table of all symbols
}

func newDeriver(f *object.File) *deriver {
	d := &deriver{file: f, in: input{cpu: cpus[f.Arch], data: bytesOf(f), fixed: f.Kind == object.Executable, entry: f.Entry}, never: map[uint64]bool{}}
	d.parts = slices.DeleteFunc(execcode.Parts(f), func(p execcode.Part) bool { return p.Kind == execcode.Startup })
	d.in.never = func(addr uint64) bool { return d.never[addr] }
	pointers := sync.OnceValue(func() map[uint64]uint64 {
		all := map[uint64]uint64{}
		f.Pointers(func(addr, value uint64) { all[addr] = value })
		return all
	})
	d.in.pointer = func(addr uint64) uint64 { return pointers()[addr] }
	d.in.words = func() []uint64 { return d.words(pointers()) }
	return d
}

// words returns the addresses of code in data: those that the loader stores and, in a file for fixed addresses, words that
// may be such.
func (d *deriver) words(pointers map[uint64]uint64) []uint64 {
	all := slices.Collect(maps.Values(pointers))
	for _, s := range d.file.Sections {
		if !d.in.fixed || !s.Alloc || s.Exec || !s.HasData() {
			continue
		}
		data, _ := s.Data() // damage is reported when the file is opened
		for size := d.in.cpu.word; len(data) >= size; data = data[size:] {
			if to := address(data, size); d.in.follows(to) {
				all = append(all, to)
			}
		}
	}
	return all
}

// starts finds the functions that have no rules, and reads the code if there are any. It returns how much code without rules
// there is in a file without symbols.
func (d *deriver) starts(files []object.Companion) (any bool, size uint64) {
	d.symbols(files)
	d.stubs()
	if !d.named {
		size = d.unnamed()
	}
	if size > maxSize || len(d.in.begins) == 0 && size == 0 {
		return false, size
	}
	d.load()
	if d.in.unnamed {
		d.callees()
	}
	d.in.begins, d.in.colds = sorted(d.in.begins), sorted(d.in.colds)
	return true, size
}

// symbols finds the functions with symbols.
func (d *deriver) symbols(files []object.Companion) {
	for _, f := range files {
		for _, table := range []object.Table{object.Symtab, object.Dynamic} {
			// Damage is reported when the symbols are read for their names.
			_ = f.Symbols(table, func(s *object.Symbol) {
				if s.IsFunction() && !s.Undefined {
					d.named = d.named || table == object.Symtab
					d.function(s.Addr-f.Moved, s.Name)
				}
			})
		}
	}
}

// load reads the code, but for the data in it.
func (d *deriver) load() {
	data, _ := execcode.Data(d.file) // damage is reported when the symbols are read for their names
	for i := range d.parts {
		if bytes, err := d.parts[i].Map(); err == nil {
			d.part(&d.parts[i], bytes, data)
		}
	}
}

func sorted(addrs []uint64) []uint64 {
	slices.Sort(addrs)
	return slices.Compact(addrs)
}

// part adds a part with its bytes, without the data in it.
func (d *deriver) part(p *execcode.Part, bytes []byte, data []object.Range) {
	at, end := p.Start, p.Start+uint64(len(bytes))
	add := func(to uint64) {
		if at < to {
			d.in.parts = append(d.in.parts, codePart{lo: at, bytes: bytes[at-p.Start : to-p.Start], stubs: p.Kind == execcode.Linkage})
		}
	}
	for _, r := range data {
		if r.End > at && r.Start < end {
			add(max(r.Start, at))
			at = min(r.End, end)
		}
	}
	add(end)
}

// function notes the start of a function.
func (d *deriver) function(addr uint64, name []byte) {
	if isCold(name) {
		if d.lacks(addr) {
			d.in.colds = append(d.in.colds, addr)
		}
		return
	}
	if exits(string(name)) {
		d.never[addr] = true
	}
	if addr != d.file.Entry && d.lacks(addr) && !execcode.StartupName(name) {
		d.in.begins = append(d.in.begins, addr)
	}
}

// isCold reports whether a symbol names a part of a function that its other parts jump to, in the frame that they made:
// compilers move code there that seldom runs.
func isCold(name []byte) bool {
	return bytes.Contains(name, []byte(".cold")) || bytes.Contains(name, []byte(".__part."))
}

// callees notes the functions that are called from code that has rules, which is not followed.
func (d *deriver) callees() {
	if d.in.cpu.isa != 0 {
		return // which instruction set the code is for is not known
	}
	for _, r := range d.in.ranges {
		part, off, ok := d.in.part(r.lo)
		if !ok {
			continue
		}
		code := d.in.parts[part].bytes[off:]
		code = code[:min(r.hi-r.lo, uint64(len(code)))]
		for a := r.lo; len(code) > 0; {
			n, kind, to := d.in.cpu.calls(code, a)
			if n == 0 {
				break
			}
			if kind == insn.Direct && d.in.follows(to) {
				d.in.begins = append(d.in.begins, to)
			}
			a += uint64(n)
			code = code[n:]
		}
	}
}

// stubs notes the starts of the stubs in the procedure linkage table.
func (d *deriver) stubs() {
	for i := range d.parts {
		p := &d.parts[i]
		if p.Kind != execcode.Linkage || d.in.allDescribed(p.Start, p.End) {
			continue
		}
		bytes, _ := p.Map() // as in load
		for _, off := range d.in.cpu.stubs(bytes) {
			if addr := p.Start + uint64(off); d.lacks(addr) {
				d.in.begins = append(d.in.begins, addr)
			}
		}
	}
}

// imports finds what calls through the words that the linker fills lead to.
func (d *deriver) imports() {
	type target struct {
		addr  uint64
		never bool
	}
	words := map[uint64]target{}
	_ = d.file.Imports(func(word uint64, s *object.Symbol) {
		name := string(s.Name)
		if s.Undefined {
			words[word] = target{never: neverReturning(name)}
		} else {
			words[word] = target{s.Addr, exits(name)}
		}
	})
	d.in.imported = func(slot uint64) (addr uint64, noReturn bool) { return words[slot].addr, words[slot].never }
}

// bytesOf returns a function that returns the bytes of a file from an address on.
func bytesOf(f *object.File) func(addr uint64) []byte {
	in := f.SectionsBy(func(s *object.Section) bool { return s.Alloc && s.HasData() })
	return func(addr uint64) []byte {
		if s := in.At(addr); s != nil {
			if data, err := s.Data(); err == nil && addr-s.Addr < uint64(len(data)) {
				return data[addr-s.Addr:]
			}
		}
		return nil
	}
}
