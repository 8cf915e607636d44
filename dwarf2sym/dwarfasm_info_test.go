package dwarf2sym

import (
	"strings"
)

// In .debug_info:
//
//	unit 5 64 type=1 addr=4 abbrev=9
//		compile_unit name/string="a.c" language/data1=0x1d
//			f: subprogram low_pc/addr=0x1000 high_pc/data4=16
//
// begins a unit: version, "64" for 64-bit DWARF, unit type, address size, offset
// of its abbreviations (made from its DIEs, when not given). Each line after it
// is a DIE; the tabs give its depth. An attribute is name/form=value; the value
// is a number, a "text", <bytes>, or &label: relative to the unit in ref1 to
// ref8, else to the section. form "indirect:f" writes an indirect form. "open"
// after a tag says that the DIE has children even where none follow, "unended"
// behind unit leaves out the zeros that end the DIEs. Plain data may stand
// between DIEs; endunit ends the unit where more of it follows.

type asmUnit struct {
	start   int
	addr    int
	unended bool
	lines   []asmDIE
	decls   map[string]uint64 // declaration -> code
	table   []byte            // its abbreviations
	own     bool              // table is to be emitted
}

type asmDIE struct {
	line   string
	words  []string
	indent int
}

var asmTags = map[string]uint64{
	"array_type": 0x01, "class_type": 0x02, "enumeration_type": 0x04, "formal_parameter": 0x05, "label": 0x0a,
	"lexical_block": 0x0b, "member": 0x0d, "pointer_type": 0x0f, "compile_unit": 0x11, "structure_type": 0x13, "subroutine_type": 0x15,
	"union_type": 0x17, "ptr_to_member_type": 0x1f, "typedef": 0x16, "inlined_subroutine": 0x1d, "module": 0x1e, "base_type": 0x24, "subprogram": 0x2e,
	"variable": 0x34, "namespace": 0x39, "partial_unit": 0x3c, "imported_unit": 0x3d, "type_unit": 0x41,
	"call_site": 0x48, "call_site_parameter": 0x49, "skeleton_unit": 0x4a, "GNU_call_site": 0x4109,
}

var asmAttrs = map[string]uint64{
	"sibling": 0x01, "location": 0x02, "name": 0x03, "byte_size": 0x0b, "encoding": 0x3e, "data_member_location": 0x38, "stmt_list": 0x10, "low_pc": 0x11, "high_pc": 0x12,
	"language": 0x13, "comp_dir": 0x1b, "const_value": 0x1c, "inline": 0x20, "producer": 0x25,
	"abstract_origin": 0x31, "artificial": 0x34, "declaration": 0x3c, "decl_file": 0x3a, "decl_line": 0x3b,
	"external": 0x3f, "frame_base": 0x40, "specification": 0x47, "type": 0x49, "entry_pc": 0x52, "ranges": 0x55, "call_file": 0x58,
	"call_column": 0x57, "call_line": 0x59, "linkage_name": 0x6e, "str_offsets_base": 0x72, "addr_base": 0x73, "rnglists_base": 0x74,
	"dwo_name": 0x76, "containing_type": 0x1d, "call_return_pc": 0x7d, "call_value": 0x7e, "call_origin": 0x7f, "data_bit_offset": 0x6b, "loclists_base": 0x8c,
	"MIPS_linkage_name": 0x2007, "GNU_dwo_name": 0x2130, "GNU_addr_base": 0x2133,
}

