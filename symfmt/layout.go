package symfmt

import "bytes"

// Layout describes the form of a text, as opposed to its records.
type Layout struct {
	BOM bool // a byte order mark was skipped

	CR        Places // lines that end in CR LF, or in several CRs and LF
	ManyCR    Places // lines that end in several CRs and LF
	Blank     Places // blank lines
	Split     Places // line records and INLINEs after a blank line
	OddBlanks Places // records with fields separated by tabs or with leading blanks; line records and INLINEs with trailing blanks

	crPrefix int  // number of lines at the start of the text that end in CR
	noEnd    bool // the last line is not terminated
}

// Places counts the lines with some property, and holds the first of them.
type Places struct {
	Count int
	First int // line number, 0 if Count is 0
}

func (p *Places) add(line int) {
	if p.Count == 0 {
		p.First = line
	}
	p.Count++
}

// endsInCR notes a line that ends in n CRs and LF.
func (l *Layout) endsInCR(line, n int) {
	if l.CR.Count == line-1 {
		l.crPrefix = line
	}
	l.CR.add(line)
	if n > 1 {
		l.ManyCR.add(line)
	}
}

// Mixed returns the first line whose ending differs from the first line's, or 0 if
// there is none. lines is the number of lines.
func (l *Layout) Mixed(lines int) int {
	if l.noEnd {
		lines--
	}
	switch {
	case l.crPrefix == 0:
		return l.CR.First
	case l.crPrefix < lines:
		return l.crPrefix + 1
	}
	return 0
}

func trimCR(text []byte) []byte {
	for len(text) > 0 && text[len(text)-1] == '\r' {
		text = text[:len(text)-1]
	}
	return text
}

// oddBlanks reports whether the record has blanks where other readers expect none,
// or only one space.
func (rec *Record) oddBlanks() bool {
	text := rec.text
	if isBlank(text[0]) {
		return true
	}
	if rec.Kind == KindLine || rec.Kind == KindInline {
		return isBlank(text[len(text)-1]) || bytes.IndexByte(text, '\t') >= 0
	}
	tab := bytes.IndexByte(text, '\t')
	if tab < 0 {
		return false
	}
	end := len(text)
	for end > 0 && isBlank(text[end-1]) {
		end--
	}
	return tab < end-len(rec.Name)
}
