package resolve

import (
	"context"

	"github.com/symtool/symtool/cmd/symtool/internal/logs"
	"github.com/symtool/symtool/cmd/symtool/internal/markup"
	"github.com/symtool/symtool/cmd/symtool/internal/suppliers"
	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// mostProblems is the maximum number of messages about markup: logs are long.
const mostProblems = 20

// newMarkup returns a filter for the markup in a log.
func (r *addressResolver) newMarkup(f *logs.Filter, at *resolve.Location) *markup.Filter {
	problems := 0
	return &markup.Filter{
		Symbols: &markupSymbols{r, f, at}, Logs: true,
		Problem: func(problem, element string) {
			if problems++; problems <= mostProblems {
				r.msgs.Warnf("symtool: standard input: %s: %s", shorten(element), problem)
			}
		},
	}
}

// markupSymbols implements markup.Symbols with the symbols of resolve.
type markupSymbols struct {
	r      *addressResolver
	filter *logs.Filter
	at     *resolve.Location
}

// find looks up an address. symbols is nil if the module has none.
func (s *markupSymbols) find(m *markup.Module, addr uint64) (symbols resolve.Symbols, rva uint64, found bool) {
	module := suppliers.ParseModule(m.Name)
	module.BuildID = m.Build
	if symbols = s.r.symbols.Find(s.r.ctx, module); symbols == nil {
		s.r.symbols.Missing(module)
		s.filter.Miss(m.Name)
		return nil, 0, false
	}
	rva, known := s.r.rvaOfPlace(symbols, &logs.Place{Name: m.Name, Addr: addr, Counts: logs.FromLink})
	if !known {
		return symbols, 0, false
	}
	found, err := nearest(s.r.ctx, symbols, rva, s.at)
	s.r.report(symbols, err)
	return symbols, rva, found
}

// Code implements markup.Symbols.
func (s *markupSymbols) Code(m *markup.Module, addr uint64, inlines bool) (frames []markup.Frame, ok bool) {
	symbols, rva, found := s.find(m, addr)
	if !found {
		return nil, symbols != nil
	}
	columns := columnsAt(s.r.ctx, symbols, rva, len(s.at.Frames))
	all := s.at.Frames
	if !inlines || s.r.noInline {
		all = withoutInlines(all)
	}
	for i, f := range all {
		frames = append(frames, markup.Frame{Function: f.Function, File: f.File, Line: f.Line, Column: columns[i]})
	}
	return frames, true
}

// columnsAt returns the columns of the n functions at an address, or zeros if they are unknown.
func columnsAt(ctx context.Context, symbols resolve.Symbols, rva uint64, n int) []uint32 {
	columns := make([]uint32, n)
	source, ok := symbols.(resolve.SourceSymbols)
	if !ok {
		return columns
	}
	if frames := source.Source(ctx, symfmt.RVA(rva)); len(frames) == n {
		for i := range frames {
			columns[i] = frames[i].Column
		}
	}
	return columns
}

// Data implements markup.Symbols. Symbol files have only code: data has no name.
func (s *markupSymbols) Data(m *markup.Module, addr uint64) (name string, ok bool) {
	symbols, rva, found := s.find(m, addr)
	if !found || !symbols.InCode(symfmt.RVA(rva)) {
		return "", false
	}
	return s.at.Frames[len(s.at.Frames)-1].Function, true
}

// Name implements markup.Symbols.
func (s *markupSymbols) Name(linkage string) string {
	if name, err := demangle.Append(nil, linkage); err == nil {
		return string(name)
	}
	return linkage
}
