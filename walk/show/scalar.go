package show

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/eval"
)

// number returns the bytes of a scalar as two 64-bit halves.
func (s *showing) number(b []byte, t *vars.Type) (lo, hi uint64) {
	big := s.f.IsBigEndian(t)
	for i := range b {
		c := uint64(b[i])
		if big {
			c = uint64(b[len(b)-1-i])
		}
		if i < 8 {
			lo |= c << (8 * i)
		} else if i < 16 {
			hi |= c << (8 * (i - 8))
		}
	}
	return lo, hi
}

// signed sign-extends a number of size bytes.
func signed(v uint64, size int) int64 {
	if size <= 0 || size >= 8 {
		return int64(v)
	}
	return int64(v<<(64-8*size)) >> (64 - 8*size)
}

// scalar shows a known value without parts.
func (s *showing) scalar(v eval.Value, t *vars.Type, depth int) string {
	lo, hi := s.number(v.Bytes, t)
	switch t.Kind {
	case vars.Pointer, vars.Reference, vars.RValueRef:
		return s.pointer(lo, t, depth)
	case vars.Enum:
		return s.enum(t, lo, len(v.Bytes))
	case vars.MemberPtr:
		return s.memberPointer(v, t, lo)
	case vars.Base:
		return s.base(t, v.Bytes, lo, hi)
	case vars.Function:
		return s.closure(lo)
	}
	return "0x" + strconv.FormatUint(lo, 16)
}

func (s *showing) base(t *vars.Type, b []byte, lo, hi uint64) string {
	if len(b) == 0 { // Rust's () has one value, which has the type's name
		return t.Name
	}
	switch t.Encoding {
	case vars.Boolean:
		if lo < 2 {
			return strconv.FormatBool(lo == 1)
		}
	case vars.Float:
		return s.float(t, lo, hi, len(b))
	case vars.ComplexFloat:
		if half := len(b) / 2; half == 4 || half == 8 || half == 16 {
			return s.complex(t, b, func(lo, hi uint64) string { return s.float(t, lo, hi, half) })
		}
	case vars.ComplexInt:
		if strings.HasPrefix(t.Name, "complex") {
			return s.complex(t, b, func(lo, hi uint64) string { return integer(lo, hi, len(b)/2, true) })
		}
	case vars.DecimalFloat, vars.PackedDec, vars.SignedFixed, vars.UnsignFixed: // the bits do not represent an integer
		return "0x" + new(big.Int).SetBytes(wordBytes(lo, hi)).Text(16)
	case vars.Signed:
		return integer(lo, hi, len(b), true)
	case vars.SignedChar, vars.UnsignedChar:
		n := integer(lo, hi, len(b), t.Encoding == vars.SignedChar)
		if c := character(lo, len(b)); c != "" {
			return n + " " + c
		}
		return n
	case vars.UTF, vars.UCS, vars.ASCII:
		if c := character(lo, len(b)); c != "" {
			return c
		}
	case vars.Address:
		return "0x" + strconv.FormatUint(lo, 16)
	}
	return integer(lo, hi, len(b), false)
}

// complex shows a complex number, whose halves part formats.
func (s *showing) complex(t *vars.Type, b []byte, part func(lo, hi uint64) string) string {
	re, im := part(s.number(b[:len(b)/2], t)), part(s.number(b[len(b)/2:], t))
	if !strings.HasPrefix(im, "-") {
		im = "+" + im
	}
	return re + im + "i"
}

// wordBytes returns a number of 128 bits, the most significant byte first.
func wordBytes(lo, hi uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, hi), lo)
}

// integer formats an integer of up to 16 bytes.
func integer(lo, hi uint64, size int, withSign bool) string {
	switch {
	case size > 8:
		n := new(big.Int).SetUint64(hi)
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(lo))
		if withSign && hi>>63 != 0 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 128))
		}
		return n.String()
	case withSign:
		return strconv.FormatInt(signed(lo, size), 10)
	}
	return strconv.FormatUint(lo, 10)
}

