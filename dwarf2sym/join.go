package dwarf2sym

import (
	"context"
	"strings"
	"unsafe"

	"github.com/symtool/symtool/internal/par"
)

// nameJoin numbers the names of all workers once, and demangles each once.
type nameJoin struct {
	raw   stringTable // as the debug information has them; only until they are demangled
	final []string    // as they are written
	local [][]nameID  // worker -> its nameID -> number
	full  bool
}

// joinNames collects the workers' names and those of the ELF symbols, and
// demangles them with jobs workers. Only names that are in use reach this
// point, each one once: demangling one costs more than reading a unit of C. The
// symbols get the numbers of their names.
func joinNames(ctx context.Context, workers []*worker, symbols []elfPub, full bool, jobs int) (*nameJoin, error) {
	j := &nameJoin{full: full}
	total := len(symbols)
	for _, w := range workers {
		total += len(w.names.list)
	}
	j.raw.expect(total)
	for _, w := range workers {
		local := make([]nameID, len(w.names.list))
		for i, name := range w.names.list {
			local[i] = nameID(j.raw.internString(name))
		}
		j.local = append(j.local, local)
		w.names = nameTable{}
	}
	for i := range symbols {
		s := &symbols[i]
		s.id = nameID(j.raw.internString(s.Name))
		s.linkage, s.mangled = s.id, isMangledName(s.Name) || isDName(s.Name)
		// Without ".cold" and the like, which linkage names do not have either.
		if linkage, _, ok := strings.Cut(s.Name, "."); ok && s.mangled {
			s.linkage = nameID(j.raw.internString(linkage))
		}
	}
	j.raw = stringTable{list: j.raw.list}
	j.final = make([]string, len(j.raw.list))
	err := j.demangle(ctx, jobs)
	j.raw = stringTable{}
	return j, err
}

// demangleChunk is how many names one task demangles.
const demangleChunk = 512

func (j *nameJoin) demangle(ctx context.Context, jobs int) error {
	chunks := (len(j.raw.list) + demangleChunk - 1) / demangleChunk
	return par.Each(ctx, jobs, chunks, func(_ context.Context, _, chunk int) error {
		from := chunk * demangleChunk
		raw := j.raw.list[from:min(from+demangleChunk, len(j.raw.list))]
		final := j.final[from:][:len(raw)]
		size := 0
		for i := range raw {
			if final[i] = demangleName(raw[i], j.full); !sameString(final[i], raw[i]) {
				size += len(final[i])
			}
		}
		// One piece of memory for all, in place of many that are too long; and
		// the names as they were are not needed any more.
		var text strings.Builder
		text.Grow(size)
		for i := range raw {
			if !sameString(final[i], raw[i]) {
				start := text.Len()
				text.WriteString(final[i])
				final[i] = text.String()[start:]
			}
			raw[i] = ""
		}
		return nil
	})
}

// sameString tells whether a and b are one piece of memory.
func sameString(a, b string) bool {
	return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b)
}

func (j *nameJoin) global(worker int, id nameID) nameID {
	if local := j.local[worker]; int(id) < len(local) {
		return local[id]
	}
	return 0
}
