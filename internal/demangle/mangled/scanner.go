package mangled

// A Scanner reads a name into nodes, which the decoder that embeds it defines. It has the
// name, what it may still cost, and the lists of nodes.
type Scanner struct {
	Src    string // the mangled name
	Pos    int
	Failed bool // the name is not one, or is refused
	Costly bool // ... because it would take more than its length allows
	Steps  int  // how many are left: one for each node that is read, copied or printed
	Depth  int

	Lists []Ref
	Stack []Ref // lists that are being read
}

// A Ref is the index of a node. 0 is no node, and what is read of a name that is refused.
type Ref = int32

// A Span is a list of nodes: its place in Scanner.Lists.
type Span struct{ Start, N Ref }

// Start begins to read a name, the first bytes of which are known.
func (s *Scanner) Start(raw string, known int) {
	s.Src, s.Pos, s.Failed, s.Depth = raw, known, false, 0
	s.Stack = s.Stack[:0]
}

// Fail ends the reading of a name: there is nothing more to read.
func (s *Scanner) Fail() Ref {
	s.Failed, s.Pos = true, len(s.Src)
	return 0
}

// TooMuch ends the work on a name that takes more than its length allows.
func (s *Scanner) TooMuch() {
	s.Costly = true
	s.Fail()
}

// Step counts work.
func (s *Scanner) Step() {
	if s.Steps--; s.Steps < 0 {
		s.TooMuch()
	}
}

// Enter is called where the grammar refers to itself.
func (s *Scanner) Enter() {
	s.Step()
	if s.Depth++; s.Depth > MaxDepth {
		s.TooMuch()
	}
}

// Leave undoes Enter.
func (s *Scanner) Leave() { s.Depth-- }

// Peek returns the next byte, or 0 at the end, which is in no name.
func (s *Scanner) Peek() byte {
	if s.Pos < len(s.Src) {
		return s.Src[s.Pos]
	}
	return 0
}

// Behind returns the byte after the next one, or 0.
func (s *Scanner) Behind() byte {
	if s.Pos+1 < len(s.Src) {
		return s.Src[s.Pos+1]
	}
	return 0
}

// Eat passes c, if it is next.
func (s *Scanner) Eat(c byte) bool {
	if s.Peek() != c || s.Pos >= len(s.Src) {
		return false
	}
	s.Pos++
	return true
}

// Eat2 passes two bytes.
func (s *Scanner) Eat2(c, c2 byte) bool {
	if s.Peek() != c || s.Behind() != c2 {
		return false
	}
	s.Pos += 2
	return true
}

// Want passes c, and fails if something else is next.
func (s *Scanner) Want(c byte) {
	if !s.Eat(c) {
		s.Fail()
	}
}

// More reports whether there is something before the byte that ends a list.
func (s *Scanner) More(end byte) bool { return !s.Failed && s.Peek() != end }

// Elements returns the nodes of a list.
func (s *Scanner) Elements(l Span) []Ref { return s.Lists[l.Start:][:l.N] }

// Push adds a node to the list that is being read. Lists are read onto a stack, as there
// are others in them.
func (s *Scanner) Push(r Ref) { s.Stack = append(s.Stack, r) }

// Pop makes a list of what is on the stack above mark.
func (s *Scanner) Pop(mark int) Span {
	l := Span{Start: Ref(len(s.Lists)), N: Ref(len(s.Stack) - mark)}
	s.Lists = append(s.Lists, s.Stack[mark:]...)
	s.Stack = s.Stack[:mark]
	return l
}