// enum shows the name of a value, or the sum of names with one bit each.
func (s *showing) enum(t *vars.Type, lo uint64, size int) string {
	v := signed(lo, size)
	for _, e := range t.Enumerators() {
		if e.Value == v || uint64(e.Value) == lo {
			return s.enumerator(t, e.Name)
		}
	}
	left, names := lo, []string{}
	for _, e := range t.Enumerators() {
		if bit := uint64(e.Value); bits.OnesCount64(bit) == 1 && left&bit != 0 {
			left &^= bit
			names = append(names, s.enumerator(t, e.Name))
		}
	}
	number := strconv.FormatInt(v, 10)
	switch {
	case len(names) == 0:
		return "(" + t.Name + ") " + number
	case left != 0:
		names = append(names, "0x"+strconv.FormatUint(left, 16))
	}
	return strings.Join(names, " | ")
}

// enumerator returns a name, qualified by its type if that is in a scope, as C++ writes it. Names in other
// languages, such as C and Fortran, are unambiguous without it. Rust uses the type's own name.
func (s *showing) enumerator(t *vars.Type, name string) string {
	if l := s.f.Func; l != nil && l.Language == vars.Rust {
		return text.LastPart(t.Name) + "::" + name
	}
	if at := strings.LastIndex(t.Name, "::"); at >= 0 && !strings.Contains(name, "::") {
		return t.Name + "::" + name
	}
	return name
}

// pointer shows an address, its symbol, and the text or the object to which it points.
func (s *showing) pointer(addr uint64, t *vars.Type, depth int) string {
	out := "0x" + strconv.FormatUint(addr, 16)
	refers := t.Kind != vars.Pointer || strings.HasPrefix(t.Name, "&")
	owns := strings.HasPrefix(t.Name, "alloc::boxed::Box<")
	if refers {
		out = "@" + out
	}
	switch {
	case addr == 0 && s.language(t.Elem) == langGo:
		return "nil"
	case addr == 0:
		return out
	}
	out += s.symbol(addr)
	elem, _ := s.in.Plain(t.Elem)
	switch {
	case elem == nil || elem.Kind == vars.Void || elem.Kind == vars.Function:
	case !refers && (isCharacter(elem) || s.isWideText(t.Elem)) && !strings.HasPrefix(t.Name, "*"): // Rust and Go do not terminate texts with zeros
		if text := s.terminated(addr, elem); text != "" {
			out += " " + text
		}
	case (refers || owns) && !s.following:
		out += ": " + s.target(addr, t.Elem, depth)
	case depth == 0 && !s.following && (elem.Kind == vars.Struct || elem.Kind == vars.Class || elem.Kind == vars.Union):
		out += s.object(addr, t.Elem)
	}
	return out
}

// maxObject limits the parts that are shown of a pointer's target.
const maxObject = 50

// object shows the target of a variable that is a pointer, if the dump has it.
func (s *showing) object(addr uint64, id vars.TypeID) string {
	size, ok := s.sizeOf(id)
	if !ok || size == 0 || size > eval.MaxValue {
		return ""
	}
	if v := s.f.Read(addr, int(size)); !v.Whole() {
		return ""
	}
	left := s.left
	s.left = min(left, maxObject)
	given := s.left
	text := s.target(addr, id, 0)
	s.left = left - given + s.left
	return ": " + text
}

// symbol returns " <name>" for an address that has a symbol, otherwise "".
func (s *showing) symbol(addr uint64) string {
	if s.o.Symbol == nil {
		return ""
	}
	name := s.o.Symbol(addr)
	if name == "" {
		return ""
	}
	return " <" + name + ">"
}

// closure shows a Go function value, a pointer to a structure that begins with the address of the code.
func (s *showing) closure(addr uint64) string {
	if addr == 0 {
		return "nil"
	}
	code, _ := s.f.Word(addr)
	return "0x" + strconv.FormatUint(addr, 16) + s.symbol(code)
}

// target shows the value at an address.
func (s *showing) target(addr uint64, id vars.TypeID, depth int) string {
	size, ok := s.sizeOf(id)
	if !ok || depth >= s.o.Depth {
		return "..."
	}
	outer := s.following
	s.following = true
	text := s.text(s.f.Read(addr, int(min(size, eval.MaxValue))), id, depth+1)
	s.following = outer
	return text
}

