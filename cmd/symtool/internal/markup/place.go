package markup

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/text"
)

// invalid is LLVM's word for something unknown.
const invalid = "<invalid>"

// orInvalid returns a name for people: invalid if name is "".
func orInvalid(name string) string {
	if name == "" {
		return invalid
	}
	return text.Printable(name)
}

// symbol handles {{{symbol:NAME}}}.
func (f *Filter) symbol(e *element) {
	if !f.has(e, 1, 1) {
		return
	}
	f.highlight()
	f.dst = append(f.dst, f.Symbols.Name(e.fields[0])...)
	f.restore()
	f.Answered++
}

// pc handles {{{pc:ADDR}}} or {{{pc:ADDR:KIND}}}.
func (f *Filter) pc(e *element) {
	if !f.has(e, 1, 2) {
		return
	}
	addr, m := f.place(e, 0, 1, precise)
	if m == nil {
		return
	}
	frames, ok := f.Symbols.Code(m.module, addr-m.start+m.moduleAddr, false)
	if !ok || len(frames) == 0 {
		f.raw(e)
		return
	}
	f.highlight()
	f.value(orInvalid(frames[0].Function))
	f.dst = append(f.dst, '[')
	f.value(orInvalid(frames[0].File))
	f.dst = append(f.dst, ':')
	f.value(strconv.FormatUint(uint64(frames[0].Line), 10))
	f.dst = append(f.dst, ']')
	f.restore()
	f.Answered++
}

// frame handles {{{bt:NUMBER:ADDR}}} or {{{bt:NUMBER:ADDR:KIND}}}.
func (f *Filter) frame(e *element) {
	if !f.has(e, 2, 3) {
		return
	}
	number, err := strconv.ParseUint(e.fields[0], 10, 64)
	if err != nil {
		f.problem(e, "its frame number is "+strconv.Quote(e.fields[0]))
		return
	}
	addr, m := f.place(e, 1, 2, returned)
	if m == nil {
		return
	}
	moduleAddr := addr - m.start + m.moduleAddr
	frames, ok := f.Symbols.Code(m.module, moduleAddr, true)
	if !ok {
		f.raw(e)
		return
	}
	if len(frames) > 0 {
		f.Answered++
	}
	f.highlight()
	for i := range max(len(frames), 1) {
		f.head(number, addr, i, max(len(frames), 1))
		if i < len(frames) {
			f.inSource(&frames[i])
		}
		f.dst = append(f.dst, '(')
		f.value(m.module.Name)
		f.dst = append(f.dst, '+')
		f.value(fmt.Sprintf("0x%x", moduleAddr))
		f.dst = append(f.dst, ')')
		if i < len(frames)-1 {
			f.dst = append(f.dst, f.end...)
		}
	}
	f.restore()
}

// head appends the number of the frame, the number of the inlined function in it, and the address.
func (f *Filter) head(number, addr uint64, i, n int) {
	digits := strconv.FormatUint(number, 10)
	f.dst = append(append(f.dst, strings.Repeat(" ", max(5-len(digits), 0))...), '#')
	f.value(digits)
	if i == n-1 {
		f.dst = append(f.dst, "   "...)
	} else {
		f.dst = append(f.dst, '.')
		f.value(fmt.Sprintf("%-2d", i+1))
	}
	f.value(fmt.Sprintf(" 0x%016x ", addr))
}

func (f *Filter) inSource(at *Frame) {
	f.value(orInvalid(at.Function))
	f.dst = append(f.dst, ' ')
	f.value(orInvalid(at.File))
	for _, v := range []uint32{at.Line, at.Column} {
		f.dst = append(f.dst, ':')
		f.value(strconv.FormatUint(uint64(v), 10))
	}
	f.dst = append(f.dst, ' ')
}

// data handles {{{data:ADDR}}}.
func (f *Filter) data(e *element) {
	if !f.has(e, 1, 1) {
		return
	}
	addr, m := f.place(e, 0, 1, precise)
	if m == nil {
		return
	}
	name, ok := f.Symbols.Data(m.module, addr-m.start+m.moduleAddr)
	if !ok {
		f.raw(e)
		return
	}
	f.highlight()
	f.dst = append(f.dst, orInvalid(name)...)
	f.restore()
	f.Answered++
}

// place reads the address of an element, and finds the mapping that contains it. If there is none, it
// appends the element.
func (f *Filter) place(e *element, field, kind int, without where) (addr uint64, m *mapping) {
	addr, ok := f.address(e, field)
	if !ok {
		return 0, nil
	}
	w, ok := f.whereOf(e, kind, without)
	if !ok {
		return 0, nil
	}
	if w == returned {
		addr--
	}
	if m = f.at(addr); m == nil {
		f.problem(e, "nothing is mapped there")
		f.raw(e)
	}
	return addr, m
}

// raw appends an element unchanged except for its brackets, so that it is not read again.
func (f *Filter) raw(e *element) {
	f.highlight()
	f.dst = append(f.dst, "[[["...)
	f.value(e.tag)
	for _, field := range e.fields {
		f.dst = append(f.dst, ':')
		f.value(field)
	}
	f.dst = append(f.dst, "]]]"...)
	f.restore()
}
