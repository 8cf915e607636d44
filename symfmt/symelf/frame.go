package symelf

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// frameBuilder makes .eh_frame. Its FDEs hold addresses relative to their own
// place, which are filled in once the section has an address.
type frameBuilder struct {
	c     *compiler
	w     buffer
	table *symfmt.CFITable
	space space
	wide  bool // 8-byte addresses: code is more than 2 GB away

	cies   map[cieKey]int  // offsets in w
	shared map[cieKey]bool // CIEs with rules
	fdes   []fde
	rows   []symfmt.CFIRow
	losses lostRules // in STACK CFI INIT records
	lost   lostRules // in STACK CFI records
	rules  lostRules
}

// cieKey identifies the CIE of a block, which holds the rules of the block's STACK
// CFI INIT.
type cieKey struct {
	init   symfmt.RuleID
	column column
}

// noInit is the init of the CIE without rules.
const noInit = symfmt.RuleID(1<<32 - 1)

// A separate CIE costs more than it saves for fewer than fewBlocks FDEs, and readelf
// searches the list of CIEs for each FDE.
const (
	fewBlocks = 4
	mostCIEs  = 64
)

// fde records where an FDE is, so that its address can be filled in and
// .eh_frame_hdr made.
type fde struct {
	rva   symfmt.RVA
	entry int // offset of the FDE
	at    int // offset of its address
}

func newFrameBuilder(m *symfmt.Module, a *arch.Arch, order byteOrder, s space) *frameBuilder {
	return &frameBuilder{
		c: newCompiler(a, order, &m.CFI.Rules), table: &m.CFI, space: s,
		w:    buffer{order: order, ptr: a.PtrSize},
		cies: make(map[cieKey]int), shared: make(map[cieKey]bool),
	}
}

// build makes the section from all blocks.
func (f *frameBuilder) build() {
	blocks := f.blocks()
	f.wide = f.c.arch.PtrSize == 8 && f.space.far
	f.chooseCIEs(blocks)
	for _, i := range blocks {
		f.block(&f.table.Blocks[i])
	}
	if len(f.fdes) == 0 {
		f.w.b = nil
		return
	}
	f.w.u32(0) // end of the list
}

// blocks returns the blocks that can be written, in order of address.
func (f *frameBuilder) blocks() (kept []uint32) {
	for i := range f.table.Blocks {
		b := &f.table.Blocks[i]
		why := ""
		switch init := f.c.set(b.Init); {
		case b.Size == 0 || !f.space.holds(b.RVA, b.Size):
			why = whyNoCode
		case init.fatal != "":
			why = init.fatal
		case !init.hasCFA || !init.hasRA:
			why = whyNoCFA
		}
		if why != "" {
			f.losses.add(why, 1)
			f.lost.add(why, int(b.Count))
			continue
		}
		kept = append(kept, uint32(i))
	}
	slices.SortStableFunc(kept, func(i, j uint32) int {
		return cmp.Compare(f.table.Blocks[i].RVA, f.table.Blocks[j].RVA)
	})
	return kept
}

// column returns the numbering of the return address for a block.
func (f *frameBuilder) column(b *symfmt.CFIBlock) column {
	if !f.c.hasPC || f.c.link < 0 {
		return linkColumn
	}
	if f.c.set(b.Init).hasLink {
		return pcColumn
	}
	for _, r := range f.table.Rows[b.First : b.First+b.Count] {
		if f.c.set(r.Rules).hasLink {
			return pcColumn
		}
	}
	return linkColumn
}

// chooseCIEs chooses which sets of initial rules get a CIE.
func (f *frameBuilder) chooseCIEs(blocks []uint32) {
	count := make([][2]uint32, f.table.Rules.Len()) // number of blocks, by RuleID and column
	var keys []cieKey
	for _, i := range blocks {
		b := &f.table.Blocks[i]
		k := cieKey{b.Init, f.column(b)}
		if count[k.init][k.column]++; count[k.init][k.column] == fewBlocks {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b cieKey) int {
		more := cmp.Compare(count[b.init][b.column], count[a.init][a.column])
		return cmp.Or(more, cmp.Compare(a.init, b.init), cmp.Compare(a.column, b.column))
	})
	for _, k := range keys[:min(len(keys), mostCIEs)] {
		f.shared[k] = true
	}
}

// cie returns the offset of a CIE and writes it at its first use.
func (f *frameBuilder) cie(k cieKey) int {
	if at, ok := f.cies[k]; ok {
		return at
	}
	at := f.open()
	f.cies[k] = at
	f.w.u32(0) // a CIE
	f.w.u8(1)  // version
	f.w.bytes([]byte("zR\x00"))
	f.w.uleb(1)
	f.w.sleb(-int64(f.c.arch.PtrSize))
	f.w.u8(byte(f.c.ra[k.column])) // one byte in version 1; enough for all CPUs
	f.w.uleb(1)
	if f.wide {
		f.w.u8(dw.EHPCRel | dw.EHSData8)
	} else {
		f.w.u8(dw.EHPCRel | dw.EHSData4)
	}
	if k.init != noInit {
		f.init(k)
	}
	f.close(at)
	return at
}

