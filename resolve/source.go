package resolve

import (
	"io"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/symfmt/vars"
)

// A source has the records to which the tables of an index lead: a text, in which
// their offsets are, or a Module, of whose slices the offsets are places. Its methods
// may be called by several goroutines. Errors have no place: the Resolver adds it.
type source interface {
	// function sets p to the lines and INLINEs of a FUNC, and returns the FUNC itself. Damaged
	// records are left out, and noted in p.
	function(p *functionParser, v span) (function, error)

	// lines calls add for each line record of a FUNC that can be read.
	lines(v span, add func(*symfmt.Line)) error
	// inlines calls add for each INLINE record of a FUNC that can be read, in their order.
	inlines(v span, add func(*symfmt.Inline)) error

	// variables returns the variables of the module, or nil.
	variables() (*vars.Info, error)

	public(offset uint64, rva symfmt.RVA) (*publicSymbol, error)
	file(offset uint64, id symfmt.FileID) (name string, err error)

	// origin returns, in the old form, also the number of the origin's file, or -1.
	origin(offset uint64, id symfmt.OriginID, old bool) (name string, file int64, err error)

	// rules returns the rules in force at an address of a STACK CFI INIT.
	rules(v span, rva symfmt.RVA, names *cfi.Names) (*Rules, error)
	win(v span) (*symfmt.StackWin, error)

	// place describes where a record is, for messages; "" if there is nothing to say.
	place(offset uint64) string

	// codeFile is the name of the binary in INFO CODE_ID, or "".
	codeFile() string

	// held is how much memory the records take, about, in bytes.
	held() int64

	io.Closer
}
