package demangle

import (
	"math"
	"strconv"
)

// msPrinter is where a name is printed.
type msPrinter struct {
	out   []byte
	from  int // where the name begins in out
	limit int // how long out may become
	tree  int // how deep in the nodes
}

// write prints the symbol that was read.
func (d *msDecoder) write(dst []byte, root ref, form msForm) []byte {
	d.out, d.from, d.tree, d.limit = dst, len(dst), 0, len(dst)+lengthAllowed(d.src)
	d.symbolText(root, form)
	if len(d.out) > d.limit {
		d.tooMuch()
	}
	out := d.out
	d.out = nil
	return out
}

func (d *msDecoder) text(s string) { d.out = append(d.out, s...) }

// deeper begins to print a node, unless that would take too much; shallower undoes it.
func (d *msDecoder) deeper() *msDecoder {
	d.step()
	if d.tree++; d.tree > maxTree || len(d.out) > d.limit {
		d.tooMuch()
	}
	return d
}

func (d *msDecoder) shallower() { d.tree-- }

// numberAt prints the number at a place.
func (d *msDecoder) numberAt(at int) {
	n, negative, _, _ := msNumber(d.src, at)
	if negative && n != 0 {
		d.text("-")
	}
	d.out = strconv.AppendUint(d.out, n, 10)
}

