package object

// Table is one of the symbol tables of a file.
type Table int

// The symbol tables.
const (
	Symtab  Table = iota // all symbols, unless stripped
	Dynamic              // symbols exported to other modules or imported from them
)

// Symbol is an entry of a symbol table.
type Symbol struct {
	Name    []byte // as in the file, with a version after '@' if any; not a copy
	NameOff uint32 // offset of Name in SymbolNames
	Addr    uint64 // includes the bit that selects an instruction set, if the CPU has one
	Size    uint64 // in bytes; 0 if unknown
	Kind    SymbolKind
	Bind    Bind
	Section *Section // where the symbol is defined, or nil

	Undefined bool // defined in another file
	Absolute  bool // a number, not an address
}

// SymbolKind is what a symbol names.
type SymbolKind uint8

// The kinds of symbols.
const (
	Untyped SymbolKind = iota // code or data: assemblers write no type
	Function
	Indirect // a function that selects another when it is loaded (STT_GNU_IFUNC)
	Data
	Label     // created by the assembler or compiler for its own use
	OtherKind // sections, files, thread-local storage
)

// IsFunction reports whether the symbol names code that can be called.
func (s *Symbol) IsFunction() bool { return s.Kind == Function || s.Kind == Indirect }

// Bind decides which of several definitions is used.
type Bind uint8

// The binds, strongest first.
const (
	Global Bind = iota
	Weak
	Local
)
