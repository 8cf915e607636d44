package funcs

import (
	"bytes"
	"slices"
	"sort"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/internal/dw"
)

// scoping is which scopes of the current unit are known.
type scoping uint8

const (
	allScopes scoping = iota
	noScopes
	someScopes // those around the DIEs in unitState.named
)

// appendScopes appends "ns::Class::" for the scopes that enclose the DIE at
// off.
func (w *Worker) appendScopes(b []byte, u *units.Unit, off uint64) []byte {
	var scopes []units.Scope
	if u == &w.u {
		scopes = w.ownScopes(off)
	} else {
		scopes = w.foreignScopes(u)
	}
	// Scopes are ordered by their start, so the last one before off, or one
	// around it, contains off.
	i := int32(units.SearchScopes(scopes, off))
	for i >= 0 && off >= scopes[i].End {
		i = scopes[i].Parent
		w.Spend(1)
	}
	var chain [64]int32
	n := 0
	for ; i >= 0 && n < len(chain); i = scopes[i].Parent {
		chain[n] = i
		n++
		if scopes[i].Outer != 0 {
			break // a local type: the function's name has its own scopes
		}
	}
	for n--; n >= 0; n-- {
		s := &scopes[chain[n]]
		if s.Outer != 0 {
			b = w.appendOuter(b, u, u.Off+uint64(s.Outer))
		}
		b = w.appendScope(b, u, s)
		b = append(b, "::"...)
	}
	return b
}

// appendOuter appends "f(int)::" for the function at off that encloses a local
// type.
func (w *Worker) appendOuter(b []byte, u *units.Unit, off uint64) []byte {
	var a dwarf.NameAttrs
	if u, off, ok := w.opener.Peek(u, dwarf.Value{Kind: dwarf.Ref, U: off}, &a); ok {
		found := w.chase(u, off, &a)
		switch {
		case len(found.linkage) > 0:
			b = append(b, w.outerName(found.linkage)...)
		case len(found.plain) > 0:
			plain := bytes.Clone(found.plain) // looking up the names of scopes follows chains, too
			if w.outers < units.MaxChain {
				w.outers++
				b = w.appendScopes(b, found.u, found.die)
				w.outers--
			}
			b = append(b, plain...)
		default:
			return b
		}
		b = append(b, "::"...)
	}
	return b
}

// outerNames is the maximum number of names of enclosing functions that are cached.
const outerNames = 256

// outerName returns the source form of the name of an enclosing function. It is cached for all
// that is inside that function.
func (w *Worker) outerName(linkage []byte) string {
	if name, ok := w.outerText[string(linkage)]; ok {
		return name
	}
	if w.outerText == nil || len(w.outerText) >= outerNames {
		w.outerText = make(map[string]string)
	}
	raw := string(linkage)
	source, costly := demangle.AppendSource(nil, raw, w.opts.Demangle)
	w.CostlyOuter = w.CostlyOuter || costly
	name := string(source)
	w.outerText[raw] = name
	return name
}

// appendScope appends the name of one scope. A type that is completed outside
// its scope is named by what it refers to.
func (w *Worker) appendScope(b []byte, u *units.Unit, s *units.Scope) []byte {
	name := []byte(s.Text)
	if len(name) == 0 {
		name, _ = u.Text(s.Name)
	}
	next, more := s.Next, s.Next.IsRef()
	for hops := 0; len(name) == 0 && more && hops < units.MaxChain; hops++ {
		var a dwarf.NameAttrs
		if u, _, more = w.opener.Peek(u, next, &a); more {
			name, _ = u.Text(a.Name)
			next, more = a.Next()
		}
	}
	if len(name) > 0 {
		if !w.Spend(uint64(len(name))) {
			return b
		}
		return append(b, name...)
	}
	switch s.Tag {
	case dw.TagNamespace:
		return append(b, "(anonymous namespace)"...)
	case dw.TagUnionType:
		return append(b, "(anonymous union)"...)
	case dw.TagEnumerationType:
		return append(b, "(anonymous enum)"...)
	case dw.TagClassType:
		return append(b, "(anonymous class)"...)
	}
	return append(b, "(anonymous struct)"...)
}

// foreignScopes returns the scopes of a unit that is not the current one.
func (w *Worker) foreignScopes(u *units.Unit) []units.Scope {
	f := u.Owner
	if f.Scanned {
		return f.Scopes
	}
	f.Scanned = true
	data, err := f.D.Bytes(f.Off, f.Size, new([]byte))
	if err != nil {
		return nil
	}
	f.Scopes = w.scopesIn(f.D, &f.Header, data, f.Abbrevs, nil)
	return f.Scopes
}

