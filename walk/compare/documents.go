package compare

import (
	"errors"
	"fmt"
	"io"
)

// Summary is the comparison of the walks of many dumps.
type Summary struct {
	Dumps   int      `json:"dumps"` // in both files
	Differs int      `json:"differ"`
	Frames  Counts   `json:"frames"`
	Changed []string `json:"changed"` // names of the dumps that differ, or "#1" for the first
	OnlyA   []string `json:"only_a"`  // dumps in only one of the files
	OnlyB   []string `json:"only_b"`
}

// NewSummary returns an empty summary.
func NewSummary() *Summary {
	return &Summary{Changed: []string{}, OnlyA: []string{}, OnlyB: []string{}}
}

// Clean reports whether nothing differs.
func (s *Summary) Clean() bool { return s.Differs == 0 && len(s.OnlyA)+len(s.OnlyB) == 0 }

// Add adds the comparison of a dump.
func (s *Summary) Add(c *Comparison) {
	s.Dumps++
	s.Frames.add(c.Frames)
	if c.Differs {
		s.Differs++
		name := c.Dump
		if name == "" {
			name = fmt.Sprintf("#%d", s.Dumps)
		}
		s.Changed = append(s.Changed, name)
	}
}

// maxWaiting is the number of frames of walks that may wait for their partners if two files have
// the dumps in different orders.
const maxWaiting = maxOutlineFrames

// Documents compares the walks of two readers. Dumps are paired by name if both have one, otherwise
// by position; if each reader has only one walk, the two are paired. It calls done for each
// comparison, in the order in which both walks have been read, and returns the summary. The error
// is either done's or an *Error.
func Documents(a, b *Reader, done func(*Comparison) error) (*Summary, error) {
	m := &matcher{summary: NewSummary(), done: done}
	for k, from := range [...]*Reader{a, b} {
		m.sides[k] = matchSide{from: from, names: map[string][]*waiting{}, places: map[int]*waiting{}}
	}
	for !m.sides[0].ended || !m.sides[1].ended {
		for k := range m.sides {
			if err := m.next(k); err != nil {
				return nil, err
			}
		}
	}
	left := [2][]*waiting{m.sides[0].left(), m.sides[1].left()}
	if m.sides[0].read == 1 && m.sides[1].read == 1 && len(left[0]) == 1 {
		return m.summary, m.pair(0, left[0][0].o, left[1][0])
	}
	m.summary.OnlyA, m.summary.OnlyB = titles(left[0]), titles(left[1])
	return m.summary, nil
}

// matcher pairs the walks of dumps.
type matcher struct {
	sides   [2]matchSide
	frames  int // of waiting walks
	summary *Summary
	done    func(*Comparison) error
}

// matchSide is one of the files.
type matchSide struct {
	from   *Reader
	ended  bool
	read   int
	names  map[string][]*waiting
	places map[int]*waiting
	order  []*waiting
}

// waiting is a walk whose partner has not been read yet.
type waiting struct {
	o     *outline // nil once it has a partner
	place int
	title string
}

// next reads a document of side k.
func (m *matcher) next(k int) error {
	side := &m.sides[k]
	if side.ended {
		return nil
	}
	o, err := side.from.next()
	if err == io.EOF {
		if side.ended = true; side.read == 0 {
			return &Error{side.from.path, 0, errors.New("the file is empty")}
		}
		return nil
	}
	if err != nil {
		return err
	}
	side.read++
	if w := m.sides[1-k].partner(o, side.read); w != nil {
		return m.pair(k, o, w)
	}
	return m.wait(side, o)
}

// partner returns the walk of the same dump, if it is waiting.
func (s *matchSide) partner(o *outline, place int) *waiting {
	if o.Dump != "" {
		for len(s.names[o.Dump]) > 0 {
			w := s.names[o.Dump][0]
			if s.names[o.Dump] = s.names[o.Dump][1:]; w.o != nil {
				return w
			}
		}
	}
	if w := s.places[place]; w != nil && w.o != nil && (o.Dump == "" || w.o.Dump == "") {
		return w
	}
	return nil
}

// pair compares the walk o of side k with one that was waiting.
func (m *matcher) pair(k int, o *outline, w *waiting) error {
	a, b := w.o, o
	if k == 0 {
		a, b = o, w.o
	}
	m.frames -= size(w.o)
	w.o = nil
	c := compareOutlines(a, b)
	m.summary.Add(c)
	return m.done(c)
}

func (m *matcher) wait(side *matchSide, o *outline) error {
	if m.frames += size(o); m.frames > maxWaiting {
		return side.from.fail(fmt.Errorf("over %d frames of walks without a partner in the other file", maxWaiting))
	}
	w := &waiting{o: o, place: side.read, title: o.Dump}
	if w.title == "" {
		w.title = fmt.Sprintf("#%d", w.place)
	} else {
		side.names[o.Dump] = append(side.names[o.Dump], w)
	}
	side.places[w.place] = w
	side.order = append(side.order, w)
	return nil
}

// size returns the approximate number of frames that take as much memory as a walk.
func size(o *outline) (n int) {
	n = 16
	for i := range o.Threads {
		n += 1 + len(o.Threads[i].Frames)
	}
	return n
}

// left returns the walks without a partner.
func (s *matchSide) left() (all []*waiting) {
	for _, w := range s.order {
		if w.o != nil {
			all = append(all, w)
		}
	}
	return all
}

func titles(list []*waiting) []string {
	names := make([]string, 0, len(list))
	for _, w := range list {
		names = append(names, w.title)
	}
	return names
}
