package show

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/eval"
)

// functionAt returns the name of the function that begins at an address, without its module, or "".
func (s *showing) functionAt(addr uint64) string {
	if s.o.Symbol == nil || addr == 0 {
		return ""
	}
	_, name, _ := strings.Cut(s.o.Symbol(addr), "!")
	if strings.Contains(name, " + 0x") {
		return ""
	}
	return name
}

// anyValue shows a std::any of libstdc++ (include/std/any). Its manager is a function of a class whose template
// argument is the type of the value. The value is in the buffer, or the buffer points to it.
func (s *showing) anyValue(parts map[string]part, depth int) string {
	addr, data := s.word(parts["type"]), parts["data"].value
	if addr == 0 {
		return "empty"
	}
	symbol := s.functionAt(addr)
	kind, rest, _ := strings.Cut(strings.TrimPrefix(symbol, "std::any::_Manager_"), "<")
	name := argument("<"+rest, 1)
	if !strings.HasPrefix(symbol, "std::any::_Manager_") || name == "" {
		return "{manager 0x" + strconv.FormatUint(addr, 16) + s.symbol(addr) + "}"
	}
	id := s.typeNamed(name)
	size, ok := s.sizeOf(id)
	switch {
	case id == 0 || !ok || size > eval.MaxValue:
		return "[" + plainName(name) + "] {...}"
	case kind == "internal" && size <= uint64(len(data.Bytes)):
		data = data.Part(0, int(size))
	case kind == "external" && len(data.Bytes) >= s.f.Arch.PtrSize:
		at, _ := s.number(data.Bytes[:s.f.Arch.PtrSize], &vars.Type{})
		data = s.f.Read(at, int(size))
	default:
		return damaged
	}
	return "[" + TypeName(s.in, id) + "] " + s.text(data, id, depth+1)
}

// bitset shows a std::bitset as a number or, if it has many bits, as the positions of the bits that are set.
func (s *showing) bitset(data part, id vars.TypeID) string {
	t, _ := s.in.Plain(id)
	n, err := strconv.ParseUint(strings.TrimRight(argument(t.Name, 1), "ulUL"), 10, 64)
	b, word := data.value.Bytes, s.f.Arch.PtrSize
	if err != nil || n > 8*uint64(len(b)) || len(b)%word != 0 || len(b) == 0 {
		return damaged
	}
	var places []string
	for i := 0; i < len(b); i += word {
		lo, _ := s.number(b[i:i+word], &vars.Type{})
		if n <= 8*uint64(word) {
			text := strconv.FormatUint(lo, 2)
			return strings.Repeat("0", max(0, int(n)-len(text))) + text
		}
		for ; lo != 0; lo &= lo - 1 {
			if len(places) == s.o.Length {
				return "bits {" + strings.Join(append(places, "..."), ", ") + "}"
			}
			places = append(places, strconv.Itoa(8*i+bits.TrailingZeros64(lo)))
		}
	}
	return "bits {" + strings.Join(places, ", ") + "}"
}

// dyn shows a pointer to a Rust trait object, and the object if its type is known.
func (s *showing) dyn(parts map[string]part, depth int) string {
	addr, table := s.word(parts["data"]), s.word(parts["type"])
	out := "0x" + strconv.FormatUint(addr, 16)
	name, size := s.implementer(table, parts["type"].plain)
	if name == "" {
		return out + ", vtable 0x" + strconv.FormatUint(table, 16) + s.symbol(table)
	}
	id := s.typeNamed(name)
	if n, ok := s.sizeOf(id); id == 0 || !ok || n != size || s.following {
		return out + " (" + plainName(name) + ")"
	}
	if size == 0 {
		return out + ": " + s.text(eval.Value{}, id, depth+1)
	}
	return out + ": " + s.target(addr, id, depth)
}

// A trait's vtable has a function that drops the object, the object's size and alignment, and methods.
const (
	tableDrop    = 0
	tableSize    = 1
	tableMethods = 3
	maxMethods   = 16 // number of methods that are read
)

// implementer returns the type whose vtable is at an address, according to the names of the functions in it, and the
// size of its values. pointer is the type of a pointer to the vtable.
func (s *showing) implementer(at uint64, pointer *vars.Type) (name string, size uint64) {
	word := s.f.Arch.PtrSize
	total, ok := s.sizeOf(pointer.Elem)
	if !ok || total < uint64(tableMethods*word) || total > uint64((tableMethods+maxMethods)*word) {
		total = uint64(tableMethods * word)
	}
	table := s.f.Read(at, int(total))
	if !table.Whole() {
		return "", 0
	}
	entry := func(i int) uint64 {
		n, _ := s.number(table.Bytes[i*word:(i+1)*word], &vars.Type{})
		return n
	}
	size = entry(tableSize)
	if f := s.functionAt(entry(tableDrop)); strings.HasPrefix(f, "core::ptr::drop_in_place") {
		return argument(f, 1), size
	}
	for i := tableMethods; (i+1)*word <= len(table.Bytes); i++ {
		f := s.functionAt(entry(i))
		owner := argument(f, 1)
		owner, _, found := strings.Cut(owner, " as ")
		switch {
		case !strings.HasPrefix(f, "<") || !found || isParameter(owner):
		case name == "":
			name = owner
		case name != owner:
			return "", 0
		}
	}
	return name, size
}

// isParameter reports whether a name in a function's name is a type parameter, for which any type may stand: names of
// structures include their scopes.
func isParameter(name string) bool {
	return name != "" && 'A' <= name[0] && name[0] <= 'Z' && !strings.ContainsAny(name, ":<")
}
