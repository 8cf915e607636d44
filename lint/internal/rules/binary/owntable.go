package binary

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/follow"
	"github.com/symtool/symtool/symfmt/cfi"
)

// ownRule is the rule of a binary's .eh_frame for an address: the CFA is a register plus an offset, and the return
// address is in memory at an offset from the CFA.
type ownRule struct {
	reg, ret       uint64 // DWARF numbers of the CFA's register and of the return address
	off, at        int64
	known, inPlace bool // false if the CFA, or the return address, has another form
}

// ownTable is a binary's .eh_frame. It is read once, because rules are needed at many addresses.
type ownTable struct {
	b    *check.Image
	name string   // name of the section
	fdes []ownFDE // by start
}

// ownFDE is the code of an FDE.
type ownFDE struct {
	start, size uint64
	cie         *ownCIE
	program     []byte
}

// says reports whether the binary's .eh_frame has the same rule as the symbol file at an address, for the CFA and, if
// ret is true, for the return address. If so, a wrong rule is not the fault of whatever made the symbol file. The
// result is false if the table is missing or has an unusual form.
func (t *ownTable) says(addr uint64, ret bool) bool {
	b := t.b
	rows := b.Rows()
	block := rows.Block(b.RVA(addr))
	if block == nil {
		return false
	}
	row := rows.Row(block, b.RVA(addr))
	own, ok := t.ruleAt(addr)
	if row == nil || !ok || !own.known {
		return false
	}
	name, _ := b.Arch.RegName(own.reg)
	cfa, ra := rows.Place(row, 0), rows.Place(row, 1)
	if cfa.Kind != follow.PlaceSum || cfa.Base != rows.Names.Lookup(name) || cfa.Off != own.off {
		return false
	}
	return !ret || own.inPlace && ra == follow.Place{Kind: follow.PlaceLoad, Base: cfi.CFA, Off: own.at}
}

// ruleAt returns the rule of the FDE that covers an address. If several do, it is the one that begins last, as for
// unwinders that search .eh_frame_hdr.
func (t *ownTable) ruleAt(addr uint64) (rule ownRule, ok bool) {
	i := sort.Search(len(t.fdes), func(i int) bool { return t.fdes[i].start > addr }) - 1
	if i < 0 || addr-t.fdes[i].start >= t.fdes[i].size {
		return ownRule{}, false
	}
	fde := &t.fdes[i]
	s, c := fde.cie.initial, bin.New(t.name, fde.program, t.b.Order)
	ok = fde.cie.run(&c, &s, fde.start, addr)
	return s.ownRule, ok
}

// newOwnTable reads the FDEs of a binary. It stops when the CIEs that it has read are together longer than the section:
// CIEs of a damaged file may overlap.
func newOwnTable(b *check.Image) *ownTable {
	t := &ownTable{b: b}
	s := b.Section(".eh_frame")
	if s == nil || !s.HasData() {
		return t
	}
	data, err := s.Data()
	if err != nil {
		return t // SYM510 reports it
	}
	t.name = s.Name
	cies := map[uint64]*ownCIE{} // by offset; nil if the CIE is unknown
	left := len(data)
	for off := uint64(0); off+8 <= uint64(len(data)); {
		c := bin.New(s.Name, data[off:], b.Order)
		length := uint64(c.U32())
		back := uint64(c.U32())
		if length < 4 || length == 0xffffffff || length > uint64(len(data))-off-4 {
			break
		}
		end := off + 4 + length
		if back != 0 && back <= off+4 {
			cie, seen := cies[off+4-back]
			if !seen {
				var size int
				if cie, size = readCIE(data[off+4-back:], b); size > left {
					break
				}
				left -= size
				cies[off+4-back] = cie
			}
			if cie != nil {
				t.add(cie, data[off+8:end], s.Addr+off+8)
			}
		}
		off = end
	}
	slices.SortStableFunc(t.fdes, func(a, b ownFDE) int { return cmp.Compare(a.start, b.start) })
	return t
}

// add adds an FDE whose pointers begin at address place.
func (t *ownTable) add(cie *ownCIE, data []byte, place uint64) {
	c := bin.New(t.name, data, t.b.Order)
	start := c.Uint(cie.size)
	if cie.size == 4 && cie.pointers&8 != 0 {
		start = uint64(int64(int32(start)))
	}
	if cie.pointers&encPCRel != 0 {
		start += place
	}
	size := c.Uint(cie.size)
	if cie.augmented {
		c.Skip(c.ULEB())
	}
	if c.Err() == nil && size > 0 {
		t.fdes = append(t.fdes, ownFDE{start, size, cie, data[c.Pos():]})
	}
}

// ownCIE is what the FDEs of a CIE share.
type ownCIE struct {
	pointers  uint8 // encoding of pointers
	size      int   // size of pointers in bytes
	augmented bool
	codeAlign uint64
	dataAlign int64
	initial   ownState
}

