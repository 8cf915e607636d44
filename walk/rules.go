package walk

import (
	"cmp"
	"errors"
	"slices"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt/cfi"
)

// bySymbols uses the STACK CFI of the symbol file or, if the symbols are from the binary, the
// binary's rules.
func bySymbols(u *unwinder, f *Frame) outcome {
	if u.module == nil {
		return nothing
	}
	s := u.module.symbolsFrom(u.ctx)
	by := BySymbols
	if s.binary {
		by = ByEHFrame
	}
	return u.byRules(f, s.resolver, by)
}

// byEHFrame uses .eh_frame and .debug_frame of the binary.
func byEHFrame(u *unwinder, f *Frame) outcome {
	if u.module == nil || !u.may[ByEHFrame] || u.module.symbols.Peek().binary {
		return nothing // bySymbols has tried the binary's own rules
	}
	return u.byRules(f, u.table(tableEHFrame), ByEHFrame)
}

// bySFrame uses .sframe of the binary.
func bySFrame(u *unwinder, f *Frame) outcome {
	if u.module == nil || !u.may[BySFrame] {
		return nothing
	}
	return u.byRules(f, u.table(tableSFrame), BySFrame)
}

// table returns the rules of a section of the frame's binary, or nil, and records damage to the
// section.
func (u *unwinder) table(table int) resolve.Symbols {
	if u.frame.Module < 0 {
		return nil
	}
	t, m := u.module.rules(u.ctx, table), &u.result.Modules[u.frame.Module]
	if t.err != nil {
		m.damaged(t.err)
	}
	for _, p := range t.problems {
		m.damaged(errors.New(p.String()))
	}
	return t.resolver
}

// byRules finds the caller by the rules of a table, which may be nil. Those that were derived from instructions have a
// technique of their own.
func (u *unwinder) byRules(f *Frame, r resolve.Symbols, by Technique) outcome {
	if r == nil || !u.may[by] && !u.may[ByCode] {
		return nothing
	}
	parsed := u.rows.parsed
	row := u.rows.at(u.ctx, r, u.rva)
	u.budget.chargeRules(u.rows.parsed-parsed, row)
	if row.derived {
		by = ByCode
	}
	if !u.may[by] {
		return nothing
	}
	if row.err != nil {
		if u.frame.Module >= 0 {
			u.result.Modules[u.frame.Module].damaged(row.err)
		}
		u.note("%v: %v", by, row.err)
		return nothing
	}
	if row.row == nil {
		u.note("%v: no rules for %s", by, u.where())
		return nothing
	}
	if u.config.Trace {
		u.note("%v: %s", by, row.row)
	}
	if row.held != cfi.NoReg && row.held == u.cpu.RA && !u.frame.Interrupted {
		// The frame has made a call, so the register contains the return address of that call.
		u.note("%v: after a call, %s is not the caller's", by, u.cpu.Arch.RA)
		return nothing
	}
	if row.row.RA.EndsStack() {
		return outermost
	}
	err := row.row.Caller(u.in, u, u.out)
	u.keepCFA(row.row)
	if err != nil {
		var fault *cfi.Error
		if errors.As(err, &fault) && fault.Kind == cfi.Undefined && fault.Rule == ".ra" {
			return outermost
		}
		if fault != nil && fault.Kind == cfi.Unknown {
			u.lacks = cmp.Or(u.lacks, fault.Text)
		}
		u.note("%v: %v", by, err)
		return nothing
	}
	f.PC, _ = u.out.Get(u.cpu.PC)
	f.SP, _ = u.out.Get(u.cpu.SP)
	f.Trust, f.By = TrustCFI, by
	u.held = row.held != cfi.NoReg
	if !row.checked {
		_, _, load := row.row.Rule(u.cpu.SP).AsLoad()
		row.signal, row.checked = load && u.restoresVolatile(row.row), true
	}
	switch {
	case row.signal || u.frame.Handler && u.restoresVolatile(row.row):
		f.Interrupted, u.frame.Handler = true, true
	case u.frame.Handler:
		// Go describes the code that handlers return to as if it were an ordinary
		// function.
		u.note("%v: these rules are not those of a signal frame", by)
		return nothing
	}
	return found
}

// keepCFA stores the frame's CFA for techniques that guess, unless earlier rules gave one.
func (u *unwinder) keepCFA(row *cfi.Row) {
	if u.cfa != 0 || u.frame.Handler {
		return
	}
	reads := u.reads
	if cfa, err := row.CFA.Eval(u.in, u); err == nil {
		u.cfa = cfa
	}
	u.reads = reads
}

// restoresVolatile reports whether rules load from memory a register that no function preserves
// for its caller. The rules of a signal frame do so, and load the stack pointer as well. Functions
// of s390x save the stack pointer and floating-point registers in memory.
func (u *unwinder) restoresVolatile(row *cfi.Row) bool {
	a := u.cpu.Arch
	for i, r := range a.Regs {
		reg := cfi.Reg(i)
		if reg == u.cpu.SP || reg == u.cpu.PC || r.Name == a.RA ||
			slices.Contains(a.CalleeSaved, r.Name) || slices.Contains(a.CalleeSavedFloat, r.Name) || slices.Contains(a.Constant, r.Name) {
			continue
		}
		if _, _, load := row.Rule(reg).AsLoad(); load {
			return true
		}
	}
	return false
}

// hasRules reports whether the symbol file or the binary has rules for the frame.
func (u *unwinder) hasRules() bool {
	if u.module == nil {
		return false
	}
	for _, r := range []resolve.Symbols{u.module.resolver(u.ctx), u.table(tableEHFrame)} {
		if r != nil && u.rows.at(u.ctx, r, u.rva).row != nil {
			return true
		}
	}
	return false
}
