package dwarf2sym

import (
	"slices"
	"sync/atomic"

	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/symfmt"
)

// lateNaming converts the names of a module while it is written.
type lateNaming struct {
	symfmt.LateNames
	path   string      // of the file
	costly atomic.Bool // a name stays mangled, as demangling would take too much work
	known  bool        // these names have been reported
}

// newLateNaming returns nil unless Options.LateNames is set.
func (r *reader) newLateNaming() *lateNaming {
	if !r.opts.LateNames {
		return nil
	}
	n := &lateNaming{path: r.file.Path}
	full := r.opts.Demangle
	n.Append = func(dst []byte, raw string) []byte {
		name, costly := demangle.AppendSource(dst, raw, full)
		if costly {
			n.costly.Store(true)
		}
		return name
	}
	n.known = slices.ContainsFunc(r.problems, func(p placedProblem) bool { return p.section == problemNames })
	return n
}

// Names returns the converter for names of a module that was read with Options.LateNames, for
// use in symfmt.WriteOptions. Without that option it returns nil.
func (r *Result) Names() *symfmt.LateNames {
	if r.late == nil {
		return nil
	}
	return &r.late.LateNames
}

// Settle completes Stats after the Module was written with Names. It returns the problems found
// while writing, and adds them to Problems.
func (r *Result) Settle() (found []symfmt.Problem) {
	n := r.late
	if n == nil {
		return nil
	}
	r.Stats.Origins = n.Origins
	if n.costly.Load() && !n.known {
		n.known = true
		found = append(found, costlyNames(n.path))
	}
	r.Problems = append(r.Problems, found...)
	return found
}
