package symjson

import (
	"fmt"
	"io"
	"strconv"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
)

// Write writes m with its records in their order in m. It does not modify m.
// Equal modules yield equal bytes.
//
// It needs a buffer of bufferSize bytes, or of the longest name; with
// Options.Names also a table of all names.
func Write(w io.Writer, m *symfmt.Module, o Options) error {
	t := &writer{w: w, m: m, o: o, buf: make([]byte, 0, bufferSize+bufferSlack)}
	t.indent = o.Indent && !o.Lines
	if o.Names {
		t.files, t.origins = fileNames(m), originNames(m)
	}
	t.head()
	for i := range m.Infos {
		t.info(&m.Infos[i], i)
	}
	t.endList(kindInfo, len(m.Infos))
	for i := range m.Files {
		t.file(&m.Files[i], i)
	}
	t.endList(kindFile, len(m.Files))
	for i := range m.Origins {
		t.origin(&m.Origins[i], i)
	}
	t.endList(kindOrigin, len(m.Origins))
	for i := range m.Funcs {
		t.function(&m.Funcs[i], i)
	}
	t.endList(kindFunc, len(m.Funcs))
	for i := range m.Publics {
		t.public(&m.Publics[i], i)
	}
	t.endList(kindPublic, len(m.Publics))
	for i := range m.Wins {
		t.win(&m.Wins[i], i)
	}
	t.endList(kindWin, len(m.Wins))
	for i := range m.CFI.Blocks {
		t.block(&m.CFI.Blocks[i], i)
	}
	t.endList(kindCFI, len(m.CFI.Blocks))
	if m.Vars != nil {
		t.variables(m.Vars)
	}
	if !o.Lines {
		t.newline(0)
		t.buf = append(t.buf, "}\n"...)
	}
	t.flush()
	if t.err != nil {
		return fmt.Errorf("symbols of %s: write after %d bytes: %w", text.Printable(m.Name), t.written, t.err)
	}
	return nil
}

const (
	bufferSize  = 256 << 10 // flushed at once
	bufferSlack = 4 << 10   // room for the record that exceeds it
)

// writer is the state of one call of Write.
type writer struct {
	w       io.Writer
	m       *symfmt.Module
	o       Options
	indent  bool
	files   map[symfmt.FileID]string // for Options.Names
	origins map[symfmt.OriginID]string

	buf     []byte
	written int64
	err     error
}

// passed writes the buffer if it is full.
func (t *writer) passed() {
	if len(t.buf) >= bufferSize {
		t.flush()
	}
}

func (t *writer) flush() {
	if t.err == nil {
		n, err := t.w.Write(t.buf)
		t.written += int64(n)
		if err == nil && n < len(t.buf) {
			err = io.ErrShortWrite
		}
		t.err = err
	}
	t.buf = t.buf[:0]
}

// Depths of a document's lines.
const (
	depthKey    = 1 // "funcs": [
	depthRecord = 2 // {"rva": 4096, ...
	depthBody   = 4 // [4096, 4, 12, 0],
)

func (t *writer) newline(depth int) {
	if t.indent {
		t.buf = append(t.buf, '\n')
		for range depth {
			t.buf = append(t.buf, ' ', ' ')
		}
	}
}

// key appends a key that is not an object's first.
func (t *writer) key(name string) {
	t.comma()
	t.firstKey(name)
}

func (t *writer) comma() {
	t.buf = append(t.buf, ',')
	if t.indent {
		t.buf = append(t.buf, ' ')
	}
}

func (t *writer) firstKey(name string) {
	t.buf = append(t.buf, '"')
	t.buf = append(t.buf, name...)
	t.buf = append(t.buf, '"', ':')
	if t.indent {
		t.buf = append(t.buf, ' ')
	}
}

// begin begins record i of its list, up to its first key.
func (t *writer) begin(k kind, i int, first string) {
	t.passed()
	switch {
	case t.o.Lines:
		t.buf = append(t.buf, '{')
		t.firstKey("kind")
		t.buf = append(t.buf, '"')
		t.buf = append(t.buf, k.String()...)
		t.buf = append(t.buf, '"')
		t.key(first)
		return
	case i == 0:
		t.beginList(k)
	default:
		t.buf = append(t.buf, ',')
	}
	t.newline(depthRecord)
	t.buf = append(t.buf, '{')
	t.firstKey(first)
}

func (t *writer) end() {
	t.buf = append(t.buf, '}')
	if t.o.Lines {
		t.buf = append(t.buf, '\n')
	}
}

func (t *writer) beginList(k kind) {
	t.buf = append(t.buf, ',')
	t.newline(depthKey)
	t.firstKey(listNames[k])
	t.buf = append(t.buf, '[')
}

// endList ends a document's list of n records, which begin began if n is not 0.
func (t *writer) endList(k kind, n int) {
	if t.o.Lines {
		return
	}
	if n == 0 {
		t.beginList(k)
	} else {
		t.newline(depthKey)
	}
	t.buf = append(t.buf, ']')
}

// number, text and flag append a field that is not an object's first.
func (t *writer) number(name string, v uint64) {
	t.key(name)
	t.buf = appendNumber(t.buf, v)
}

func (t *writer) flag(name string, v bool) {
	t.key(name)
	t.buf = strconv.AppendBool(t.buf, v)
}

func (t *writer) text(name, s string) {
	t.key(name)
	t.value(name, s)
}

// value appends string s with key name and, if it is not valid UTF-8, its bytes
// as a second field.
func (t *writer) value(name, s string) {
	var valid bool
	if t.buf, valid = appendString(t.buf, s); !valid {
		t.key(name + bytesSuffix)
		t.buf = appendBase64(t.buf, s)
	}
}

// bytesSuffix is appended to a string's key for its bytes.
const bytesSuffix = "_base64"

// head begins the output, and writes the module's record.
func (t *writer) head() {
	m := t.m
	t.buf = append(t.buf, '{')
	if t.o.Lines {
		t.firstKey("kind")
		t.buf = append(t.buf, `"module",`...)
	}
	t.newline(depthKey)
	t.firstKey("format")
	t.buf = append(t.buf, `"`+formatName+`",`...)
	t.newline(depthKey)
	t.firstKey("version")
	t.buf = strconv.AppendUint(t.buf, version, 10)
	t.buf = append(t.buf, ',')
	t.newline(depthKey)
	if !t.o.Lines {
		t.firstKey("module")
		t.buf = append(t.buf, '{')
	}
	t.firstKey("os")
	t.value("os", m.OS)
	t.text("arch", m.Arch)
	t.text("id", m.ID)
	t.text("name", m.Name)
	t.end()
}
