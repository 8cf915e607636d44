package walk

import (
	"context"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// rowCache caches rows of STACK CFI.
type rowCache struct {
	names *cfi.Names
	rows  map[rowKey]*cachedRow

	registers int // number of registers with a rule in all rows
	parsed    int // number of STACK CFI records parsed so far
}

type rowKey struct {
	of  resolve.Symbols
	rva symfmt.RVA
}

// cachedRow holds the rules in force at an address. Its row is nil if there are none.
type cachedRow struct {
	row   *cfi.Row
	start symfmt.RVA // start of the function with the rules
	// held is the register that contains the return address, or NoReg. It is the link register until
	// a function saves it, or another register if a function leaves the stack as it is, as vfork
	// does.
	held cfi.Reg
	// signal means that the rules are for a signal frame; it is valid if checked is set.
	signal, checked bool
	derived         bool // the rules come from instructions
	err             error
}

// maxRows limits the cached rows, and maxRowRegisters the rules for registers in them.
const (
	maxRows         = 1 << 13
	maxRowRegisters = 1 << 16
)

func newRowCache(names *cfi.Names) rowCache {
	return rowCache{names: names, rows: map[rowKey]*cachedRow{}}
}

// at returns the rules in force at an address of a module.
func (c *rowCache) at(ctx context.Context, r resolve.Symbols, rva symfmt.RVA) *cachedRow {
	key := rowKey{r, rva}
	if row, ok := c.rows[key]; ok {
		return row
	}
	if len(c.rows) >= maxRows || c.registers >= maxRowRegisters {
		clear(c.rows)
		c.registers = 0
	}
	row := c.read(ctx, r, rva)
	if ctx.Err() != nil {
		return row
	}
	c.rows[key] = row
	if row.row != nil {
		c.registers += len(row.row.Regs)
	}
	return row
}

func (c *rowCache) read(ctx context.Context, r resolve.Symbols, rva symfmt.RVA) *cachedRow {
	rules, err := r.Rules(ctx, rva, c.names)
	if rules == nil || err != nil {
		return &cachedRow{err: err}
	}
	c.parsed += rules.Records
	held, offset, plain := rules.Row.RA.AsOffset()
	if !plain || offset != 0 || held == cfi.CFA {
		held = cfi.NoReg
	}
	return &cachedRow{row: &rules.Row, start: rules.Start, held: held, derived: rules.Derived}
}
