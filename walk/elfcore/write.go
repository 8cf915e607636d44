package elfcore

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk/dump"
)

// pageSize is the modulus to which the offsets of segments are congruent with their addresses.
const pageSize = 4096

// Write writes a core that gdb and Read can open. The problems list what a core cannot represent,
// or a debugger will miss. Everything except registers and memory is also in symtool's own note,
// from which Read restores it. Equal Dumps give equal bytes. The error is w's, or says that d.Arch
// is unknown.
func Write(w io.Writer, d *dump.Dump) ([]damage.Problem, error) {
	if d.Arch == nil {
		return nil, &damage.Error{Msg: fmt.Sprintf("cannot write a core: the layout of the registers of CPU %q is not known", d.System.CPU)}
	}
	wr := &writer{d: d, order: d.Order, word: d.Arch.PtrSize, layout: layoutOf(d.Arch, 0)}
	wr.addLinker()
	wr.plan()
	notes := wr.notes()
	out := bufio.NewWriterSize(w, 1<<16)
	wr.write(out, notes)
	if wr.err != nil {
		return nil, wr.err
	}
	return wr.problems, out.Flush()
}

// writer holds the state of writing a core.
type writer struct {
	d        *dump.Dump
	order    binary.ByteOrder
	word     int
	layout   *layout
	memory   []dump.Region // including added memory
	pieces   []piece
	problems []damage.Problem
	pos      uint64
	err      error
}

// problem reports a loss.
func (w *writer) problem(lost, format string, args ...any) {
	w.problems = append(w.problems, damage.Problem{Lost: lost, Err: &damage.Error{Msg: fmt.Sprintf(format, args...)}})
}

// piece is a PT_LOAD segment.
type piece struct {
	dump.Range
	flags elf.ProgFlag
	data  []byte // the bytes at its start
}

// plan cuts mappings where memory begins, because a segment has its bytes at its start. Memory
// without a mapping becomes a separate segment.
func (w *writer) plan() {
	maps, memory := slices.Clone(w.d.Maps), slices.Clone(w.memory)
	for len(maps) > 0 || len(memory) > 0 {
		switch {
		case len(maps) > 0 && maps[0].Size == 0:
			maps = maps[1:]
		case len(memory) > 0 && len(memory[0].Data) == 0:
			memory = memory[1:]
		case len(memory) == 0 || len(maps) > 0 && last(maps[0].Range) < memory[0].Addr:
			w.empty(piece{Range: maps[0].Range, flags: flagsOf(&maps[0])}, &maps[0])
			maps = maps[1:]
		case len(maps) == 0 || memory[0].Addr+uint64(len(memory[0].Data)-1) < maps[0].Addr:
			w.pieces = append(w.pieces, alone(memory[0]))
			memory = memory[1:]
		default:
			w.cut(&maps[0], memory)
		}
	}
}

// cut removes the first piece from mapping and memory, which overlap.
func (w *writer) cut(m *dump.Mapping, memory []dump.Region) {
	r := &memory[0]
	p := piece{Range: m.Range, flags: flagsOf(m)}
	switch {
	case r.Addr < m.Addr:
		p = alone(dump.Region{Addr: r.Addr, Data: r.Data[:m.Addr-r.Addr]})
	case m.Addr < r.Addr:
		p.Size = r.Addr - m.Addr
		w.empty(p, m)
		m.Range, m.Offset = behind(m.Range, p.Size), m.Offset+p.Size
		return
	default:
		p.data = r.Data[:min(uint64(len(r.Data)), m.Size)]
		if m.Write {
			p.Size = uint64(len(p.data))
		}
		if len(memory) > 1 { // the rest may begin in this mapping, too
			p.Size = min(p.Size, memory[1].Addr-p.Addr)
		}
	}
	w.pieces = append(w.pieces, p)
	if p.Addr == m.Addr {
		m.Range = behind(m.Range, p.Size)
	}
	r.Addr, r.Data = r.Addr+uint64(len(p.data)), r.Data[len(p.data):]
}

// empty adds a mapping for which the dump has no bytes. gdb takes them as zeros unless it has them
// from a binary. So no segment is added at the start of files and of the vdso, where gdb looks for
// headers to check that it has the right binaries, nor for writable memory, nor if nothing but the
// mapping is known: gcore adds none either.
func (w *writer) empty(p piece, m *dump.Mapping) {
	if m.Write || m.Unknown || m.IsFile() && m.Offset == 0 || m.Path == "[vdso]" {
		return
	}
	w.pieces = append(w.pieces, p)
}

// alone returns a piece of memory that no mapping covers.
func alone(r dump.Region) piece {
	return piece{Range: dump.Range{Addr: r.Addr, Size: uint64(len(r.Data))}, flags: elf.PF_R, data: r.Data}
}

func flagsOf(m *dump.Mapping) (f elf.ProgFlag) {
	for _, c := range []struct {
		set  bool
		flag elf.ProgFlag
	}{{m.Read, elf.PF_R}, {m.Write, elf.PF_W}, {m.Exec, elf.PF_X}} {
		if c.set {
			f |= c.flag
		}
	}
	return f
}

// write writes headers, notes, memory and, for 65,535 segments or more, the section header with
// their number.
func (w *writer) write(out io.Writer, notes [][]byte) {
	size := uint64(0)
	for _, part := range notes {
		size += uint64(len(part))
	}
	class := elf.ELFCLASS64
	if w.word == 4 {
		class = elf.ELFCLASS32
	}
	h := elfobj.CoreHeader(class, w.order, w.d.Arch.Machine, len(w.pieces)+1)
	segments := []elfobj.Segment{{Type: elf.PT_NOTE, Offset: h.Size(), FileSize: size, Align: 4}}
	at := h.Size() + size
	for _, p := range w.pieces {
		s := elfobj.Segment{Type: elf.PT_LOAD, Flags: p.flags, Addr: p.Addr, MemSize: p.Size, FileSize: uint64(len(p.data)), Align: pageSize}
		if len(p.data) > 0 {
			at += (p.Addr - at) % pageSize
		}
		s.Offset = at
		at += s.FileSize
		segments = append(segments, s)
	}
	if w.word == 4 && at > math.MaxUint32 {
		w.err = &damage.Error{Msg: fmt.Sprintf("a core of %d bytes, want less than 4 GB for a 32-bit process", at)}
		return
	}
	w.put(out, h.Bytes(segments, at))
	for _, part := range notes {
		w.put(out, part)
	}
	for i, p := range w.pieces {
		if len(p.data) > 0 {
			w.put(out, make([]byte, segments[i+1].Offset-w.pos))
			w.put(out, p.data)
		}
	}
	w.put(out, h.Trailer())
}

func (w *writer) put(out io.Writer, b []byte) {
	if w.err == nil {
		_, w.err = out.Write(b)
	}
	w.pos += uint64(len(b))
}
