package symcache

import (
	"fmt"

	"github.com/symtool/symtool/symfmt"
)

// Losses returns what Write would leave out of m.
func Losses(m *symfmt.Module, o Options) []symfmt.Loss {
	losses := moduleLosses(m)
	losses.AddVars(m)
	losses = append(losses, m.LossOf("a symcache has no place for them", symfmt.KindInfo)...)
	losses = append(losses, m.LossOf("a symcache has no call frame information", symfmt.KindCFIInit, symfmt.KindCFI, symfmt.KindStackWin)...)
	return append(losses, codeLosses(m, o.Base)...)
}

// moduleLosses returns the losses of the MODULE record.
func moduleLosses(m *symfmt.Module) (losses symfmt.LossList) {
	if m.OS != "" || m.Name != "" {
		losses.Add("MODULE records", 1, "a symcache has the id and the CPU only")
	}
	if m.Arch != "" && m.Arch != "unknown" && archNumber(m.Arch) == 0 {
		losses.Add("CPUs of the MODULE", 1, "symbolic has no number for "+m.Arch)
	}
	if _, ok := encodeDebugID(m.ID, byteOrder); !ok && m.ID != "" {
		losses.Add("ids of the MODULE", 1, "neither a UUID nor a time stamp, with an age")
	}
	return losses
}

// codeLosses returns the losses of FUNC and PUBLIC records, and of the records in FUNCs.
func codeLosses(m *symfmt.Module, base symfmt.RVA) (losses symfmt.LossList) {
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
	losses.Add("sizes of parameters", n.params, "a symcache has none")
	losses.Add(`"m" marks`, n.multiple, "a symcache has none")
	losses.AddWhole(symfmt.KindFunc, "of size 0", n.empty, "functions exist only through their code")
	farWhy := fmt.Sprintf("addresses have 32 bits, from the base %#x", uint64(base))
	losses.AddWhole(symfmt.KindFunc, "outside 4 GB", n.far, farWhy)
	losses.AddWhole(symfmt.KindPublic, "outside 4 GB", n.farPublics, farWhy)
	losses.AddWhole(symfmt.KindPublic, "at address 0", n.zero, "they belong to no address")
	losses.AddWhole(symfmt.KindFunc, "that others hide", hiddenFuncs, "an address is in one function")
	losses.AddWhole(symfmt.KindPublic, "that others hide", hiddenPublics, "an address has one symbol")
	losses.Add("line records outside their FUNC", n.lines, "they belong to no address")
	losses.Add("INLINE records nested deeper than 1024", n.deep, "such chains are not followed")
	losses.Add("ranges of INLINE records outside their FUNC", n.ranges, "they belong to no address")
	return losses
}

// FirstFar returns the lowest address of a FUNC or PUBLIC that is too far above the
// base to be written. A base close to it would allow it to be written.
func FirstFar(m *symfmt.Module, o Options) (first symfmt.RVA, ok bool) {
	see := func(rva symfmt.RVA) {
		if rva >= o.Base && !inReach(rva, o.Base) && (!ok || rva < first) {
			first, ok = rva, true
		}
	}
	for i := range m.Funcs {
		if f := &m.Funcs[i]; f.Size > 0 {
			see(f.RVA)
		}
	}
	for i := range m.Publics {
		see(m.Publics[i].RVA)
	}
	return first, ok
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// strays counts a FUNC's lines and INLINE ranges that have no code in it, and
// its INLINEs that are too deep.
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

// hidden counts the FUNCs and PUBLICs that lose all their addresses to others.
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

// dropped calls report with everything that the module cannot hold.
func (b *builder) dropped(report func(symfmt.Loss)) {
	var languages, unnamed, servers int
	for i, named := range b.named {
		language := b.c.order.Uint32(b.c.functions.entry(uint32(i))[12:])
		languages += count(named && language != 0 && language != noLanguage)
		unnamed += count(!named)
	}
	for i := range uint32(b.c.files.len()) {
		servers += count(b.hasServer(b.c.files.entry(i)))
	}
	for _, l := range []symfmt.Loss{
		{What: "languages of functions", Count: languages, Why: "a symbol file has none"},
		{What: "functions without code", Count: unnamed, Why: "no source location refers to them"},
		{What: "places of files on source servers", Count: servers, Why: "a symbol file has none"},
		{What: "sections about variables", Count: count(b.c.variables), Why: "a symbol file has none"},
	} {
		if l.Count > 0 {
			report(l)
		}
	}
}

// hasServer reports whether a file has a name, directory or revision on a server.
func (b *builder) hasServer(file []byte) bool {
	for at := 12; at < len(file); at += 4 {
		if b.c.order.Uint32(file[at:]) != none {
			return true
		}
	}
	return false
}
