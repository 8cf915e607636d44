package pdb

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// jump is an entry of the table through which functions of an incrementally linked program are called, so that
// the linker can replace a function without changing its callers.
type jump struct {
	rva, to symfmt.RVA
	size    uint16
}

// jump adds a jump of incremental linking. Branch islands, the other kind of trampoline (TRAMPOLINESYM in cvinfo.h), are
// left out.
func (m *moduleSymbols) jump(d *database, b []byte) {
	const incremental = 0
	if len(b) < 16 || u16(b) != incremental {
		return
	}
	j := jump{size: u16(b[2:])}
	var from, to bool
	j.rva, from = d.rva(u16(b[12:]), u32(b[4:]))
	j.to, to = d.rva(u16(b[14:]), u32(b[8:]))
	if from && to && j.size > 0 {
		m.jumps = append(m.jumps, j)
	}
}

// nameJumps adds the jumps to the functions, which are sorted before and after. A jump to code without a
// function has no name.
func (m *merger) nameJumps() {
	if len(m.jumps) == 0 {
		return
	}
	slices.SortFunc(m.jumps, func(a, b jump) int { return cmp.Or(cmp.Compare(a.rva, b.rva), cmp.Compare(a.to, b.to)) })
	funcs, first, room := m.out.Funcs, m.jumps[0].rva, minNames+m.d.size
	for _, j := range m.jumps {
		i, found := functionAt(funcs, j.to)
		if !found {
			continue
		}
		if room -= int64(len(funcs[i].Name)); room < 0 {
			m.problem("jumps to functions", m.d.errorf("their names have more bytes together than the file"))
			break
		}
		m.out.Funcs = append(m.out.Funcs, symfmt.Func{
			RVA: j.rva, Size: uint64(j.size), Name: fmt.Sprintf("@ILT+%d(%s)", j.rva-first, funcs[i].Name),
		})
	}
	m.jumps = nil
	m.sortFuncs()
}

// functionAt returns the index of the function that begins at an address, or the index where it would be
// inserted.
func functionAt(funcs []symfmt.Func, rva symfmt.RVA) (int, bool) {
	return slices.BinarySearchFunc(funcs, rva, func(f symfmt.Func, rva symfmt.RVA) int { return cmp.Compare(f.RVA, rva) })
}
