package symelf

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// Losses returns what Write would leave out of m.
func Losses(m *symfmt.Module, o Options) []symfmt.Loss {
	b, err := newWriter(m, o)
	if err != nil {
		return nil // Write returns the reason
	}
	var losses symfmt.LossList
	losses.AddVars(m)
	add := losses.Add
	b.moduleLosses(add)
	b.recordLosses(&losses)
	if o.NoDWARF {
		losses = append(losses, m.LossOf("DWARF is turned off", symfmt.KindInlineOrigin, symfmt.KindInline, symfmt.KindLine)...)
	} else {
		b.debugLosses(add)
	}
	losses = append(losses, m.LossOf("ELF has no place for them", symfmt.KindStackWin)...)
	if o.NoCFI {
		return append(losses, m.LossOf("call frame information is turned off", symfmt.KindCFIInit, symfmt.KindCFI)...)
	}
	b.frameLosses(&losses)
	return losses
}

// addLoss is symfmt.LossList.Add.
type addLoss func(what string, n int, why string)

func (b *writer) moduleLosses(add addLoss) {
	infos, carried := len(b.m.Infos), codeID(b.m) != nil
	if carried {
		infos--
	}
	add("INFO records", infos, "ELF has a place only for CODE_ID")
	if own := guidBytes(b.m.ID); carried && own != nil {
		id := codeID(b.m)
		var long [guidSize]byte
		copy(long[:], id)
		if g := [guidSize]byte(own); g != bin.SwapGUID(long[:], binary.LittleEndian) && g != long {
			add("ids of MODULE", 1, "the build id is taken from INFO CODE_ID, and does not yield this id")
		}
	}
	if age := strings.TrimLeft(b.m.ID[min(len(b.m.ID), 2*guidSize):], "0"); age != "" {
		add("ages in MODULE's id", 1, "a build id has none")
	}
	if b.m.ID != "" && buildID(b.m, b.order) == nil {
		add("ids of MODULE", 1, "not a GUID, so there is no build id")
	}
}

// recordLosses adds the losses of FUNC and PUBLIC records.
func (b *writer) recordLosses(losses *symfmt.LossList) {
	var outside [symfmt.KindCFI]int
	var params, multiple int
	count := func(kind symfmt.Kind, rva symfmt.RVA, size, param uint64, m bool) {
		switch {
		case !b.space.holds(rva, size):
			outside[kind]++
			return
		case param != 0:
			params++
		}
		if m {
			multiple++
		}
	}
	for i := range b.m.Funcs {
		f := &b.m.Funcs[i]
		count(symfmt.KindFunc, f.RVA, f.Size, f.ParamSize, f.Multiple)
	}
	for i := range b.m.Publics {
		p := &b.m.Publics[i]
		count(symfmt.KindPublic, p.RVA, 0, p.ParamSize, p.Multiple)
	}
	losses.AddWhole(symfmt.KindFunc, "", outside[symfmt.KindFunc], "beyond the last address of the CPU")
	losses.AddWhole(symfmt.KindPublic, "", outside[symfmt.KindPublic], "beyond the last address of the CPU")
	losses.Add("sizes of parameters", params, "ELF symbols have none")
	losses.Add(`"m" marks`, multiple, "ELF symbols have none")
}

// debugLosses adds the losses of lines and inlined functions.
func (b *writer) debugLosses(add addLoss) {
	kept := described(b.m.Funcs, b.funcOrder(), b.space)
	var lines, partly, inlines int
	d := debugInfo{m: b.m, space: b.space}
	next := 0
	all := b.funcOrder()
	for _, i := range all {
		f := &b.m.Funcs[i]
		if next == len(kept) || kept[next] != i {
			k, n := f.Body.Counts()
			inlines, lines = inlines+k, lines+n
			continue
		}
		next++
		d.tree.build(f)
		partly += d.tree.lost()
	}
	add("line records", lines, "their FUNC has no code, or the same code as another")
	add("INLINE records", inlines, "their FUNC has no code, or the same code as another")
	add("parts of INLINE records", partly, "outside the function they are inlined into, covered by another one of the same depth, or more than 1024 deep")
}

func (b *writer) funcOrder() []uint32 {
	if b.funcs == nil {
		b.sort()
	}
	return b.funcs
}

// frameLosses adds the losses of STACK CFI.
func (b *writer) frameLosses(losses *symfmt.LossList) {
	f := newFrameBuilder(b.m, b.arch, b.order, b.space)
	f.build()
	for _, kind := range []struct {
		add  func(n int, why string)
		lost lostRules
	}{
		{func(n int, why string) { losses.AddWhole(symfmt.KindCFIInit, "", n, why) }, f.losses},
		{func(n int, why string) { losses.AddWhole(symfmt.KindCFI, "", n, why) }, f.lost},
		{func(n int, why string) { losses.Add("rules of STACK CFI", n, why) }, f.rules},
	} {
		slices.SortFunc(kind.lost, func(a, b lostRule) int { return cmp.Compare(a.why, b.why) })
		for _, lost := range kind.lost {
			kind.add(lost.n, lost.why)
		}
	}
}
