package sframe

// fdeRules examine a function's descriptor.
var fdeRules = []*rule{
	{id: "order", in: "EEE", ref: refSpec + "2.1.3", fde: func(c *checker, v *visit) {
		if before := v.before(c); before != nil && v.f.Start < before.Start {
			c.report(v.at(c, fieldStart), "function at %#x after one at %#x in a section marked as sorted", v.f.Start, before.Start)
		}
	}},
	{id: "same-start", in: "--E", ref: refKernel, fde: func(c *checker, v *visit) {
		if before := v.before(c); before != nil && v.f.Start == before.Start {
			c.report(v.at(c, fieldStart), "function at %#x, as the one before", v.f.Start)
		}
	}},
	{id: "start-code", in: "--E", ref: refKernel, fde: func(c *checker, v *visit) {
		if c.ctx.Code != nil && !c.ctx.Code(v.f.Start, v.f.Start) {
			c.report(v.at(c, fieldStart), "function at %#x is not in code", v.f.Start)
		}
	}},
	{id: "code", in: "WNW", ref: refSpec + "2.3", fde: func(c *checker, v *visit) {
		if c.ctx.Code != nil && !c.ctx.Code(v.f.Start, v.f.Start+uint64(v.f.Size)) {
			c.report(v.at(c, fieldStart), "function at %#x, of %d bytes, is not in code", v.f.Start, v.f.Size)
		}
	}},
	{id: "address-end", in: "EWW", ref: refSpec + "2.3", fde: func(c *checker, v *visit) {
		if v.f.Start+uint64(v.f.Size) < v.f.Start {
			c.report(v.at(c, fieldStart), "function at %#x, of %d bytes, extends past the last address", v.f.Start, v.f.Size)
		}
	}},
	{id: "size-0", in: "WWW", ref: refSpec + "2.3; as writes it for an empty function", fde: func(c *checker, v *visit) {
		if v.f.Size == 0 {
			c.report(v.at(c, fieldSize), "function at %#x of size 0: it covers no code", v.f.Start)
		}
	}},
	{id: "row-type", in: "EEE", ref: refSpec + "2.3.3", fde: func(c *checker, v *visit) {
		if v.f.addrSize == 0 && !v.f.lost {
			c.report(v.at(c, fieldInfo), "rows of type %d, want 0 to 2", v.f.Info&15)
		}
	}},
	{id: "info", in: "EWW", ref: refSpec + "2.3.1", fde: func(c *checker, v *visit) {
		unused := [...]uint8{1: 0xc0, 2: 0xc0, 3: 0x40}[v.h.Version]
		if extra := v.f.Info & unused; extra != 0 {
			c.report(v.at(c, fieldInfo), "bits %#02x of the info byte have no meaning", extra)
		}
	}},
	{id: "key", in: "NNN", ref: refSpec + "2.3.1", fde: func(c *checker, v *visit) {
		if v.f.KeyB && v.h.ABI != AArch64BE && v.h.ABI != AArch64LE {
			c.report(v.at(c, fieldInfo), "pointer authentication with key B on %s", v.h.ABI)
		}
	}},
	{id: "info2", in: "EWW", ref: refV3 + "attributes of functions", fde: func(c *checker, v *visit) {
		if extra := v.f.Info2 & 0xe0; extra != 0 {
			c.report(v.at(c, fieldInfo2), "bits %#02x of the second info byte have no meaning", extra)
		}
	}},
	{id: "padding", in: "NNN", ref: refSpec + "2.3", fde: func(c *checker, v *visit) {
		if v.h.Version == 2 {
			at := c.s.Offset(v.i) + 18
			if b := c.s.data[at:]; b[0]|b[1] != 0 {
				c.report(at, "bytes %02x %02x in the padding", b[0], b[1])
			}
		}
	}},
	{id: "block-0", in: "EWE", ref: refSpec + "2.3.2", fde: func(c *checker, v *visit) {
		if v.f.Mask && v.f.Block == 0 {
			c.report(v.at(c, fieldRep), "PCMASK with a block of size 0")
		}
	}},
	{id: "block-size", in: "WWW", ref: refSpec + "2.3.2", fde: func(c *checker, v *visit) {
		if v.f.Block != 0 && v.f.Size%v.f.Block != 0 {
			c.report(v.at(c, fieldSize), "PCMASK function of %d bytes, not a multiple of its blocks' %d", v.f.Size, v.f.Block)
		}
	}},
	{id: "no-rows", in: "WWW", ref: refSpec + "2.3", fde: func(c *checker, v *visit) {
		if v.f.NumRows == 0 && !v.f.lost && v.h.Version < 3 {
			c.report(v.at(c, fieldNumRows), "function at %#x without rows", v.f.Start)
		}
	}},
	{id: "signal-no-rows", in: "WWW", ref: refBinutils + "as since 2.46, for signal frames that it cannot describe", fde: func(c *checker, v *visit) {
		if v.f.NumRows == 0 && v.f.Signal && !v.f.lost {
			c.report(v.at(c, fieldNumRows), "signal frame at %#x without rows: it is not described, and does not count as the outermost frame", v.f.Start)
		}
	}},
}

// before returns the previous FDE, if the header says that FDEs are sorted.
func (v *visit) before(c *checker) *FDE {
	if v.h.Flags&Sorted == 0 || v.i == v.h.First {
		return nil
	}
	return &c.s.FDEs[v.i-1]
}

// field is a field of a function's descriptor.
type field int

const (
	fieldStart field = iota
	fieldSize
	fieldNumRows
	fieldInfo
	fieldInfo2
	fieldRep
)

// at returns the offset of a field of the current FDE in the section.
func (v *visit) at(c *checker, f field) uint64 {
	fde := c.s.Offset(v.i)
	if v.h.Version < 3 {
		return fde + [...]uint64{fieldSize: 4, fieldNumRows: 12, fieldInfo: 16, fieldRep: 17}[f]
	}
	switch attr := c.s.RowsOffset(v.i) - attrSize; f {
	case fieldStart:
		return fde
	case fieldSize:
		return fde + 8
	default:
		return attr + [...]uint64{fieldNumRows: 0, fieldInfo: 2, fieldInfo2: 3, fieldRep: 4}[f]
	}
}
