package dwarf2sym

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// reportMapped reports the module's files that were read to map their names, and those
// that could not be mapped.
func (r *reader) reportMapped() {
	if r.opts.Mapping == nil {
		return
	}
	mapped := map[*srcmap.File]bool{}
	for _, w := range r.workers {
		maps.Copy(mapped, w.Mapped)
	}
	named := make(map[string]bool, len(r.module.Files))
	for i := range r.module.Files {
		named[r.module.Files[i].Name] = true
	}
	bad := 0
	all := slices.SortedFunc(maps.Keys(mapped), compareMapped)
	for _, f := range slices.CompactFunc(all, func(a, b *srcmap.File) bool { return compareMapped(a, b) == 0 }) {
		switch {
		case !named[f.Name]:
		case f.Err == nil:
			r.report.Mapped = append(r.report.Mapped, *f)
		default:
			if bad++; bad <= units.AllProblems {
				r.problem(problemMapping, f.Lost(), f.Err)
			}
		}
	}
	if bad > units.AllProblems {
		r.problem(problemMapping, "", &bin.Error{File: r.file.Path, Msg: fmt.Sprintf("%d more files are not mapped", bad-units.AllProblems)})
	}
}

func compareMapped(a, b *srcmap.File) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name), cmp.Compare(fmt.Sprint(a.Err), fmt.Sprint(b.Err)))
}