// ownScopes returns the scopes of the current unit around the DIE at off. If only some functions of the
// unit were read, the scopes around all waiting names are looked up at once.
func (w *Worker) ownScopes(off uint64) []units.Scope {
	u := &w.u
	if w.brief {
		return w.briefScopes(int(off - u.Off))
	}
	if w.scoped == allScopes {
		return w.scopes
	}
	pos := int(off - u.Off)
	if w.scoped == noScopes {
		w.scoped, w.named = someScopes, append(w.named[:0], pos)
		for p := range w.pending.all() {
			if found := w.chase(u, p.die, &p.attrs); found.u == u && len(found.linkage) == 0 {
				w.named = append(w.named, int(found.die-u.Off))
			}
		}
		slices.Sort(w.named)
		w.scopes = w.scopesIn(u.D, &u.Header, u.Data(), u.Abbrevs, w.named)
	}
	if _, ok := slices.BinarySearch(w.named, pos); !ok {
		w.scoped = allScopes
		w.scopes = w.scopesIn(u.D, &u.Header, u.Data(), u.Abbrevs, nil)
	}
	return w.scopes
}

// body is a function or a type that a brief scan passed over.
type body struct {
	start, end int // positions in the unit
	around     scanFrame
	inside     []units.Scope // the scopes around it, its own and those in it, once they are wanted
}

// scanBriefly finds the namespaces of the current unit, and where its types and functions are. These contain most
// DIEs, but only a few of them will be needed.
func (w *Worker) scanBriefly() {
	w.brief, w.bodies = true, w.bodies[:0]
	w.cursor.Reset(&w.u.Unit, true, w.u.Flat())
	w.cursor.Brief()
	w.cursor.Walk(w, outside, false) // what it found before any damage is all there is
}

// briefScopes returns the scopes around the DIE at pos after scanBriefly.
func (w *Worker) briefScopes(pos int) []units.Scope {
	i := sort.Search(len(w.bodies), func(i int) bool { return w.bodies[i].start >= pos }) - 1
	if i < 0 || pos >= w.bodies[i].end {
		return w.scopes
	}
	b := &w.bodies[i]
	if b.inside == nil {
		b.inside = w.scopesOf(b)
	}
	return b.inside
}

// scopesOf returns the scopes around a function or type that was passed over, its own scope, and those in it.
func (w *Worker) scopesOf(b *body) []units.Scope {
	if !w.Spend(uint64(b.end - b.start)) {
		return nil
	}
	scan := Worker{d: w.d, namesOnly: true, Meter: w.Meter}
	if scan.u.Open(w.d, &w.u.Header, w.u.Data(), w.u.Abbrevs, w.Meter) != nil {
		return nil
	}
	for s := b.around.scope; s >= 0; s = w.scopes[s].Parent {
		scan.scopes = append(scan.scopes, w.scopes[s])
	}
	slices.Reverse(scan.scopes)
	for i := range scan.scopes {
		scan.scopes[i].Parent = int32(i - 1)
	}
	scan.cursor.Reset(&scan.u.Unit, true, w.u.Flat())
	scan.cursor.Seek(b.start)
	around := b.around
	around.scope = int32(len(scan.scopes) - 1)
	scan.cursor.Walk(&scan, around, true) // what it found before any damage is all there is
	return scan.scopes
}

// scopesIn returns the scopes of a unit whose bytes are data: all of them, or only those around the
// DIEs at positions.
func (w *Worker) scopesIn(d *units.Data, h *dwarf.Header, data []byte, t *dwarf.Abbrevs, positions []int) []units.Scope {
	if !w.Spend(h.Size) {
		return nil
	}
	// A second worker, for the scopes only: without code there is nothing else
	// that it could produce.
	scan := Worker{d: d, namesOnly: true, Meter: w.Meter}
	if scan.u.Open(d, h, data, t, w.Meter) != nil {
		return nil
	}
	scan.scanOnly(positions) // what it found before any damage is all there is
	for i := range scan.scopes {
		if s := &scan.scopes[i]; s.Name.Kind == dwarf.Inline {
			s.Text, s.Name = scan.u.Str(s.Name), dwarf.Value{}
		}
	}
	return scan.scopes
}
