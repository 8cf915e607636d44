package resolve

import (
	"context"
	"math"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// NamesOnly has the methods of Symbols for a module of which nothing but names is known. A type that embeds it needs only
// Nearest to implement Symbols, and defines those methods again for which it has better answers.
type NamesOnly struct {
	users
	Module Identity
	// Release, if non-nil, is called when the last user has closed the Symbols, and its error returned.
	Release func() error
}

// Identity implements Symbols.
func (n *NamesOnly) Identity() Identity { return n.Module }

// LineStart implements Symbols: line records are not known.
func (*NamesOnly) LineStart(context.Context, symfmt.RVA) (start symfmt.RVA, ok bool, err error) {
	return 0, false, nil
}

// Detail implements Symbols.
func (*NamesOnly) Detail(context.Context) Detail { return FuncDetail }

// Rules implements Symbols: there are none.
func (*NamesOnly) Rules(context.Context, symfmt.RVA, *cfi.Names) (*Rules, error) { return nil, nil }

// Win implements Symbols: there are none.
func (*NamesOnly) Win(symfmt.RVA) (*symfmt.StackWin, error) { return nil, nil }

// HasRules implements Symbols.
func (*NamesOnly) HasRules(context.Context) bool { return false }

// InCode implements Symbols: there may be code anywhere.
func (*NamesOnly) InCode(symfmt.RVA) bool { return true }

// Last implements Symbols: there may be code anywhere.
func (*NamesOnly) Last(context.Context) symfmt.RVA { return math.MaxUint64 }

// Base implements Symbols: it is not known.
func (*NamesOnly) Base() (base uint64, known bool) { return 0, false }

// Damage implements Symbols: there is none.
func (*NamesOnly) Damage() []symfmt.Problem { return nil }

// Memory implements Symbols: names are not counted.
func (*NamesOnly) Memory() int64 { return 0 }

// Close implements Symbols.
func (n *NamesOnly) Close() error {
	if !n.leave() || n.Release == nil {
		return nil
	}
	return n.Release()
}
