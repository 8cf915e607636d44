package resolve

import (
	"github.com/symtool/symtool/cmd/symtool/internal/suppliers"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// An address without a module may be relative to the start of the module, as in symbol files, or
// may be a link-time address, as in nm, addr2line and llvm-symbolizer. They are the same for
// position-independent code. In a binary that is linked to another address, such as a program built
// with -no-pie or a kernel, the interpretation that lies in code is used. If both do, --base
// decides: the linker's base, or 0. Symbol files do not record where a module was linked to, so
// with them an address is relative to the start of the module, unless --base is given.

// rvaOf returns the RVA of an address. If it is unknown, rvaOf reports why.
func (r *addressResolver) rvaOf(symbols resolve.Symbols, q question) (rva uint64, known bool) {
	switch {
	case q.module != (suppliers.ModuleName{}):
		return q.addr, true
	case r.base != nil:
		return q.addr - *r.base, q.addr >= *r.base
	}
	fromStart, linked := readings(symbols, q.addr)
	base, _ := symbols.Base()
	switch {
	case fromStart && linked:
		r.hint(symbols, "%s is in the code both as an address of the linker and as one from the start of the module: use --base %x or --base 0 to say which it is", q.text, base)
		return 0, false
	case linked:
		return q.addr - base, true
	case !fromStart:
		r.hintOutside(symbols, q.text)
	}
	return q.addr, true
}

// readings reports whether addr is in the code of a module, as an address relative to its start,
// and as a link-time address if that differs.
func readings(symbols resolve.Symbols, addr uint64) (fromStart, linked bool) {
	base, _ := symbols.Base()
	linked = base > 0 && addr >= base && symbols.InCode(symfmt.RVA(addr-base))
	return symbols.InCode(symfmt.RVA(addr)), linked
}

// hintOutside suggests what an address outside a module's code may mean.
func (r *addressResolver) hintOutside(symbols resolve.Symbols, text string) {
	if _, known := symbols.Base(); known {
		r.hint(symbols, "%s is not in its code: for addresses of a process, use --base to say where the module begins there", text)
		return
	}
	r.hint(symbols, "%s is past its code, whose records end at %x: for addresses of a process or of the linker, use --base to say where the module begins", text, uint64(symbols.Last(r.ctx)))
}

// hint prints, once for each module, what its addresses need.
func (r *addressResolver) hint(symbols resolve.Symbols, format string, args ...any) {
	if r.hinted[symbols] {
		return
	}
	r.hinted[symbols] = true
	r.msgs.Warnf("symtool: %s: "+format, append([]any{symbols.Identity().Path}, args...)...)
}