// isCharacter reports whether a type is a character type of text.
func isCharacter(t *vars.Type) bool {
	if t.Kind != vars.Base {
		return false
	}
	switch t.Encoding {
	case vars.SignedChar, vars.UnsignedChar:
		return t.Size == 1
	case vars.UTF:
		return t.Size == 1 || t.Size == 2 || t.Size == 4
	}
	return t.Name == "wchar_t"
}

// isWideText reports whether a type is one of C's character types that are typedefs of integers.
func (s *showing) isWideText(id vars.TypeID) bool {
	for range maxSteps {
		t := &s.in.Types[id]
		switch {
		case t.Kind == vars.Typedef && (t.Name == "wchar_t" || t.Name == "char16_t" || t.Name == "char32_t"):
			return true
		case t.Kind != vars.Typedef && t.Kind != vars.Const && t.Kind != vars.Volatile:
			return false
		}
		id = t.Elem
	}
	return false
}

// terminated shows the zero-terminated text at an address, or returns "" if the dump lacks it.
func (s *showing) terminated(addr uint64, t *vars.Type) string {
	size, most := int(t.Size), 4*s.o.Length
	v := s.f.Read(addr, size*(most+1))
	known := 0
	for known < len(v.Bytes) && v.Known(known) {
		known++
	}
	if known < size {
		return ""
	}
	codes := s.codes(v.Bytes[:known/size*size], t)
	if end := slices.Index(codes, 0); end >= 0 {
		return s.characters(codes[:end], t, false)
	}
	return s.characters(codes[:min(len(codes), most)], t, true)
}

// codes returns the codes of characters.
func (s *showing) codes(b []byte, t *vars.Type) []uint64 {
	size := int(t.Size)
	codes := make([]uint64, 0, len(b)/size)
	for ; len(b) >= size; b = b[size:] {
		lo, _ := s.number(b[:size], t)
		codes = append(codes, lo)
	}
	return codes
}

// characters shows characters as text; cut means that there are more.
func (s *showing) characters(codes []uint64, t *vars.Type, cut bool) string {
	var text []byte
	if t.Size == 1 {
		for _, c := range codes {
			text = append(text, byte(c))
		}
	} else {
		text = runes(codes)
	}
	if cut {
		return quote(text) + "..."
	}
	return quote(text)
}

// limited shows the first characters of text.
func (s *showing) limited(b []byte, v *eval.Value) string {
	if !v.Whole() {
		return partly(v)
	}
	if most := 4 * s.o.Length; len(b) > most {
		return quote(b[:most]) + "..."
	}
	return quote(b)
}

// memberPointer shows a pointer to a member: its offset, or a function with the adjustment of the
// object's address (Itanium C++ ABI, section 2.3; C++ ABI for the Arm 64-bit architecture, section 3.2.1).
func (s *showing) memberPointer(v eval.Value, t *vars.Type, lo uint64) string {
	if len(v.Bytes) != 2*s.f.Arch.PtrSize {
		if signed(lo, len(v.Bytes)) == -1 {
			return "nullptr"
		}
		return "offset " + strconv.FormatUint(lo, 10)
	}
	word, _ := s.number(v.Bytes[:s.f.Arch.PtrSize], t)
	adjust, _ := s.number(v.Bytes[s.f.Arch.PtrSize:], t)
	mark := &word // its lowest bit marks virtual functions; the rest is then the offset in the vtable
	switch s.f.Arch {
	case arch.ARM, arch.ARM64, arch.MIPS, arch.MIPS64: // addresses may be odd, for code in another instruction set
		mark = &adjust
	}
	virtual := *mark&1 != 0
	*mark &^= 1
	if mark == &adjust {
		adjust = uint64(signed(adjust, s.f.Arch.PtrSize) / 2)
	}
	out := "0x" + strconv.FormatUint(word, 16)
	switch {
	case virtual:
		out = "virtual function at offset " + strconv.FormatUint(word, 10) + " of the table"
	case word != 0:
		out += s.symbol(word)
	}
	if adjust != 0 {
		out += ", this adjustment " + strconv.FormatInt(signed(adjust, s.f.Arch.PtrSize), 10)
	}
	return out
}
