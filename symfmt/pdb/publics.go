package pdb

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/symfmt"
)

// eachPublic calls fn with the public symbols of code and their decorated names. A label is a symbol in code
// that is not marked as code. Linkers leave symbols of assembly unmarked; unmarked names with ? or @ belong to
// data that was merged into code, and are skipped.
func (d *database) eachPublic(fn func(rva symfmt.RVA, name string, label bool)) error {
	const code, function = 1, 2
	in := bufio.NewReaderSize(d.stream(d.symbols), 256<<10)
	var head [4]byte
	var buf []byte
	for {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		size := int(u16(head[:])) - 2
		if size < 0 {
			return d.errorf("public symbols: a record of %d bytes", size+2)
		}
		buf = slices.Grow(buf[:0], size)
		b := buf[:size]
		if _, err := io.ReadFull(in, b); err != nil {
			return err
		}
		if u16(head[2:]) != symPublic || size < 11 {
			continue
		}
		name, label := cString(b[10:]), u32(b)&(code|function) == 0
		if rva, ok := d.rva(u16(b[8:]), u32(b[4:])); ok && !(label && bytes.ContainsAny(name, "?@")) {
			fn(rva, string(name), label)
		}
	}
}

// publics adds the public symbols of code that no function covers. From the others, it takes how many
// bytes of arguments an x86 function has.
func (m *merger) publics() error {
	if err := m.d.eachPublic(m.public); err != nil {
		return err
	}
	publics := m.out.Publics
	slices.SortStableFunc(publics, func(a, b symfmt.Public) int {
		return cmp.Or(cmp.Compare(a.RVA, b.RVA), strings.Compare(a.Name, b.Name))
	})
	m.out.Publics = oneAtEach(publics, func(p *symfmt.Public) (symfmt.RVA, string, *bool) { return p.RVA, p.Name, &p.Multiple })
	return nil
}

func (m *merger) public(rva symfmt.RVA, raw string, label bool) {
	name, params := undecorate(raw, m.out.Arch == "x86")
	i, found := functionAt(m.out.Funcs, rva)
	switch {
	case found && label:
		return
	case found:
		m.out.Funcs[i].ParamSize = max(m.out.Funcs[i].ParamSize, params)
		if m.o.RawNames {
			m.decorate(i, raw)
		} else {
			m.complete(&m.out.Funcs[i], name)
		}
		return
	case i > 0 && rva < m.out.Funcs[i-1].RVA+symfmt.RVA(m.out.Funcs[i-1].Size), name == "":
		return
	}
	if m.o.RawNames {
		name = raw
	} else if plain, ok := m.demangled(name); ok {
		name = string(plain)
	}
	m.out.Publics = append(m.out.Publics, symfmt.Public{RVA: rva, Name: name, ParamSize: params})
}

// demangled returns the demangled form of a decorated name, valid until the next call.
func (m *merger) demangled(raw string) ([]byte, bool) {
	plain, err := demangle.Append(m.buf[:0], raw)
	m.buf = plain
	return plain, err == nil
}

// complete gives a function whose record has no type the arguments in its decorated name.
func (m *merger) complete(f *symfmt.Func, name string) {
	if strings.HasPrefix(name, "?") && strings.IndexByte(f.Name, '(') < 0 {
		if plain, ok := m.demangled(name); ok && strings.HasPrefix(string(plain), f.Name+"(") {
			f.Name = string(plain)
		}
	}
}

// decorate gives a function the decorated name of a public symbol: of the symbols at its address,
// the one that demangles to the function's name or, failing that, the first.
func (m *merger) decorate(i int, raw string) {
	f := &m.out.Funcs[i]
	name, again := m.plain[i]
	if !again {
		m.plain[i] = f.Name
	} else if plain, ok := m.demangled(raw); !ok || string(plain) != name {
		return
	}
	f.Name = raw
}

// undecorate removes the decoration of C functions' names, and returns how many bytes of arguments
// they have on the stack. On 32-bit x86, these are _f of cdecl, _f@8 of stdcall, and @f@8 of fastcall,
// whose first 8 bytes are in registers. f@@8 of vectorcall, on 32-bit x86 and x86-64, does not say how
// many are in registers.
func undecorate(name string, x86 bool) (plain string, params uint64) {
	if len(name) < 2 || name[0] == '?' {
		return name, 0
	}
	plain, n, sized := cutSize(name)
	switch {
	case len(plain) < 2:
		return name, 0
	case sized && strings.HasSuffix(plain, "@"):
		return plain[:len(plain)-1], 0
	case !x86 || name[0] != '_' && name[0] != '@':
		return name, 0
	case name[0] == '@' && sized:
		n -= min(n, 8)
	}
	return plain[1:], n
}

// cutSize cuts @ and a number off a name.
func cutSize(name string) (plain string, n uint64, ok bool) {
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		if n, err := strconv.ParseUint(name[i+1:], 10, 16); err == nil {
			return name[:i], n, true
		}
	}
	return name, 0, false
}
