package pdb

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// Kinds of symbols (cvinfo.h).
const (
	symEnd         = 0x0006
	symThunk       = 0x1102
	symBlock       = 0x1103
	symLocalProc   = 0x110f
	symGlobalProc  = 0x1110
	symPublic      = 0x110e
	symTrampoline  = 0x112c
	symSepCode     = 0x1132
	symLocalProcID = 0x1146
	symProcID      = 0x1147
	symInline      = 0x114d
	symInlineEnd   = 0x114e
	symProcIDEnd   = 0x114f
	symLocalDPC    = 0x1155
	symLocalDPCID  = 0x1156
	symInline2     = 0x115d
)

// maxDepth bounds the nesting of inlined functions.
const maxDepth = 255

// proc is a function, or a part of one. Its name and its calls are valid until the next module is read.
type proc struct {
	rva         symfmt.RVA
	size        uint32
	typ         uint32
	isID        bool // typ is in the id stream
	thunk       bool // a thunk, which has no type
	name        []byte
	sites       []site // in order: a call precedes those inside it
	at          int    // offset of the record
	first, last int    // of its sites
}

// site is an inlined call.
type site struct {
	depth   int
	inlinee uint32
	notes   []byte // binary annotations
}

func u16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func u32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// scope is an open record, which an end record closes.
type scope struct{ proc, site bool }

// moduleSymbols holds the functions of a module. Its memory is reused for the next module.
type moduleSymbols struct {
	procs []proc
	sites []site
	open  []scope
	jumps []jump
}

// read reads the functions in a module's symbols. Records nest; where they do not, the rest is
// left out.
func (m *moduleSymbols) read(d *database, data []byte) {
	m.procs, m.sites, m.open, m.jumps = m.procs[:0], m.sites[:0], m.open[:0], m.jumps[:0]
	m.scan(d, data)
	for i := range m.procs {
		p := &m.procs[i]
		p.sites = m.sites[p.first:p.last]
	}
}

func (m *moduleSymbols) scan(d *database, data []byte) {
	in := false // a function is open, the last one
	depth := 0
	for at := 4; at+4 <= len(data); {
		size := int(u16(data[at:]))
		if size < 2 || at+2+size > len(data) {
			break
		}
		kind, b := u16(data[at+2:]), data[at+4:at+2+size]
		switch kind {
		case symGlobalProc, symLocalProc, symProcID, symLocalProcID, symLocalDPC, symLocalDPCID, symThunk, symSepCode:
			in, depth = m.proc(d, kind, b, at), 0
			m.open = append(m.open, scope{proc: true})
		case symBlock:
			m.open = append(m.open, scope{})
		case symInline, symInline2:
			n := 12
			if kind == symInline2 {
				n = 16
			}
			if in && depth < maxDepth && len(b) >= n {
				m.sites = append(m.sites, site{depth, u32(b[8:]), b[n:]})
				m.procs[len(m.procs)-1].last = len(m.sites)
			}
			depth++
			m.open = append(m.open, scope{site: true})
		case symTrampoline:
			m.jump(d, b)
		case symEnd, symInlineEnd, symProcIDEnd:
			if len(m.open) == 0 {
				return
			}
			last := m.open[len(m.open)-1]
			m.open = m.open[:len(m.open)-1]
			if last.proc {
				in, depth = false, 0
			} else if last.site {
				depth--
			}
		}
		at += 2 + size
	}
}

// proc adds a function. It reports false for one that is damaged or outside code.
func (m *moduleSymbols) proc(d *database, kind uint16, b []byte, at int) bool {
	p := proc{at: at, first: len(m.sites), last: len(m.sites)}
	var ok bool
	switch {
	case kind == symThunk:
		if len(b) < 21 {
			return false
		}
		p.size, p.thunk, p.name = uint32(u16(b[18:])), true, cString(b[21:])
		p.rva, ok = d.rva(u16(b[16:]), u32(b[12:]))
	case kind == symSepCode:
		if len(b) < 28 {
			return false
		}
		p.size, p.thunk = u32(b[8:]), true
		p.rva, ok = d.rva(u16(b[24:]), u32(b[16:]))
		if parent := m.at(int(u32(b))); parent != nil {
			p.name, p.typ, p.isID, p.thunk = parent.name, parent.typ, parent.isID, parent.thunk
		}
	default:
		if len(b) < 35 {
			return false
		}
		p.size, p.typ, p.name = u32(b[12:]), u32(b[24:]), cString(b[35:])
		p.isID = kind == symProcID || kind == symLocalProcID || kind == symLocalDPCID
		p.rva, ok = d.rva(u16(b[32:]), u32(b[28:]))
	}
	if !ok || p.size == 0 || len(p.name) == 0 {
		return false
	}
	m.procs = append(m.procs, p)
	return true
}

// at returns the function whose record is at an offset.
func (m *moduleSymbols) at(off int) *proc {
	i, found := slices.BinarySearchFunc(m.procs, off, func(p proc, off int) int { return cmp.Compare(p.at, off) })
	if !found {
		return nil
	}
	return &m.procs[i]
}
