package walk

import (
	"strings"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// winCache caches STACK WIN records, and holds the state for running their programs.
type winCache struct {
	records  map[rowKey]*winRecord
	programs map[string]*winProgram
	vars     *cfi.Regs
	regs     winRegs
}

type winRegs struct {
	eip, esp, ebp, ebx, esi, edi cfi.Reg
}

// winRecord is the record that covers an address. Its win is nil if there is none.
type winRecord struct {
	win     *symfmt.StackWin
	program *winProgram // nil for FPO
	err     error
}

// winProgram is a program string. Variables that it does not use are NoReg.
type winProgram struct {
	code    cfi.Program
	err     error
	aligns  bool
	sizes   [4]cfi.Reg
	raStart [2]cfi.Reg
}

// Variables that are set before a program runs. It is not documented how the last two differ;
// Breakpad sets both to the same value.
var (
	winSizes   = [4]string{".cbParams", ".cbCalleeParams", ".cbSavedRegs", ".cbLocals"}
	winRAStart = [2]string{".raSearchStart", ".raSearch"}
)

func (m *machine) winRecord(r resolve.Symbols, at symfmt.RVA) *winRecord {
	c := &m.win
	if c.records == nil {
		c.records, c.programs, c.vars = map[rowKey]*winRecord{}, map[string]*winProgram{}, m.names.NewRegs()
		c.regs = winRegs{m.cpu.PC, m.cpu.SP, m.cpu.Reg("$ebp"), m.cpu.Reg("$ebx"), m.cpu.Reg("$esi"), m.cpu.Reg("$edi")}
	}
	key := rowKey{r, at}
	if w, ok := c.records[key]; ok {
		return w
	}
	if len(c.records) >= maxRows {
		clear(c.records)
		clear(c.programs)
	}
	w := &winRecord{}
	if w.win, w.err = r.Win(at); w.win != nil && w.win.HasProgram && w.win.Program != "" {
		w.program = m.winProgram(w.win.Program)
		w.err = w.program.err
	}
	c.records[key] = w
	return w
}

func (m *machine) winProgram(text string) *winProgram {
	if p := m.win.programs[text]; p != nil {
		return p
	}
	p := &winProgram{aligns: strings.Contains(text, "@")}
	p.code, p.err = m.names.ParseProgram(text)
	for i, name := range winSizes {
		p.sizes[i] = m.names.Lookup(name)
	}
	for i, name := range winRAStart {
		p.raStart[i] = m.names.Lookup(name)
	}
	m.win.programs[text] = p
	return p
}
