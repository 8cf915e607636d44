package sframe

// rowRules examine a row and the one before it.
var rowRules = []*rule{
	{id: "row-first", in: "WWW", ref: refSpec + "2.4", row: func(c *checker, v *visit) {
		if v.n == 0 && v.rows.Row.Start != 0 {
			c.report(v.rows.Form.Offset, "the function's first row starts at %d: the code before it has no rules", v.rows.Row.Start)
		}
	}},
	{id: "row-order", in: "EWE", ref: refSpec + "2.4", row: func(c *checker, v *visit) {
		if v.n != 0 && v.rows.Row.Start < v.prev.Start {
			c.report(v.rows.Form.Offset, "row at %d after one at %d", v.rows.Row.Start, v.prev.Start)
		}
	}},
	{id: "row-twice", in: "WWE", ref: refBinutils + "PR libsframe/33131", row: func(c *checker, v *visit) {
		if v.n != 0 && v.rows.Row.Start == v.prev.Start {
			c.report(v.rows.Form.Offset, "row at %d, as the one before, which covers no code", v.rows.Row.Start)
		}
	}},
	{id: "row-same", in: "NNN", ref: refBinutils + "as compares no rows", row: func(c *checker, v *visit) {
		same := v.prev
		same.Start = v.rows.Row.Start
		if v.n != 0 && same == v.rows.Row && v.prev.Start != same.Start {
			c.report(v.rows.Form.Offset, "row at %d with the rules of the one before", same.Start)
		}
	}},
	{id: "row-end", in: "WWN", ref: refBinutils + "PR libsframe/33131; objdump up to 2.44 aborts", row: func(c *checker, v *visit) {
		if limit := v.limit(); limit != 0 && v.rows.Row.Start == limit {
			c.report(v.rows.Form.Offset, "row at %d, where the %s ends", limit, v.unit())
		}
	}},
	{id: "row-outside", in: "EWE", ref: refSpec + "2.4", row: func(c *checker, v *visit) {
		if !v.f.Mask && v.rows.Row.Start > v.f.Size {
			c.report(v.rows.Form.Offset, "row at %d in a function of %d bytes", v.rows.Row.Start, v.f.Size)
		}
	}},
	{id: "row-outside-block", in: "EWW", ref: refSpec + "2.3.2", row: func(c *checker, v *visit) {
		if v.f.Mask && v.rows.Row.Start > v.f.Block {
			c.report(v.rows.Form.Offset, "row at %d in blocks of %d bytes", v.rows.Row.Start, v.f.Block)
		}
	}},
	{id: "row-surplus", in: "EWE", ref: refSpec + "3", row: func(c *checker, v *visit) {
		if n := v.rows.Form.Surplus; n != 0 {
			c.report(v.rows.Form.Offset, "%d data words, the last %d of which have no meaning", v.rows.Form.Words, n)
		}
	}},
	{id: "row-words", in: "-E-", ref: refBinutils + "libsframe 2.47", row: func(c *checker, v *visit) {
		if n := v.rows.Form.Words; n > 6 {
			c.report(v.rows.Form.Offset, "%d data words, want at most 6", n)
		}
	}},
	{id: "row-no-words", in: "WWW", ref: refSpec + "errata 2 of version 2", row: func(c *checker, v *visit) {
		if v.rows.Form.Words == 0 && v.h.Version == 1 {
			c.report(v.rows.Form.Offset, "row without data words, which has no meaning in version 1")
		}
	}},
	{id: "row-fp-as-ra", in: "NNN", ref: refBinutils + "as 2.40 for AArch64", row: func(c *checker, v *visit) {
		aarch64 := v.h.ABI == AArch64BE || v.h.ABI == AArch64LE
		if aarch64 && v.h.Version == 1 && v.rows.Form.Words == 2 {
			c.report(v.rows.Form.Offset, "two data words: the second is for the return address, or for the frame pointer if as 2.40 wrote it, where only that is saved")
		}
	}},
	{id: "row-signed", in: "WWW", ref: refSpec + "2.4.1", row: func(c *checker, v *visit) {
		if v.rows.Row.Signed && v.h.ABI != AArch64BE && v.h.ABI != AArch64LE {
			c.report(v.rows.Form.Offset, "signed return address on %s", v.h.ABI)
		}
	}},
	{id: "cfa-low", in: "WWW", ref: refSpec + "3; for s390x, as cuts offsets off to multiples of 8", row: func(c *checker, v *visit) {
		abi := v.h.ABI.info()
		cfa, low := v.rows.Row.CFA, max(abi.bias, -int64(abi.fixedRA))
		if cfa.Kind == Value && cfa.Reg == abi.sp && cfa.Offset < low {
			c.report(v.rows.Form.Offset, "CFA = SP%+d, want SP%+d or more", cfa.Offset, low)
		}
	}},
	{id: "slot", in: "WWW", ref: refSpec + "3", row: func(c *checker, v *visit) {
		for _, r := range [...]Rule{v.rows.Row.RA, v.rows.Row.FP} {
			if r.Kind == Memory && r.Reg == CFA && (r.Offset >= 0 || r.Offset%8 != 0) {
				c.report(v.rows.Form.Offset, "a register saved at CFA%+d: not a word of the frame", r.Offset)
			}
		}
	}},
	{id: "plt", in: "WWW", ref: refBinutils + "ld up to 2.47", row: checkPLT},
}

