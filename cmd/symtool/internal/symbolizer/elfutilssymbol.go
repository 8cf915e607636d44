package symbolizer

import (
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// elfutilsSymbol returns the symbol at an address that elfutils choose (dwfl_module_addrinfo), with the name "" if there
// is none: a global symbol before a local one, and of these the one that begins last, then one that binds more strongly,
// then the shortest. Symbols without a size, of which the last counts, are chosen if no other has the address, and
// absolute ones only where they are.
func elfutilsSymbol(from resolve.TableSymbols, rva symfmt.RVA) candidate {
	var sized, unsized [2]candidate // global ones, local ones
	ends := symfmt.RVA(0)           // of symbols, the last
	from.EachSymbol(false, func(s *symfmt.TableSymbol) {
		if len(s.Name) == 0 || s.RVA > rva {
			return
		}
		ends = max(ends, s.RVA+symfmt.RVA(s.Size))
		local := 0
		if s.Bind == symfmt.LocalBind {
			local = 1
		}
		switch c := (candidate{start: s.RVA, size: s.Size, bind: s.Bind, known: true}); {
		case s.Size == 0:
			if s.RVA >= unsized[local].start && (s.Holds(rva) || s.Absolute && s.RVA == rva) {
				unsized[local] = c.named(s)
			}
		case uint64(rva-s.RVA) < s.Size && c.better(&sized[local]):
			sized[local] = c.named(s)
		}
	})
	for _, c := range sized {
		if c.known {
			return c
		}
	}
	for _, c := range unsized {
		if c.known && c.start >= ends {
			return c
		}
	}
	return candidate{}
}

// candidate is a symbol that may name an address.
type candidate struct {
	start symfmt.RVA
	size  uint64
	bind  symfmt.TableBind
	name  string
	known bool
}

func (c candidate) named(s *symfmt.TableSymbol) candidate {
	c.name = string(s.Name)
	return c
}

// better reports whether c names an address better than old.
func (c *candidate) better(old *candidate) bool {
	switch {
	case !old.known || c.start != old.start:
		return !old.known || c.start > old.start
	case c.bind != old.bind:
		return c.bind < old.bind
	}
	return c.size < old.size
}
