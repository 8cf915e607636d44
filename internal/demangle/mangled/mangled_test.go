package mangled

import (
	"strings"
	"testing"
)

// What a name may cost grows with its length, and is bounded.
func TestAllowed(t *testing.T) {
	long := strings.Repeat("a", MaxMangled)
	if n := LengthAllowed(long); n != MaxDemangled-1 {
		t.Errorf("the longest name may become %d bytes, want %d", n, MaxDemangled-1)
	}
	if short, more := StepsAllowed("_Z1fv"), StepsAllowed("_Z1fv."); more-short != StepsPerByte {
		t.Errorf("a byte allows %d steps, want %d", more-short, StepsPerByte)
	}
}

// After a failure nothing more is read.
func TestScanner(t *testing.T) {
	s := Scanner{Steps: 3}
	s.Start("_Zabc", len("_Z"))
	if !s.Eat('a') || s.Eat('a') || !s.Eat2('b', 'c') || s.Peek() != 0 || s.Behind() != 0 || s.Eat(0) || s.Failed {
		t.Errorf("after abc: %+v", s)
	}
	if s.Want('d'); !s.Failed || s.More('E') || s.Costly {
		t.Errorf("after d, which is missing: %+v", s)
	}
	s.Start("_Z", len("_Z"))
	for range 3 {
		s.Enter()
	}
	if s.Failed {
		t.Errorf("after three steps: %+v", s)
	}
	if s.Enter(); !s.Failed || !s.Costly {
		t.Errorf("after four steps of three: %+v", s)
	}
}

func TestScannerDepth(t *testing.T) {
	s := Scanner{Steps: 4 * MaxDepth}
	s.Start("_Z", len("_Z"))
	for range MaxDepth {
		s.Enter()
	}
	s.Leave()
	if s.Enter(); s.Failed {
		t.Errorf("%d deep: %+v", MaxDepth, s)
	}
	if s.Enter(); !s.Costly {
		t.Errorf("%d deep: %+v", MaxDepth+1, s)
	}
}

// A list within another ends before it.
func TestLists(t *testing.T) {
	var s Scanner
	s.Push(1)
	mark := len(s.Stack)
	s.Push(2)
	s.Push(3)
	inner := s.Pop(mark)
	s.Push(4)
	outer := s.Pop(0)
	if got := s.Elements(inner); len(got) != 2 || got[0] != 2 || got[1] != 3 {
		t.Errorf("inner list: %v", got)
	}
	if got := s.Elements(outer); len(got) != 2 || got[0] != 1 || got[1] != 4 {
		t.Errorf("outer list: %v", got)
	}
}
