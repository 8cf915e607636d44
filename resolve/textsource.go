package resolve

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// errChanged says that the text is not that of the index.
var errChanged = errors.New("the symbol file has changed")

// textSource is the source in a symbol file's text.
type textSource struct {
	text
	size uint64 // of the text in bytes
	most int64  // bytes of a FUNC that are read
	owns bool   // text is the symbol file itself
}

// text returns the text of a symbol file, nil if the records come from a Module.
func (r *Resolver) text() text {
	if t, ok := r.source.(*textSource); ok {
		return t.text
	}
	return nil
}

func (t *textSource) place(offset uint64) string { return fmt.Sprintf("offset %#x", offset) }

// span reads the text of a function or a block.
func (t *textSource) span(s span) ([]byte, error) {
	if s.offset > t.size || uint64(s.length) > t.size-s.offset {
		return nil, errChanged
	}
	data := make([]byte, s.length)
	n, err := t.ReadAt(data, int64(s.offset))
	if n == len(data) {
		return data, nil
	}
	if errors.Is(err, io.EOF) {
		err = errChanged
	}
	return nil, err
}

// funcText reads the text of a function.
func (t *textSource) funcText(v span) ([]byte, error) {
	if int64(v.length) > t.most {
		return nil, fmt.Errorf("a FUNC with %d bytes of lines and inlined functions, over the limit of %d", v.length, t.most)
	}
	return t.span(v)
}

// nextLine cuts the next line that is not blank from text, without its end; nil at
// the end.
func nextLine(text []byte) (line, rest []byte) {
	for len(text) > 0 {
		line, text, _ = bytes.Cut(text, []byte{'\n'})
		if line = trim(line); len(line) <= symfmt.MaxLine && len(bytes.TrimLeft(line, " \t")) > 0 {
			return line, text
		}
	}
	return nil, nil
}

func trim(line []byte) []byte { return bytes.TrimRight(line, "\r") }

func (t *textSource) function(p *functionParser, v span) (function, error) {
	text, err := t.funcText(v)
	if err != nil {
		return function{}, err
	}
	head, rest, _ := bytes.Cut(text, []byte{'\n'})
	rec, err := p.record.Parse(trim(head), "", 1)
	if rec == nil || rec.Kind != symfmt.KindFunc || rec.RVA != v.rva || rec.Size != v.size {
		return function{}, fmt.Errorf("no FUNC %x %x where the index has one: %w", uint64(v.rva), v.size, cmp.Or(err, errChanged))
	}
	f := function{name: string(rec.Name), multiple: rec.Multiple, paramSize: rec.ParamSize}
	for line, rest := nextLine(rest); line != nil; line, rest = nextLine(rest) {
		rec, err := p.record.Parse(line, "", 1)
		switch {
		case err != nil && isMember(err):
			p.refuse(err, len(text)-len(rest)-len(line))
		case err != nil:
		case rec.Kind == symfmt.KindLine:
			p.flattener.AddLine(&rec.Line)
		case rec.Kind == symfmt.KindInline:
			p.flattener.AddInline(&rec.Inline)
		}
	}
	return f, nil
}

// isMember reports whether a bad record belongs to a FUNC. The others were reported
// when the index was made.
func isMember(err error) bool {
	var bad *symfmt.SyntaxError
	return errors.As(err, &bad) && (bad.Record == symfmt.KindLine.String() || bad.Record == symfmt.KindInline.String())
}

func (t *textSource) lines(v span, add func(*symfmt.Line)) error {
	text, err := t.funcText(v)
	if err != nil {
		return err
	}
	var p symfmt.LineParser
	for line, rest := nextLine(text); line != nil; line, rest = nextLine(rest) {
		if rec, err := p.Parse(line, "", 1); err == nil && rec.Kind == symfmt.KindLine {
			add(&rec.Line)
		}
	}
	return nil
}

func (t *textSource) public(offset uint64, rva symfmt.RVA) (*publicSymbol, error) {
	rec, err := t.record(offset, symfmt.KindPublic, uint64(rva))
	if err != nil {
		return nil, err
	}
	return &publicSymbol{string(rec.Name), rec.Multiple, rec.ParamSize}, nil
}

func (t *textSource) file(offset uint64, id symfmt.FileID) (string, error) {
	rec, err := t.record(offset, symfmt.KindFile, uint64(id))
	if err != nil {
		return "", err
	}
	return string(rec.Name), nil
}

