package code

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"sync"

	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// sparse is how many bytes of code there are at least for each that has rules in a file whose rules are derived: that of
// a C library that was built without them has some for a few functions in assembly.
const sparse = 50

// maxSize is the maximum number of bytes of code that are followed: some 40 times as much memory is needed.
const maxSize = 16 << 20

// Wanted reports whether rules are derived from the instructions of a binary of which so many bytes have rules: ELF
// files for these CPUs (not x32) that are linked, but for Linux's kernel, much of whose code is not called.
func Wanted(f *object.File, described uint64) bool {
	if cpus[f.Arch] == nil || f.Order != binary.LittleEndian || f.AddrSize != 8 || f.Format != "ELF" || f.Kind == object.Relocatable || f.Section(".orc_unwind") != nil {
		return false
	}
	size := uint64(0)
	for _, p := range execcode.Parts(f) {
		if p.Kind == execcode.Code {
			size += p.End - p.Start
		}
	}
	return size <= maxSize && described*sparse < size
}

// Derive adds to the rules of a binary those of functions that have none, from their instructions, if they are wanted.
// It returns the number of bytes that have rules by it.
func Derive(t *symfmt.CFITable, files []object.Companion) (size uint64) {
	f, described := files[0], uint64(0)
	for i := range t.Blocks {
		described += t.Blocks[i].Size
	}
	if !Wanted(f.File, described) {
		return 0
	}
	d := newDeriver(f.File)
	d.described(t)
	d.starts(files)
	if len(d.in.begins) == 0 && !d.in.unnamed {
		return 0
	}
	d.imports()
	t.Rules.SetArch(f.Arch)
	size = appendRules(t, &d.in, f.Base)
	slices.SortFunc(t.Blocks, func(a, b symfmt.CFIBlock) int { return cmp.Compare(a.RVA, b.RVA) })
	return size
}

// deriver collects what is known about the code of a binary.
type deriver struct {
	file  *object.File
	in    input
	kinds []execcode.Kind // of in.parts
	never map[uint64]bool // functions that do not return
}

func newDeriver(f *object.File) *deriver {
	d := &deriver{file: f, in: input{cpu: cpus[f.Arch], data: bytesOf(f), fixed: f.Kind == object.Executable}}
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
		for ; len(data) >= 8; data = data[8:] {
			if to := binary.LittleEndian.Uint64(data); d.in.follows(to) {
				all = append(all, to)
			}
		}
	}
	return all
}

// described notes the code that has rules.
func (d *deriver) described(t *symfmt.CFITable) {
	for i := range t.Blocks {
		b := &t.Blocks[i]
		lo := uint64(b.RVA) + d.file.Base
		d.in.ranges = append(d.in.ranges, codeRange{lo: lo, hi: lo + b.Size})
	}
}

// starts finds the functions that have no rules, and the code that they are in.
func (d *deriver) starts(files []object.Companion) {
	data, _ := execcode.Data(d.file) // damage is reported when the symbols are read for their names
	for _, p := range execcode.Parts(d.file) {
		if bytes, err := p.Bytes(); err == nil && p.Kind != execcode.Startup {
			d.part(&p, bytes, data)
		}
	}
	d.never = map[uint64]bool{}
	d.in.never = func(addr uint64) bool { return d.never[addr] }
	named := false
	for _, f := range files {
		for _, table := range []object.Table{object.Symtab, object.Dynamic} {
			// Damage is reported when the symbols are read for their names.
			_ = f.Symbols(table, func(s *object.Symbol) {
				if s.IsFunction() && !s.Undefined {
					named = named || table == object.Symtab
					d.function(s.Addr-f.Moved, s.Name)
				}
			})
		}
	}
	d.stubs()
	if d.in.unnamed, d.in.entry = !named, d.file.Entry; d.in.unnamed {
		d.callees()
	}
	d.in.begins, d.in.colds = sorted(d.in.begins), sorted(d.in.colds)
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
			d.kinds = append(d.kinds, p.Kind)
			d.in.parts = append(d.in.parts, codePart{lo: at, bytes: bytes[at-p.Start : to-p.Start]})
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
		d.in.colds = append(d.in.colds, addr)
		return
	}
	if exits(string(name)) {
		d.never[addr] = true
	}
	if addr != d.file.Entry && !execcode.StartupName(name) && d.in.follows(addr) {
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
	for i, kind := range d.kinds {
		if p := d.in.parts[i]; kind == execcode.Linkage {
			for _, off := range d.in.cpu.stubs(p.bytes) {
				if addr := p.lo + uint64(off); d.in.follows(addr) {
					d.in.begins = append(d.in.begins, addr)
				}
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
