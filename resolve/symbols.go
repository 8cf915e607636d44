package resolve

import (
	"context"
	"io"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// Symbols answers questions about the addresses of one module. A Resolver answers them from an
// index over the text of a symbol file, or from a Module in memory, with the same results. Other programs have Symbols
// of their own by embedding NamesOnly, which leaves one method to write.
//
// The methods, except Close, may be called concurrently. Their errors come from reading the records, and name the file.
// Those with a context may read much when they are first called. If it ends, they return its error, or what is known so
// far if they return no error; what was read in part is not kept for later calls.
type Symbols interface {
	Identity() Identity

	// Nearest looks up an address and sets at, whose Frames are reused. It reports whether there is a FUNC that
	// contains the address, or a PUBLIC before it, with at.Guess set if that may well end before the address: Find is
	// for addresses that may not be in the module.
	Nearest(ctx context.Context, rva symfmt.RVA, at *Location) (bool, error)

	// LineStart returns the start of the line record that contains an address, if Find returns a
	// line for it. ok is false otherwise.
	LineStart(ctx context.Context, rva symfmt.RVA) (start symfmt.RVA, ok bool, err error)

	// Detail ranks symbols by how much they say about an address.
	Detail(ctx context.Context) Detail

	// Rules returns the rules of STACK CFI in force at an address, and Win the STACK WIN record that
	// contains it, or nil.
	Rules(ctx context.Context, rva symfmt.RVA, names *cfi.Names) (*Rules, error)
	Win(rva symfmt.RVA) (*symfmt.StackWin, error)

	// HasRules reports whether there are rules for unwinding at all. A debug file without its binary has none.
	HasRules(ctx context.Context) bool

	// InCode reports whether there may be code at an address.
	InCode(rva symfmt.RVA) bool
	// Last returns the last address of the records.
	Last(ctx context.Context) symfmt.RVA
	// Base returns the link-time address of RVA 0, if it is known.
	Base() (base uint64, known bool)

	// Damage returns the records that were left out so far. Some are read, and so found to be damaged, only when an
	// address is looked up: later results begin with earlier ones.
	Damage() []symfmt.Problem

	// Memory returns roughly how many bytes are held: the tables, and what was read so far.
	Memory() int64

	// Share adds a user; it returns false if the last one has closed the Symbols. Shared reports whether there are
	// several users. Each of them calls Close once, and the last call releases the files.
	Share() bool
	Shared() bool
	io.Closer
}

// SourceSymbols is implemented by Symbols of binaries with DWARF, which know more about an address than a symbol
// file: columns, discriminators, mangled names of inlined functions, and where functions and variables are declared.
type SourceSymbols interface {
	// Source returns the functions at an address, innermost first, as the debug information describes them,
	// or none if it does not or if the context ends. It may be called concurrently.
	Source(ctx context.Context, rva symfmt.RVA) []symfmt.SourceFrame
	// Declared returns where the variable that begins at an address is declared; line 0 if that is unknown or if the
	// context ends.
	Declared(ctx context.Context, rva symfmt.RVA) (file symfmt.SourceFile, line uint32)
}

// TableSymbols is implemented by Symbols of binaries, which know more about a symbol than a PUBLIC
// says, and also have the symbols of data.
type TableSymbols interface {
	// EachSymbol calls found with the defined symbols of the tables from which the PUBLICs are chosen, in the order of
	// the tables. If own is true, the tables are the binary's own, not its debug file's.
	EachSymbol(own bool, found func(*symfmt.TableSymbol))
}

// Detail is how much symbols say about an address.
type Detail uint8

const (
	PublicDetail Detail = iota // at best the name of a PUBLIC
	FuncDetail                 // functions
	LineDetail                 // functions and source lines
)

// Identity says which module the symbols belong to, and where they were read.
type Identity struct {
	OS, Arch, ID, Name string // the MODULE record; empty if there is none
	Path               string // of the file; may be empty
	DebugPath          string // of the separate debug file that has functions and lines; "" without one
}

// Find is like Nearest of s, but does not guess: it reports false unless a FUNC contains the address or a PUBLIC extends
// to it.
func Find(ctx context.Context, s Symbols, rva symfmt.RVA, at *Location) (bool, error) {
	found, err := s.Nearest(ctx, rva, at)
	return found && at.sure(), err
}

// OrderedSymbols is implemented by Symbols that look up addresses faster in some orders.
type OrderedSymbols interface {
	// Order is as the function Order.
	Order(ctx context.Context, at []symfmt.RVA) [][]int
}

// Order returns the indices of addresses in the order in which s looks them up fastest, and with
// the least memory. Callers with many addresses at once should use it. Different slices may be
// looked up concurrently.
func Order(ctx context.Context, s Symbols, at []symfmt.RVA) [][]int {
	if o, ok := s.(OrderedSymbols); ok && len(at) > 1 {
		return o.Order(ctx, at)
	}
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	return [][]int{order}
}

// Rules say how to find the caller at an address.
type Rules struct {
	Start   symfmt.RVA // of the STACK CFI INIT
	Size    uint64     // of the STACK CFI INIT, in bytes
	Row     cfi.Row    // the rules in force
	Records int        // number of records read for them
	Derived bool       // the rules were derived from instructions
}