// limit returns where a function's rows must end. Rows of PCMASK functions repeat in each
// block.
func (v *visit) limit() uint32 {
	if v.f.Mask {
		return v.f.Block
	}
	return v.f.Size
}

func (v *visit) unit() string {
	if v.f.Mask {
		return "block"
	}
	return "function"
}

// checkPLT finds PLT entries of a single jump for which ld writes the rule of an entry
// that has pushed a number.
func checkPLT(c *checker, v *visit) {
	cfa := v.rows.Row.CFA
	if c.ctx.Section == nil || v.h.ABI != AMD64 || v.rows.Row.Start != 0 || cfa != (Rule{Value, AMD64.SP(), 16}) {
		return
	}
	if name := c.ctx.Section(v.f.Start); name == ".plt.got" || name == ".plt.sec" {
		c.report(v.rows.Form.Offset, "CFA = SP+16 at the start of entries of %s, which push nothing, want SP+8 as in .eh_frame", name)
	}
}

// flexRules examine rows of version 3 that name their registers.
var flexRules = []*rule{
	{id: "flex-control", in: "EWW", ref: refV3 + "flexible FDEs", row: func(c *checker, v *visit) {
		v.controls(func(control uint32) {
			if control&4 != 0 || control&controlReg == 0 && control>>controlShift != 0 {
				c.report(v.rows.Form.Offset, "control word %#x has bits without meaning", control)
			}
		})
	}},
	{id: "flex-register", in: "WWW", ref: refV3 + "flexible FDEs", row: func(c *checker, v *visit) {
		limit := registers[v.h.ABI]
		v.controls(func(control uint32) {
			if reg := control >> controlShift; control&controlReg != 0 && reg >= limit {
				c.report(v.rows.Form.Offset, "register %d, want less than %d", reg, limit)
			}
		})
	}},
	{id: "flex-padding", in: "NNE", ref: refKernel, row: func(c *checker, v *visit) {
		if n := v.rows.Form.Words; v.f.Flex && n != 0 && v.rows.Form.Surplus == 0 && v.padded() {
			c.report(v.rows.Form.Offset, "the last of %d data words is padding, and nothing follows it", n)
		}
	}},
	{id: "flex-top", in: "NNN", ref: refV3 + "flexible FDEs", row: func(c *checker, v *visit) {
		abi := v.h.ABI.info()
		if cfa := v.rows.Row.CFA; v.f.Flex && v.rows.Form.Words != 0 && cfa.Reg != abi.sp && cfa.Reg != abi.fp {
			c.report(v.rows.Form.Offset, "CFA from register %d, which is known only in the topmost frame", cfa.Reg)
		}
	}},
}

// padded reports whether the row's last word stands for no rule.
func (v *visit) padded() (last bool) {
	for i := 0; i < v.rows.Form.Words; i++ {
		if last = v.rows.unsigned(i) == 0; !last {
			i++
		}
	}
	return last
}

// registers gives the number of registers that have DWARF numbers and that a walker may
// know.
var registers = [...]uint32{AArch64BE: 32, AArch64LE: 32, AMD64: 17, S390X: 32}

// controls calls f with the row's control words, if it has any.
func (v *visit) controls(f func(control uint32)) {
	if !v.f.Flex {
		return
	}
	for i := 0; i < v.rows.Form.Words-v.rows.Form.Surplus; i++ {
		if control := v.rows.unsigned(i); control != 0 {
			f(control)
			i++
		}
	}
}
