// Package dwarf decodes DWARF 2 to 5: from the bytes of sections to units, entries, values,
// address ranges and rows of line tables. It knows neither where sections come from nor what
// entries are used for.
//
// Section numbers such as "6.2.4" refer to the DWARF 5 standard.
package dwarf

import "github.com/symtool/symtool/internal/dw"

// Unit is a unit whose bytes are in memory, with the attributes of its own DIE.
type Unit struct {
	Header
	Order
	sect    *Sections
	data    []byte // from the header on; may be only a part of the unit (peek)
	Abbrevs *Abbrevs

	FirstDIE int // position of the unit's own DIE in data
	children int // position after it; len(data) if it has no children

	Partial  bool // a partial unit, whose contents several units share
	Lang     uint64
	Name     string
	CompDir  string
	DwoName  string
	Producer Value // the compiler, for statistics
	StmtList Value
	low      Value
	high     Value
	ranges   Value

	dwoID uint64 // DWARF 4: the id shared by both halves

	// Faults lists attributes of the unit's DIE that have no value, because their form is wrong or because what
	// they refer to does not exist.
	Faults []Fault

	lowPC          uint64 // base of range lists; 0 without DW_AT_low_pc
	strOffsetsBase uint64
	addrBase       uint64
	rnglistsBase   uint64
	loclistsBase   uint64
	gnuRangesBase  uint64 // of a skeleton: added to the other half's DW_AT_ranges
	rangesBase     uint64 // added to DW_AT_ranges in .debug_ranges

	meter *Meter // charged by the reader of the unit
}

// Begin prepares u for a unit whose bytes are data.
func (u *Unit) Begin(s *Sections, h *Header, data []byte, t *Abbrevs, m *Meter) error {
	*u = Unit{Header: *h, Order: s.Order, sect: s, data: data, Abbrevs: t, meter: m, FirstDIE: int(h.HeadSize)}
	u.children = len(data)
	if h.Version >= 5 {
		// By default, the table after the header of the first contribution.
		u.strOffsetsBase, u.addrBase = 2*u.offsetSize(), 2*u.offsetSize()
		u.rnglistsBase = 12
		if h.DWARF64 {
			u.rnglistsBase = 20
		}
		u.loclistsBase = u.rnglistsBase
	}
	pos := u.FirstDIE
	code, pos := uleb(data, pos)
	if pos < 0 || code == 0 {
		return u.Errorf(u.FirstDIE, "unit without a DIE")
	}
	dc := t.lookup(code)
	if !dc.known || dc.class != ClassUnit {
		return u.Errorf(u.FirstDIE, "first DIE is not a unit (abbreviation %d)", code)
	}
	var attrs [24]unitAttr
	taken, pos, err := u.takeUnit(dc, pos, attrs[:0])
	if err != nil {
		return err
	}
	u.Partial = dc.tag == dw.TagPartialUnit
	// Read bases first, as an attribute may precede the base that it needs.
	for _, a := range taken {
		u.setBase(a.at, a.value)
	}
	for _, a := range taken {
		u.setAttr(a.at, a.value)
	}
	if v, ok := u.address(u.low); ok {
		u.lowPC = v
	} else if err := u.addressError("DW_AT_low_pc", u.low); err != nil && h.Type != dw.UTSplitCompile {
		u.fault("the base of ranges", err)
	}
	if dc.children {
		u.children = pos
	}
	return nil
}

// Fault is what is lost with an attribute, and why.
type Fault struct {
	Lost string
	Err  error
}

func (u *Unit) fault(lost string, err error) { u.Faults = append(u.Faults, Fault{lost, err}) }

type unitAttr struct {
	at    uint16
	value Value
}

// takeUnit reads the wanted attributes of the unit's DIE.
func (u *Unit) takeUnit(dc *decl, pos int, attrs []unitAttr) ([]unitAttr, int, error) {
	if dc.bad {
		return nil, 0, u.badForm(pos, dc)
	}
	u.meter.Spend(uint64(len(dc.steps)))
	for i := range dc.steps {
		s := &dc.steps[i]
		if s.op != opTake {
			if pos = u.skip(s, pos); pos < 0 {
				return nil, 0, u.Errorf(u.FirstDIE, "unit ends within its first DIE")
			}
			continue
		}
		v, next := u.taken(s, pos)
		if next < 0 {
			return nil, 0, u.Errorf(pos, "unit ends within attribute %#x of its first DIE", s.at)
		}
		if v.Kind == Unfit {
			m := v.Misfit()
			u.fault(m.Name(), u.MisfitError(u.FirstDIE, m))
		} else {
			attrs = setUnitAttr(attrs, unitAttr{s.at, v})
		}
		pos = next
	}
	return attrs, pos, nil
}

// setUnitAttr appends a, or replaces the attribute of the same name.
func setUnitAttr(attrs []unitAttr, a unitAttr) []unitAttr {
	for i := range attrs {
		if attrs[i].at == a.at {
			attrs[i] = a
			return attrs
		}
	}
	return append(attrs, a)
}

func (u *Unit) setBase(at uint16, v Value) {
	switch at {
	case dw.AtStrOffsetsBase:
		u.strOffsetsBase = v.U
	case dw.AtAddrBase, dw.AtGNUAddrBase:
		u.addrBase = v.U
	case dw.AtRnglistsBase:
		u.rnglistsBase = v.U
	case dw.AtLoclistsBase:
		u.loclistsBase = v.U
	case dw.AtGNURangesBase:
		u.gnuRangesBase = v.U
	}
}

func (u *Unit) setAttr(at uint16, v Value) {
	switch at {
	case dw.AtName:
		u.Name = u.text("DW_AT_name", v)
	case dw.AtCompDir:
		u.CompDir = u.text("DW_AT_comp_dir", v)
	case dw.AtProducer:
		u.Producer = v
	case dw.AtDwoName, dw.AtGNUDwoName:
		u.DwoName = u.text("DW_AT_dwo_name", v)
	case dw.AtGNUDwoID:
		u.dwoID = v.U
	case dw.AtLanguage:
		u.Lang = v.U
	case dw.AtStmtList:
		u.StmtList = v
	case dw.AtLowPC:
		u.low = v
	case dw.AtHighPC:
		u.high = v
	case dw.AtRanges:
		u.ranges = v
	}
}

// text returns the value of an attribute of class string.
func (u *Unit) text(attr string, v Value) string {
	b, ok := u.Text(v)
	if !ok && u.sect.SupStr == nil && v.Kind == StrpSup {
		return "" // the supplementary file is missing
	}
	if !ok {
		u.fault(attr, u.TextError(u.FirstDIE, v))
	}
	return string(b)
}

// Str returns a value of class string, or "" if it is not one or cannot be read.
func (u *Unit) Str(v Value) string {
	b, _ := u.Text(v)
	return string(b)
}

// SplitID returns the id that a skeleton and its other half share.
func (u *Unit) SplitID() uint64 {
	if u.Version >= 5 {
		return u.ID
	}
	return u.dwoID
}

// Join copies to u, the other half, the attributes that only the skeleton has.
func (u *Unit) Join(skel *Unit) {
	u.addrBase, u.rangesBase = skel.addrBase, skel.gnuRangesBase
	u.StmtList, u.CompDir = skel.StmtList, skel.CompDir
	u.lowPC = skel.lowPC
	if v, ok := u.address(u.low); ok {
		u.lowPC = v
	}
	u.DwoName = ""
}
