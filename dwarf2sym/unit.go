package dwarf2sym

// unit is a unit whose bytes are in memory, with the attributes of its first DIE.
type unit struct {
	header
	order
	sect    *sections
	data    []byte // from the header on; maybe only a part of the unit (peek)
	abbrevs *abbrevs

	firstDIE int // of the unit's own DIE, in data
	children int // of what follows it; len(data) when it has no children

	partial  bool // a partial unit: what several units share
	lang     uint64
	name     string
	compDir  string
	dwoName  string
	producer value // the compiler, for surveys
	stmtList value
	low      value
	high     value
	ranges   value

	dwoID uint64 // DWARF 4: as a unit's id

	lowPC          uint64 // base of range lists; 0 without DW_AT_low_pc
	strOffsetsBase uint64
	addrBase       uint64
	rnglistsBase   uint64
	gnuRangesBase  uint64 // of a skeleton: what the other half's DW_AT_ranges count from
	rangesBase     uint64 // what DW_AT_ranges count from in .debug_ranges

	meter *meter // of who reads the unit
}

// begin prepares u for a unit whose bytes are data.
func (u *unit) begin(s *sections, h *header, data []byte, t *abbrevs, m *meter) error {
	*u = unit{header: *h, order: s.order, sect: s, data: data, abbrevs: t, meter: m, firstDIE: int(h.headSize)}
	u.children = len(data)
	if h.version >= 5 {
		// Without the attribute, the table behind the header of the first contribution.
		u.strOffsetsBase, u.addrBase = 2*u.offsetSize(), 2*u.offsetSize()
		u.rnglistsBase = 12
		if h.dwarf64 {
			u.rnglistsBase = 20
		}
	}
	pos := u.firstDIE
	code, pos := uleb(data, pos)
	if pos < 0 || code == 0 {
		return u.errorf(u.firstDIE, "unit without a DIE")
	}
	dc := t.lookup(code)
	if !dc.known || dc.class != classUnit {
		return u.errorf(u.firstDIE, "first DIE is no unit (abbreviation %d)", code)
	}
	var attrs [24]unitAttr
	taken, pos, err := u.takeUnit(dc, pos, attrs[:0])
	if err != nil {
		return err
	}
	u.partial = dc.tag == tagPartialUnit
	// Bases first: an attribute may come before the base that it needs.
	for _, a := range taken {
		u.setBase(a.at, a.value)
	}
	for _, a := range taken {
		u.setAttr(a.at, a.value)
	}
	if v, ok := u.address(u.low); ok {
		u.lowPC = v
	}
	if dc.children {
		u.children = pos
	}
	return nil
}

type unitAttr struct {
	at    uint16
	value value
}

// takeUnit reads the wanted attributes of the unit's DIE.
func (u *unit) takeUnit(dc *decl, pos int, attrs []unitAttr) ([]unitAttr, int, error) {
	if dc.bad {
		return nil, 0, u.errorf(pos, "unknown form %#x", dc.badForm)
	}
	u.meter.spend(uint64(len(dc.steps)))
	for i := range dc.steps {
		s := &dc.steps[i]
		if s.op != opTake {
			if pos = u.skip(s, pos); pos < 0 {
				return nil, 0, u.errorf(u.firstDIE, "unit ends within its first DIE")
			}
			continue
		}
		v, next := u.value(uint64(s.form), s.n, pos)
		if next < 0 {
			return nil, 0, u.errorf(pos, "unit ends within attribute %#x of its first DIE", s.at)
		}
		attrs = setUnitAttr(attrs, unitAttr{s.at, v})
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

func (u *unit) setBase(at uint16, v value) {
	switch at {
	case atStrOffsetsBase:
		u.strOffsetsBase = v.u
	case atAddrBase, atGNUAddrBase:
		u.addrBase = v.u
	case atRnglistsBase:
		u.rnglistsBase = v.u
	case atGNURangesBase:
		u.gnuRangesBase = v.u
	}
}

func (u *unit) setAttr(at uint16, v value) {
	switch at {
	case atName:
		u.name = u.str(v)
	case atCompDir:
		u.compDir = u.str(v)
	case atProducer:
		u.producer = v
	case atDwoName, atGNUDwoName:
		u.dwoName = u.str(v)
	case atGNUDwoID:
		u.dwoID = v.u
	case atLanguage:
		u.lang = v.u
	case atStmtList:
		u.stmtList = v
	case atLowPC:
		u.low = v
	case atHighPC:
		u.high = v
	case atRanges:
		u.ranges = v
	}
}

func (u *unit) str(v value) string {
	b, _ := u.text(v)
	return string(b)
}

// splitID returns the id that both halves have.
func (u *unit) splitID() uint64 {
	if u.version >= 5 {
		return u.id
	}
	return u.dwoID
}

// join copies to u, the other half, the attributes that only its skeleton has.
func (u *unit) join(skel *unit) {
	u.addrBase, u.rangesBase = skel.addrBase, skel.gnuRangesBase
	u.stmtList, u.compDir = skel.stmtList, skel.compDir
	u.lowPC = skel.lowPC
	if v, ok := u.address(u.low); ok {
		u.lowPC = v
	}
	u.dwoName = ""
}
