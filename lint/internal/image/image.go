// Package image is the binary of a pass as rules see it: code, symbols, and the rows of STACK CFI to
// compare with it.
package image

import (
	"slices"

	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/lint/check"
	"github.com/symtool/symtool/lint/extent"
	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/lint/follow"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// Image is the binary that the symbols of a pass are of, with the rows of STACK CFI.
type Image struct {
	*object.File
	Own   bool // the symbols were made of it, whatever their id is
	Other bool // SYM501 says that it is not the file's
	// Problems are parts that could not be read: one message each.
	Problems []string

	rows *follow.Table // nil until the first STACK CFI INIT
	mini *object.File
	all  []execcode.Part // nil until Parts
	data []extent.Extent // in code, by symbols; nil until DataSymbols
	done bool
}

// attached is the state of a pass.
type attached struct{ image *Image }

// Open gives a pass its binary. Call it before the pass begins.
func Open(p *check.Pass, f *object.File, own bool) {
	b := &Image{File: f, Own: own}
	check.State[attached](p).image = b
	p.Watch(func(r *symfmt.Record) { b.see(r, &p.CFI, p.Arch) }, symfmt.KindCFIInit, symfmt.KindCFI)
}

// Of returns the binary of a pass, nil without one.
func Of(p *check.Pass) *Image { return check.State[attached](p).image }

// Problem notes a part that could not be read.
func (b *Image) Problem(what string, err error) {
	if err == nil {
		return
	}
	if text := what + ": " + err.Error(); !slices.Contains(b.Problems, text) {
		b.Problems = append(b.Problems, text)
	}
}

// Parts are the sections with code, or the segments of a file without sections.
func (b *Image) Parts() []execcode.Part {
	if b.all == nil {
		b.all = execcode.Parts(b.File)
	}
	return b.all
}

// DataSymbols are the pieces of code that symbols declare to be data.
func (b *Image) DataSymbols() []extent.Extent {
	if b.data == nil {
		list, err := execcode.Data(b.File)
		b.Problem("symbols", err)
		b.data = make([]extent.Extent, 0, len(list))
		for _, r := range list {
			b.data = append(b.data, extent.Between(b.RVA(r.Start), b.RVA(r.End)))
		}
	}
	return b.data
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

// Rows returns the rows of STACK CFI at the end, in order.
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

// RVA converts an address of the binary to one of the symbol file.
func (b *Image) RVA(addr uint64) symfmt.RVA { return symfmt.RVA(addr - b.Base) }

// Addr converts an address of the symbol file to one of the binary.
func (b *Image) Addr(rva symfmt.RVA) uint64 { return uint64(rva) + b.Base }

// CodeAt returns the bytes of the binary's code at an address up to the end of their section, nil
// outside of code.
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

// HasCode reports whether the file has the bytes of its code.
func (b *Image) HasCode() bool { return len(b.Parts()) > 0 }

// DebugID returns the id that MODULE has in a symbol file of the binary, and what it was made of;
// "" without.
func (b *Image) DebugID() (id, what string) {
	raw, what := b.BuildID(), "build-id"
	if raw == nil {
		raw, what = b.ContentID(), "hash of .text, as it has no build-id,"
	}
	if raw == nil {
		return "", ""
	}
	return b.ModuleID(raw), what
}
