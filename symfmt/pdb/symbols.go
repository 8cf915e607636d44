package pdb

import (
	"encoding/binary"

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

// proc is a function, or a part of one.
type proc struct {
	rva   symfmt.RVA
	size  uint32
	typ   uint32
	isID  bool // typ is in the id stream
	thunk bool // a thunk, which has no type
	name  string
	sites []site // in order: a call precedes those inside it
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

// procs reads the functions in a module's symbols. Records nest; where they do not, the rest is
// left out.
func (d *database) procs(data []byte) (list []*proc) {
	var open []scope
	var cur *proc // the open function
	depth := 0
	byOffset := map[int]*proc{}
	for at := 4; at+4 <= len(data); {
		size := int(u16(data[at:]))
		if size < 2 || at+2+size > len(data) {
			break
		}
		kind, b := u16(data[at+2:]), data[at+4:at+2+size]
		switch kind {
		case symGlobalProc, symLocalProc, symProcID, symLocalProcID, symLocalDPC, symLocalDPCID, symThunk, symSepCode:
			p := d.proc(kind, b, byOffset)
			if p != nil {
				byOffset[at] = p
				list = append(list, p)
			}
			cur, depth = p, 0
			open = append(open, scope{proc: true})
		case symBlock:
			open = append(open, scope{})
		case symInline, symInline2:
			n := 12
			if kind == symInline2 {
				n = 16
			}
			if cur != nil && depth < maxDepth && len(b) >= n {
				cur.sites = append(cur.sites, site{depth, u32(b[8:]), b[n:]})
			}
			depth++
			open = append(open, scope{site: true})
		case symEnd, symInlineEnd, symProcIDEnd:
			if len(open) == 0 {
				return list
			}
			last := open[len(open)-1]
			open = open[:len(open)-1]
			if last.proc {
				cur, depth = nil, 0
			} else if last.site {
				depth--
			}
		}
		at += 2 + size
	}
	return list
}

// proc decodes a function; it returns nil for a damaged one, or one outside code.
func (d *database) proc(kind uint16, b []byte, known map[int]*proc) *proc {
	var p proc
	var ok bool
	switch {
	case kind == symThunk:
		if len(b) < 21 {
			return nil
		}
		p = proc{size: uint32(u16(b[18:])), thunk: true, name: text(b[21:])}
		p.rva, ok = d.rva(u16(b[16:]), u32(b[12:]))
	case kind == symSepCode:
		if len(b) < 28 {
			return nil
		}
		p = proc{size: u32(b[8:]), thunk: true}
		p.rva, ok = d.rva(u16(b[24:]), u32(b[16:]))
		if parent := known[int(u32(b))]; parent != nil {
			p.name, p.typ, p.isID, p.thunk = parent.name, parent.typ, parent.isID, parent.thunk
		}
	default:
		if len(b) < 35 {
			return nil
		}
		p = proc{size: u32(b[12:]), typ: u32(b[24:]), name: text(b[35:])}
		p.isID = kind == symProcID || kind == symLocalProcID || kind == symLocalDPCID
		p.rva, ok = d.rva(u16(b[32:]), u32(b[28:]))
	}
	if !ok || p.size == 0 || p.name == "" {
		return nil
	}
	return &p
}
