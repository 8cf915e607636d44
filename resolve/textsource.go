package resolve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/symfmt/vars"
)

// errChanged means that the text is not the one that was indexed.
var errChanged = errors.New("the symbol file has changed")

// textSource is the source of records in a symbol file's text.
type textSource struct {
	text
	size uint64 // of the text in bytes
	most int64  // maximum size in bytes of a FUNC to read
	owns bool   // text is the symbol file itself
}

// text returns the text of a symbol file, or nil if the records come from a Module.
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
	data := make([]byte, s.length, int(s.length)+1) // the Reader marks its end
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
		return nil, fmt.Errorf("a FUNC with %d bytes of lines and inlined functions, more than the limit of %d", v.length, t.most)
	}
	return t.span(v)
}

// newPiece returns a Reader of a part of a text.
func newPiece(text []byte) *symfmt.Reader {
	rd := symfmt.NewReader(nil, symfmt.ReadOptions{Tolerant: true, Grouped: true})
	rd.ResetText(text)
	return rd
}

// fault returns the first problem of a piece with a record of one of the kinds, or nil.
func fault(rd *symfmt.Reader, kinds ...symfmt.Kind) (bad *symfmt.SyntaxError) {
	for _, p := range rd.Report().Problems {
		is := func(k symfmt.Kind) bool { return k.String() == bad.Record }
		if errors.As(p.Err, &bad) && slices.ContainsFunc(kinds, is) {
			return bad
		}
	}
	return nil
}

func (t *textSource) function(p *functionParser, v span) (function, error) {
	text, err := t.funcText(v)
	if err != nil {
		return function{}, err
	}
	if p.reader == nil {
		p.reader = newPiece(nil)
	}
	rd := p.reader
	rd.ResetText(text)
	rec, _ := rd.Next()
	if rec == nil || rec.Kind != symfmt.KindFunc || rec.RVA != v.rva || rec.Size != v.size {
		return function{}, fmt.Errorf("no FUNC %x %x where the index has one: %w", uint64(v.rva), v.size, changed(rd))
	}
	f := function{name: string(rec.Name), multiple: rec.Multiple, paramSize: rec.ParamSize}
	for rec, err := rd.Next(); err == nil; rec, err = rd.Next() {
		switch rec.Kind {
		case symfmt.KindLine:
			p.flattener.AddLine(&rec.Line)
		case symfmt.KindInline:
			p.flattener.AddInline(&rec.Inline)
		}
	}
	// Bad records of other kinds were reported when the index was built.
	if p.lost = rd.Lost(symfmt.KindLine) + rd.Lost(symfmt.KindInline); p.lost > 0 {
		if bad := fault(rd, symfmt.KindLine, symfmt.KindInline); bad != nil {
			p.bad, p.badAt = bad, lineOffset(text, bad.Line)
		}
	}
	return f, nil
}

// changed returns why a record is not where the index says: the error of the record that is
// there, or errChanged.
func changed(rd *symfmt.Reader) error {
	if problems := rd.Report().Problems; len(problems) > 0 {
		return problems[0].Err
	}
	return errChanged
}

