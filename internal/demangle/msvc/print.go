package msvc

import (
	"math"
	"strconv"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// printer is where a name is printed.
type printer struct {
	out   []byte
	from  int // start of the name in out
	limit int // maximum length of out
	tree  int // how deep in the nodes
}

// write prints the symbol that was read.
func (d *decoder) write(dst []byte, root ref, form form) []byte {
	d.out, d.from, d.tree, d.limit = dst, len(dst), 0, len(dst)+mangled.LengthAllowed(d.Src)
	d.symbolText(root, form)
	if len(d.out) > d.limit {
		d.TooMuch()
	}
	out := d.out
	d.out = nil
	return out
}

func (d *decoder) text(s string) { d.out = append(d.out, s...) }

// deeper begins to print a node, unless the limits are reached; shallower undoes it.
func (d *decoder) deeper() *decoder {
	d.Step()
	if d.tree++; d.tree > mangled.MaxTree || len(d.out) > d.limit {
		d.TooMuch()
	}
	return d
}

func (d *decoder) shallower() { d.tree-- }

// numberAt prints the number at a place.
func (d *decoder) numberAt(at int) {
	n, negative, _, _ := parseNumber(d.Src, at)
	if negative && n != 0 {
		d.text("-")
	}
	d.out = strconv.AppendUint(d.out, n, 10)
}

// offsetsAt prints count 32-bit numbers separated by commas, those from signed to last with a
// sign.
func (d *decoder) offsetsAt(at, count, signed, last int) {
	for i := range count {
		if i > 0 {
			d.text(", ")
		}
		n, negative, end, _ := parseNumber(d.Src, at)
		if at = end; negative {
			n = -n
		}
		if v := uint32(n); signed <= i && i < last {
			d.out = strconv.AppendInt(d.out, int64(int32(v)), 10)
		} else {
			d.out = strconv.AppendUint(d.out, uint64(v), 10)
		}
	}
}

// space separates a word from one before it.
func (d *decoder) space() {
	if d.afterWord() {
		d.text(" ")
	}
}

func (d *decoder) afterWord() bool {
	if len(d.out) == d.from {
		return false
	}
	c := d.out[len(d.out)-1]
	return mangled.IsDigit(c) || mangled.IsLower(c) || mangled.IsUpper(c) || c == '>'
}

// symbolText prints a symbol.
func (d *decoder) symbolText(r ref, form form) {
	defer d.deeper().shallower()
	if d.Failed {
		return
	}
	switch n := &d.nodes[r]; n.kind {
	case kFunction:
		d.functionText(n, form)
	case kVariable:
		d.variableText(n, form)
	case kTypeInfo:
		if form&(noVariable|compact) != noVariable {
			d.before(n.f[1], form)
			d.space()
		}
		d.name(n.f[0], form)
	case kVtable:
		if form&compact == 0 {
			d.qualifiersText(n.quals, false, true)
		}
		d.name(n.f[0], form)
		for i, base := range d.Elements(n.list()) {
			d.text([...]string{"{for `", "'s `"}[min(i, 1)])
			d.name(base, form)
		}
		if n.list().N > 0 {
			d.text("'}")
		}
	case kString:
		d.printLiteral(n)
	}
}

// nameOnly prints the name of a function without its parameters. FUNC records have this form for
// functions around names and in template arguments.
func (d *decoder) nameOnly(r ref, form form) {
	if n := &d.nodes[r]; n.kind == kFunction || n.kind == kVariable {
		d.name(n.f[0], form)
	} else {
		d.symbolText(r, form)
	}
}

func (d *decoder) functionText(n *node, form form) {
	s := d.nodes[n.f[1]]
	if s.class&classAnyThunk != 0 {
		d.text("[thunk]: ")
	}
	d.beforeSignature(&s, form)
	d.space()
	d.name(n.f[0], form)
	if count := s.class.offsets(); count > 0 {
		d.text([...]string{1: "`adjustor{", 2: "`vtordisp{", 4: "`vtordispex{"}[count])
		d.offsetsAt(int(n.at), count, 0, count-1)
		d.text("}'")
	}
	d.afterSignature(&s, form)
}

func (d *decoder) variableText(n *node, form form) {
	if '0' <= n.op && n.op <= '2' {
		if form&noAccess == 0 {
			d.text([...]string{"private: ", "protected: ", "public: "}[n.op-'0'])
		}
		if form&noMember == 0 {
			d.text("static ")
		}
	}
	typed := form&noVariable == 0 && n.f[1] != 0
	if typed {
		d.before(n.f[1], form)
		d.space()
	}
	d.name(n.f[0], form)
	if typed {
		d.after(n.f[1], form)
	}
}

// name prints a name.
func (d *decoder) name(r ref, form form) {
	defer d.deeper().shallower()
	if d.Failed {
		return
	}
	switch n := &d.nodes[r]; n.kind {
	case kName:
		d.text(d.Src[n.f[0]:][:n.f[1]])
	case kWord:
		d.wordText(n, form)
	case kStructor:
		if n.op != 0 {
			d.text("~")
		}
		d.name(n.f[0], form)
	case kConvert:
		d.text("operator ")
		d.typeText(n.f[0], form)
	case kSuffix:
		d.text(`operator ""`)
		d.name(n.f[0], form)
	case kTemplate:
		d.templateText(n, form)
	case kLocal:
		d.text("`")
		if form&compact != 0 {
			d.nameOnly(n.f[0], form)
		} else {
			d.symbolText(n.f[0], full)
		}
		d.text("'::`")
		d.numberAt(int(n.at))
		d.text("'")
	case kScoped:
		l := d.Elements(n.list())
		for i := len(l) - 1; i >= 0; i-- {
			d.name(l[i], form)
			if i > 0 {
				d.text("::")
			}
		}
	default:
		d.helper(n, form)
	}
}

// wordText prints a word of a table. In records, types have one spelling in template arguments, as
// compilers print them, and another in parameters.
func (d *decoder) wordText(n *node, form form) {
	if form&compact == 0 || form&inArgs != 0 && n.kind == kPlain {
		d.text(llvmWords[n.op][n.at])
	} else {
		d.text(recordWords[n.op][n.at])
	}
}

// helper prints the name of something that compilers add.
func (d *decoder) helper(n *node, form form) {
	switch n.kind {
	case kBase:
		d.text("`RTTI Base Class Descriptor at (")
		d.offsetsAt(int(n.at), 4, 1, 2)
		d.text(")'")
	case kVcall:
		d.text("`vcall'{")
		d.numberAt(int(n.at))
		d.text(", {flat}}")
	case kGuard:
		d.text([...]string{"`local static guard'", "`local static thread guard'"}[n.op])
		if n.at != 0 && d.Src[n.at:] != "A@" {
			d.text("{")
			d.numberAt(int(n.at))
			d.text("}")
		}
	case kInit:
		d.text([...]string{"`dynamic initializer for ", "`dynamic atexit destructor for "}[n.op-'E'])
		if n.flags&flagOfVariable != 0 && form&compact == 0 {
			d.text("`")
			d.symbolText(n.f[0], form)
			d.text("''")
			return
		}
		d.text("'")
		if n.flags&flagOfVariable != 0 {
			d.symbolText(n.f[0], form)
		} else {
			d.name(n.f[0], form)
		}
		d.text("''")
	}
}

// comma separates parameters and arguments.
func (d *decoder) comma(form form) {
	if d.text(","); form&inArgs == 0 {
		d.text(" ")
	}
}

// templateText prints a template and its arguments. LLVM prints the arguments of a conversion
// before its type.
func (d *decoder) templateText(n *node, form form) {
	convert := &d.nodes[n.f[0]]
	if convert.kind == kConvert {
		d.text("operator")
	} else {
		d.name(n.f[0], form)
	}
	d.text("<")
	inner := form
	if form&compact != 0 {
		inner |= inArgs
	}
	for i, arg := range d.Elements(n.list()) {
		if i > 0 {
			d.comma(inner)
		}
		d.argument(arg, inner)
	}
	if form&compact != 0 && d.out[len(d.out)-1] == '>' {
		d.text(" ")
	}
	d.text(">")
	if convert.kind == kConvert {
		d.text(" ")
		d.typeText(convert.f[0], form)
	}
}

// argument prints a template argument.
func (d *decoder) argument(r ref, form form) {
	defer d.deeper().shallower()
	if d.Failed {
		return
	}
	switch n := &d.nodes[r]; n.kind {
	case kInteger:
		d.numberAt(int(n.at))
	case kFloat:
		d.floatText(n)
	case kSymbol:
		d.symbolArgument(n, form)
	case kBraced:
		d.bracedText(n, form)
	case kField:
		d.fieldText(n, form)
	case kNull:
		d.text("nullptr")
	case kScoped:
		d.name(r, form)
	default:
		d.typeText(r, form)
	}
}

// symbolArgument prints a pointer to a function, a variable or a member: &f, or with offsets
// {f, 4}.
func (d *decoder) symbolArgument(n *node, form form) {
	offsets := d.Elements(n.list())
	if len(offsets) > 0 {
		d.text("{")
	} else if n.op != 0 {
		d.text("&")
	}
	if n.f[0] != 0 {
		if form&compact != 0 {
			d.nameOnly(n.f[0], form)
		} else {
			d.symbolText(n.f[0], form)
		}
	}
	for i, at := range offsets {
		if i > 0 || n.f[0] != 0 {
			d.text(", ")
		}
		d.numberAt(int(at))
	}
	if len(offsets) > 0 {
		d.text("}")
	}
}

// floatText prints a floating-point number, given its bits.
func (d *decoder) floatText(n *node) {
	bits, _, _, _ := parseNumber(d.Src, int(n.at))
	if n.op == 'A' {
		d.out = strconv.AppendFloat(d.out, float64(math.Float32frombits(uint32(bits))), 'g', -1, 32)
	} else {
		d.out = strconv.AppendFloat(d.out, math.Float64frombits(bits), 'g', -1, 64)
	}
}

// bracedText prints the values of a class, with its type unless it is inside another.
func (d *decoder) bracedText(n *node, form form) {
	if n.op != 0 {
		d.typeText(n.f[0], form)
	}
	d.text("{")
	for i, v := range d.Elements(n.list()) {
		if i > 0 {
			d.comma(form)
		}
		d.argument(v, form)
	}
	d.text("}")
}

// fieldText prints a pointer to a member, or the value of a member of a union.
func (d *decoder) fieldText(n *node, form form) {
	if n.f[0] != 0 {
		d.text("&")
		d.name(n.f[0], form)
		d.text("::")
		d.name(n.f[1], form)
		return
	}
	d.text(".")
	d.name(n.f[1], form)
	d.text("=")
	d.argument(n.f[2], form)
}
