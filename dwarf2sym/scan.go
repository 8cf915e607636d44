package dwarf2sym

import "bytes"

// scanFrame is an open DIE: what a DIE below it belongs to.
type scanFrame struct {
	fn    int32 // index of the open function, or -1
	inl   int32 // index of the enclosing inlined subroutine in it, or -1
	scope int32 // innermost scope, or -1
	outer int32 // position in the unit of the function around it, up to the innermost scope; 0: none
	opens uint8 // what ends with this DIE
}

const (
	opensFunc  = 1 << iota // the function fn
	opensScope             // the scope
)

// maxDepth bounds the nesting of DIEs. Compilers stay below 200; beyond it the
// unit is taken for damaged.
const maxDepth = 4096

// scan goes over the DIEs of the unit once. Functions are closed at their end;
// what an error cuts short is closed with what it has.
func (w *worker) scan() error {
	err := w.walk()
	for i := len(w.stack) - 1; i >= 0; i-- {
		w.leave(&w.stack[i], len(w.u.data))
	}
	return err
}

// walk is scan up to the end of the DIEs or an error. It leaves what is open in
// w.stack.
func (w *worker) walk() error {
	u := &w.u
	data, pos, dense := u.data, u.children, u.abbrevs.dense
	stack := append(w.stack[:0], scanFrame{fn: -1, inl: -1, scope: -1})
	defer func() { w.stack = stack }()
	for pos < len(data) {
		start := pos
		code := uint64(data[pos])
		pos++
		if code >= 0x80 {
			if code, pos = uleb(data, start); pos < 0 {
				return u.errorf(start, "unit ends within an abbreviation code")
			}
		}
		if code == 0 {
			w.leave(&stack[len(stack)-1], start)
			stack = stack[:len(stack)-1]
			if len(stack) == 0 {
				return nil
			}
			continue
		}
		var d *decl
		if code < uint64(len(dense)) {
			d = &dense[code]
		} else {
			d = u.abbrevs.lookup(code)
		}
		// Most DIEs end here: parameters, variables, types, members.
		if d.class == classOther && d.size >= 0 {
			pos += int(d.size)
			if d.children {
				top := stack[len(stack)-1]
				top.opens = 0
				if stack = append(stack, top); len(stack) > maxDepth {
					return u.errorf(start, "DIEs nested over %d deep", maxDepth)
				}
			}
			continue
		}
		frame, next, err := w.die(d, start, pos, &stack[len(stack)-1])
		if err != nil {
			return err
		}
		pos = next
		if frame.opens&opensNothing != 0 {
			continue
		}
		if stack = append(stack, frame); len(stack) > maxDepth {
			return u.errorf(start, "DIEs nested over %d deep", maxDepth)
		}
	}
	if pos > len(data) {
		return u.errorf(len(data), "unit ends within a DIE")
	}
	// Some producers leave out the closing zeros of the last DIEs.
	return nil
}

// opensNothing marks the frame of a DIE whose children were not entered.
const opensNothing = 1 << 7

// die handles a DIE that is more than passed over. It returns the frame of its
// children, and where to go on.
func (w *worker) die(d *decl, start, pos int, top *scanFrame) (f scanFrame, next int, err error) {
	f = *top
	f.opens = 0
	u := &w.u
	switch {
	case !d.known:
		return f, 0, u.errorf(start, "abbreviation is not declared at .debug_abbrev+%#x", u.abbrevs.offset)
	case d.bad:
		return f, 0, u.errorf(start, "attribute with unknown form %#x", d.badForm)
	case w.exhausted:
		return f, 0, errTired
	}
	jump := -1
	if d.children && d.sibForm != 0 {
		jump = w.sibling(d, pos)
	}
	switch d.class {
	case classFunc, classInline:
		a := &w.attrs
		if next = u.take(d, pos, a); next < 0 {
			return f, 0, u.errorf(start, "unit ends within a DIE")
		}
		if d.class == classInline {
			w.enterInline(a, start, &f)
		} else {
			w.noteLambda(a, &f)
			w.enterFunc(a, start, &f)
		}
	case classScope:
		if u.flat() && jump > 0 {
			return scanFrame{opens: opensNothing}, jump, nil
		}
		next = w.enterScope(d, start, pos, &f)
	case classPrune:
		if jump > 0 {
			return scanFrame{opens: opensNothing}, jump, nil
		}
		fallthrough
	default:
		next = u.over(d, pos)
	}
	w.settle(u)
	if next < 0 {
		return f, 0, u.errorf(start, "unit ends within a DIE")
	}
	if !d.children {
		w.leave(&f, next)
		f.opens = opensNothing
	}
	return f, next, nil
}

