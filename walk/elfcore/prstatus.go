package elfcore

import (
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

const statusCurSig = 12 // offset of pr_cursig in struct elf_prstatus, a short

// statusOffsets returns the offsets of pr_pid and pr_utime in struct elf_prstatus.
func statusOffsets(word int) (pid, utime int) {
	if word == 4 {
		return 24, 40
	}
	return 32, 48
}

// readStatus reads an NT_PRSTATUS, which is the first of a thread's notes.
func (r *reader) readStatus(n note) {
	pidAt, utime := statusOffsets(r.word)
	pid, ok := uintAt(n.desc, pidAt, 4, r.order())
	if !ok {
		r.problem("a thread", n.offset, "NT_PRSTATUS of %d bytes", len(n.desc))
		return
	}
	sig, _ := uintAt(n.desc, statusCurSig, 2, r.order())
	t := dump.Thread{ID: uint32(pid), Signal: int(sig)}
	if r.d.Arch != nil {
		t.Context = r.readRegs(n)
	}
	r.d.Threads = append(r.d.Threads, t)
	r.signals = append(r.signals, signal{})
	if utime+4*r.word <= len(n.desc) {
		r.times = append(r.times, cpuTime{t.ID, r.timeval(n.desc[utime:]), r.timeval(n.desc[utime+2*r.word:])})
	}
}

// readRegs returns the registers in the note, or nil if it lacks PC or SP.
func (r *reader) readRegs(n note) *dump.Context {
	l, regs := layoutOf(r.d.Arch, len(n.desc)), n.desc
	if l.size != len(regs) {
		regs = regs[:max(0, len(regs)-r.word)] // pr_fpvalid, padded, ends every layout
	}
	ctx := dump.NewContext(r.d.Arch)
	fill(ctx, l.slots, regs, r)
	if l.narrow {
		for _, s := range l.slots {
			if v, ok := ctx.At(s.reg); ok {
				ctx.SetAt(s.reg, uint64(uint32(v)))
			}
		}
	}
	_, pc := ctx.Get(ctx.Arch.PC)
	_, sp := ctx.Get(ctx.Arch.SP)
	missing := 0
	for _, s := range l.slots {
		if s.off+s.size > len(regs) {
			missing++
		}
	}
	switch {
	case !pc || !sp:
		r.problem("registers of a thread", n.offset, "NT_PRSTATUS of %d bytes, want %d", len(n.desc), l.size)
		return nil
	case missing > 0:
		r.problem("registers", n.offset, "NT_PRSTATUS of %d bytes, want %d: it lacks the last %d registers", len(n.desc), l.size, missing)
	}
	return ctx
}

// fill sets the registers of the slots that are within b.
func fill(ctx *dump.Context, slots []slot, b []byte, r *reader) {
	for _, s := range slots {
		if v, ok := uintAt(b, s.off, s.size, r.order()); ok {
			ctx.SetAt(s.reg, v)
		}
	}
}

// readFloat adds the floating-point registers to those of the last thread. A note of unknown size has
// an unknown layout, and is only listed.
func (r *reader) readFloat(n note) {
	if len(r.d.Threads) == 0 {
		return
	}
	ctx := r.d.Threads[len(r.d.Threads)-1].Context
	if ctx == nil {
		return
	}
	for i := range floatNotes {
		f := &floatNotes[i]
		if f.arch != r.d.Arch || f.owner != n.owner || f.kind != n.kind || f.size != len(n.desc) {
			continue
		}
		if f.block > 0 {
			ctx.Vector = n.desc[:f.block:f.block]
			fill(ctx, fxsaveSlots[f.arch], n.desc, r)
		}
		fill(ctx, f.slots, n.desc, r)
	}
}

// readThreadPointer reads NT_ARM_TLS: tpidr_el0, or its counterpart for 32-bit code. It ignores what
// newer kernels append.
func (r *reader) readThreadPointer(n note) {
	if len(r.d.Threads) == 0 || r.d.Arch != arch.ARM64 && r.d.Arch != arch.ARM {
		return
	}
	if v, ok := uintAt(n.desc, 0, r.word, r.order()); ok {
		r.d.Threads[len(r.d.Threads)-1].TEB = v
	}
}

// readSegments reads NT_386_TLS, the segments that a thread has for its own data (struct user_desc of
// asm/ldt.h). $gs selects the one with the thread pointer.
func (r *reader) readSegments(n note) {
	const entry = 16
	if len(r.d.Threads) == 0 || r.d.Arch != arch.X86 {
		return
	}
	t := &r.d.Threads[len(r.d.Threads)-1]
	if t.Context == nil {
		return
	}
	gs, ok := t.Context.Get("$gs")
	for b := n.desc; ok && len(b) >= entry; b = b[entry:] {
		if uint64(r.order().Uint32(b)) == gs>>3 {
			t.TEB = uint64(r.order().Uint32(b[4:]))
		}
	}
}
