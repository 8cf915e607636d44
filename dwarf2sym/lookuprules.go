package dwarf2sym

import (
	"context"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe"
	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/once"
	"github.com/symtool/symtool/internal/unwind/code"
	"github.com/symtool/symtool/symfmt"
)

// frames is the call frame information of a Lookup.
type frames struct {
	tables once.Value[*unwind.Index] // what tables say
	whole  once.Value[*unwind.Index] // with what instructions say, where tables say nothing
}

// Block returns a table whose only block of STACK CFI is the one that contains rva. It reports false if there is
// none.
func (l *Lookup) Block(ctx context.Context, rva symfmt.RVA) (symfmt.CFITable, bool) {
	x := l.rules(ctx, rva, rva)
	if x == nil {
		return symfmt.CFITable{}, false
	}
	defer func() { l.note(x.Problems()) }()
	return x.Block(rva)
}

// Begins reports whether a block of STACK CFI begins after first, and at or before last.
func (l *Lookup) Begins(ctx context.Context, first, last symfmt.RVA) bool {
	x := l.rules(ctx, first, last)
	if x == nil {
		return false
	}
	defer func() { l.note(x.Problems()) }()
	return x.Begins(first, last)
}

// HasRules reports whether there is any call frame information.
func (l *Lookup) HasRules(ctx context.Context) bool {
	x := l.tables(ctx)
	if x != nil && !x.HasBlocks() && l.r.file.Arch != nil {
		x = l.whole(ctx)
	}
	return x != nil && x.HasBlocks()
}

// rules returns an index of call frame information that has all of [first, last], or nil if the context has ended.
func (l *Lookup) rules(ctx context.Context, first, last symfmt.RVA) *unwind.Index {
	x := l.tables(ctx)
	if x == nil || l.r.file.Arch == nil || x.Covers(first, last) || x.HasBlocks() && !code.Follows(l.r.file) {
		return x
	}
	return l.whole(ctx)
}

// tables returns the index of what tables say, or nil if the context has ended.
func (l *Lookup) tables(ctx context.Context) *unwind.Index {
	return *l.frames.tables.Do(ctx, func(x **unwind.Index) {
		cpu := l.r.file.Arch
		if cpu == nil {
			l.note([]symfmt.Problem{{Lost: "STACK CFI", Err: &bin.Error{File: l.r.file.Path, Msg: unknownCPU(l.r.file)}}})
			*x = unwind.NewTableIndex(&symfmt.CFITable{})
			return
		}
		in, problems := callframe.Input(cpu, l.r.files)
		*x = unwind.NewIndex(in)
		l.note(problems)
	})
}

// whole returns the index of all rules. SFrame, which is used where DWARF has no rules, is read as a whole, and so is a file
// of which some code has rules by its instructions.
func (l *Lookup) whole(ctx context.Context) *unwind.Index {
	return *l.frames.whole.Do(ctx, func(x **unwind.Index) {
		c := callframe.Read(ctx, l.r.file.Arch, l.r.files, CFIAuto.sources())
		if ctx.Err() == nil {
			l.note(c.Problems)
		}
		*x = unwind.NewTableIndex(&c.Table)
	})
}
