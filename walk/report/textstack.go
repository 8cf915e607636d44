package report

import (
	"context"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk"
)

// maxStackBytes is the maximum number of bytes that are shown for a frame: with a damaged stack
// pointer it may extend over all memory. The total is limited to the dump's memory plus
// moreStackBytes, because threads may share a stack.
const (
	maxStackBytes  = 1 << 20
	moreStackBytes = 1 << 20
)

// stackContents writes the bytes of the stack from one address to another, and the functions into
// which words there point.
func (p *textWriter) stackContents(from, to uint64) {
	if from == 0 || to == 0 {
		return
	}
	word := p.wordSize()
	p.put("\n    Stack contents:")
	most := uint64(min(p.stackBytes, maxStackBytes))
	cut := to > from && to-from > most
	if cut {
		to = from + most
	}
	if to > from {
		p.stackBytes -= int64(to - from)
	}
	for addr := from; addr < to; addr += 16 {
		p.put("\n     %0*x", 2*word, addr)
		p.bytes(addr, to)
	}
	if cut {
		p.put("\n     ...")
	}
	p.put("\n    Possible instruction pointers:\n")
	var at resolve.Location
	for addr := from; addr < to; addr += uint64(word) {
		pc, _ := p.d.Memory.Word(addr, word)
		p.pointee(addr, pc, &at)
	}
	p.put("\n")
}

func (v *view) wordSize() int {
	if v.d.Arch == nil {
		return 8
	}
	return v.d.Arch.PtrSize
}

// bytes writes a row of 16 bytes, in hexadecimal and as text.
func (p *textWriter) bytes(addr, to uint64) {
	var text [16]byte
	for i := range text {
		v, ok := uint64(0), false
		if addr+uint64(i) < to {
			v, ok = p.d.Memory.Word(addr+uint64(i), 1)
		}
		switch {
		case !ok:
			p.put("   ")
			text[i] = ' '
			continue
		case v < ' ' || v > '~':
			text[i] = '.'
		default:
			text[i] = byte(v)
		}
		p.put(" %02x", v)
	}
	p.put("  %s", text[:])
}

// pointee writes the functions into which a word points, if there are any.
func (p *textWriter) pointee(addr, pc uint64, at *resolve.Location) {
	i := p.d.ModuleAt(pc)
	if i < 0 || p.r.Modules[i].Resolver == nil {
		return
	}
	base := p.d.Modules[i].Addr
	if pc-base >= p.d.Modules[i].ListedSize() { // data that the writer of the dump left out, as Breakpad's reader does
		return
	}
	if ok, err := p.r.Modules[i].Resolver.Nearest(context.Background(), symfmt.RVA(pc-base), at); !ok || err != nil || p.pointees.Exhausted() {
		return
	}
	p.pointees.Charge(&walk.Frame{Names: at.Frames})
	start := uint64(0)
	if line, ok, err := p.r.Modules[i].Resolver.LineStart(context.Background(), symfmt.RVA(pc-base)); ok && err == nil {
		start = base + uint64(line)
	}
	digits := 2 * p.wordSize()
	// The function itself comes before those that were inlined into it.
	for k := range at.Frames {
		f := &at.Frames[(k+len(at.Frames)-1)%len(at.Frames)]
		p.put("     *(0x%0*x) = 0x%0*x <%s> [%s : %d + 0x%x]\n", digits, addr, digits, pc, safe(f.Function), safe(text.Base(f.File)), f.Line, pc-start)
	}
}
