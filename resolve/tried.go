package resolve

import (
	"errors"
	"fmt"

	"github.com/symtool/symtool/internal/elfobj"
)

// Tried is a place in which a Supplier did not find a module's symbols.
type Tried struct {
	Place string // path, URL, or what else was searched; "" where Why names it
	Why   string
	Kind  TriedKind
}

// TriedKind is what there is in place of the symbols.
type TriedKind uint8

const (
	Absent     TriedKind = iota // nothing, or nothing that can be used
	OtherID                     // symbols by the module's name, of another id
	SeveralIDs                  // symbols of several builds, and the module has no id
)

func (t Tried) String() string {
	if t.Place == "" {
		return t.Why
	}
	return t.Place + ": " + t.Why
}

// Refused returns the Tried of symbols that cannot be used, as err says, whose message
// names the place.
func Refused(err error) Tried {
	t := Tried{Why: err.Error()}
	var other *OtherIDError
	if errors.As(err, &other) || errors.Is(err, elfobj.ErrOtherBuild) {
		t.Kind = OtherID
	}
	return t
}

// OtherIDError is the error of symbols that are there by the module's name, but have
// another id.
type OtherIDError struct {
	What     string // "it", "what came"
	Name, ID string // of the symbols
	Want     Module
}

// Error shortens what the symbols say of themselves: it may come from a server.
func (e *OtherIDError) Error() string {
	return fmt.Sprintf("not used: %s has the symbols of %.80q %.80s, want %s", e.What, e.Name, e.ID, &e.Want)
}

// Lines returns what was tried as text, a line each.
func Lines(tried []Tried) []string {
	return lines(tried, func(TriedKind) bool { return true })
}

// OtherModules returns the lines about symbols that are there by the module's name,
// but are those of another id.
func OtherModules(tried []Tried) []string {
	return lines(tried, func(k TriedKind) bool { return k == OtherID })
}

// SeveralBuilds returns the lines about symbols of more than one build of a module
// that has no id.
func SeveralBuilds(tried []Tried) []string {
	return lines(tried, func(k TriedKind) bool { return k == SeveralIDs })
}

func lines(tried []Tried, keep func(TriedKind) bool) (out []string) {
	for _, t := range tried {
		if keep(t.Kind) {
			out = append(out, t.String())
		}
	}
	return out
}
