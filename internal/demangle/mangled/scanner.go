package mangled

// Scanner reads a name into nodes, which the decoder that embeds it defines. It has the name,
// the remaining budget, and the lists of nodes.
type Scanner struct {
	Src    string // the mangled name
	Pos    int
	Failed bool // it is not a mangled name, or is refused
	Costly bool // ... because it would need more work than its length allows
	Steps  int  // steps left: one for each node that is read, copied or printed
	Depth  int

	Lists []Ref
	Stack []Ref // lists that are being read
}

// Ref is the index of a node. 0 means no node; reading a refused name returns it.
type Ref = int32

// Span is a list of nodes, by its place in Scanner.Lists.
type Span struct{ Start, N Ref }

// Start begins to read a name after its first known bytes.
func (s *Scanner) Start(raw string, known int) {
	s.Src, s.Pos, s.Failed, s.Depth = raw, known, false, 0
	s.Stack = s.Stack[:0]
}

// Fail refuses the name: there is nothing more to read.
func (s *Scanner) Fail() Ref {
	s.Failed, s.Pos = true, len(s.Src)
	return 0
}

// TooMuch refuses a name that needs more work than its length allows.
func (s *Scanner) TooMuch() {
	s.Costly = true
	s.Fail()
}

// Step charges one step.
func (s *Scanner) Step() {
	if s.Steps--; s.Steps < 0 {
		s.TooMuch()
	}
}

// Enter is called where the grammar is recursive.
func (s *Scanner) Enter() {
	s.Step()
	if s.Depth++; s.Depth > MaxDepth {
		s.TooMuch()
	}
}

// Leave undoes Enter.
func (s *Scanner) Leave() { s.Depth-- }

// Peek returns the next byte, or 0 at the end; no name contains a 0.
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

// Eat skips c if it is next, and reports whether it was.
func (s *Scanner) Eat(c byte) bool {
	if s.Peek() != c || s.Pos >= len(s.Src) {
		return false
	}
	s.Pos++
	return true
}

// Eat2 skips two bytes if they are next, and reports whether they were.
func (s *Scanner) Eat2(c, c2 byte) bool {
	if s.Peek() != c || s.Behind() != c2 {
		return false
	}
	s.Pos += 2
	return true
}

// Want skips c, and fails if something else is next.
func (s *Scanner) Want(c byte) {
	if !s.Eat(c) {
		s.Fail()
	}
}

// More reports whether the next byte is not the end of a list.
func (s *Scanner) More(end byte) bool { return !s.Failed && s.Peek() != end }

// Elements returns the nodes of a list.
func (s *Scanner) Elements(l Span) []Ref { return s.Lists[l.Start:][:l.N] }

// Push adds a node to the list that is being read. Lists are read onto a stack, as they may
// contain others.
func (s *Scanner) Push(r Ref) { s.Stack = append(s.Stack, r) }

// Pop makes a list of the nodes on the stack above mark.
func (s *Scanner) Pop(mark int) Span {
	l := Span{Start: Ref(len(s.Lists)), N: Ref(len(s.Stack) - mark)}
	s.Lists = append(s.Lists, s.Stack[mark:]...)
	s.Stack = s.Stack[:mark]
	return l
}
