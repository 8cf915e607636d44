package symfmt

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/damage"
)

// Kind is the kind of a Record.
type Kind uint8

// The kinds of record in a symbol file, in canonical order. KindNone is an
// unrecognised line.
const (
	KindNone Kind = iota
	KindModule
	KindInfo
	KindFile
	KindInlineOrigin
	KindFunc
	KindInline
	KindLine
	KindPublic
	KindStackWin
	KindCFIInit
	KindCFI
)

var kindNames = [...]string{
	"", "MODULE", "INFO", "FILE", "INLINE_ORIGIN", "FUNC", "INLINE", "line record",
	"PUBLIC", "STACK WIN", "STACK CFI INIT", "STACK CFI",
}

// String returns the record's keyword in the text, or "line record", as those have none.
func (k Kind) String() string { return kindNames[k] }

// lost returns what a bad record of this kind costs, in words.
func (k Kind) lost() string {
	if k == KindNone {
		return "line"
	}
	return k.String()
}

// Record is a record read by a Reader. Its slices point into the Reader's
// buffer: they, and the Record, are valid until the next record is read. Only
// the fields that apply to its Kind are meaningful; the others hold leftovers.
type Record struct {
	Kind Kind

	Owner Owner // of a line record, INLINE or STACK CFI
	Apart bool  // line record, INLINE: other records than these and INLINE_ORIGIN stand between it and the FUNC

	Multiple  bool   // FUNC, PUBLIC: "m"
	OldForm   bool   // INLINE: without a call file
	ID        uint32 // FILE, INLINE_ORIGIN: number
	RVA       RVA    // FUNC, PUBLIC, STACK CFI INIT, STACK CFI
	Size      uint64 // FUNC, STACK CFI INIT: bytes
	ParamSize uint64 // FUNC, PUBLIC: bytes

	// Name is the rest of the line, without blanks around it: the name of a
	// MODULE, FILE, FUNC or PUBLIC, the value of an INFO, the program of a
	// STACK WIN, the rules of a STACK CFI. For INLINE_ORIGIN it is
	// everything after the number: see OldOrigin.
	Name []byte

	OS, Arch, DebugID []byte   // MODULE
	Key               []byte   // INFO
	Line              Line     // line record
	Inline            Inline   // INLINE
	Win               StackWin // STACK WIN; its Program is Name

	file string
	line int
	text []byte
	made bool // from a module: text is made when needed
}

// OldOrigin parses an INLINE_ORIGIN in the old form, in which the number of a
// FILE, or -1, stands between the number and the name. Only the file's INLINE
// records show which form it has: the rest "7 of 9" is a name in a new file,
// and file 7 and the name "of 9" in an old one.
func (r *Record) OldOrigin() (file int64, name []byte, ok bool) {
	return oldOrigin(r.Name)
}

func oldOrigin[T []byte | string](rest T) (file int64, name T, ok bool) {
	i := 0
	if len(rest) >= 2 && rest[0] == '-' && rest[1] == '1' {
		file, i = -1, 2
	} else {
		for ; i < len(rest) && '0' <= rest[i] && rest[i] <= '9'; i++ {
			file = file*10 + int64(rest[i]-'0')
			if file > maxID {
				return 0, name, false
			}
		}
	}
	if i == 0 || i < len(rest) && !isBlank(rest[i]) {
		return 0, name, false
	}
	for i < len(rest) && isBlank(rest[i]) {
		i++
	}
	return file, rest[i:], true
}

// maxID is the highest number of a FILE or INLINE_ORIGIN, and the highest line
// number. The specification sets no limit; compilers and Breakpad's own dumpers
// use 32 bits.
const maxID = 1<<32 - 1

// Pos is a place in a symbol file.
type Pos struct {
	Line int // from 1
	Col  int // in bytes, from 1; after a byte order mark
}

// String returns a text such as "812:6".
func (p Pos) String() string { return strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col) }

func comparePos(a, b Pos) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
}

// Pos returns the place of the record's first byte.
func (r *Record) Pos() Pos { return Pos{r.line, r.field(0) + 1} }

// FieldPos returns the place of field i, counted as in the text: field 0 is the
// keyword (in a line record, the address), and STACK CFI INIT counts as three
// fields. For a missing field, it returns the end of the line. Finding a field costs
// a scan of the line.
func (r *Record) FieldPos(i int) Pos { return Pos{r.line, r.field(i) + 1} }

// Field returns field i as it stands in the text, or nil if it is missing. It
// is valid until the next record is read.
func (r *Record) Field(i int) []byte {
	start, text := r.field(i), r.Text()
	end := start
	for end < len(text) && !isBlank(text[end]) {
		end++
	}
	if start == end {
		return nil
	}
	return text[start:end]
}

// Text returns the line as it stands in the file, without its end. It is valid until
// the next record is read.
func (r *Record) Text() []byte {
	if r.made && r.text == nil {
		text := r.append(nil)
		r.text = text[:len(text)-1]
	}
	return r.text
}

// errorf returns an error at field i.
func (r *Record) errorf(i int, format string, args ...any) *SyntaxError {
	p := r.FieldPos(i)
	return &SyntaxError{
		File: r.file, Line: p.Line, Col: p.Col,
		Record: r.Kind.String(), Msg: fmt.Sprintf(format, args...),
	}
}

// field returns the index in text at which field i starts.
func (r *Record) field(i int) int {
	if i == 0 && r.made {
		return 0
	}
	text := r.Text()
	at := skipBlanks(text, 0)
	for ; i > 0; i-- {
		for at < len(text) && !isBlank(text[at]) {
			at++
		}
		at = skipBlanks(text, at)
	}
	return at
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func skipBlanks(b []byte, i int) int {
	for i < len(b) && isBlank(b[i]) {
		i++
	}
	return i
}

// Problem is damage that cost one record or unit of an input; the rest was read.
// Readers of all formats report it; Err holds the place, usually as a *SyntaxError.
type Problem = damage.Problem

// SyntaxError is a bad record of a symbol file, or a record that does not fit
// those before it.
type SyntaxError struct {
	File   string // path as given by the user; may be empty
	Line   int    // from 1
	Col    int    // of the bad field, in bytes, from 1
	Record string // "FUNC", "STACK CFI INIT", "line record"; "" for an unrecognised line
	Msg    string // what was found and what was expected, in lower case

	Ownerless bool // the record is sound, but its owner was not read
}

// Error returns a message such as "a.sym:812:6: INLINE: origin 40 is not declared".
func (e *SyntaxError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteByte(':')
	}
	b.WriteString(strconv.Itoa(e.Line))
	b.WriteByte(':')
	b.WriteString(strconv.Itoa(e.Col))
	b.WriteString(": ")
	if e.Record != "" {
		b.WriteString(e.Record)
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	return b.String()
}

// maxQuoted is the length at which a message cuts a bad field: enough to find
// it, without megabytes of damage on a terminal.
const maxQuoted = 40

// quoted prints as messages show text: shortened, with control characters
// escaped.
type quoted []byte

func (q quoted) String() string {
	if len(q) > maxQuoted {
		return fmt.Sprintf("%q...", []byte(q[:maxQuoted]))
	}
	return fmt.Sprintf("%q", []byte(q))
}
