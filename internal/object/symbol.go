package object

// Table is one of the symbol tables of a file.
type Table int

// The tables.
const (
	Symtab  Table = iota // all symbols, unless stripped
	Dynamic              // those that other modules see, or that are seen of them
)

// Symbol is an entry of a symbol table.
type Symbol struct {
	Name    []byte // as written, with a version after '@' if any; not a copy
	NameOff uint32 // where Name begins in SymbolNames
	Addr    uint64 // with the bit that selects an instruction set, if the CPU has one
	Size    uint64 // in bytes; 0 if it is unknown
	Kind    SymbolKind
	Bind    Bind
	Section *Section // where it is defined; nil for none

	Undefined bool // in another file
	Absolute  bool // a number, not a place
}

// SymbolKind is what a symbol names.
type SymbolKind uint8

// The kinds.
const (
	Untyped SymbolKind = iota // code or data: assemblers do not say
	Function
	Indirect // a function that chooses another when it is loaded (STT_GNU_IFUNC)
	Data
	Label     // made by assembler or compiler for themselves
	OtherKind // sections, files, storage of threads
)

// IsFunction reports whether the symbol names code that is called.
func (s *Symbol) IsFunction() bool { return s.Kind == Function || s.Kind == Indirect }

// Bind is which of several definitions counts.
type Bind uint8

// The binds, the strongest first.
const (
	Global Bind = iota
	Weak
	Local
)