// readCIE reads a CIE and returns it with its length. The CIE is nil if it has an unusual form.
func readCIE(data []byte, b *check.Image) (cie *ownCIE, size int) {
	c := bin.New(".eh_frame", data, b.Order)
	length := uint64(c.U32())
	if length < 8 || length > uint64(c.Len()) || c.U32() != 0 {
		return nil, 0
	}
	size = 4 + int(length)
	c = bin.New(".eh_frame", data[8:size], b.Order)
	cie = new(ownCIE)
	version, augmentation := c.U8(), string(c.CStr())
	cie.codeAlign, cie.dataAlign = c.ULEB(), c.SLEB()
	if version == 1 {
		cie.initial.ret = uint64(c.U8())
	} else {
		cie.initial.ret = c.ULEB()
	}
	if !cie.augment(&c, augmentation, b) {
		return nil, size
	}
	if cie.size = pointerSize(cie.pointers); cie.pointers&7 == 0 {
		cie.size = b.AddrSize
	}
	if !cie.run(&c, &cie.initial, 0, ^uint64(0)) || cie.size <= 0 || cie.pointers&^(encPCRel|0xf) != 0 || c.Err() != nil || len(cie.initial.kept) > 0 {
		return nil, size
	}
	return cie, size
}

// augment reads the data that an augmentation adds to a CIE. It returns false if the augmentation is unusual.
func (cie *ownCIE) augment(c *bin.Cursor, augmentation string, b *check.Image) bool {
	if cie.augmented = strings.HasPrefix(augmentation, "z"); !cie.augmented {
		return augmentation == ""
	}
	rest := bin.New(".eh_frame", c.Bytes(c.ULEB()), b.Order)
	for _, letter := range augmentation[1:] {
		switch letter {
		case 'R':
			cie.pointers = rest.U8()
		case 'P':
			n := pointerSize(rest.U8())
			if n == 0 {
				n = b.AddrSize
			}
			rest.Skip(uint64(n))
		case 'L':
			rest.U8()
		}
	}
	return true
}

// ownState is the state after executing call frame instructions.
type ownState struct {
	ownRule
	kept []ownRule
}

// run executes instructions up to those for code beyond addr; ok is false if it does not know an instruction.
func (cie *ownCIE) run(c *bin.Cursor, s *ownState, at, addr uint64) (ok bool) {
	for c.Len() > 0 && c.Err() == nil {
		op := c.U8()
		if delta, is := advance(c, op); is {
			if at += delta * cie.codeAlign; at > addr {
				return true
			}
			continue
		}
		if !cie.apply(c, s, op) {
			return false
		}
	}
	return c.Err() == nil
}

// advance returns how far an instruction advances the location; is reports whether the instruction does so.
func advance(c *bin.Cursor, op uint8) (delta uint64, is bool) {
	switch {
	case op&0xc0 == dw.CFAAdvanceLoc:
		return uint64(op & 0x3f), true
	case op == dw.CFAAdvanceLoc1:
		return uint64(c.U8()), true
	case op == dw.CFAAdvanceLoc2:
		return uint64(c.U16()), true
	case op == dw.CFAAdvanceLoc4:
		return uint64(c.U32()), true
	}
	return 0, false
}

// apply executes an instruction that changes rules.
func (cie *ownCIE) apply(c *bin.Cursor, s *ownState, op uint8) (ok bool) {
	low := uint64(op & 0x3f)
	switch op & 0xc0 {
	case dw.CFAOffset:
		s.saved(low, int64(c.ULEB())*cie.dataAlign)
		return true
	case dw.CFARestore:
		s.restore(&cie.initial, low)
		return true
	}
	switch op {
	case dw.CFANop:
	case dw.CFADefCFA:
		s.reg, s.off, s.known = c.ULEB(), int64(c.ULEB()), true
	case dw.CFADefCFASF:
		s.reg, s.off, s.known = c.ULEB(), c.SLEB()*cie.dataAlign, true
	case dw.CFADefCFARegister:
		s.reg = c.ULEB()
	case dw.CFADefCFAOffset:
		s.off = int64(c.ULEB())
	case dw.CFADefCFAOffsetSF:
		s.off = c.SLEB() * cie.dataAlign
	case dw.CFADefCFAExpression:
		c.Skip(c.ULEB())
		s.known = false
	case dw.CFAOffsetExtended:
		reg := c.ULEB()
		s.saved(reg, int64(c.ULEB())*cie.dataAlign)
	case dw.CFAOffsetExtendedSF:
		reg := c.ULEB()
		s.saved(reg, c.SLEB()*cie.dataAlign)
	case dw.CFARestoreExtended:
		s.restore(&cie.initial, c.ULEB())
	case dw.CFAUndefined, dw.CFASameValue:
		s.otherwise(c.ULEB())
	case dw.CFARegister, dw.CFAValOffset, dw.CFAValOffsetSF:
		s.otherwise(c.ULEB())
		c.ULEB() // an SLEB has the same length
	case dw.CFAExpression, dw.CFAValExpression:
		s.otherwise(c.ULEB())
		c.Skip(c.ULEB())
	case dw.CFARememberState:
		s.kept = append(s.kept, s.ownRule)
	case dw.CFARestoreState:
		if len(s.kept) == 0 {
			return false
		}
		s.ownRule, s.kept = s.kept[len(s.kept)-1], s.kept[:len(s.kept)-1]
	case dw.CFAGNUArgsSize:
		c.ULEB()
	case dw.CFAAArch64NegateRAState: // on arm64, the return address is signed from here on
	default:
		return false
	}
	return true
}

// saved records where a register's value is saved.
func (s *ownState) saved(reg uint64, at int64) {
	if reg == s.ret {
		s.at, s.inPlace = at, true
	}
}

// otherwise records that a register has a rule of another form.
func (s *ownState) otherwise(reg uint64) {
	if reg == s.ret {
		s.inPlace = false
	}
}

// restore gives a register the rule of the CIE.
func (s *ownState) restore(initial *ownState, reg uint64) {
	if reg == s.ret {
		s.at, s.inPlace = initial.at, initial.inPlace
	}
}
