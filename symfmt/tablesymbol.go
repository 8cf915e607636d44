package symfmt

// TableSymbol is an entry of a binary's symbol table, including what a PUBLIC
// made from it leaves out.
type TableSymbol struct {
	Name []byte // mangled; valid until the function that gets it returns
	File []byte // the source file of a local symbol of ELF, or nil; valid as long as Name
	RVA  RVA    // of the code itself, without a bit that selects an instruction set
	Size uint64 // in bytes; 0 if it is unknown
	Kind TableKind
	Bind TableBind

	Absolute bool // RVA is a number, not an address
	Loaded   bool // its section is loaded into memory
	Section  struct {
		Start RVA
		Size  uint64 // of its bytes in the file
	}
}

// Holds reports whether an address is in the symbol's section.
func (s *TableSymbol) Holds(rva RVA) bool { return uint64(rva-s.Section.Start) < s.Section.Size }

// TableKind is what a TableSymbol names.
type TableKind uint8

// The kinds of a TableSymbol.
const (
	UntypedEntry TableKind = iota // code or data: assemblers give no type
	CodeEntry
	DataEntry
	LabelEntry // made by the assembler or compiler for its own use
)

// TableBind is the binding of a symbol, which decides among several
// definitions.
type TableBind uint8

// The bindings, strongest first.
const (
	GlobalBind TableBind = iota
	WeakBind
	LocalBind
)