var asmForms = map[string]uint64{
	"addr": 0x01, "block2": 0x03, "block4": 0x04, "data2": 0x05, "data4": 0x06, "data8": 0x07, "string": 0x08,
	"block": 0x09, "block1": 0x0a, "data1": 0x0b, "flag": 0x0c, "sdata": 0x0d, "strp": 0x0e, "udata": 0x0f,
	"ref_addr": 0x10, "ref1": 0x11, "ref2": 0x12, "ref4": 0x13, "ref8": 0x14, "ref_udata": 0x15, "indirect": 0x16,
	"sec_offset": 0x17, "exprloc": 0x18, "flag_present": 0x19, "strx": 0x1a, "addrx": 0x1b, "ref_sup4": 0x1c,
	"strp_sup": 0x1d, "data16": 0x1e, "line_strp": 0x1f, "ref_sig8": 0x20, "implicit_const": 0x21, "loclistx": 0x22,
	"rnglistx": 0x23, "ref_sup8": 0x24, "strx1": 0x25, "strx2": 0x26, "strx3": 0x27, "strx4": 0x28,
	"addrx1": 0x29, "addrx2": 0x2a, "addrx3": 0x2b, "addrx4": 0x2c,
	"GNU_addr_index": 0x1f01, "GNU_str_index": 0x1f02, "GNU_ref_alt": 0x1f20, "GNU_strp_alt": 0x1f21,
	"LLVM_addrx_offset": 0x2001,
}

// beginUnit writes a unit's header (DWARF 2 to 4: 7.5.1.1; DWARF 5: 7.5.1).
func (a *dwarfAsm) beginUnit(words []string) {
	a.endUnit()
	opt := a.options(words[1:])
	version := a.number(words[0])
	u := &asmUnit{start: a.pos(), addr: int(opt("addr", uint64(a.addrSize))),
		decls: make(map[string]uint64), unended: opt("unended", 0) == 1}
	table := uint64(len(a.secs[".debug_abbrev"]))
	u.own = opt("abbrev", ^uint64(0)) == ^uint64(0)
	if !u.own {
		table = opt("abbrev", 0)
	}
	a.begin(opt("64", 0) == 1)
	a.uint(version, 2)
	if version >= 5 {
		a.emit(byte(opt("type", 1)), byte(u.addr))
		a.uint(table, a.offSize)
		switch opt("type", 1) {
		case 4, 5: // skeleton, split compile: unit id
			a.uint(0x1122334455667788, 8)
		case 2, 6: // type, split type: signature, offset of the type
			a.uint(0x8877665544332211, 8)
			a.uint(0, a.offSize)
		}
	} else {
		a.uint(table, a.offSize)
		a.emit(byte(u.addr))
	}
	a.unit = u
}

func (a *dwarfAsm) endUnit() {
	u := a.unit
	if u == nil {
		return
	}
	a.unit = nil
	var open []int // indentation of the DIEs whose children are not ended
	for i, l := range u.lines {
		words := l.words
		if strings.HasSuffix(words[0], ":") {
			words = words[1:]
		}
		if len(words) == 0 || !isTag(words[0]) {
			if l.words = a.label(l.words); len(l.words) > 0 {
				a.data(l.line, l.words)
			}
			continue
		}
		for len(open) > 0 && open[len(open)-1] >= l.indent {
			a.emit(0)
			open = open[:len(open)-1]
		}
		a.label(l.words)
		children := i+1 < len(u.lines) && u.lines[i+1].indent > l.indent
		if len(words) > 1 && words[1] == "open" {
			children, words = true, append(words[:1:1], words[2:]...)
		}
		if children {
			open = append(open, l.indent)
		}
		a.die(u, children, words, l.line)
	}
	for range open {
		if !u.unended {
			a.emit(0)
		}
	}
	a.end()
	if u.own {
		a.secs[".debug_abbrev"] = append(a.secs[".debug_abbrev"], append(u.table, 0)...)
	}
}

func isTag(word string) bool {
	_, ok := asmTags[word]
	return ok || strings.HasPrefix(word, "tag:")
}

// asmAttr is an attribute of a DIE's line.
type asmAttr struct {
	attr, form uint64
	inner      []uint64 // the forms that indirect ones name
	value      string
}

