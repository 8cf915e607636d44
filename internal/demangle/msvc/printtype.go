package msvc

// A type is printed in two parts, before and after the declared name.

func (d *decoder) typeText(r ref, form form) {
	d.before(r, form)
	d.after(r, form)
}

func (d *decoder) before(r ref, form form) {
	defer d.deeper().shallower()
	if d.Failed {
		return
	}
	switch n := &d.nodes[r]; n.kind {
	case kPlain:
		d.wordText(n, form)
		d.qualifiersText(n.quals, true, false)
	case kTag:
		if form&compact == 0 {
			d.text([...]string{"union ", "struct ", "class ", "enum "}[n.op-'T'])
		}
		d.name(n.f[0], form)
		d.qualifiersText(n.quals, true, false)
	case kCustom:
		d.name(n.f[0], form)
	case kPointer:
		d.beforePointer(n, form)
	case kArray:
		d.before(n.f[0], form)
		d.qualifiersText(n.quals, true, false)
	case kSignature:
		d.beforeSignature(n, form&^noReturn)
	}
}

func (d *decoder) after(r ref, form form) {
	defer d.deeper().shallower()
	if d.Failed {
		return
	}
	switch n := &d.nodes[r]; n.kind {
	case kPointer:
		if k := d.nodes[n.f[0]].kind; k == kArray || k == kSignature {
			d.text(")")
		}
		d.after(n.f[0], form)
	case kArray:
		d.text("[")
		for i, at := range d.Elements(n.list()) {
			if i > 0 {
				d.text("][")
			}
			if size, _, _, _ := parseNumber(d.Src, int(at)); size != 0 {
				d.numberAt(int(at))
			}
		}
		d.text("]")
		d.after(n.f[0], form)
	case kSignature:
		d.afterSignature(n, form&^noReturn)
	}
}

func (d *decoder) beforePointer(n *node, form form) {
	to := &d.nodes[n.f[0]]
	if to.kind == kSignature {
		d.before(n.f[0], form&(compact|inArgs)|noCall)
	} else {
		d.before(n.f[0], form)
	}
	if d.spaced(n, form) {
		d.text(" ")
	}
	if n.quals&qualUnaligned != 0 {
		d.space()
		if d.text("__unaligned"); form&compact == 0 {
			d.text(" ")
		}
	}
	switch to.kind {
	case kArray:
		d.text("(")
	case kSignature:
		d.text("(")
		if form&compact == 0 || form&inArgs != 0 {
			d.callText(to.op)
		}
		if form&compact == 0 || n.f[1] != 0 && form&inArgs != 0 {
			d.text(" ")
		}
	}
	if n.f[1] != 0 {
		d.name(n.f[1], form)
		d.text("::")
	}
	switch n.op {
	case 'P':
		d.text("*")
	case 'A':
		d.text("&")
	default:
		d.text("&&")
	}
	d.qualifiersText(n.quals, form&compact != 0, false)
	if n.at != 0 {
		d.text("__ptrauth(")
		d.offsetsAt(int(n.at), 3, 0, 0)
		d.text(")")
	}
}

// spaced reports whether a space precedes the mark of a pointer: in LLVM's form after a word, in
// records before the bracket of functions and arrays, and in template arguments before each mark
// outside brackets.
func (d *decoder) spaced(n *node, form form) bool {
	k := d.nodes[n.f[0]].kind
	switch {
	case form&compact == 0 || k == kSignature:
		return d.afterWord()
	case n.f[1] != 0 || k == kArray:
		return true
	}
	return form&inArgs != 0 && !d.bracketed(n.f[0])
}

// bracketed reports whether a type has a part after the declared name, like pointers to
// functions and arrays.
func (d *decoder) bracketed(r ref) bool {
	n := &d.nodes[r]
	for ; n.kind == kPointer; n = &d.nodes[n.f[0]] {
		d.Step()
	}
	return n.kind == kArray || n.kind == kSignature
}

// qualifiersText prints qualifiers with a space between them.
func (d *decoder) qualifiersText(q qualSet, before, after bool) {
	for i, word := range [...]string{"const", "volatile", "__restrict"} {
		if q>>i&1 == 0 {
			continue
		}
		if before {
			d.text(" ")
		}
		d.text(word)
		before = true
	}
	if after && q&(qualConst|qualVolatile|qualRestrict) != 0 {
		d.text(" ")
	}
}

func (d *decoder) callText(code byte) {
	if int(code) < len(conventions) {
		d.text(conventions[code])
	}
}

// beforeSignature prints the part before the name of a function.
func (d *decoder) beforeSignature(n *node, form form) {
	if form&noAccess == 0 {
		switch n.class & classAccess {
		case classPrivate:
			d.text("private: ")
		case classProtected:
			d.text("protected: ")
		case classPublic:
			d.text("public: ")
		}
	}
	if form&noMember == 0 {
		if n.class&classStatic != 0 {
			d.text("static ")
		}
		if n.class&classVirtual != 0 {
			d.text("virtual ")
		}
		if n.class&classExternC != 0 {
			d.text(`extern "C" `)
		}
	}
	if form&noReturn == 0 && n.f[0] != 0 {
		d.before(n.f[0], form)
		if form&compact == 0 || !d.bracketed(n.f[0]) {
			d.text(" ")
		}
	}
	if form&noCall == 0 {
		d.callText(n.op)
	}
}

// afterSignature prints parameters and the part after them.
func (d *decoder) afterSignature(n *node, form form) {
	if n.class&classNoParams == 0 {
		d.paramsText(n, form)
	}
	for i, word := range [...]string{" const", " volatile", " __restrict", " __unaligned"} {
		if n.quals>>i&1 != 0 {
			d.text(word)
		}
	}
	if n.flags&flagNoexcept != 0 {
		d.text(" noexcept")
	}
	switch {
	case n.flags&flagLRef != 0:
		d.text(" &")
	case n.flags&flagRRef != 0:
		d.text(" &&")
	}
	if form&noReturn == 0 && n.f[0] != 0 {
		d.after(n.f[0], form)
	}
}

func (d *decoder) paramsText(n *node, form form) {
	d.text("(")
	if n.flags&flagVoid != 0 && (form&compact == 0 || form&inArgs != 0) {
		d.text("void")
	}
	for i, p := range d.Elements(n.list()) {
		if i > 0 {
			d.comma(form)
		}
		d.typeText(p, form)
	}
	if n.flags&flagVariadic != 0 {
		if n.f[2] > 0 {
			d.comma(form)
		}
		d.text("...")
	}
	d.text(")")
}
