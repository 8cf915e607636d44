package sframe

import (
	"errors"

	"github.com/symtool/symtool/symfmt/damage"
)

// sectionRules examine the section as a whole.
var sectionRules = []*rule{
	{id: "empty", in: "WWE", ref: refBinutils + "ld 2.47 with input of other versions only", section: checkEmpty},
	checkDamage,
	{id: "headers", in: "EWW", ref: refSpec + "2.2", section: checkHeaders},
	{id: "overlap", in: "EWW", ref: refSpec + "2.3", section: checkOverlap},
}

// checkDamage reports what Decode and Rows cannot read; every part of a check may find it.
var checkDamage = &rule{id: "damage", in: "EEE", ref: refSpec + "2", section: func(c *checker) {
	for _, p := range c.s.Problems {
		c.damage(p.Err)
	}
}}

func (c *checker) damage(err error) {
	var at *damage.Error
	if errors.As(err, &at) {
		c.report(at.Offset, "%s", at.Msg)
	}
}

func checkEmpty(c *checker) {
	if len(c.s.Headers) == 0 {
		c.report(0, "empty section: a linker that could use no input leaves one")
	}
}

func checkHeaders(c *checker) {
	for i := 1; i < len(c.s.Headers); i++ {
		c.report(c.s.Headers[i].Offset, "another section after the first: lld and others concatenate inputs, and readers see only the first one's %d of %d functions",
			c.s.Headers[0].Count, len(c.s.FDEs))
	}
}

// checkOverlap examines functions in order of address.
func checkOverlap(c *checker) {
	far, last := uint64(0), -1
	for k := range c.s.FDEs {
		i := c.s.at(k)
		f := &c.s.FDEs[i]
		if f.Size == 0 {
			continue // another rule reports it
		}
		if last >= 0 && f.Start <= far {
			c.report(c.s.Offset(i), "function at %#x overlaps FDE %d, up to %#x", f.Start, last, far)
		}
		if end := f.last(); last < 0 || end > far {
			far, last = end, i
		}
	}
}

