package minidump

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// context reads the registers at a location. It reads each context only once: a crash and its thread
// often share one.
func (r *reader) context(l location, what label) *dump.Context {
	if l.size == 0 {
		return nil
	}
	if c, ok := r.contexts[l]; ok {
		return c
	}
	data, whole := r.at(l)
	if r.contextLeft -= len(data); r.contextLeft < 0 {
		r.problemf(what.String(), l.off, "the contexts are longer than the file: they overlap")
		r.contextLeft = 0
		return nil
	}
	layout, flags := r.layoutOf(data)
	switch {
	case len(data) == 0:
		r.problemf(what.String(), l.off, "a context beyond the end of the file of %d bytes", len(r.data))
		return nil
	case layout == nil:
		r.problemf(what.String(), l.off, "a context of %d bytes with flags %#x, which are not those of %s", len(data), flags, r.cpuText())
		return nil
	case !whole || len(data) < layout.needed(flags):
		r.problemf("some of "+what.String(), l.off, "a context of %d bytes, want %d", len(data), layout.size)
	}
	c := layout.read(r, data, flags)
	if layout.form == fxsave && flags&xstate != 0 && len(data) > layout.size {
		if err := r.readXState(c, data, layout.size); err != nil {
			r.problemf("vectors of "+what.String(), l.off, "CONTEXT_XSTATE: %v", err)
		}
	}
	r.contexts[l] = c
	return c
}

// ReadContext returns the registers in a context record of a CPU, in the form of minidumps and
// microdumps.
func ReadContext(data []byte, a *arch.Arch, order binary.ByteOrder) (*dump.Context, error) {
	r := &reader{order: order, d: &dump.Dump{Arch: a}}
	l, flags := r.layoutOf(data)
	switch {
	case a == nil:
		return nil, errors.New("the registers of an unknown CPU")
	case l == nil:
		return nil, fmt.Errorf("a context of %d bytes with flags %#x, which are not those of %s", len(data), flags, a.Name)
	case len(data) < l.needed(flags):
		return l.read(r, data, flags), fmt.Errorf("a context of %d bytes, want %d", len(data), l.size)
	}
	return l.read(r, data, flags), nil
}

func (r *reader) cpuText() string {
	if r.d.Arch == nil {
		return "an unknown CPU"
	}
	return r.d.Arch.Name
}

// layoutOf finds the layout of a context by its flags, among the layouts of the dump's CPU. If the dump
// does not name its CPU, layoutOf tries all layouts and sets the CPU of the one found.
func (r *reader) layoutOf(data []byte) (found *layout, flags uint64) {
	guess := r.d.Arch == nil && r.d.System.CPU == ""
	for _, l := range layouts {
		if l.arch != r.d.Arch && !guess {
			continue
		}
		f, ok := l.flags(data, r.order)
		if flags = f; !ok || f&l.cpu != l.cpu || guess && f&^groupsMask != l.cpu {
			continue
		}
		r.d.Arch = l.arch
		return l, f
	}
	return nil, flags
}

// needed returns the offset at which the registers of the groups in flags end. LLDB writes only that
// much.
func (l *layout) needed(flags uint64) (end int) {
	if flags&groupsMask == 0 || flags&l.vector != 0 {
		return l.size
	}
	for _, f := range l.fields {
		if flags&f.group != 0 {
			end = max(end, f.at+f.size)
		}
	}
	return end
}

// read sets the registers of the groups in flags, as far as the context
// extends. Flags without a group mean all groups.
func (l *layout) read(r *reader, data []byte, flags uint64) *dump.Context {
	c := dump.NewContext(l.arch)
	if flags&groupsMask == 0 {
		flags |= groupsMask
	}
	for _, f := range l.fields {
		if flags&f.group != 0 && f.at+f.size <= len(data) {
			c.SetAt(f.reg, word(data[f.at:], f.size, r.order))
		}
	}
	if flags&l.vector != 0 {
		l.readVector(c, data)
	}
	return c
}

// readXState adds the registers of XSAVE's area, which follows a CONTEXT. The CONTEXT_EX at offset at, with the place
// and the size of the context, of the CONTEXT and of the area, says where; places are relative to itself. The area has
// no part for FXSAVE.
func (r *reader) readXState(c *dump.Context, data []byte, at int) error {
	const contextEx, area = 24, 16 // its size, and the offset of the area's place and size
	if len(data)-at < contextEx {
		return fmt.Errorf("%d bytes after the context, want at least %d", len(data)-at, contextEx)
	}
	off, size := int64(int32(r.order.Uint32(data[at+area:]))), int64(r.order.Uint32(data[at+area+4:]))
	if off == 0 && size == 0 {
		return nil
	}
	from := int64(at) + off
	if from < int64(at)+contextEx || from > int64(len(data)) {
		return fmt.Errorf("the area is at %d of a context of %d bytes", from, len(data))
	}
	return r.xsave.Read(c, data[from:min(from+size, int64(len(data)))], fxsaveSize)
}

// Sizes of the vector state.
const (
	fxsaveSize = 512
	neonRegs   = 32 * 16
	neonSize   = neonRegs + 8
)

// readVector sets c.Vector, in the form of dump.Context. It refers to the file if the context has the
// same form.
func (l *layout) readVector(c *dump.Context, data []byte) {
	switch {
	case l.form == fxsave && len(data) >= l.vectorAt+fxsaveSize:
		v := data[l.vectorAt:][:fxsaveSize:fxsaveSize]
		c.Vector = v
		c.Set("$fcw", uint64(v[0])|uint64(v[1])<<8)
		c.Set("$fsw", uint64(v[2])|uint64(v[3])<<8)
		c.Set("$mxcsr", uint64(v[24])|uint64(v[25])<<8|uint64(v[26])<<16|uint64(v[27])<<24)
	case l.form == neonMS && len(data) >= l.vectorAt+neonSize:
		v := data[l.vectorAt:][:neonSize]
		c.Vector = join(v[:neonRegs], v[neonRegs+4:], v[neonRegs:neonRegs+4])
	case l.form == neonBefore && len(data) >= l.vectorAt+neonSize-8:
		c.Vector = join(data[l.vectorAt:][:neonRegs], data[l.vectorAt-8:l.vectorAt])
	}
}

func join(parts ...[]byte) []byte {
	b := make([]byte, 0, neonSize)
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}
