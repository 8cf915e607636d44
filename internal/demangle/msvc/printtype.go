package demangle

// A type is printed in two parts, before and after what it is the type of.

func (d *msDecoder) typeText(r ref, form msForm) {
	d.before(r, form)
	d.after(r, form)
}

func (d *msDecoder) before(r ref, form msForm) {
	defer d.deeper().shallower()
	if d.failed {
		return
	}
	switch n := &d.nodes[r]; n.kind {
	case msPlain:
		d.wordText(n, form)
		d.qualifiersText(n.quals, true, false)
	case msTag:
		if form&msCompact == 0 {
			d.text([...]string{"union ", "struct ", "class ", "enum "}[n.op-'T'])
		}
		d.name(n.f[0], form)
		d.qualifiersText(n.quals, true, false)
	case msCustom:
		d.name(n.f[0], form)
	case msPointer:
		d.beforePointer(n, form)
	case msArray:
		d.before(n.f[0], form)
		d.qualifiersText(n.quals, true, false)
	case msSignature:
		d.beforeSignature(n, form&^msNoReturn)
	}
}

func (d *msDecoder) after(r ref, form msForm) {
	defer d.deeper().shallower()
	if d.failed {
		return
	}
	switch n := &d.nodes[r]; n.kind {
	case msPointer:
		if k := d.nodes[n.f[0]].kind; k == msArray || k == msSignature {
			d.text(")")
		}
		d.after(n.f[0], form)
	case msArray:
		d.text("[")
		for i, at := range d.elements(n.list()) {
			if i > 0 {
				d.text("][")
			}
			if size, _, _, _ := msNumber(d.src, int(at)); size != 0 {
				d.numberAt(int(at))
			}
		}
		d.text("]")
		d.after(n.f[0], form)
	case msSignature:
		d.afterSignature(n, form&^msNoReturn)
	}
}

func (d *msDecoder) beforePointer(n *msNode, form msForm) {
	to := &d.nodes[n.f[0]]
	if to.kind == msSignature {
		d.before(n.f[0], form&(msCompact|msInArgs)|msNoCall)
	} else {
		d.before(n.f[0], form)
	}
	if d.spaced(n, form) {
		d.text(" ")
	}
	if n.quals&msUnaligned != 0 {
		d.space()
		if d.text("__unaligned"); form&msCompact == 0 {
			d.text(" ")
		}
	}
	switch to.kind {
	case msArray:
		d.text("(")
	case msSignature:
		d.text("(")
		if form&msCompact == 0 || form&msInArgs != 0 {
			d.callText(to.op)
		}
		if form&msCompact == 0 || n.f[1] != 0 && form&msInArgs != 0 {
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
	d.qualifiersText(n.quals, form&msCompact != 0, false)
	if n.at != 0 {
		d.text("__ptrauth(")
		d.offsetsAt(int(n.at), 3, 0, 0)
		d.text(")")
	}
}

// spaced reports whether a space is before the mark of a pointer: for LLVM behind a word, in
// records before the bracket of functions and arrays, and in template arguments before each mark
// outside of brackets.
func (d *msDecoder) spaced(n *msNode, form msForm) bool {
	k := d.nodes[n.f[0]].kind
	switch {
	case form&msCompact == 0 || k == msSignature:
		return d.afterWord()
	case n.f[1] != 0 || k == msArray:
		return true
	}
	return form&msInArgs != 0 && !d.bracketed(n.f[0])
}

// bracketed reports whether a type ends after what it is the type of, as those of pointers to
// functions and arrays do.
func (d *msDecoder) bracketed(r ref) bool {
	n := &d.nodes[r]
	for ; n.kind == msPointer; n = &d.nodes[n.f[0]] {
		d.step()
	}
	return n.kind == msArray || n.kind == msSignature
}

// qualifiersText prints qualifiers with a space between them.
func (d *msDecoder) qualifiersText(q msQuals, before, after bool) {
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
	if after && q&(msConst|msVolatile|msRestrict) != 0 {
		d.text(" ")
	}
}

func (d *msDecoder) callText(code byte) {
	if int(code) < len(msCalls) {
		d.text(msCalls[code])
	}
}

// beforeSignature prints what is before the name of a function.
func (d *msDecoder) beforeSignature(n *msNode, form msForm) {
	if form&msNoAccess == 0 {
		switch n.class & msAccess {
		case msPrivate:
			d.text("private: ")
		case msProtected:
			d.text("protected: ")
		case msPublic:
			d.text("public: ")
		}
	}
	if form&msNoMember == 0 {
		if n.class&msStatic != 0 {
			d.text("static ")
		}
		if n.class&msVirtual != 0 {
			d.text("virtual ")
		}
		if n.class&msExternC != 0 {
			d.text(`extern "C" `)
		}
	}
	if form&msNoReturn == 0 && n.f[0] != 0 {
		d.before(n.f[0], form)
		if form&msCompact == 0 || !d.bracketed(n.f[0]) {
			d.text(" ")
		}
	}
	if form&msNoCall == 0 {
		d.callText(n.op)
	}
}

// afterSignature prints parameters and what is behind them.
func (d *msDecoder) afterSignature(n *msNode, form msForm) {
	if n.class&msNoParams == 0 {
		d.paramsText(n, form)
	}
	for i, word := range [...]string{" const", " volatile", " __restrict", " __unaligned"} {
		if n.quals>>i&1 != 0 {
			d.text(word)
		}
	}
	if n.flags&msNoexcept != 0 {
		d.text(" noexcept")
	}
	switch {
	case n.flags&msLRef != 0:
		d.text(" &")
	case n.flags&msRRef != 0:
		d.text(" &&")
	}
	if form&msNoReturn == 0 && n.f[0] != 0 {
		d.after(n.f[0], form)
	}
}

func (d *msDecoder) paramsText(n *msNode, form msForm) {
	d.text("(")
	if n.flags&msVoid != 0 && (form&msCompact == 0 || form&msInArgs != 0) {
		d.text("void")
	}
	for i, p := range d.elements(n.list()) {
		if i > 0 {
			d.comma(form)
		}
		d.typeText(p, form)
	}
	if n.flags&msVariadic != 0 {
		if n.f[2] > 0 {
			d.comma(form)
		}
		d.text("...")
	}
	d.text(")")
}
