package vars

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// BadRecord is an invalid record.
type BadRecord struct {
	Line int // as given to Parser.Add
	Off  int // offset of the invalid part, in the text given to Parser.Add
	Kind ErrorKind
	Msg  string // without the place
}

// ErrorKind says what is wrong with a record.
type ErrorKind uint8

// The kinds of errors.
const (
	Malformed   ErrorKind = iota // it cannot be parsed
	Undeclared                   // it refers to an entry that does not exist
	Overlapping                  // its function overlaps the one before it
)

// maxDepth bounds the nesting of scopes, like the bound for DIEs where they are read.
const maxDepth = 4096

// maxSub bounds the nesting of operations.
const maxSub = 8

// Parser reads records one after another.
type Parser struct {
	info *Info // nil before the record with the version

	lang   Language  // of the following functions
	fn     []byte    // the F record that may continue
	fnAt   []segment // lines of fn
	types  []int     // line of each type
	exprs  []int
	vars   []int
	groups []int
	run    []int // of RuntimeTypes
	funcs  []int
	bounds []int64 // boundaries of the function
	cursor int64
	b      Builder
}

// Lines are the lines of the entries of an Info, as given to Parser.Add. Those of entries 0 are 0.
type Lines struct{ Types, Exprs, Funcs []int }

// Lines returns the lines from which the entries that Finish returned were read.
func (p *Parser) Lines() Lines { return Lines{p.types, p.exprs, p.funcs} }

// Knows reports whether Add uses a record, given what was added before. Add skips the others.
func (p *Parser) Knows(text []byte) bool {
	if p.info == nil {
		return IsStart(text)
	}
	word, _, _ := bytes.Cut(text, []byte(" "))
	return IsStart(text) || len(word) == 1 && bytes.IndexByte(words, word[0]) >= 0
}

// segment is a line of an F record.
type segment struct{ start, line, off int }

// IsStart reports whether text, which follows "INFO VAR", is the first record of a version that
// this package supports. Records before it must not be passed to a Parser.
func IsStart(text []byte) bool {
	word, _, _ := strings.Cut(string(text[:min(len(text), 8)]), " ")
	return word == "1"
}

// Add reads a record: the text after "INFO VAR". line is used in errors. If the record is
// invalid, an entry of a table is left empty, and a function is left out. The error may concern
// an earlier record.
func (p *Parser) Add(text []byte, line int) *BadRecord {
	switch {
	case IsStart(text):
		return p.start(text, line)
	case p.info == nil || len(text) == 0:
		return nil
	}
	s := scanner{text: text, line: line}
	word := text[:min(len(text), 2)]
	if len(word) == 2 && word[1] == ' ' || len(text) == 1 {
		s.pos = len(word)
		switch word[0] {
		case wordMore:
			if p.fn == nil {
				return s.fail("no F record to continue")
			}
			p.fnAt = append(p.fnAt, segment{len(p.fn), line, s.pos})
			p.fn = append(p.fn, text[s.pos:]...)
			return nil
		case wordFunc:
			err := p.endFunc()
			p.fn = append(p.fn[:0], text[s.pos:]...)
			p.fnAt = append(p.fnAt[:0], segment{0, line, s.pos})
			return err
		}
	}
	if err := p.endFunc(); err != nil {
		return err
	}
	return p.table(word[0], &s, line)
}

// table reads a record of one of the tables: types, expressions, variables, groups.
func (p *Parser) table(word byte, s *scanner, line int) *BadRecord {
	switch word {
	case wordType:
		t, err := s.typ()
		p.info.Types = append(p.info.Types, t)
		p.types = append(p.types, line)
		return err
	case wordExpr:
		return s.each(func() *BadRecord {
			ops, err := s.ops(0)
			if err != nil {
				ops = []Op{{Code: OpUnsupported}}
			}
			p.info.Exprs = append(p.info.Exprs, NewExpr(ops))
			p.exprs = append(p.exprs, line)
			return err
		})
	case wordVar:
		return s.each(func() *BadRecord {
			v, err := s.variable()
			p.info.Vars = append(p.info.Vars, v)
			p.vars = append(p.vars, line)
			return err
		})
	case wordRun:
		return s.each(func() *BadRecord { return p.runtimeType(s) })
	case wordLang:
		c := s.text[s.pos:]
		if len(c) != 1 || c[0] != '-' && (c[0] < 'a' || c[0] > 'z') {
			p.lang = 0
			return s.fail("want a small letter for the language, or -")
		}
		if p.lang = Language(c[0]); c[0] == '-' {
			p.lang = 0
		}
		return nil
	case wordGroup:
		return s.each(func() *BadRecord {
			g, err := s.group()
			p.info.Groups = append(p.info.Groups, g)
			p.groups = append(p.groups, line)
			return err
		})
	}
	return nil
}

// runtimeType reads a type, after the distance of its address from the entry before.
func (p *Parser) runtimeType(s *scanner) *BadRecord {
	last := RVA(0)
	if n := len(p.info.RuntimeTypes); n > 0 {
		last = p.info.RuntimeTypes[n-1].RVA
	}
	by, ok := s.hex()
	if !ok || last+RVA(by) < last || !s.skip(':') {
		return s.fail("want the distance of an address, ':' and a type")
	}
	id, ok := s.hex32()
	if !ok {
		return s.fail("want the number of a type")
	}
	p.info.RuntimeTypes = append(p.info.RuntimeTypes, RuntimeType{last + RVA(by), TypeID(id)})
	p.run = append(p.run, s.line)
	return nil
}

// start reads the record with the version.
func (p *Parser) start(text []byte, line int) *BadRecord {
	if p.info != nil {
		return &BadRecord{line, 0, Malformed, "a second record with a version"}
	}
	p.info = &Info{Types: []Type{{}}, Exprs: []Expr{{}}, Vars: []Variable{{}}, Groups: [][]VarID{nil}}
	p.types, p.exprs, p.vars, p.groups, p.funcs = []int{0}, []int{0}, []int{0}, []int{0}, nil
	for _, word := range strings.Fields(string(text))[1:] {
		switch word {
		case "all":
			p.info.Locals = true
		case "full":
			p.info.FullTypes = true
		}
	}
	return nil
}

// Finish returns the result, or nil if no record gave a version. It calls bad for each reference
// to a missing entry, which becomes 0, and for each function that overlaps the previous one,
// which is left out. If bad returns an error, Finish returns it.
func (p *Parser) Finish(bad func(*BadRecord) error) (*Info, error) {
	in := p.info
	if in == nil {
		return nil, nil
	}
	if err := p.endFunc(); err != nil {
		if err := bad(err); err != nil {
			return nil, err
		}
	}
	c := checker{p: p, in: in, bad: bad}
	c.types()
	c.exprs()
	c.rest()
	return in, c.err
}

// sortFuncs sorts the functions, with their lines, by address.
func (p *Parser) sortFuncs() {
	byAddress := func(a, b Func) int { return cmp.Compare(a.RVA, b.RVA) }
	if slices.IsSortedFunc(p.info.Funcs, byAddress) {
		return
	}
	order := make([]int, len(p.info.Funcs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int { return byAddress(p.info.Funcs[i], p.info.Funcs[k]) })
	funcs, lines := make([]Func, len(order)), make([]int, len(order))
	for i, from := range order {
		funcs[i], lines[i] = p.info.Funcs[from], p.funcs[from]
	}
	p.info.Funcs, p.funcs = funcs, lines
}
