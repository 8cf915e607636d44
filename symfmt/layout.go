package symfmt

import "bytes"

// Layout is the form of a text, apart from its records.
type Layout struct {
	BOM   bool // a byte order mark was skipped
	NoEnd bool // the last line has no end

	CR        Places // lines that end in CR LF, or in more than one CR and LF
	ManyCR    Places // lines that end in more than one CR and LF
	Blank     Places // blank lines
	Split     Places // line records and INLINEs behind a blank line
	OddBlanks Places // records whose fields are separated by tabs, or with blanks in front; line records and INLINEs with blanks behind

	crPrefix int // this many lines at the start of the text end in CR
}

// Places are lines that have something in common.
type Places struct {
	Count int
	First int // line number, 0 if Count is
}

func (p *Places) add(line int) {
	if p.Count == 0 {
		p.First = line
	}
	p.Count++
}

// endsInCR notes a line that ends in n CR and LF.
func (l *Layout) endsInCR(line, n int) {
	if l.CR.Count == line-1 {
		l.crPrefix = line
	}
	l.CR.add(line)
	if n > 1 {
		l.ManyCR.add(line)
	}
}

// Mixed returns the first line that ends otherwise than the first line of the text, 0
// if there is none. lines is the number of lines.
func (l *Layout) Mixed(lines int) int {
	if l.NoEnd {
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

// oddBlanks reports whether the record has blanks where other readers want none, or
// one space.
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
