package dwarf2sym

import "github.com/symtool/symtool/dwarf2sym/internal/dwarf"

// scope is a namespace or type with DIEs below it.
type scope struct {
	start, end uint64 // offsets in .debug_info: of the DIE, and of the end of its children
	parent     int32  // index of the enclosing scope, or -1
	outer      int32  // position of the enclosing function, inside parent; 0 if there is none
	tag        uint16
	name       dwarf.Value
	text       string      // the name, if it is not in the unit's bytes
	next       dwarf.Value // the DIE that it completes, or that completes it, if any
}

// searchScopes returns the index of the last scope that starts before off, or -1.
func searchScopes(scopes []scope, off uint64) int {
	lo, hi := 0, len(scopes)
	for lo < hi {
		if mid := (lo + hi) / 2; scopes[mid].start < off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}
