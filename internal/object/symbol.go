package object

// Table is one of the symbol tables of a file.
type Table int

// The tables.
const (
	Symtab  Table = iota // all symbols, unless stripped
	Dynamic              // those exported to other modules, or imported from them
)

// Symbol is an entry of a symbol table.
type Symbol struct {
	Name    []byte // as written, with a version after '@' if any; not a copy
	NameOff uint32 // where Name begins in SymbolNames
	Addr    uint64 // with the bit that selects an instruction set, if the CPU has one
	Size    uint64 // in bytes; 0 if it is unknown
	Kind    SymbolKind
	Bind    Bind
	Section *Section // where it is defined, or nil

	Undefined bool // in another file
	Absolute  bool // a number, not a place
}

// SymbolKind is what a symbol names.
type SymbolKind uint8

// The kinds.
const (
	Untyped SymbolKind = iota // code or data: assemblers give no type
	Function
	Indirect // a function that chooses another when it is loaded (STT_GNU_IFUNC)
	Data
	Label     // made by the assembler or compiler for its own use
	OtherKind // sections, files, thread-local storage
)

// IsFunction reports whether the symbol names code that is called.
func (s *Symbol) IsFunction() bool { return s.Kind == Function || s.Kind == Indirect }

// Bind decides which of several definitions counts.
type Bind uint8

// The binds, the strongest first.
const (
	Global Bind = iota
	Weak
	Local
)