// offsetsAt prints count numbers of 32 bits with commas between them, those from signed up to
// last with a sign.
func (d *msDecoder) offsetsAt(at, count, signed, last int) {
	for i := range count {
		if i > 0 {
			d.text(", ")
		}
		n, negative, end, _ := msNumber(d.src, at)
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
func (d *msDecoder) space() {
	if d.afterWord() {
		d.text(" ")
	}
}

func (d *msDecoder) afterWord() bool {
	if len(d.out) == d.from {
		return false
	}
	c := d.out[len(d.out)-1]
	return isDigit(c) || isLower(c) || isUpper(c) || c == '>'
}

// symbolText prints a symbol.
func (d *msDecoder) symbolText(r ref, form msForm) {
	defer d.deeper().shallower()
	if d.failed {
		return
	}
	switch n := &d.nodes[r]; n.kind {
	case msFunction:
		d.functionText(n, form)
	case msVariable:
		d.variableText(n, form)
	case msTypeInfo:
		if form&(msNoVariable|msCompact) != msNoVariable {
			d.before(n.f[1], form)
			d.space()
		}
		d.name(n.f[0], form)
	case msVtable:
		if form&msCompact == 0 {
			d.qualifiersText(n.quals, false, true)
		}
		d.name(n.f[0], form)
		for i, base := range d.elements(n.list()) {
			d.text([...]string{"{for `", "'s `"}[min(i, 1)])
			d.name(base, form)
		}
		if n.list().n > 0 {
			d.text("'}")
		}
	case msString:
		d.printLiteral(n)
	}
}

// nameOnly prints the name of a function without its parameters, as FUNC records have functions
// around others and in template arguments.
func (d *msDecoder) nameOnly(r ref, form msForm) {
	if n := &d.nodes[r]; n.kind == msFunction || n.kind == msVariable {
		d.name(n.f[0], form)
	} else {
		d.symbolText(r, form)
	}
}

func (d *msDecoder) functionText(n *msNode, form msForm) {
	s := d.nodes[n.f[1]]
	if s.class&msAnyThunk != 0 {
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

func (d *msDecoder) variableText(n *msNode, form msForm) {
	if '0' <= n.op && n.op <= '2' {
		if form&msNoAccess == 0 {
			d.text([...]string{"private: ", "protected: ", "public: "}[n.op-'0'])
		}
		if form&msNoMember == 0 {
			d.text("static ")
		}
	}
	typed := form&msNoVariable == 0 && n.f[1] != 0
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
func (d *msDecoder) name(r ref, form msForm) {
	defer d.deeper().shallower()
	if d.failed {
		return
	}
	switch n := &d.nodes[r]; n.kind {
	case msName:
		d.text(d.src[n.f[0]:][:n.f[1]])
	case msWord:
		d.wordText(n, form)
	case msStructor:
		if n.op != 0 {
			d.text("~")
		}
		d.name(n.f[0], form)
	case msConvert:
		d.text("operator ")
		d.typeText(n.f[0], form)
	case msSuffix:
		d.text(`operator ""`)
		d.name(n.f[0], form)
	case msTemplate:
		d.templateText(n, form)
	case msLocal:
		d.text("`")
		if form&msCompact != 0 {
			d.nameOnly(n.f[0], form)
		} else {
			d.symbolText(n.f[0], msFull)
		}
		d.text("'::`")
		d.numberAt(int(n.at))
		d.text("'")
	case msScoped:
		l := d.elements(n.list())
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

// wordText prints a word of a table. In records types have one spelling within template arguments, as
// compilers print them, and another in parameters.
func (d *msDecoder) wordText(n *msNode, form msForm) {
	if form&msCompact == 0 || form&msInArgs != 0 && n.kind == msPlain {
		d.text(msWords[n.op][n.at])
	} else {
		d.text(msRecordWords[n.op][n.at])
	}
}

// helper prints the name of what compilers add.
func (d *msDecoder) helper(n *msNode, form msForm) {
	switch n.kind {
	case msBase:
		d.text("`RTTI Base Class Descriptor at (")
		d.offsetsAt(int(n.at), 4, 1, 2)
		d.text(")'")
	case msVcall:
		d.text("`vcall'{")
		d.numberAt(int(n.at))
		d.text(", {flat}}")
	case msGuard:
		d.text([...]string{"`local static guard'", "`local static thread guard'"}[n.op])
		if n.at != 0 && d.src[n.at:] != "A@" {
			d.text("{")
			d.numberAt(int(n.at))
			d.text("}")
		}
	case msInit:
		d.text([...]string{"`dynamic initializer for ", "`dynamic atexit destructor for "}[n.op-'E'])
		if n.flags&msOfVariable != 0 && form&msCompact == 0 {
			d.text("`")
			d.symbolText(n.f[0], form)
			d.text("''")
			return
		}
		d.text("'")
		if n.flags&msOfVariable != 0 {
			d.symbolText(n.f[0], form)
		} else {
			d.name(n.f[0], form)
		}
		d.text("''")
	}
}

// comma separates parameters and arguments.
func (d *msDecoder) comma(form msForm) {
	if d.text(","); form&msInArgs == 0 {
		d.text(" ")
	}
}

// templateText prints a template and its arguments. LLVM prints those of a conversion in
// front of its type.
func (d *msDecoder) templateText(n *msNode, form msForm) {
	convert := &d.nodes[n.f[0]]
	if convert.kind == msConvert {
		d.text("operator")
	} else {
		d.name(n.f[0], form)
	}
	d.text("<")
	inner := form
	if form&msCompact != 0 {
		inner |= msInArgs
	}
	for i, arg := range d.elements(n.list()) {
		if i > 0 {
			d.comma(inner)
		}
		d.argument(arg, inner)
	}
	if form&msCompact != 0 && d.out[len(d.out)-1] == '>' {
		d.text(" ")
	}
	d.text(">")
	if convert.kind == msConvert {
		d.text(" ")
		d.typeText(convert.f[0], form)
	}
}

// argument prints a template argument.
func (d *msDecoder) argument(r ref, form msForm) {
	defer d.deeper().shallower()
	if d.failed {
		return
	}
	switch n := &d.nodes[r]; n.kind {
	case msInteger:
		d.numberAt(int(n.at))
	case msFloat:
		d.floatText(n)
	case msSymbol:
		d.symbolArgument(n, form)
	case msBraced:
		d.bracedText(n, form)
	case msField:
		d.fieldText(n, form)
	case msNull:
		d.text("nullptr")
	case msScoped:
		d.name(r, form)
	default:
		d.typeText(r, form)
	}
}

// symbolArgument prints a pointer to a function, a variable or a member: &f, or with offsets
// {f, 4}.
func (d *msDecoder) symbolArgument(n *msNode, form msForm) {
	offsets := d.elements(n.list())
	if len(offsets) > 0 {
		d.text("{")
	} else if n.op != 0 {
		d.text("&")
	}
	if n.f[0] != 0 {
		if form&msCompact != 0 {
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

// floatText prints a number by its bits.
func (d *msDecoder) floatText(n *msNode) {
	bits, _, _, _ := msNumber(d.src, int(n.at))
	if n.op == 'A' {
		d.out = strconv.AppendFloat(d.out, float64(math.Float32frombits(uint32(bits))), 'g', -1, 32)
	} else {
		d.out = strconv.AppendFloat(d.out, math.Float64frombits(bits), 'g', -1, 64)
	}
}

// bracedText prints the values of a class, with its type if it is not in another.
func (d *msDecoder) bracedText(n *msNode, form msForm) {
	if n.op != 0 {
		d.typeText(n.f[0], form)
	}
	d.text("{")
	for i, v := range d.elements(n.list()) {
		if i > 0 {
			d.comma(form)
		}
		d.argument(v, form)
	}
	d.text("}")
}

// fieldText prints a pointer to a member, or the value of a union's.
func (d *msDecoder) fieldText(n *msNode, form msForm) {
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
