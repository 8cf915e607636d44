package symfmt

// SourceFrame is a function at an address, as the debug information of a binary describes it: with what a
// symbol file has no place for. What is unknown is "" or 0.
type SourceFrame struct {
	Linkage string // the name that the linker knows, as it is mangled
	Name    string // the name in the source, without its scopes
	Inlined bool

	// Where the address is in the source: for the innermost function by the line table, for others where they
	// call the function before them.
	File                        SourceFile
	Line, Column, Discriminator uint32

	// Where the function is declared.
	StartFile SourceFile
	StartLine uint32

	// Start is where the function's code begins, if that is in one piece.
	Start    RVA
	HasStart bool
}

// SourceFile is a file that debug information names.
type SourceFile struct {
	Path     string // in the compilation directory, if it is relative
	Relative string // without the compilation directory
}

// FullName returns the name by which a frame's function is best known: the linker's, or else the source's.
func (f *SourceFrame) FullName() string {
	if f.Linkage != "" {
		return f.Linkage
	}
	return f.Name
}
