package lint

import "github.com/symtool/symtool/symfmt"

var isaBitRule = &Rule{
	ID:       "SYM326",
	Title:    "address with the instruction set bit",
	Severity: Warning,
	Since:    "0.1",
	Spec:     "symbol_files: FUNC records",
	Doc: `Bit 0 of an ARM function's symbol says that its code is Thumb, and is not part of the
address. Walkers look addresses up with the bit cleared: they do not find the
function's first instruction, and a call frame information block at the true address
has no name there.`,
	Cites: []string{"Breakpad 89947e7d"},
	Bad:   armModule + "FUNC 1001 10 0 f\n",
	Good:  armModule + "FUNC 1000 10 0 f\n",
	At:    2,
	On:    []symfmt.Kind{symfmt.KindFunc, symfmt.KindPublic},
	Check: func(p *Pass) (func(*symfmt.Record), func()) {
		return func(r *symfmt.Record) {
			if p.Arch != nil && uint64(r.RVA)&p.Arch.ISABit != 0 {
				p.Report(r, 1+multi(r), "address %x, want %x", r.RVA, uint64(r.RVA)&^p.Arch.ISABit)
			}
		}, nil
	},
}

// armModule begins an example.
const armModule = "MODULE Linux arm 0123456789ABCDEF0123456789ABCDEF0 a\n"
