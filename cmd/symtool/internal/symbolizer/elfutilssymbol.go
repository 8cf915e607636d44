package symbolizer

import (
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// elfutilsSymbol returns the symbol that elfutils chooses for an address (dwfl_module_addrinfo). Its name is "" if
// there is none. elfutils prefers a global symbol to a local one, then the symbol that begins last, then the one
// with the stronger binding, then the shortest. A symbol without a size is chosen only if no symbol with a size
// contains the address; the last one counts. An absolute symbol without a size is chosen only for its own address.
func elfutilsSymbol(from resolve.TableSymbols, rva symfmt.RVA) candidate {
	var sized, unsized [2]candidate // global, local
	ends := symfmt.RVA(0)           // the highest end of a symbol
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
