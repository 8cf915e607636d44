package symcache

import "github.com/symtool/symtool/symfmt"

const farWhy = "addresses have 32 bits, from the base on"

// Losses tells what Write leaves out.
func Losses(m *symfmt.Module, o Options) []symfmt.Loss {
	losses := moduleLosses(m)
	losses = append(losses, m.LossOf("a symcache has no place for them", symfmt.KindInfo)...)
	losses = append(losses, m.LossOf("a symcache has no call frame information", symfmt.KindCFIInit, symfmt.KindCFI, symfmt.KindStackWin)...)
	return append(losses, codeLosses(m, o.Base)...)
}

func add(losses []symfmt.Loss, n int, what, why string) []symfmt.Loss {
	if n == 0 {
		return losses
	}
	return append(losses, symfmt.Loss{What: what, Count: n, Why: why})
}

// moduleLosses are those of the MODULE record.
func moduleLosses(m *symfmt.Module) (losses []symfmt.Loss) {
	if m.OS != "" || m.Name != "" {
		losses = add(losses, 1, "operating systems and names of MODULE", "a symcache has only the id and the CPU")
	}
	if m.Arch != "" && archNumber(m.Arch) == 0 {
		losses = add(losses, 1, "CPUs of the MODULE", "symbolic has no number for "+m.Arch)
	}
	if _, ok := encodeDebugID(m.ID, byteOrder); !ok && m.ID != "" {
		losses = add(losses, 1, "ids of the MODULE", "neither a UUID nor a time stamp with an age")
	}
	return losses
}

// codeLosses are those of FUNC and PUBLIC records and of what is in FUNCs.
func codeLosses(m *symfmt.Module, base symfmt.RVA) (losses []symfmt.Loss) {
	var n struct{ params, multiple, empty, far, farPublics, zero, lines, ranges, deep int }
	for i := range m.Funcs {
		f := &m.Funcs[i]
		n.params += count(f.ParamSize > 0)
		n.multiple += count(f.Multiple)
		n.empty += count(f.Size == 0)
		n.far += count(f.Size > 0 && !inReach(f.RVA, base))
		if hasCode(f, base) {
			lines, ranges, deep := strays(f, base)
			n.lines, n.ranges, n.deep = n.lines+lines, n.ranges+ranges, n.deep+deep
		}
	}
	for i := range m.Publics {
		p := &m.Publics[i]
		n.params += count(p.ParamSize > 0)
		n.multiple += count(p.Multiple)
		n.zero += count(p.RVA == 0)
		n.farPublics += count(p.RVA > 0 && !inReach(p.RVA, base))
	}
	hiddenFuncs, hiddenPublics := hidden(m, base)
	losses = add(losses, n.params, "sizes of parameters", "a symcache has none")
	losses = add(losses, n.multiple, `marks "m" of code with several symbols`, "a symcache has none")
	losses = add(losses, n.empty, "FUNC records of size 0", "a function is there by its code")
	losses = add(losses, n.far, "FUNC records outside of 4 GB", farWhy)
	losses = add(losses, n.farPublics, "PUBLIC records outside of 4 GB", farWhy)
	losses = add(losses, n.zero, "PUBLIC records at address 0", "they speak for no address")
	losses = add(losses, hiddenFuncs, "FUNC records that others hide", "an address is in one function")
	losses = add(losses, hiddenPublics, "PUBLIC records that others hide", "an address has one symbol")
	losses = add(losses, n.lines, "line records outside of their FUNC", "they speak for no address")
	losses = add(losses, n.deep, "INLINE records nested deeper than 1024", "such chains are not followed")
	return add(losses, n.ranges, "ranges of INLINE records outside of their FUNC", "they speak for no address")
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// strays counts the lines and ranges of INLINEs of a FUNC that have no code in
// it, and INLINEs that are too deep.
func strays(f *symfmt.Func, base symfmt.RVA) (lines, ranges, deep int) {
	reach := min(f.Size, addressEnd-uint64(f.RVA-base))
	outside := func(rva symfmt.RVA, size uint64) bool {
		return size == 0 || rva < f.RVA || uint64(rva-f.RVA) >= reach
	}
	for r := f.LineReader(); r.Next(); {
		lines += count(outside(r.Line.RVA, r.Line.Size))
	}
	for r := f.InlineReader(); r.Next(); {
		if r.Inline.Depth >= symfmt.MaxInlineDepth {
			deep++
			continue
		}
		for _, rng := range r.Inline.Ranges {
			ranges += count(outside(rng.RVA, rng.Size))
		}
	}
	return lines, ranges, deep
}

// hidden counts the FUNCs and PUBLICs that could speak for an address, but do not.
func hidden(m *symfmt.Module, base symfmt.RVA) (funcs, publics int) {
	speaksFunc, speaksPublic := make([]bool, len(m.Funcs)), make([]bool, len(m.Publics))
	for _, p := range coverOf(m, base) {
		switch {
		case p.owner >= 0:
			speaksFunc[p.owner] = true
		case p.owner != nobody:
			speaksPublic[p.owner.public()] = true
		}
	}
	for i := range m.Funcs {
		funcs += count(hasCode(&m.Funcs[i], base) && !speaksFunc[i])
	}
	for i := range m.Publics {
		publics += count(speaks(&m.Publics[i], base) && !speaksPublic[i])
	}
	return funcs, publics
}