// init writes the rules of a STACK CFI INIT.
func (f *frameBuilder) init(k cieKey) {
	set := f.c.set(k.init)
	f.w.bytes(f.c.instructions(set, k.column))
	if f.c.arch == arch.S390X && !set.hasSP {
		// STACK CFI takes .cfa for the caller's stack pointer, which by this CPU's
		// convention is 160 lower.
		n, _ := f.c.arch.RegNumber(f.c.arch.SP)
		f.w.u8(dw.CFAValOffset)
		f.w.uleb(n)
		f.w.uleb(0)
	}
}

// open starts an entry, and close fills in its length.
func (f *frameBuilder) open() int {
	at := len(f.w.b)
	f.w.u32(0)
	return at
}

func (f *frameBuilder) close(at int) {
	for (len(f.w.b)-at)%f.c.arch.PtrSize != 0 {
		f.w.u8(dw.CFANop)
	}
	f.w.put32(at, len(f.w.b)-at-4)
}

// block writes an FDE.
func (f *frameBuilder) block(b *symfmt.CFIBlock) {
	k := cieKey{b.Init, f.column(b)}
	own := !f.shared[k]
	from := k
	if own {
		from.init = noInit
	}
	cie := f.cie(from)
	at := f.open()
	f.w.u32(uint32(len(f.w.b) - cie))
	f.fdes = append(f.fdes, fde{b.RVA, at, len(f.w.b)})
	if f.wide {
		f.w.u64(0)
		f.w.u64(b.Size)
	} else {
		f.w.u32(0)
		f.w.u32(uint32(b.Size))
	}
	f.w.u8(0) // augmentation data
	if own {
		f.init(k)
	}
	f.countRules(f.c.set(b.Init), k.column)
	if size := f.blockRows(b, k.column); size < b.Size {
		if f.wide {
			f.w.order.PutUint64(f.w.b[f.fdes[len(f.fdes)-1].at+8:], size)
		} else {
			f.w.put32(f.fdes[len(f.fdes)-1].at+4, int(size))
		}
	}
	f.close(at)
}

func (f *frameBuilder) countRules(s *ruleSet, col column) {
	for _, lost := range f.c.losses(s, col) {
		f.rules.add(lost.why, lost.n)
	}
}

// blockRows writes the rows of a block. It returns the size of the code with rules,
// which is smaller than the block if the rule of .cfa or .ra cannot be expressed
// from some row on.
func (f *frameBuilder) blockRows(b *symfmt.CFIBlock, col column) (size uint64) {
	rows := f.table.Rows[b.First : b.First+b.Count]
	byRVA := func(a, b symfmt.CFIRow) int { return cmp.Compare(a.RVA, b.RVA) }
	if !slices.IsSortedFunc(rows, byRVA) {
		f.rows = append(f.rows[:0], rows...)
		rows = f.rows
		slices.SortStableFunc(rows, byRVA)
	}
	at := b.RVA
	for i, r := range rows {
		if r.RVA < b.RVA || uint64(r.RVA-b.RVA) >= b.Size {
			f.lost.add(whyOutside, 1)
			continue
		}
		set := f.c.set(r.Rules)
		if set.fatal != "" {
			f.lost.add(set.fatal, len(rows)-i)
			return uint64(r.RVA - b.RVA)
		}
		f.countRules(set, col)
		code := f.c.instructions(set, col)
		if len(code) == 0 {
			continue
		}
		f.w.advance(uint64(r.RVA - at))
		at = r.RVA
		f.w.bytes(code)
	}
	return b.Size
}

// place fills in the FDEs' addresses, for the section at address at and code at
// base + RVA.
func (f *frameBuilder) place(at, base uint64) {
	for i := range f.fdes {
		d := &f.fdes[i]
		rel := base + uint64(d.rva) - (at + uint64(d.at))
		if f.wide {
			f.w.order.PutUint64(f.w.b[d.at:], rel)
		} else {
			f.w.order.PutUint32(f.w.b[d.at:], uint32(rel))
		}
	}
}

// headerSize returns the size of .eh_frame_hdr, or 0 if its offsets do not fit.
func (f *frameBuilder) headerSize() uint64 {
	if f.wide || len(f.fdes) == 0 {
		return 0
	}
	return 12 + 8*uint64(len(f.fdes))
}

// header makes .eh_frame_hdr at address hdr for .eh_frame at address at.
func (f *frameBuilder) header(hdr, at, base uint64) []byte {
	w := buffer{order: f.w.order, ptr: f.w.ptr}
	w.u8(1, dw.EHPCRel|dw.EHSData4, dw.EHUData4, dw.EHDataRel|dw.EHSData4)
	w.u32(uint32(at - (hdr + 4)))
	w.u32(uint32(len(f.fdes)))
	for _, d := range f.fdes {
		w.u32(uint32(base + uint64(d.rva) - hdr))
		w.u32(uint32(at + uint64(d.entry) - hdr))
	}
	return w.b
}
