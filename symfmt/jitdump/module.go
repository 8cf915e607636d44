package jitdump

import (
	"bytes"
	"context"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/span"
	"github.com/symtool/symtool/symfmt"
)

// module returns the code in force as a module whose addresses are those of the process.
func (d *reader) module(ctx context.Context) (*symfmt.Module, error) {
	d.dropLater()
	m := &symfmt.Module{OS: "Linux"}
	if d.arch != nil {
		m.Arch = d.arch.Name
	}
	for i := range d.codes {
		if before := d.codes[i].before; before >= 0 {
			d.codes[before].moved = true
		}
	}
	live := inForce(len(d.codes), func(i int) (addr, size uint64) { return d.codes[i].addr, d.codes[i].size })
	var codes []code
	for i := range d.codes {
		if live[i] && !d.codes[i].moved {
			codes = append(codes, d.codes[i])
		}
	}
	slices.SortFunc(codes, func(a, b code) int {
		if a.addr < b.addr {
			return -1
		}
		return 1
	})
	l := lineMaker{reader: d, m: m, files: map[string]symfmt.FileID{}}
	for i := range codes {
		c := &codes[i]
		m.Funcs = append(m.Funcs, symfmt.Func{RVA: symfmt.RVA(c.addr), Size: c.size, Name: c.name, Body: l.body(c)})
	}
	return m, d.rules(ctx, m, codes)
}

// dropLater drops the code that was loaded after the time that counts. A file that seems to have been begun after that
// time is a copy, whose time says nothing.
func (d *reader) dropLater() {
	later := d.o.Modified.Sub(d.o.At)
	if d.o.At.IsZero() || !d.clock || later <= 0 || uint64(later) >= d.last-d.first {
		return
	}
	limit := d.last - uint64(later)
	for n := len(d.codes); n > 0 && d.codes[n-1].time > limit; n-- {
		d.codes = d.codes[:n-1]
	}
}

// InForce returns the functions of a list, in the order in which a compiler wrote them, that no later one overlaps:
// code at whose address there is other code has been freed. Functions without a size are left out.
func InForce(all []symfmt.Func) (list []symfmt.Func) {
	live := inForce(len(all), func(i int) (addr, size uint64) { return uint64(all[i].RVA), all[i].Size })
	for i := range all {
		if live[i] {
			list = append(list, all[i])
		}
	}
	return list
}

// inForce reports, for each of n pieces of code, whether no later one overlaps it.
func inForce(n int, at func(i int) (addr, size uint64)) []bool {
	var sweep span.Sweep
	sweep.Reset(n)
	for i := range n {
		if addr, size := at(i); size > 0 && addr+size > addr {
			sweep.Claim(i, addr, addr+size)
		}
	}
	own := make([]uint64, n)
	sweep.Each(func(owner int32, lo, hi uint64) bool {
		own[owner] += hi - lo
		return true
	})
	live := make([]bool, n)
	for i := range live {
		_, size := at(i)
		live[i] = size > 0 && own[i] == size
	}
	return live
}

// lineMaker makes the lines of code.
type lineMaker struct {
	*reader
	m      *symfmt.Module
	files  map[string]symfmt.FileID
	packer symfmt.BodyBuilder
	arena  symfmt.Arena
	lines  []symfmt.Line // of the code; Size is not set yet
}

// body returns the lines of a piece of code.
func (l *lineMaker) body(c *code) symfmt.Body {
	l.lines = l.lines[:0]
	rest, file := c.entries, symfmt.FileID(0)
	for range c.count {
		if len(rest) < entrySize {
			break
		}
		name, after, ended := bytes.Cut(rest[entrySize:], []byte{0})
		if !ended {
			break
		}
		if string(name) != sameFile {
			file = l.file(name)
		}
		l.add(c, l.order.Uint64(rest), l.order.Uint32(rest[8:]), file)
		rest = after
	}
	slices.SortStableFunc(l.lines, func(a, b symfmt.Line) int {
		switch {
		case a.RVA < b.RVA:
			return -1
		case a.RVA > b.RVA:
			return 1
		}
		return 0
	})
	l.packer.Reset(symfmt.RVA(c.addr))
	end := symfmt.RVA(c.addr + c.size)
	for i, line := range l.lines {
		next := end
		if i+1 < len(l.lines) {
			next = l.lines[i+1].RVA
		}
		if line.Size = uint64(next - line.RVA); line.Size > 0 && line.Num > 0 {
			l.packer.AddLine(line)
		}
	}
	return l.packer.Finish(&l.arena)
}

// sameFile stands for the name of the entry before, in files of perf's agent for Java.
const sameFile = "\xff"

// add adds a line that begins at an address.
func (l *lineMaker) add(c *code, addr uint64, num uint32, file symfmt.FileID) {
	if addr -= c.from; addr < c.size { // the entry is where the code was loaded
		l.lines = append(l.lines, symfmt.Line{RVA: symfmt.RVA(c.addr + addr), Num: num, File: file})
	}
}

// file returns the number of a file.
func (l *lineMaker) file(name []byte) symfmt.FileID {
	id, ok := l.files[string(name)]
	if !ok {
		id = symfmt.FileID(len(l.m.Files))
		l.files[string(name)] = id
		l.m.Files = append(l.m.Files, symfmt.File{ID: id, Name: string(name)})
	}
	return id
}

// rules sets the rules of code. codes are in order.
func (d *reader) rules(ctx context.Context, m *symfmt.Module, codes []code) error {
	if d.arch == nil {
		return nil
	}
	in := unwind.Input{Arch: d.arch, Order: d.order, PtrSize: d.arch.PtrSize}
	for i := range codes {
		if c := &codes[i]; len(c.unwinding) > 0 {
			in.Sections = append(in.Sections, unwind.Section{Name: ".eh_frame", Addr: c.addr + (c.size+7)&^7, Data: c.unwinding, EH: true, File: d.o.File})
			in.CodeBytes += c.size
		}
	}
	if len(in.Sections) == 0 {
		return nil
	}
	in.Exec = func(addr uint64) bool {
		i, found := slices.BinarySearchFunc(codes, addr, func(c code, addr uint64) int {
			switch {
			case c.addr > addr:
				return 1
			case addr-c.addr >= c.size:
				return -1
			}
			return 0
		})
		return found && len(codes[i].unwinding) > 0
	}
	result, err := unwind.Read(ctx, &in)
	if err != nil {
		return err
	}
	m.CFI, d.problems = result.CFI, append(d.problems, result.Problems...)
	return nil
}
