package resolve

import (
	"context"
	"fmt"

	"github.com/symtool/symtool/symfmt"
)

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

// OtherModules returns the lines of tried for symbols that have the module's name and another id.
func OtherModules(tried []symfmt.Tried) []string {
	return lines(tried, func(k symfmt.TriedKind) bool { return k == symfmt.OtherID })
}

// OtherDebugFiles returns the debug files of tried that do not belong to the binary whose symbols were found, if the
// symbols lack something for that reason.
func OtherDebugFiles(ctx context.Context, found Symbols, tried []symfmt.Tried) (others []symfmt.Tried) {
	for _, t := range tried {
		if found != nil && (t.Kind == symfmt.OtherSupplement || (t.Kind == symfmt.OtherDebug || t.Kind == symfmt.OtherPDB) && found.Detail(ctx) == PublicDetail) {
			others = append(others, t)
		}
	}
	return others
}

// SeveralBuilds returns the lines of tried for a module without an id whose name belongs to
// several builds.
func SeveralBuilds(tried []symfmt.Tried) []string {
	return lines(tried, func(k symfmt.TriedKind) bool { return k == symfmt.SeveralIDs })
}

func lines(tried []symfmt.Tried, keep func(symfmt.TriedKind) bool) (out []string) {
	for _, t := range tried {
		if keep(t.Kind) {
			out = append(out, t.String())
		}
	}
	return out
}
