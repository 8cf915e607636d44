package resolve

import "fmt"

// Tried is a place where a Supplier did not find a module's symbols.
type Tried struct {
	Place string // path, URL, or what else was searched; "" if Why names it
	Why   string
	Kind  TriedKind
}

// TriedKind is what was found in place of the symbols.
type TriedKind uint8

const (
	Absent          TriedKind = iota // nothing, or nothing that can be used
	OtherID                          // symbols with the module's name and another id
	SeveralIDs                       // symbols of several builds, and the module has no id
	OtherDebug                       // a debug file that does not belong to the module's binary, and no other was found
	OtherSupplement                  // the same of the supplementary file that dwz made
)

func (t Tried) String() string {
	if t.Place == "" {
		return t.Why
	}
	return t.Place + ": " + t.Why
}

// OtherIDError is the error for symbols with the module's name and another id.
type OtherIDError struct {
	What     string // "it", "the file"
	Name, ID string // of the symbols
	Want     Module
}

// Error shortens the name and the id of the symbols, which may come from a server.
func (e *OtherIDError) Error() string {
	return fmt.Sprintf("not used: %s has the symbols of %.80q %.80s, want %s", e.What, e.Name, e.ID, &e.Want)
}

// Lines formats tried, one line each.
func Lines(tried []Tried) []string {
	return lines(tried, func(TriedKind) bool { return true })
}

// OtherModules returns the lines of tried for symbols that have the module's name and another id.
func OtherModules(tried []Tried) []string {
	return lines(tried, func(k TriedKind) bool { return k == OtherID })
}

// OtherDebugFiles returns the debug files of tried that do not belong to the binary whose symbols were found, if something
// is missing in these for that reason.
func OtherDebugFiles(found Symbols, tried []Tried) (others []Tried) {
	for _, t := range tried {
		if found != nil && (t.Kind == OtherSupplement || t.Kind == OtherDebug && found.Detail() == PublicDetail) {
			others = append(others, t)
		}
	}
	return others
}

// SeveralBuilds returns the lines of tried for a module without an id whose name belongs to
// several builds.
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
