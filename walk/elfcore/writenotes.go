package elfcore

import (
	"bytes"
	"debug/elf"
	"fmt"
	"slices"
	"strings"
	"time"

	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// notes encodes all notes, in the kernel's order: the thread that crashed with the process's notes, then the other
// threads. It returns them in parts, because a single buffer would be copied as it grows.
func (w *writer) notes() (parts [][]byte) {
	add := func(owner string, kind uint32, desc []byte) {
		last, room := len(parts)-1, len(desc)+64 // room for the header and padding
		if last < 0 || cap(parts[last])-len(parts[last]) < room {
			parts = append(parts, make([]byte, 0, max(room, 64<<10)))
			last++
		}
		parts[last] = elfobj.AppendNote(parts[last], w.order, owner, kind, desc)
	}
	threads := w.threads()
	for i := range threads {
		t := &threads[i]
		float := w.floatOf(t.Context)
		add(ownerCore, ntPRStatus, w.status(t, float != nil))
		if i == 0 {
			w.processNotes(add)
		}
		if float != nil {
			add(float.owner, float.kind, w.float(float, t.Context))
		}
		if t.Context != nil {
			if kind, desc := w.regset(t.Context); desc != nil {
				add(ownerLinux, kind, desc)
			}
		}
		if kind, desc := w.threadPointer(t); desc != nil {
			add(ownerLinux, kind, desc)
		}
	}
	if len(threads) == 0 {
		w.problem("threads", "there are none")
		w.processNotes(add)
	}
	w.reportUnknown(threads)
	hasRegset := func(c *dump.Context) bool { _, desc := w.regset(c); return desc != nil }
	rest, err := w.d.Rest(dump.Holding{Register: w.holds, Blocks: hasRegset, OneContext: true})
	if err != nil {
		w.err = err
	}
	add(dump.RestOwner, dump.RestType, rest)
	return parts
}

func (w *writer) processNotes(add func(string, uint32, []byte)) {
	if w.d.Process.HasID || w.d.Process.Name != "" || len(w.d.Process.Args) > 0 {
		add(ownerCore, ntPRPSInfo, w.psInfo())
	}
	if w.d.Crash != nil {
		add(ownerCore, ntSigInfo, w.sigInfo())
	}
	if len(w.d.Auxv) > 0 {
		add(ownerCore, ntAuxv, append(encodeAuxv(w.d.Auxv, w.word, w.order), make([]byte, 2*w.word)...))
	}
	if files := w.files(); files != nil {
		add(ownerCore, ntFile, files)
	}
}

// threads returns the dump's threads, starting with the thread that crashed, with its registers at the crash.
func (w *writer) threads() []dump.Thread {
	threads := slices.Clone(w.d.Threads)
	if w.d.Crash == nil {
		return threads
	}
	i := w.d.CrashedThread()
	if i < 0 {
		return slices.Insert(threads, 0, dump.Thread{ID: w.d.Crash.Thread, Context: w.d.Crash.Context})
	}
	t := threads[i]
	if w.d.Crash.Context != nil {
		if !dump.Same(t.Context, w.d.Crash.Context) {
			w.problem(fmt.Sprintf("registers of thread %d", t.ID), "those of the crash are written, not those from when the dump was written")
		}
		t.Context = w.d.Crash.Context
	}
	return slices.Insert(slices.Delete(threads, i, i+1), 0, t)
}

// holds reports whether a core can represent a register.
func (w *writer) holds(reg int) bool {
	for _, s := range w.layout.slots {
		if s.reg == reg {
			return true
		}
	}
	for i := range floatNotes {
		for _, s := range floatNotes[i].slots {
			if floatNotes[i].arch == w.d.Arch && s.reg == reg {
				return true
			}
		}
	}
	return false
}

// signal returns the crash's signal, or SIGABRT for a crash on another system, because debuggers expect a signal.
// Without a crash it returns 0.
func (w *writer) signal() uint32 {
	const abort = 6
	c := w.d.Crash
	switch {
	case c == nil:
		return 0
	case c.Code <= 64 && (w.d.System.OS == dump.Linux || w.d.System.OS == dump.Android || w.d.System.OS == dump.UnknownOS):
		return c.Code
	}
	return abort
}

// status writes a struct elf_prstatus.
func (w *writer) status(t *dump.Thread, hasFloat bool) []byte {
	b := make([]byte, w.layout.size)
	sig := uint32(t.Signal)
	if sig == 0 { // BFD takes the last thread's signal; the kernel writes the same signal for all
		sig = w.signal()
	}
	w.order.PutUint32(b, sig) // pr_info.si_signo
	w.order.PutUint16(b[statusCurSig:], uint16(sig))
	pidAt, utime := statusOffsets(w.word)
	w.order.PutUint32(b[pidAt:], t.ID)
	w.order.PutUint32(b[pidAt+4:], w.d.Process.Parent)
	w.order.PutUint32(b[pidAt+8:], w.d.Process.ID)
	w.order.PutUint32(b[pidAt+12:], w.d.Process.ID)
	if w.d.Process.HasID && t.ID == w.d.Process.ID {
		w.putTime(b[utime:], w.d.Process.User)
		w.putTime(b[utime+2*w.word:], w.d.Process.Kernel)
	}
	if w.layout.syscall > 0 {
		copy(b[w.layout.syscall:][:w.word], bytes.Repeat([]byte{0xff}, w.word)) // in no system call
	}
	if t.Context != nil {
		w.putSlots(b, w.layout.slots, t.Context)
	}
	if hasFloat {
		valid := w.layout.size - w.word // pr_fpvalid is a padded int
		w.order.PutUint32(b[valid:], 1)
	}
	return b
}

func (w *writer) putTime(b []byte, t time.Duration) {
	w.putUint(b, uint64(t/time.Second), w.word)
	w.putUint(b[w.word:], uint64(t%time.Second/time.Microsecond), w.word)
}

func (w *writer) putUint(b []byte, v uint64, size int) {
	appendUint(b[:0], v, size, w.order)
}

func (w *writer) putSlots(b []byte, slots []slot, ctx *dump.Context) {
	for _, s := range slots {
		if v, ok := ctx.At(s.reg); ok {
			w.putUint(b[s.off:], v, s.size)
		}
	}
}

// reportUnknown reports which registers are 0 in the core because their values are unknown.
func (w *writer) reportUnknown(threads []dump.Thread) {
	var names []string
	count, none := 0, 0
	for i := range threads {
		if threads[i].Context == nil {
			none++
			continue
		}
		unknown := false
		for _, s := range w.layout.slots {
			if _, ok := threads[i].Context.At(s.reg); !ok {
				unknown = true
				if name := w.d.Arch.Regs[s.reg].Name; !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		if unknown {
			count++
		}
	}
	if none > 0 {
		w.problem("registers", "%d of %d threads have none: they are 0 in the core", none, len(threads))
	}
	if count > 0 {
		w.problem("registers", "the dump does not have %s of %d of %d threads: they are 0 in the core", strings.Join(names, ", "), count, len(threads))
	}
}

// threadPointer returns the note with a thread pointer that is in no register, in the form that readThreadPointer and
// readSegments read; desc is nil if there is none.
func (w *writer) threadPointer(t *dump.Thread) (kind uint32, desc []byte) {
	const limit, flags = 0xfffff, 0x51 // of a segment that covers all memory
	if t.TEB == 0 || t.Context == nil || w.d.System.OS == dump.Windows {
		return 0, nil
	}
	switch w.d.Arch {
	case arch.ARM, arch.ARM64:
		return ntARMTLS, appendUint(nil, t.TEB, w.word, w.order)
	case arch.X86:
		if gs, ok := t.Context.Get("$gs"); ok {
			for _, v := range []uint64{gs >> 3, t.TEB, limit, flags} {
				desc = appendUint(desc, v, 4, w.order)
			}
		}
		return nt386TLS, desc
	}
	return 0, nil
}

// floatOf returns the note for the floating-point registers of a context, or nil.
func (w *writer) floatOf(ctx *dump.Context) *floatNote {
	for i := range floatNotes {
		if f := &floatNotes[i]; ctx != nil && f.arch == w.d.Arch && f.in(ctx) {
			return f
		}
	}
	return nil
}

func (f *floatNote) in(ctx *dump.Context) bool {
	if f.block > 0 {
		return len(ctx.Vector) == f.block
	}
	_, ok := ctx.At(f.slots[0].reg)
	return ok
}

func (w *writer) float(f *floatNote, ctx *dump.Context) []byte {
	b := make([]byte, f.size)
	copy(b[:f.block], ctx.Vector)
	w.putSlots(b, f.slots, ctx)
	return b
}

// psInfo writes a struct elf_prpsinfo.
func (w *writer) psInfo() []byte {
	l := w.psLayout()
	b, p := make([]byte, l.size), &w.d.Process
	w.putUint(b[l.uid:], uint64(p.UID), l.idSize)
	w.putUint(b[l.uid+l.idSize:], uint64(p.GID), l.idSize)
	w.order.PutUint32(b[l.pid:], p.ID)
	w.order.PutUint32(b[l.pid+4:], p.Parent)
	w.order.PutUint32(b[l.pid+8:], p.ID)
	w.order.PutUint32(b[l.pid+12:], p.ID)
	copy(b[l.name:][:psNameSize-1], p.Name)
	copy(b[l.args:][:psArgsSize-1], strings.Join(p.Args, " "))
	return b
}

// psLayout returns the layout of struct elf_prpsinfo. User ids have 2 bytes on
// x86 and ARM, as in their first system calls
// (arch/*/include/uapi/asm/posix_types.h).
func (w *writer) psLayout() psInfo {
	switch {
	case w.word == 8:
		return psInfos[2]
	case w.d.Arch.Machine == elf.EM_386 || w.d.Arch.Machine == elf.EM_ARM:
		return psInfos[0]
	}
	return psInfos[1]
}

// sigInfo writes a siginfo_t.
func (w *writer) sigInfo() []byte {
	const size = 128
	b, c := make([]byte, size), w.d.Crash
	sig := w.signal()
	w.order.PutUint32(b, sig)
	codeAt, addrAt := 8, 12
	if w.d.Arch.Machine == elf.EM_MIPS {
		codeAt = 4
	}
	if w.word == 8 {
		addrAt = 16
	}
	if sig == c.Code {
		w.order.PutUint32(b[codeAt:], c.Flags)
	} else {
		w.problem(fmt.Sprintf("code %#x of the crash", c.Code), "it is not a Linux signal: signal %d is written instead", sig)
	}
	if c.HasAddress {
		w.putUint(b[addrAt:], c.Address, w.word)
	}
	if call := c.Syscall; call != nil && sig == c.Code {
		w.order.PutUint32(b[addrAt+w.word:], call.Number)
		w.order.PutUint32(b[addrAt+w.word+4:], call.Audit)
	}
	return b
}

// files encodes NT_FILE, in units of pages, or of bytes if an offset is not a multiple of a page.
// Names in brackets in /proc/self/maps are not files.
func (w *writer) files() []byte {
	unit, count := uint64(pageSize), 0
	var names []byte
	for i := range w.d.Maps {
		if m := &w.d.Maps[i]; isNamed(m) {
			count++
			names = append(append(names, m.Path...), 0)
			if m.Offset%pageSize != 0 {
				unit = 1
			}
		}
	}
	if count == 0 {
		return nil
	}
	b := appendUint(appendUint(nil, uint64(count), w.word, w.order), unit, w.word, w.order)
	for i := range w.d.Maps {
		if m := &w.d.Maps[i]; isNamed(m) {
			for _, v := range []uint64{m.Addr, m.Addr + m.Size, m.Offset / unit} {
				b = appendUint(b, v, w.word, w.order)
			}
		}
	}
	return append(b, names...)
}

// isNamed reports whether NT_FILE can name the file of a mapping.
func isNamed(m *dump.Mapping) bool { return m.IsFile() && !strings.ContainsRune(m.Path, 0) }
