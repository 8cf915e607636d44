package facts

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// winBlock is a STACK WIN record. It takes 32 bytes.
type winBlock struct {
	RVA    symfmt.RVA
	Size   uint64
	Params uint64
	Line   uint32
	Type   uint8 // 255 for larger types
	// Usable reports whether readers can use the record: its type is known, and
	// its program, if any, assigns the caller's $eip and $esp.
	Usable bool
}

// FuncParam is the parameter size of a FUNC that has one.
type FuncParam struct {
	RVA  symfmt.RVA
	Size uint64
}

// The types of STACK WIN records that readers use.
const (
	WinFPO       = 0
	WinFrameData = 4
)

// programTable caches the analyses of program strings, by text.
type programTable struct {
	names    *cfi.Names
	programs map[string]*Program
	bytes    int
	Program  *Program // program of the current record, or nil
}

// Program is the analysis of a program string.
type Program struct {
	Fault   string // why it cannot be parsed or run
	Missing string // registers that it does not assign
	Token   int    // index of the faulty token, from 0
	Numbers string // registers that it names by number: "$20 for $ebx"
}

// see updates the state for a record, and adds the record to f.Wins.
func (w *programTable) see(f *Facts, r *symfmt.Record) {
	w.Program = nil
	if r.Win.HasProgram {
		w.Program = w.of(r.Name)
	}
	f.Wins.Add(winBlock{
		RVA: r.Win.RVA, Size: r.Win.CodeSize, Params: r.Win.ParameterSize,
		Line: uint32(r.Pos().Line), Type: uint8(min(r.Win.Type, 255)),
		Usable: (r.Win.Type == WinFPO || r.Win.Type == WinFrameData) && (w.Program == nil || w.Program.Fault == "" && w.Program.Missing == ""),
	})
}

// of returns the analysis of a program string.
func (w *programTable) of(text []byte) *Program {
	if p, ok := w.programs[string(text)]; ok {
		return p
	}
	if w.names == nil || len(w.programs) >= maxSets || w.bytes > maxSetsBytes || w.names.Len() > maxSets {
		w.names, w.programs, w.bytes = cfi.NewNames(arch.X86), map[string]*Program{}, 0
	}
	p := w.run(string(text))
	w.programs[string(text)] = p
	w.bytes += len(text)
	return p
}

// everywhere is memory in which each word holds its own address.
type everywhere struct{}

func (everywhere) ReadWord(addr uint64) (uint64, bool) { return addr, true }

// winVariables are the variables that readers set before they run a program
// (stackwalker_x86.cc, GetCallerByWindowsFrameInfo).
var winVariables = []string{
	"$ebp", "$esp", "$ebx", ".cbParams", ".cbCalleeParams", ".cbSavedRegs", ".cbLocals", ".raSearch", ".raSearchStart",
}

// run runs a program with the stack at 1<<20 and every size 16 bytes.
func (w *programTable) run(text string) *Program {
	program, err := w.names.ParseProgram(text)
	if err != nil {
		return winFault(err)
	}
	vars := w.names.NewRegs()
	program.Uses(func(reg cfi.Reg) {
		for i, name := range winVariables {
			if w.names.Name(reg) == name {
				vars.Set(reg, 16)
				if i < 3 || strings.HasPrefix(name, ".ra") {
					vars.Set(reg, 1<<20)
				}
			}
		}
	})
	if err := program.Run(vars, everywhere{}); err != nil {
		return winFault(err)
	}
	var missing []string
	for _, name := range []string{"$eip", "$esp"} {
		if !vars.Assigned(w.names.Lookup(name)) {
			missing = append(missing, name)
		}
	}
	return &Program{Missing: strings.Join(missing, " and "), Numbers: w.numbered(program)}
}

// numbered lists the registers that a program refers to by names that readers do not know.
func (w *programTable) numbered(program cfi.Program) string {
	var found []string
	program.Uses(func(reg cfi.Reg) {
		home := w.names.Home(reg)
		if home == reg {
			return
		}
		if s := w.names.Name(reg) + " for " + w.names.Name(home); !slices.Contains(found, s) {
			found = append(found, s)
		}
	})
	return strings.Join(found, ", ")
}

// winFault returns a Program with the fault that err describes. The parser splits "=$eip" into two
// tokens, so the token's index may be too high.
func winFault(err error) *Program {
	var ce *cfi.Error
	if !errors.As(err, &ce) {
		return &Program{Fault: err.Error()}
	}
	text := exprFault(err).Text
	if ce.Kind == cfi.BadAlignment {
		text += fmt.Sprintf(": %d", ce.Value)
	}
	return &Program{Fault: text, Token: max(ce.Token-1, 0)}
}