// lineOffset returns the offset of line number n of a text.
func lineOffset(text []byte, n int) (at int) {
	for ; n > 1; n-- {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return at
}

func (t *textSource) funcName(v span) (string, error) {
	rec, err := t.record(v.offset, symfmt.KindFunc, uint64(v.rva))
	if err != nil {
		return "", err
	}
	return string(rec.Name), nil
}

func (t *textSource) lines(v span, add func(*symfmt.Line)) error {
	return t.records(v, func(rec *symfmt.Record) {
		if rec.Kind == symfmt.KindLine {
			add(&rec.Line)
		}
	})
}

func (t *textSource) inlines(v span, add func(*symfmt.Inline)) error {
	return t.records(v, func(rec *symfmt.Record) {
		if rec.Kind == symfmt.KindInline {
			add(&rec.Inline)
		}
	})
}

// records calls add for each readable record of a FUNC.
func (t *textSource) records(v span, add func(*symfmt.Record)) error {
	text, err := t.funcText(v)
	if err != nil {
		return err
	}
	rd := newPiece(text)
	for rec, err := rd.Next(); err == nil; rec, err = rd.Next() {
		add(rec)
	}
	return nil
}

func (t *textSource) variables(file string) (*vars.Info, []symfmt.Problem, error) {
	r, err := symfmt.ReadVars(io.NewSectionReader(t.text, 0, int64(t.size)), file)
	if err != nil {
		return nil, nil, err
	}
	return r.Vars, r.Problems, nil
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

// firstRead is the number of bytes of a record that are read at first: most are shorter.
const firstRead = 256

// record reads the record at an offset, which has a number or an address.
func (t *textSource) record(offset uint64, kind symfmt.Kind, number uint64) (*symfmt.Record, error) {
	data, err := t.line(offset)
	if err != nil {
		return nil, err
	}
	rd := newPiece(data)
	rec, _ := rd.Next()
	placed := kind == symfmt.KindPublic || kind == symfmt.KindFunc
	if rec == nil || rec.Kind != kind || rec.RVA != symfmt.RVA(number) && placed || uint64(rec.ID) != number && !placed {
		return nil, fmt.Errorf("no %s where the index has one: %w", kind, changed(rd))
	}
	return rec, nil
}

// line reads the line at an offset, with its line feed.
func (t *textSource) line(offset uint64) ([]byte, error) {
	for size := firstRead; ; size *= 4 {
		data := make([]byte, size)
		n, err := t.ReadAt(data, int64(offset))
		if err != nil && err != io.EOF {
			return nil, err
		}
		if end := bytes.IndexByte(data[:n], '\n'); end >= 0 {
			return data[:end+1], nil
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
	rd := newPiece(text)
	rec, err := rd.Next()
	if err != nil || rec.Kind != symfmt.KindCFIInit || rec.RVA != s.rva || rec.Size != s.size {
		return nil, errChanged
	}
	found := &Rules{Start: s.rva, Size: s.size, Row: cfi.Row{RVA: s.rva}}
	for ; err == nil; rec, err = rd.Next() {
		if rec.Kind != symfmt.KindCFIInit && (rec.Kind != symfmt.KindCFI || !s.holds(rec.RVA)) {
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
	if bad := fault(rd, symfmt.KindCFI, symfmt.KindNone); bad != nil {
		return nil, bareSyntax(bad)
	}
	return found, nil
}

func (t *textSource) win(s span) (*symfmt.StackWin, error) {
	text, err := t.span(s)
	if err != nil {
		return nil, err
	}
	rec, err := newPiece(text).Next()
	if err != nil || rec.Kind != symfmt.KindStackWin || rec.Win.RVA != s.rva || rec.Win.CodeSize != s.size {
		return nil, errChanged
	}
	win := rec.Win
	win.Program = string(rec.Name)
	return &win, nil
}

// infoBytes is the length of the beginning of a text that is searched for INFO records.
const infoBytes = 4 << 10

func (t *textSource) codeFile() string {
	head := make([]byte, infoBytes)
	n, _ := t.ReadAt(head, 0)
	rd := newPiece(head[:bytes.LastIndexByte(head[:n], '\n')+1])
	for rec, err := rd.Next(); err == nil; rec, err = rd.Next() {
		switch rec.Kind {
		case symfmt.KindInfo:
			in := symfmt.Info{Key: string(rec.Key), Value: string(rec.Name)}
			if name := in.CodeFile(); name != "" {
				return name
			}
		case symfmt.KindModule:
		default:
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

// newTextResolver returns the Resolver of an index and its text.
func newTextResolver(path string, x *index, t text, problems []symfmt.Problem) *Resolver {
	return newResolver(path, x, &textSource{text: t, size: x.size, most: heldFunctions / 4}, problems, nil)
}
