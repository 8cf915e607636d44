package minidump

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

func (w *writer) threadList() []byte {
	b := w.u32(nil, uint32(len(w.d.Threads)))
	for i := range w.d.Threads {
		t := &w.d.Threads[i]
		b = w.u32(b, t.ID, t.Suspend, t.Class, t.Prio)
		b = w.u64(b, t.TEB, t.Stack.Addr)
		b = w.place(b, w.stack(t.Stack))
		b = w.place(b, w.context(t.Context, fmt.Sprintf("thread %d", t.ID)))
	}
	return b
}

// stack returns the location of a thread's stack in the file, which is a part of the memory. In a
// dump with Memory64List only its size is written.
func (w *writer) stack(r dump.Range) location {
	for i, m := range w.d.Memory.Regions {
		if skip := r.Addr - m.Addr; r.Addr >= m.Addr && skip < uint64(len(m.Data)) && r.Size > 0 {
			size := min(r.Size, uint64(len(m.Data))-skip, 1<<32-1)
			if w.wide {
				return location{0, size}
			}
			return location{w.memory[i] + skip, size}
		}
	}
	return location{}
}

func hasNames(d *dump.Dump) bool {
	for i := range d.Threads {
		if d.Threads[i].Name != "" {
			return true
		}
	}
	return false
}

func (w *writer) threadNames() []byte {
	var entries []byte
	n := uint32(0)
	for i := range w.d.Threads {
		if t := &w.d.Threads[i]; t.Name != "" {
			n++
			entries = w.u64(w.u32(entries, t.ID), uint64(w.text(t.Name)))
		}
	}
	return append(w.u32(nil, n), entries...)
}

func (w *writer) exception() []byte {
	c := w.d.Crash
	b := w.u32(nil, c.Thread, 0, c.Code, c.Flags)
	params := c.Params
	if len(params) > 15 {
		w.problem("parameters of the crash", "%d, want at most 15", len(params))
		params = params[:15]
	}
	b = w.u64(b, 0, c.Address)
	b = w.u64(w.u32(b, uint32(len(params)), 0), params...)
	b = append(b, make([]byte, 8*(15-len(params)))...)
	return w.place(b, w.context(c.Context, "the crash"))
}

// context writes a context and returns its location. A context that a thread shares with the crash
// is written only once.
func (w *writer) context(c *dump.Context, of string) location {
	if c == nil {
		return location{}
	}
	if l, ok := w.contexts[c]; ok {
		return l
	}
	l := w.layoutFor(c.Arch)
	if l == nil {
		if len(w.contexts) == 0 {
			w.problem("registers", "minidumps have no form for those of %s", c.Arch.Name)
		}
		w.contexts[c] = location{}
		return location{}
	}
	w.contexts[c] = w.put(w.encode(l, c, of))
	return w.contexts[c]
}

// layoutFor returns the layout that the system's own writers use.
func (w *writer) layoutFor(a *arch.Arch) (found *layout) {
	for _, l := range layouts {
		if l.arch == a && (found == nil || l.cpu == flagsARM && w.d.System.OS != dump.Windows) {
			found = l
		}
	}
	return found
}

// encode writes a context. Its flags name the groups that contain a known register; the other
// registers of such a group are 0.
func (w *writer) encode(l *layout, c *dump.Context, of string) []byte {
	b := make([]byte, l.written())
	flags := l.cpu
	var zero []string
	for _, f := range l.fields {
		if v, ok := c.At(f.reg); ok {
			flags |= f.group
			w.putWord(b[f.at:], v, f.size)
		}
	}
	if l.putVector(b, c.Vector) {
		flags |= l.vector
	} else if len(c.Vector) > 0 {
		w.problem("vector registers of "+of, "%d bytes, which a context of %s has no place for", len(c.Vector), c.Arch.Name)
	}
	for _, f := range l.fields {
		if _, ok := c.At(f.reg); !ok && flags&f.group != 0 {
			zero = append(zero, c.Arch.Regs[f.reg].Name)
		}
	}
	w.putWord(b[l.flagsAt:], flags, l.flagsSize)
	if len(zero) > 0 {
		w.lost["not known, and 0: "+strings.Join(zero, ", ")]++
	}
	w.reportHomeless(l, c)
	return b
}

// reportHomeless reports the registers that the layout cannot represent.
func (w *writer) reportHomeless(l *layout, c *dump.Context) {
	var names []string
	for i, r := range c.Arch.Regs {
		if _, ok := c.At(i); ok && !l.holds(i) {
			names = append(names, r.Name)
		}
	}
	if len(c.InBlocks()) > 0 {
		names = append(names, "vectors beyond FXSAVE's or NEON's")
	}
	if len(names) > 0 {
		w.lost[fmt.Sprintf("a context of %s has no place for %s", c.Arch.Name, strings.Join(names, ", "))]++
	}
}

// holds reports whether a context can represent a register, by itself or in the vector part.
func (l *layout) holds(reg int) bool {
	for _, f := range l.fields {
		if f.reg == reg {
			return true
		}
	}
	return l.form == fxsave && inVector[l.arch.Regs[reg].Name]
}

// inVector are registers that are parts of Context.Vector.
var inVector = map[string]bool{"$fcw": true, "$fsw": true, "$mxcsr": true}

// written returns the size of the whole structure, while l.size is the size that is read. Breakpad
// accepts no other size.
func (l *layout) written() int {
	switch l.cpu {
	case flagsARM:
		return 368
	case flagsARMMS:
		return 416
	case flagsARM64:
		return 912
	case flagsPPC:
		return 1004
	case flagsPPC64:
		return 1160
	}
	return l.size
}

func (l *layout) putVector(b, v []byte) bool {
	switch {
	case l.form == fxsave && len(v) == fxsaveSize:
		copy(b[l.vectorAt:], v)
	case l.form == neonMS && len(v) == neonSize:
		copy(b[l.vectorAt:], v[:neonRegs])
		copy(b[l.vectorAt+neonRegs:], v[neonRegs+4:])
		copy(b[l.vectorAt+neonRegs+4:], v[neonRegs:neonRegs+4])
	default:
		return false
	}
	return true
}

func (w *writer) putWord(b []byte, v uint64, size int) {
	switch size {
	case 2:
		w.order.PutUint16(b, uint16(v))
	case 4:
		w.order.PutUint32(b, uint32(v))
	default:
		w.order.PutUint64(b, v)
	}
}
