package elfcore

import (
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/regset"
)

// lastContext returns the registers of the thread to which a note belongs, if the thread has any and the CPU is
// among cpus, or nil.
func (r *reader) lastContext(cpus ...*arch.Arch) *dump.Context {
	for _, a := range cpus {
		if n := len(r.d.Threads); a == r.d.Arch && n > 0 {
			return r.d.Threads[n-1].Context
		}
	}
	return nil
}

// readSVE reads NT_ARM_SVE and NT_ARM_SSVE.
func (r *reader) readSVE(n note) {
	if c := r.lastContext(arch.ARM64); c != nil {
		r.reportRegset(n, regset.ReadSVE(c, n.desc, r.order(), n.kind == ntSSVE))
	}
}

// readRVV reads NT_RISCV_VECTOR.
func (r *reader) readRVV(n note) {
	if c := r.lastContext(arch.RISCV, arch.RISCV64); c != nil {
		r.reportRegset(n, regset.ReadRVV(c, n.desc, r.order()))
	}
}

// readPACMask reads NT_ARM_PAC_MASK: the bits of pointer authentication codes in pointers to data and to code.
func (r *reader) readPACMask(n note) {
	data, ok1 := uintAt(n.desc, 0, 8, r.order())
	code, ok2 := uintAt(n.desc, 8, 8, r.order())
	if !ok1 || !ok2 {
		r.problem("the mask of pointer authentication codes", n.offset, "NT_ARM_PAC_MASK: %d bytes, want 16", len(n.desc))
		return
	}
	const least = 1<<32 - 1 // no mask takes bits of addresses away
	r.d.Tags = (data | code) &^ least
}

// xstate is a NT_X86_XSTATE and the thread's registers.
type xstate struct {
	note
	context *dump.Context
}

// readXState keeps NT_X86_XSTATE until NT_X86_XSAVE_LAYOUT, the last note of a core, has been read.
func (r *reader) readXState(n note) {
	if c := r.lastContext(arch.X86, arch.X86_64); c != nil {
		r.xstates = append(r.xstates, xstate{n, c})
	}
}

func (r *reader) readXSaveLayout(n note) {
	layout, err := regset.ParseLayout(n.desc)
	r.xsave.Layout = layout
	r.reportRegset(n, err)
}

// readXStates adds the registers of each NT_X86_XSTATE.
func (r *reader) readXStates() {
	for _, x := range r.xstates {
		r.reportRegset(x.note, r.xsave.Read(x.context, x.desc, 0))
	}
	r.xstates = nil
}

func (r *reader) reportRegset(n note, err error) {
	if err != nil {
		r.problem("vector registers", n.offset, "%s: %v", noteNames[n.owner][n.kind], err)
	}
}

// regset returns the note with the registers of a context that are wider than a word; desc is nil if there are none.
func (w *writer) regset(c *dump.Context) (kind uint32, desc []byte) {
	switch w.d.Arch {
	case arch.X86, arch.X86_64:
		return ntXState, regset.EncodeXSave(c)
	case arch.ARM64:
		return ntSVE, regset.EncodeSVE(c, w.order)
	case arch.RISCV, arch.RISCV64:
		return ntRVV, regset.EncodeRVV(c, w.order)
	}
	return 0, nil
}