// sibling returns the position of the DIE's next sibling, or -1 when the reference
// is not plausible.
func (w *worker) sibling(d *decl, pos int) int {
	at := pos + int(d.sibOff)
	size := int(d.sibForm)
	if at < 0 || at+size > len(w.u.data) {
		return -1
	}
	to := w.u.order.uint(w.u.data[at : at+size])
	if to <= uint64(at) || to > uint64(len(w.u.data)) {
		return -1
	}
	return int(to)
}

// over goes over all attributes of a DIE.
func (u *unit) over(d *decl, pos int) int {
	if d.size >= 0 {
		return pos + int(d.size)
	}
	u.work += uint64(len(d.steps))
	for i := range d.steps {
		if pos = u.skip(&d.steps[i], pos); pos < 0 {
			return -1
		}
	}
	return pos
}

// leave ends what a DIE opened; end is where its children end.
func (w *worker) leave(f *scanFrame, end int) {
	if f.opens&opensFunc != 0 {
		w.closeFunc()
	}
	if f.opens&opensScope != 0 {
		w.scopes[f.scope].end = w.u.off + uint64(end)
	}
	f.opens = 0
}

// dieAttrs are the attributes of functions and inlined subroutines.
type dieAttrs struct {
	nameAttrs
	low, high, ranges value
	callFile          value
	callLine          value
}

// nameAttrs are those that name a DIE, or refer to the DIE that does.
type nameAttrs struct {
	name, linkage value
	spec, origin  value
}

// take reads the wanted attributes of a DIE; it returns where they end, or -1.
func (u *unit) take(d *decl, pos int, a *dieAttrs) int {
	*a = dieAttrs{}
	u.work += uint64(len(d.steps))
	for i := range d.steps {
		s := &d.steps[i]
		if s.op == opFixed {
			if pos += int(s.n); pos > len(u.data) {
				return -1
			}
			continue
		}
		if s.op != opTake {
			if pos = u.skip(s, pos); pos < 0 {
				return -1
			}
			continue
		}
		v, next := u.value(uint64(s.form), s.n, pos)
		if next < 0 {
			return -1
		}
		pos = next
		switch s.at {
		case atName:
			a.name = v
		case atLinkageName, atMIPSLinkageName:
			a.linkage = v
		case atLowPC:
			a.low = v
		case atHighPC:
			a.high = v
		case atRanges:
			a.ranges = v
		case atSpecification, atExtension, atSignature:
			a.spec = v
		case atAbstractOrigin:
			a.origin = v
		case atCallFile:
			a.callFile = v
		case atCallLine:
			a.callLine = v
		}
	}
	return pos
}

// next returns the DIE that completes this one: where its name may be.
func (a *nameAttrs) next() (value, bool) {
	if a.origin.isRef() {
		return a.origin, true
	}
	return a.spec, a.spec.isRef()
}

func (v value) isRef() bool { return v.kind == vRef || v.kind == vRefSup || v.kind == vRefSig }

// lambdaName is what a lambda's type is called, in the form of c++filt: parameters and
// numbers of lambdas are not in names that are put together from scopes.
const lambdaName = "{lambda}"

// noteLambda names the structure that a function with attributes a is a member of, if it
// is that of a lambda: GCC gives it no name, and its constructors and destructor are called <lambda> and ~<lambda>.
func (w *worker) noteLambda(a *dieAttrs, f *scanFrame) {
	if f.scope < 0 || f.outer != 0 {
		return
	}
	s := &w.scopes[f.scope]
	if s.tag != tagStructureType || s.name.kind != vNone || s.text != "" {
		return
	}
	if name, ok := w.u.text(a.name); ok && string(bytes.TrimPrefix(name, []byte("~"))) == "<lambda>" {
		s.text = lambdaName
	}
}

// enterScope records a namespace or type whose name functions below it carry.
func (w *worker) enterScope(d *decl, start, pos int, f *scanFrame) int {
	u := &w.u
	if !d.children || !u.scoped() {
		return u.over(d, pos)
	}
	var a dieAttrs
	next := u.take(d, pos, &a)
	if next < 0 {
		return -1
	}
	s := scope{start: u.off + uint64(start), end: u.off + u.size, parent: f.scope, outer: f.outer, name: a.name, tag: d.tag}
	s.next, _ = a.next()
	w.scopes = append(w.scopes, s)
	f.scope, f.outer, f.opens = int32(len(w.scopes)-1), 0, opensScope
	return next
}
