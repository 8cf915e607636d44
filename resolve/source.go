package resolve

import (
	"io"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/symfmt/vars"
)

// recordSource provides the records that the tables of an index refer to: records of a text, by
// offset, or of a Module, by index in its slices. Its methods may be called concurrently.
// Errors have no place; the Resolver adds it.
type recordSource interface {
	// function sets p to the lines and INLINEs of a FUNC, and returns the FUNC itself. Damaged
	// records are left out, and counted in p.
	function(p *functionParser, v span) (function, error)

	// funcName returns the name of a FUNC.
	funcName(v span) (string, error)

	// lines calls add for each readable line record of a FUNC.
	lines(v span, add func(*symfmt.Line)) error
	// inlines calls add for each readable INLINE record of a FUNC, in order.
	inlines(v span, add func(*symfmt.Inline)) error

	// variables returns the variables of the module, or nil.
	variables(file string) (*vars.Info, []symfmt.Problem, error)

	public(offset uint64, rva symfmt.RVA) (*publicSymbol, error)
	file(offset uint64, id symfmt.FileID) (name string, err error)

	// origin also returns, in the old form, the id of the origin's file, or -1.
	origin(offset uint64, id symfmt.OriginID, old bool) (name string, file int64, err error)

	// rules returns the rules in force at an address of a STACK CFI INIT.
	rules(v span, rva symfmt.RVA, names *cfi.Names) (*Rules, error)
	win(v span) (*symfmt.StackWin, error)

	// place describes the place of a record for messages; it may return "".
	place(offset uint64) string

	// codeFile returns the name of the binary in INFO CODE_ID, or "".
	codeFile() string

	// held returns the approximate memory of the records in bytes.
	held() int64

	io.Closer
}
