package symfmt

// Tried is a place where a file, or a module's symbols, were looked for and not found.
type Tried struct {
	Place string // path, URL, or what else was searched; "" if Why names it
	Why   string
	Kind  TriedKind
}

// TriedKind is what was found instead of the file or symbols.
type TriedKind uint8

const (
	Absent          TriedKind = iota // nothing, or nothing that can be used
	OtherID                          // symbols with the module's name and a different id
	SeveralIDs                       // symbols of several builds, and the module has no id
	OtherDebug                       // a debug file that does not belong to the binary, and no other
	OtherPDB                         // likewise, for a PDB
	OtherSupplement                  // likewise, for the supplementary file that dwz made
	OtherProgram                     // likewise, for the program of a debug file
)

func (t Tried) String() string {
	if t.Place == "" {
		return t.Why
	}
	return t.Place + ": " + t.Why
}

// TriedLines returns the String of each place.
func TriedLines(tried []Tried) []string {
	var lines []string
	for _, t := range tried {
		lines = append(lines, t.String())
	}
	return lines
}
