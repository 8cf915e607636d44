package lint

import (
	"bufio"
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
)

// dropRepeats removes files of stores that repeat another file under another name, as written by dump --store
// --both-names: their findings would be printed twice. It returns the remaining files.
func (l *linter) dropRepeats(inputs []lintInput) (left []lintInput) {
	first := map[string][]lintInput{} // by place without the names
	for _, in := range inputs {
		place, ok := in.place()
		if !ok {
			left = append(left, in)
			continue
		}
		repeated := false
		for _, other := range first[place] {
			repeated = repeated || in.repeats(other)
		}
		if repeated {
			l.repeats++
			l.unread(in)
			continue
		}
		first[place] = append(first[place], in)
		left = append(left, in)
	}
	return left
}

// reportRepeats prints how many files dropRepeats removed.
func (l *linter) reportRepeats() {
	if l.repeats > 0 {
		verb := "repeats"
		if l.repeats > 1 {
			verb = "repeat"
		}
		l.msgs.Printf("symtool: %s %s another file of the store under another name, and its findings: not checked", text.Count(l.repeats, "file"), verb)
	}
}

// place returns a key that is equal for files of a store whose paths differ only in their names. ok is false for a
// file that is not at NAME/ID/NAME.sym.
func (in lintInput) place() (place string, ok bool) {
	if in.name == "-" || in.err != nil {
		return "", false
	}
	folder := filepath.Dir(in.name)
	id, module := filepath.Base(folder), filepath.Base(filepath.Dir(folder))
	if len(id) < minID || strings.Trim(id, "0") == "" {
		return "", false
	}
	p, err := store.NewPlace(module, id)
	rest, ok := strings.CutPrefix(filepath.Base(in.name), p.Stem+".")
	if err != nil || !ok {
		return "", false
	}
	return filepath.Join(filepath.Dir(filepath.Dir(folder)), strings.ToUpper(id)) + "/" + rest, true
}

// minID is the minimum number of digits of an id in a store.
const minID = 33

// repeats reports whether in has the same contents as other, except for the name in MODULE and the digest of the
// file itself, and each file has the name under which it is stored.
func (in lintInput) repeats(other lintInput) bool {
	a, closeA := in.lines()
	defer closeA()
	b, closeB := other.lines()
	defer closeB()
	if a == nil || b == nil {
		return false
	}
	name := " " + filepath.Base(filepath.Dir(filepath.Dir(in.name)))
	otherName := " " + filepath.Base(filepath.Dir(filepath.Dir(other.name)))
	one, _ := nextLine(a)
	two, _ := nextLine(b)
	head, ok := bytes.CutSuffix(bytes.TrimRight(one, "\r\n"), []byte(name))
	otherHead, okOther := bytes.CutSuffix(bytes.TrimRight(two, "\r\n"), []byte(otherName))
	if !ok || !okOther || !bytes.Equal(head, otherHead) {
		return false
	}
	for {
		one, errA := nextLine(a)
		two, errB := nextLine(b)
		if !bytes.Equal(one, two) || errA != errB {
			return false
		}
		if errA != nil {
			return errA == io.EOF
		}
	}
}

// nextLine returns the next line, or a part of it if it is long.
func nextLine(r *bufio.Reader) (line []byte, err error) {
	line, err = r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		err = nil
	}
	return line, err
}

// lines opens the text of a file, decompressed and without its digest. It returns nil if it cannot. close is never
// nil.
func (in lintInput) lines() (lines *bufio.Reader, close func() error) {
	raw, close, err := in.text(nil)
	if err != nil {
		return nil, close
	}
	content, _, err := symfmt.NewText(raw)
	if err != nil {
		return nil, close
	}
	return bufio.NewReaderSize(symfmt.WithoutDigest(content), 64<<10), close
}