// die writes a DIE, and its declaration if it is a new one.
func (a *dwarfAsm) die(u *asmUnit, children bool, words []string, line string) {
	decl := appendULEB(nil, a.name(asmTags, strings.TrimPrefix(words[0], "tag:")))
	decl = append(decl, 0)
	if children {
		decl[len(decl)-1] = 1
	}
	var attrs []asmAttr
	for _, w := range words[1:] {
		name, rest, _ := strings.Cut(w, "/")
		form, value, _ := strings.Cut(rest, "=")
		forms := strings.Split(form, ":")
		at := asmAttr{attr: a.name(asmAttrs, name), form: a.name(asmForms, forms[0]), value: value}
		for _, f := range forms[1:] {
			at.inner = append(at.inner, a.name(asmForms, f))
		}
		decl = appendULEB(appendULEB(decl, at.attr), at.form)
		if at.form == asmForms["implicit_const"] {
			decl = appendSLEB(decl, int64(a.number(value)))
		}
		attrs = append(attrs, at)
	}
	decl = append(decl, 0, 0)
	code, ok := u.decls[string(decl)]
	if !ok {
		code = uint64(len(u.decls) + 1)
		u.decls[string(decl)] = code
		u.table = append(appendULEB(u.table, code), decl...)
	}
	a.emit(appendULEB(nil, code)...)
	for _, at := range attrs {
		for _, f := range at.inner {
			a.emit(appendULEB(nil, f)...)
			at.form = f
		}
		a.value(u, at.form, at.value, line)
	}
}

// value writes an attribute's value (DWARF 5, 7.5.6).
func (a *dwarfAsm) value(u *asmUnit, form uint64, v, line string) {
	sizes := map[uint64]int{
		0x01: u.addr, 0x05: 2, 0x06: 4, 0x07: 8, 0x0b: 1, 0x0c: 1, 0x10: a.offSize, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8,
		0x17: a.offSize, 0x1c: 4, 0x1d: a.offSize, 0x1e: 16, 0x20: 8, 0x24: 8, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4,
		0x29: 1, 0x2a: 2, 0x2b: 3, 0x2c: 4, 0x0e: a.offSize, 0x1f: a.offSize, 0x1f20: a.offSize, 0x1f21: a.offSize,
	}
	size, fixed := sizes[form]
	switch {
	case form == 0x19 || form == 0x21: // flag_present, implicit_const
	case v == "":
		a.t.Fatalf("%s: no value", line)
	case v[0] == '"' && form == 0x08: // string
		a.bytes(v)
	case v[0] == '"': // strp, line_strp
		a.uint(a.string(form, a.text(v)), size)
	case v[0] == '<' && fixed:
		a.bytes(v)
	case v[0] == '<':
		at := a.pos()
		a.bytes(v)
		body := append([]byte(nil), a.secs[a.at][at:]...)
		a.secs[a.at] = a.secs[a.at][:at]
		a.block(form, len(body))
		a.emit(body...)
	case v[0] == '&':
		base := 0
		if form >= 0x11 && form <= 0x15 {
			base = u.start
		}
		if form == 0x15 { // ref_udata: two bytes, for labels that are known
			off := a.labels[v[1:]] - base
			a.emit(byte(off)|0x80, byte(off>>7))
			return
		}
		a.ref(v[1:], size, base, line)
	case fixed:
		a.uint(a.number(v), size)
	case form == 0x0d: // sdata
		a.emit(appendSLEB(nil, int64(a.number(v)))...)
	default: // udata and the indices
		a.emit(appendULEB(nil, a.number(v))...)
	}
}

// string adds a string to the section of the form, and returns its offset.
func (a *dwarfAsm) string(form uint64, s string) uint64 {
	name := ".debug_str"
	if form == 0x1f {
		name = ".debug_line_str"
	}
	off := len(a.secs[name])
	a.secs[name] = append(append(a.secs[name], s...), 0)
	return uint64(off)
}

// block writes the length of a block.
func (a *dwarfAsm) block(form uint64, n int) {
	switch form {
	case 0x0a:
		a.uint(uint64(n), 1)
	case 0x03:
		a.uint(uint64(n), 2)
	case 0x04:
		a.uint(uint64(n), 4)
	case 0x09, 0x18:
		a.emit(appendULEB(nil, uint64(n))...)
	}
}