func (t *textSource) origin(offset uint64, id symfmt.OriginID, old bool) (name string, file int64, err error) {
	rec, err := t.record(offset, symfmt.KindInlineOrigin, uint64(id))
	if err != nil {
		return "", -1, err
	}
	if number, rest, ok := rec.OldOrigin(); ok && old {
		return string(rest), number, nil
	}
	return string(rec.Name), -1, nil
}

// firstRead is how much is read of a record at first: most are shorter.
const firstRead = 256

// record reads the record at an offset, which has a number or an address.
func (t *textSource) record(offset uint64, kind symfmt.Kind, number uint64) (*symfmt.Record, error) {
	data, err := t.line(offset)
	if err != nil {
		return nil, err
	}
	var parser symfmt.LineParser
	rec, err := parser.Parse(trim(data), "", 1)
	if rec == nil || rec.Kind != kind || rec.RVA != symfmt.RVA(number) && kind == symfmt.KindPublic ||
		uint64(rec.ID) != number && kind != symfmt.KindPublic {
		return nil, fmt.Errorf("no %s where the index has one: %w", kind, cmp.Or(err, errChanged))
	}
	return rec, nil
}

// line reads the line at an offset, without its end.
func (t *textSource) line(offset uint64) ([]byte, error) {
	for size := firstRead; ; size *= 4 {
		data := make([]byte, size)
		n, err := t.ReadAt(data, int64(offset))
		if err != nil && err != io.EOF {
			return nil, err
		}
		if end := bytes.IndexByte(data[:n], '\n'); end >= 0 {
			return data[:end], nil
		}
		if err == io.EOF && offset+uint64(n) != t.size {
			return nil, errChanged
		}
		if err == io.EOF || size > symfmt.MaxLine {
			return data[:n], nil
		}
	}
}

func (t *textSource) rules(s span, rva symfmt.RVA, names *cfi.Names) (*Rules, error) {
	text, err := t.span(s)
	if err != nil {
		return nil, err
	}
	var parser symfmt.LineParser
	found := &Rules{Start: s.rva, Size: s.size, Row: cfi.Row{RVA: s.rva}}
	for line, rest := nextLine(text); line != nil; line, rest = nextLine(rest) {
		rec, err := parser.Parse(line, "", 1)
		switch first := found.Records == 0; {
		case first && (err != nil || rec.Kind != symfmt.KindCFIInit || rec.RVA != s.rva || rec.Size != s.size):
			return nil, errChanged
		case err != nil && bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("STACK")):
			return nil, err
		case err != nil, !first && (rec.Kind != symfmt.KindCFI || !s.holds(rec.RVA)):
			continue
		}
		found.Records++
		if rec.RVA > rva {
			continue
		}
		rules, err := names.ParseRules(string(rec.Name))
		if err != nil {
			return nil, err
		}
		found.Row.Apply(rules)
	}
	return found, nil
}

func (t *textSource) win(s span) (*symfmt.StackWin, error) {
	text, err := t.span(s)
	if err != nil {
		return nil, err
	}
	var parser symfmt.LineParser
	rec, err := parser.Parse(trim(bytes.TrimRight(text, "\n")), "", 1)
	if err != nil || rec.Kind != symfmt.KindStackWin || rec.Win.RVA != s.rva || rec.Win.CodeSize != s.size {
		return nil, errChanged
	}
	win := rec.Win
	win.Program = string(rec.Name)
	return &win, nil
}

// infoBytes is how much of the beginning of a text is searched for INFO records.
const infoBytes = 4 << 10

func (t *textSource) codeFile() string {
	head := make([]byte, infoBytes)
	n, _ := t.ReadAt(head, 0)
	for line := range bytes.Lines(head[:n]) {
		fields := strings.Fields(string(line))
		switch {
		case len(fields) == 4 && fields[0] == "INFO" && fields[1] == "CODE_ID" && bytes.HasSuffix(line, []byte("\n")):
			return fields[3]
		case len(fields) > 0 && fields[0] != "MODULE" && fields[0] != "INFO":
			return ""
		}
	}
	return ""
}

func (t *textSource) held() int64 {
	if t.owns {
		return 0
	}
	return int64(t.size)
}
