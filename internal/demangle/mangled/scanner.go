package demangle

// A scanner is what the decoders of C++ share: the name that is read, what it may cost, and
// lists of nodes.
type scanner struct {
	src    string // the mangled name
	pos    int
	failed bool // the name is not one, or is refused
	costly bool // ... because it would take more than its length allows
	steps  int  // how many are left: one for each node that is read, copied or printed
	depth  int

	lists []ref
	stack []ref // lists that are being read
}

// A ref is the index of a node. 0 is no node, and what is read of a name that is refused.
type ref = int32

// A span is a list of nodes: its place in scanner.lists.
type span struct{ start, n ref }

// start begins to read a name, the first bytes of which are known.
func (s *scanner) start(raw string, known int) {
	s.src, s.pos, s.failed, s.depth = raw, known, false, 0
	s.stack = s.stack[:0]
}

// fail ends the reading of a name: there is nothing more to read.
func (s *scanner) fail() ref {
	s.failed, s.pos = true, len(s.src)
	return 0
}

// tooMuch ends the work on a name that takes more than its length allows.
func (s *scanner) tooMuch() {
	s.costly = true
	s.fail()
}

// step counts work.
func (s *scanner) step() {
	if s.steps--; s.steps < 0 {
		s.tooMuch()
	}
}

// enter is called where grammar refers to itself; leave undoes it.
func (s *scanner) enter() {
	s.step()
	if s.depth++; s.depth > maxDepth {
		s.tooMuch()
	}
}

func (s *scanner) leave() { s.depth-- }

// peek returns the next byte, or 0 at the end, which is in no name.
func (s *scanner) peek() byte {
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

// behind returns the byte after the next one, or 0.
func (s *scanner) behind() byte {
	if s.pos+1 < len(s.src) {
		return s.src[s.pos+1]
	}
	return 0
}

func (s *scanner) eat(c byte) bool {
	if s.peek() != c || s.pos >= len(s.src) {
		return false
	}
	s.pos++
	return true
}

// eat2 passes two bytes.
func (s *scanner) eat2(c, c2 byte) bool {
	if s.peek() != c || s.behind() != c2 {
		return false
	}
	s.pos += 2
	return true
}

func (s *scanner) want(c byte) {
	if !s.eat(c) {
		s.fail()
	}
}

// more reports whether there is something before the byte that ends a list.
func (s *scanner) more(end byte) bool { return !s.failed && s.peek() != end }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func (s *scanner) elements(l span) []ref { return s.lists[l.start:][:l.n] }

// Lists are read onto a stack, as there are others in them.

func (s *scanner) push(r ref) { s.stack = append(s.stack, r) }

// pop makes a list of what is on the stack above mark.
func (s *scanner) pop(mark int) span {
	l := span{ref(len(s.lists)), ref(len(s.stack) - mark)}
	s.lists = append(s.lists, s.stack[mark:]...)
	s.stack = s.stack[:mark]
	return l
}
