package symlist

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// Format is one of the two formats.
type Format uint8

// The formats.
const (
	PerfMap Format = iota
	NM
)

// Options control how a list is written.
type Options struct {
	Format Format
	Base   uint64 // address of RVA 0
}

// symbol is a line of the list.
type symbol struct {
	addr, size uint64
	name       string
	public     bool
	bare       bool // has no size when it is read again
}

// strays counts the records that do not fit the list's addresses.
type strays struct{ funcs, publics int }

// symbols returns the lines in order.
func symbols(m *symfmt.Module, o Options) (list []symbol, outside strays) {
	list = make([]symbol, 0, len(m.Funcs)+len(m.Publics))
	add := func(rva symfmt.RVA, size uint64, name string, public bool) {
		addr := o.Base + uint64(rva)
		if addr < o.Base || size > 0 && addr+(size-1) < addr {
			if public {
				outside.publics++
			} else {
				outside.funcs++
			}
			return
		}
		bare := public || o.Format == NM && size == 0
		list = append(list, symbol{addr, size, symfmt.CleanName(name, symfmt.NoName), public, bare})
	}
	for i := range m.Funcs {
		add(m.Funcs[i].RVA, m.Funcs[i].Size, m.Funcs[i].Name, false)
	}
	for i := range m.Publics {
		add(m.Publics[i].RVA, 0, m.Publics[i].Name, true)
	}
	order := func(a, b symbol) int {
		if a.addr != b.addr {
			return cmp.Compare(a.addr, b.addr)
		}
		if a.bare != b.bare {
			if b.bare {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.name, b.name))
	}
	slices.SortStableFunc(list, order)
	if o.Format == PerfMap {
		reach(list)
	}
	return list, outside
}

// reach gives PUBLICs a size up to the next symbol.
func reach(list []symbol) {
	next := uint64(0) // address of the next symbol, if known
	known := false
	for i := len(list) - 1; i >= 0; i-- {
		s := &list[i]
		if s.public {
			if s.size = 1; known {
				s.size = next - s.addr
			}
		}
		if i > 0 && list[i-1].addr != s.addr {
			next, known = s.addr, true
		}
	}
}

// Write writes the FUNCs and PUBLICs of m. The error comes from w.
func Write(w io.Writer, m *symfmt.Module, o Options) error {
	list, _ := symbols(m, o)
	out := bufio.NewWriterSize(w, 1<<16)
	digits := 16
	if a := arch.ByName(m.Arch); a != nil && a.PtrSize == 4 && (len(list) == 0 || list[len(list)-1].addr < 1<<32) {
		digits = 8
	}
	var line []byte
	for i := range list {
		if o.Format == PerfMap {
			line = appendPerf(line[:0], &list[i])
		} else {
			line = appendNM(line[:0], &list[i], digits)
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

func appendPerf(b []byte, s *symbol) []byte {
	b = append(strconv.AppendUint(b, s.addr, 16), ' ')
	b = append(strconv.AppendUint(b, s.size, 16), ' ')
	return append(append(b, s.name...), '\n')
}

func appendNM(b []byte, s *symbol, digits int) []byte {
	b = append(appendPadded(b, s.addr, digits), ' ')
	if s.size != 0 {
		b = append(appendPadded(b, s.size, digits), ' ')
	}
	return append(append(append(b, "T "...), s.name...), '\n')
}

// appendPadded appends a hexadecimal number of at least the given number of digits.
func appendPadded(b []byte, v uint64, digits int) []byte {
	var buf [16]byte
	n := strconv.AppendUint(buf[:0], v, 16)
	for range digits - len(n) {
		b = append(b, '0')
	}
	return append(b, n...)
}

// Losses returns what Write would leave out of m.
func Losses(m *symfmt.Module, o Options) []symfmt.Loss {
	var losses symfmt.LossList
	losses.AddVars(m)
	add := losses.Add
	const only = "the list records only names and addresses"
	list, outside := symbols(m, o)
	add("MODULE records", 1, only)
	losses = append(losses, m.LossOf(only, symfmt.KindInfo, symfmt.KindFile, symfmt.KindInlineOrigin, symfmt.KindInline,
		symfmt.KindLine, symfmt.KindStackWin, symfmt.KindCFIInit, symfmt.KindCFI)...)
	losses.AddWhole(symfmt.KindFunc, "", outside.funcs, "beyond the last address, counted from the base")
	losses.AddWhole(symfmt.KindPublic, "", outside.publics, "beyond the last address, counted from the base")
	var params, multiple, sizes, empty int
	for i := range m.Funcs {
		f := &m.Funcs[i]
		params, multiple = params+one(f.ParamSize != 0), multiple+one(f.Multiple)
	}
	for i := range m.Publics {
		p := &m.Publics[i]
		params, multiple = params+one(p.ParamSize != 0), multiple+one(p.Multiple)
	}
	for i := range list {
		sizes += one(list[i].public)
		empty += one(!list[i].public && list[i].size == 0)
	}
	add("sizes of parameters", params, only)
	add(`"m" marks`, multiple, only)
	if o.Format == PerfMap {
		add("marks that a symbol is PUBLIC", sizes, "each symbol of a perf map has a size")
	} else {
		add("FUNC records of size 0", empty, "nm does not print a size of 0: they become PUBLIC records")
	}
	return losses
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
