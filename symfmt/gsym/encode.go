package gsym

import (
	"encoding/binary"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// encoder appends FunctionInfos to a buffer.
type encoder struct {
	w     *writer
	chunk chunk
	buf   []byte // last part of the chunk
	s     scratch
	own   symfmt.FileID // see ownFile
	have  bool

	outer []symfmt.OriginID // enclosing nodes of the one being written, by depth
}

// partSize is the buffer size in bytes above which the buffer becomes a part of the chunk when
// the next FunctionInfo begins. A FUNC of many pieces would otherwise make a single buffer
// grow, and be copied each time.
const partSize = 1 << 20

// begin begins a FunctionInfo and returns its offset in the chunk.
func (e *encoder) begin() uint32 {
	e.align()
	if len(e.buf) >= partSize {
		e.chunk.add(e.buf)
		e.buf = nil
	}
	return uint32(e.chunk.size + uint64(len(e.buf)))
}

// take returns the encoded chunk.
func (e *encoder) take() chunk {
	e.align()
	e.chunk.add(slices.Clone(e.buf))
	c := e.chunk
	e.buf, e.chunk = e.buf[:0], chunk{}
	return c
}

func (e *encoder) u32(v uint32) { e.buf = e.w.order.AppendUint32(e.buf, v) }

// str appends the offset of a string.
func (e *encoder) str(v uint64) {
	if e.w.strSize == 8 {
		e.buf = e.w.order.AppendUint64(e.buf, v)
		return
	}
	e.u32(uint32(v))
}

func (e *encoder) uleb(v uint64) { e.buf = binary.AppendUvarint(e.buf, v) }

func (e *encoder) sleb(v int64) { e.buf = bin.AppendSLEB(e.buf, v) }

// align pads the buffer to a multiple of 4; earlier parts already have such a length.
func (e *encoder) align() {
	for len(e.buf)%4 != 0 {
		e.buf = append(e.buf, 0)
	}
}

// item appends the FunctionInfos of an item.
func (e *encoder) item(it *item) {
	p := e.w.plan
	e.chunk.offsets = append(e.chunk.offsets, e.begin())
	funcs := p.funcs[it.funcs.first:][:it.funcs.count]
	publics := p.publics[it.publics.first:][:it.publics.count]
	if len(funcs) == 0 {
		e.symbol(publics[0], func() { e.merged(nil, publics[1:]) })
		return
	}
	e.function(funcs[0], func() { e.merged(funcs[1:], publics) })
	for _, pc := range p.pieces[it.pieces.first:][:it.pieces.count] {
		if it.funcs.count > 1 {
			e.s.collect(&p.m.Funcs[funcs[0]]) // the others were collected after it
			e.findOwnFile()
		}
		off := uint32(pc.start - it.rva)
		e.chunk.offsets = append(e.chunk.offsets, e.begin())
		e.info(funcs[0], off)
		e.end()
	}
}

// function appends a FUNC; more appends further information before its end.
func (e *encoder) function(i uint32, more func()) {
	e.s.collect(&e.w.plan.m.Funcs[i])
	e.findOwnFile()
	e.info(i, 0)
	more()
	e.end()
}

// symbol appends a PUBLIC: a function of size 0.
func (e *encoder) symbol(i uint32, more func()) {
	e.u32(0)
	e.str(e.w.publicNames[i])
	more()
	e.end()
}

// info appends the collected FUNC's information from an offset on.
func (e *encoder) info(i, from uint32) {
	s := &e.s
	e.u32(s.size - from)
	e.str(e.w.funcNames[i])
	if len(s.rows) > 0 {
		e.sized(infoLines, func() { e.lineTable(from) })
	}
	if e.s.covers(from) {
		e.sized(infoInlines, func() { e.inlineTree(e.w.funcNames[i], from) })
	}
}

// merged appends the functions that share another's range or address.
func (e *encoder) merged(funcs, publics []uint32) {
	if len(funcs)+len(publics) == 0 {
		return
	}
	e.sized(infoMerged, func() {
		e.u32(uint32(len(funcs) + len(publics)))
		for _, i := range funcs {
			e.prefixed(func() { e.function(i, func() {}) })
		}
		for _, i := range publics {
			e.prefixed(func() { e.symbol(i, func() {}) })
		}
	})
}

// sized appends information of a kind.
func (e *encoder) sized(kind uint32, payload func()) {
	e.u32(kind)
	e.prefixed(payload)
}

// prefixed appends a payload after its length.
func (e *encoder) prefixed(payload func()) {
	at := len(e.buf)
	e.u32(0)
	payload()
	n := uint64(len(e.buf) - at - 4)
	if n > 1<<32-1 {
		e.w.tooLong.Store(true)
	}
	e.w.order.PutUint32(e.buf[at:], uint32(n))
}

func (e *encoder) end() { e.u32(infoEnd); e.u32(0) }
