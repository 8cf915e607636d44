package check

import (
	"slices"

	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/extent"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/lint/internal/follow"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// Image is the binary of a pass's symbols as rules see it: its code, its symbols, and the rows of STACK CFI to compare
// with it.
type Image struct {
	*object.File
	Own   bool // the symbols were made from it, even if the ids differ
	Other bool // SYM501 reports that it is not the binary of the symbol file
	// Problems are messages about parts that could not be read.
	Problems []string

	begins []uint64 // where functions begin, in ascending order; nil until Begins is called

	rows *follow.Table // nil until the first STACK CFI INIT
	// files are the binary and the file in its .gnu_debugdata, if that is needed; nil until eachSymbol is called
	files []object.Companion
	all   []execcode.Part   // nil until Parts is called
	data  []coverage.Extent // pieces of code that are data according to symbols; nil until DataSymbols is called
	not   []coverage.Extent // other pieces that do not count as code
	done  bool
}

// Open sets the binary of a pass. It must be called before the pass begins.
func (p *Pass) Open(f *object.File, own bool) {
	b := &Image{File: f, Own: own}
	p.Image = b
	p.Watch(func(r *symfmt.Record) { b.see(r, &p.CFI, p.Arch) }, symfmt.KindCFIInit, symfmt.KindCFI)
}

// Problem records that a part could not be read; it does nothing if err is nil.
func (b *Image) Problem(what string, err error) {
	if err == nil {
		return
	}
	if text := what + ": " + err.Error(); !slices.Contains(b.Problems, text) {
		b.Problems = append(b.Problems, text)
	}
}

// Parts returns the sections that contain code or, if the file has no sections, the segments.
func (b *Image) Parts() []execcode.Part {
	if b.all == nil {
		b.all = execcode.Parts(b.File)
	}
	return b.all
}

// DataSymbols returns the pieces of code that symbols or tables declare to be data.
func (b *Image) DataSymbols() []coverage.Extent {
	if b.data == nil {
		list, err := execcode.Data(b.File)
		b.Problem("symbols", err)
		b.data = make([]coverage.Extent, 0, len(list))
		for _, r := range list {
			b.data = append(b.data, extent.Between(b.RVA(r.Start), b.RVA(r.End)))
		}
	}
	return b.data
}

// Exclude records further pieces of code that do not count, besides the DataSymbols.
func (b *Image) Exclude(pieces []coverage.Extent) { b.not = append(b.not, pieces...) }

// NotCode returns the pieces of Parts that do not count: data, and the start-up code of the C library and of the
// compiler. Pieces recognised only by their bytes are included once the coverage has been measured.
func (b *Image) NotCode() []coverage.Extent {
	return extent.Join(slices.Concat(b.DataSymbols(), b.not))
}

// see adds a record of STACK CFI.
func (b *Image) see(r *symfmt.Record, facts *facts.Rows, cpu *arch.Arch) {
	switch {
	case r.Kind == symfmt.KindCFIInit && b.rows == nil:
		b.rows = follow.NewTable(cpu)
	case r.Kind == symfmt.KindCFI && r.Owner != symfmt.OwnerRead:
		return
	}
	set := facts.Set
	if set.Changes == nil {
		rules, _ := facts.Sets.Rules.Rules(set.ID)
		set.Changes = b.rows.Changes(rules)
	}
	b.rows.Add(r, set.Changes)
}

// Rows completes the rows of STACK CFI at the first call, and returns them in order.
func (b *Image) Rows() *follow.Table {
	if !b.done {
		if b.rows == nil {
			b.rows = follow.NewTable(nil)
		}
		b.rows.Finish()
		b.done = true
	}
	return b.rows
}

// RVA converts an address of the binary to an RVA of the symbol file.
func (b *Image) RVA(addr uint64) symfmt.RVA { return symfmt.RVA(addr - b.Base) }

// Addr converts an RVA of the symbol file to an address of the binary.
func (b *Image) Addr(rva symfmt.RVA) uint64 { return uint64(rva) + b.Base }

// CodeAt returns the binary's code at an address up to the end of its section, or nil.
func (b *Image) CodeAt(addr uint64) []byte {
	parts := b.Parts()
	i, _ := slices.BinarySearchFunc(parts, addr, func(p execcode.Part, addr uint64) int {
		if p.End <= addr {
			return -1
		}
		return 1
	})
	if i == len(parts) || addr < parts[i].Start {
		return nil
	}
	data, err := parts[i].Bytes()
	b.Problem("section "+parts[i].Name, err)
	return data[min(addr-parts[i].Start, uint64(len(data))):]
}

// HasCode reports whether the file contains the bytes of its code.
func (b *Image) HasCode() bool { return len(b.Parts()) > 0 }

// DebugID returns the id that a symbol file of the binary has in its MODULE record, and what the id is made from. It
// returns "" if there is none.
func (b *Image) DebugID() (id, what string) {
	raw, what := b.BuildID(), "build-id"
	if raw == nil {
		raw, what = b.ContentID(), "hash of code, as it has no build-id,"
	}
	if raw == nil {
		return "", ""
	}
	return b.ModuleID(raw), what
}
