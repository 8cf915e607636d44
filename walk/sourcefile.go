package walk

import (
	"context"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk/source"
)

// SourceFile returns the source file of f.Names[k], which must have one; f is a frame of the result. The contents of
// the file are taken from the symbols or, if these are a symbol file, which lacks them, from the module's binary if
// it is known.
func (r *Result) SourceFile(ctx context.Context, f *Frame, k int) source.File {
	file := source.File{Name: f.Names[k].File}
	if f.Module < 0 {
		return file
	}
	m := &r.Dump.Modules[f.Module]
	file.BuildID = string(m.BuildID)
	if st := r.Modules[f.Module].state; st != nil {
		if described := st.described(ctx); described != nil {
			file.Contents = resolve.ContentsOf(described, symfmt.RVA(f.Inst-m.Addr), file.Name)
		}
	}
	return file
}

// described returns the symbols with the most information about source files, or nil.
func (st *moduleState) described(ctx context.Context) resolve.Symbols {
	y := st.symbolsFrom(ctx)
	switch {
	case y.lines != nil:
		return y.lines
	case y.binary || st.binaries() == nil || st.file(ctx) == nil:
		return y.resolver
	}
	return st.sourced.Do(ctx, func(d *describedBy) {
		if d.binary = st.binaryLines(ctx); d.binary != nil {
			st.sources.hold(d.binary)
		}
	}).binary
}

// describedBy holds the symbols of a binary, in addition to those of a symbol file. binary is nil if it has no
// lines.
type describedBy struct{ binary resolve.Symbols }
