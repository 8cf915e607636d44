package symbolizer

import (
	"fmt"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// elfutilsPrinter prints the output of elfutils' eu-addr2line.
type elfutilsPrinter struct {
	s   *Symbolizer
	out *cli.Stdout
}

func (p *elfutilsPrinter) end() {}

func (p *elfutilsPrinter) code(r *request, frames []symfmt.SourceFrame) {
	if p.s.Addresses && r.ok {
		fmt.Fprintf(p.out, "0x%016x%s", r.addr, p.s.after(": "))
	}
	p.names(r, frames)
	if len(frames) == 0 {
		p.out.WriteString("??:0\n")
		return
	}
	fmt.Fprintf(p.out, "%s\n", place(&frames[0]))
	if !p.s.Inlines {
		return
	}
	for i := 1; i < len(frames); i++ {
		if p.s.Pretty {
			p.out.WriteString(" (inlined by) ")
		}
		if p.s.Names != NoNames {
			fmt.Fprint(p.out, orUnknown(frames[i].Name), p.s.after(" at "))
		}
		fmt.Fprintf(p.out, "%s\n", place(&frames[i]))
	}
}

// names prints the function and the symbol at an address, if they are requested.
func (p *elfutilsPrinter) names(r *request, frames []symfmt.SourceFrame) {
	known := len(frames) > 0 && frames[0].Name != ""
	inlined := known && len(frames) > 1 && !p.s.Pretty
	symbols := p.s.Symbols
	if p.s.Names != NoNames && (known || !symbols) {
		p.out.WriteString(p.function(r, frames))
		switch {
		case inlined && symbols:
			fmt.Fprintf(p.out, " inlined at %s in %s\n", place(&frames[1]), p.symbolName(r))
			symbols = false
		case inlined:
			fmt.Fprintf(p.out, " inlined at %s in %s\n", place(&frames[1]), orUnknown(frames[len(frames)-1].Name))
		case symbols && p.s.Pretty:
			p.out.WriteByte(' ')
		default:
			p.out.WriteString(p.s.after(" at "))
		}
	}
	if symbols {
		fmt.Fprint(p.out, p.symbolName(r), p.s.after(" at "))
	}
}

// function returns the name of the innermost function or, without one, the name of a symbol.
func (p *elfutilsPrinter) function(r *request, frames []symfmt.SourceFrame) string {
	if len(frames) > 0 && frames[0].Name != "" {
		return frames[0].Name
	}
	sym, _ := p.symbolAt(r)
	return orUnknown(sym.name)
}

// symbolAt returns the symbol at an address. inside reports whether the address is in the binary.
func (p *elfutilsPrinter) symbolAt(r *request) (sym candidate, inside bool) {
	m := p.s.opened(r)
	if m == nil || !r.ok || !m.spans(r.place) {
		return sym, false
	}
	sym = elfutilsSymbol(m.tables, symfmt.RVA(r.place-m.base))
	if p.s.Demangle {
		sym.name = p.s.demangle(sym.name)
	}
	return sym, true
}

// symbolName returns the name of the symbol at an address, the distance from it and, if requested,
// its section.
func (p *elfutilsPrinter) symbolName(r *request) string {
	sym, inside := p.symbolAt(r)
	if !inside {
		return "??"
	}
	switch kind := p.s.opened(r).file.Kind; {
	case sym.name == "" && kind == object.Executable:
		return "??"
	case sym.name == "" && r.place == 0:
		return "()+0"
	case sym.name == "":
		return fmt.Sprintf("()+0x%x", r.place)
	}
	name := sym.name
	if after := r.place - p.s.opened(r).base - uint64(sym.start); after != 0 {
		name = fmt.Sprintf("%s+0x%x", name, after)
	}
	if p.s.Sections {
		if section := p.s.opened(r).sectionAt(r.place); section != "" {
			name += " (" + section + ")"
		}
	}
	return name
}

// spans reports whether an address is in memory between the binary's first byte and its end. As in
// libdwfl, the end itself counts as inside.
func (m *module) spans(addr uint64) bool {
	loaded := m.file.Segments
	if len(loaded) == 0 {
		loaded = m.file.Sections
	}
	inside, low := false, m.file.Base
	for _, s := range loaded {
		inside = inside || s.Alloc && addr >= low && addr <= s.Addr+s.MemSize
	}
	return inside
}

// place returns FILE:LINE:COLUMN for a frame, without an unknown column.
func place(f *symfmt.SourceFrame) string {
	switch {
	case f.File.Path == "":
		return "??:0"
	case f.Column == 0:
		return fmt.Sprintf("%s:%d", f.File.Path, f.Line)
	}
	return fmt.Sprintf("%s:%d:%d", f.File.Path, f.Line, f.Column)
}

// data is never called: eu-addr2line has no such request.
func (p *elfutilsPrinter) data(r *request, _ *symbol) { p.code(r, nil) }

// symbol is never called: a name is replaced by its address.
func (p *elfutilsPrinter) symbol(r *request, _ []symfmt.SourceFrame) { p.code(r, nil) }

// fail is never called: there are no answers for a file that cannot be read.
func (p *elfutilsPrinter) fail(*request, string) {}
