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
			file.Contents = resolve.ContentsOf(ctx, described, symfmt.RVA(f.Inst-m.Addr), file.Name)
		}
	}
	return file
}