// headerRules examine a header.
var headerRules = []*rule{
	{id: "version-1", in: "NEE", ref: refSpec + "1.2: obsolete; binutils since 2.41 refuses it", header: func(c *checker, h *Header) {
		if h.Version == 1 {
			c.report(h.Offset+2, "version 1")
		}
	}},
	{id: "version-2", in: "-NE", ref: refBinutils + "ld since 2.46 and Linux take version 3 only", header: func(c *checker, h *Header) {
		if h.Version == 2 {
			c.report(h.Offset+2, "version 2: ld drops it from its output, and Linux refuses it")
		}
	}},
	{id: "abi-version", in: "EWE", ref: refSpec + "errata 1 of version 2", header: func(c *checker, h *Header) {
		if h.ABI == S390X && h.Version == 1 {
			c.report(h.Offset+4, "%s in version 1, which does not define it", h.ABI)
		}
	}},
	{id: "flags", in: "EEW", ref: refSpec + "2.1.3", header: func(c *checker, h *Header) {
		if extra := h.Flags &^ h.format().flags; extra != 0 {
			c.report(h.Offset+3, "flags %s, which version %d does not define", extra, h.Version)
		}
	}},
	{id: "flag-sorted", in: "--E", ref: refKernel, header: func(c *checker, h *Header) {
		if h.Flags&Sorted == 0 {
			c.report(h.Offset+3, "flag %s is not set", Sorted)
		}
	}},
	{id: "flag-pcrel", in: "-WE", ref: refKernel + "; libsframe.so.3 looks nothing up in version 2 without it", header: func(c *checker, h *Header) {
		if h.Flags&PCRelative == 0 {
			c.report(h.Offset+3, "flag %s is not set", PCRelative)
		}
	}},
	{id: "field-relative", in: "EWE", ref: refSpec + "2.3; binutils, as 2.40 to 2.44", header: func(c *checker, h *Header) {
		if h.FieldRelative {
			c.report(h.Offset+3, "starts are relative to their fields, but flag %s is not set: a linker copied the output of as 2.40 to 2.44", PCRelative)
		}
	}},
	{id: "ld-r", in: "EEE", ref: refBinutils + "PR ld/32666: ld -r of 2.40 to 2.44", header: func(c *checker, h *Header) {
		if c.ctx.Object && h.Version <= 2 && h.Flags&Sorted != 0 {
			c.report(h.Offset+3, "flag %s in an object: ld -r, which sorted the starts but not their relocations", Sorted)
		}
	}},
	{id: "fixed-fp", in: "WWW", ref: refSpec + "3", header: func(c *checker, h *Header) {
		if h.FixedFP != 0 {
			c.report(h.Offset+5, "frame pointer always at CFA%+d, which no ABI defines", h.FixedFP)
		}
	}},
	{id: "fixed-ra", in: "WWW", ref: refSpec + "3", header: func(c *checker, h *Header) {
		if want := h.ABI.FixedRA(); h.FixedRA != want {
			c.report(h.Offset+6, "fixed offset %d of the return address, want %d for %s", h.FixedRA, want, h.ABI)
		}
	}},
	{id: "aux", in: "NWE", ref: refSpec + "2.2", header: func(c *checker, h *Header) {
		if n := len(h.Aux); n != 0 {
			c.report(h.Offset+7, "auxiliary header of %d bytes, which no ABI defines: Linux refuses it, as does libsframe in the other byte order", n)
		}
	}},
	{id: "no-functions", in: "NNE", ref: refKernel + "; llvm-mc up to 24 for AArch64, which drops every function", header: func(c *checker, h *Header) {
		if h.NumFDEs == 0 || h.NumFREs == 0 {
			c.report(h.Offset+8, "%d FDEs, %d rows", h.NumFDEs, h.NumFREs)
		}
	}},
	{id: "num-fres", in: "EWW", ref: refSpec + "2.2", header: checkNumFREs},
	{id: "parts", in: "EEE", ref: refSpec + "2.2", header: checkParts},
	{id: "fdeoff", in: "-E-", ref: refBinutils + "libsframe 2.47", header: func(c *checker, h *Header) {
		if h.FDEOff != 0 && h.Flags&PCRelative != 0 {
			c.report(h.Offset+20, "FDEs start %d bytes after the header, which libsframe ignores when it computes addresses", h.FDEOff)
		}
	}},
	{id: "rows-overlap", in: "WWW", ref: refSpec + "2.4", parts: checkRowsOverlap},
	{id: "rows-unused", in: "NNN", ref: refSpec + "2.4", parts: checkRowsUnused},
	{id: "rows-unchecked", in: "WWW", ref: refSpec + "2.4", parts: func(c *checker, h *Header) {
		if c.left {
			c.report(h.fres, "functions share too many rows: not all were checked")
		}
	}},
}

// checkNumFREs compares the header's count with the sum of the functions' counts, unless
// some functions are lost.
func checkNumFREs(c *checker, h *Header) {
	if len(c.s.Problems) != 0 {
		return
	}
	sum := uint64(0)
	for i := range h.Count {
		sum += uint64(c.s.FDEs[h.First+i].NumRows)
	}
	if sum != uint64(h.NumFREs) {
		c.report(h.Offset+12, "%d rows according to the header, %d according to its functions", h.NumFREs, sum)
	}
}

func checkParts(c *checker, h *Header) {
	switch end := h.fdes + uint64(h.NumFDEs)*h.format().fdeSize; {
	case h.FDEOff > h.FREOff:
		c.report(h.Offset+20, "FDEs at %#x, after the rows at %#x", h.fdes, h.fres)
	case h.NumFDEs != 0 && end > h.fres:
		c.report(h.Offset+24, "rows at %#x, within the FDEs, which end at %#x", h.fres, end)
	}
}

// checkRowsOverlap reports functions that share only some of their rows. Sharing all rows
// is allowed.
func checkRowsOverlap(c *checker, h *Header) {
	for k := 1; k < len(c.extents); k++ {
		a, b := c.extents[k-1], c.extents[k]
		if b.lo < a.hi && a != b {
			c.report(b.lo, "a function's rows start here, among another's, from %#x to %#x", a.lo, a.hi)
		}
	}
}

func checkRowsUnused(c *checker, h *Header) {
	if len(c.s.Problems) != 0 || c.left || c.seen[checkDamage] != nil {
		return
	}
	at := h.fres
	unused := func(to uint64) {
		if to > at {
			c.report(at, "%d bytes that belong to no function's rows", to-at)
		}
	}
	for _, e := range c.extents {
		unused(e.lo)
		at = max(at, e.hi)
	}
	unused(h.fres + uint64(len(h.rows)))
}
