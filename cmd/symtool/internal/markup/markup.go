// Package markup reads LLVM's symbolizer markup (llvm/docs/SymbolizerMarkupFormat.rst): logs in which {{{module:...}}}
// and {{{mmap:...}}} say where modules are in a process, and {{{pc:...}}}, {{{bt:...}}}, {{{data:...}}} and
// {{{symbol:...}}} name places in them. The answers have the form of llvm-symbolizer --filter-markup.
package markup

import (
	"bytes"
	"strconv"
)

// Symbols looks up addresses in modules. The addresses are the linker's: they include the link-time base.
type Symbols interface {
	// Code returns the functions at a code address, innermost first, but only one of them if inlines is false. It
	// reports whether the module has symbols.
	Code(m *Module, addr uint64, inlines bool) ([]Frame, bool)
	// Data returns the name of the data at an address, and reports whether the module has symbols that may contain
	// one.
	Data(m *Module, addr uint64) (name string, ok bool)
	// Name returns a linkage name in the form in which it is printed.
	Name(linkage string) string
}

// Frame is a function at an address. Unknown fields are "" or 0.
type Frame struct {
	Function, File string
	Line, Column   uint32
}

// Filter replaces the elements of a log. Logs of several processes that are read at the same time need a Filter each.
type Filter struct {
	Symbols Symbols
	// Problem is called with a description of what is wrong with an element, and the element. The text has no control
	// characters except those in the log.
	Problem func(problem, element string)
	// Logs means that a log does not consist of markup alone: other elements and control sequences are copied
	// unchanged.
	Logs  bool
	Color bool // highlight answers with control sequences

	Answered int // number of places for which symbols were found

	modules map[uint64]*Module
	maps    []*mapping // by address, without overlaps
	open    *infoLine  // unfinished line about a module, to which mappings may be added, or nil
	style   style
	end     string // end of lines
	dst     []byte
}

// Module is a module of the process.
type Module struct {
	ID    uint64
	Name  string
	Build string // build-id in lower-case hexadecimal digits
}

// style is the style that the log's control sequences set.
type style struct {
	color byte // the last digit of SGR 30 to 37, or 0
	bold  bool
}

// known has the elements that are replaced in a line. Unknown elements are copied.
var known = map[string]func(*Filter, *element){
	"symbol": (*Filter).symbol, "pc": (*Filter).pc, "bt": (*Filter).frame, "data": (*Filter).data,
}

// contextual has the elements that replace the whole line: text that follows them on the line is dropped. The
// functions report whether the element could be read.
var contextual = map[string]func(f *Filter, e *element, before []byte) bool{
	"reset": (*Filter).reset, "module": (*Filter).module, "mmap": (*Filter).mmap,
}

// In reports whether a line contains an element that a Filter reads.
func In(line []byte) bool {
	for at := 0; ; {
		e, ok := nextElement(line, at)
		if !ok {
			return false
		}
		if known[e.tag] != nil || contextual[e.tag] != nil {
			return true
		}
		at = e.end
	}
}

// Opens is the start of every element.
const Opens = "{{{"

// Open reports whether the line that was appended last is unfinished, so that mappings may be added to it.
func (f *Filter) Open() bool { return f != nil && f.open != nil }

// Line appends to dst a line, which must end with \n, with its elements replaced.
func (f *Filter) Line(dst, line []byte) []byte {
	f.dst, f.end = dst, "\n"
	if bytes.HasSuffix(line, []byte("\r\n")) {
		f.end = "\r\n"
	}
	f.resetStyle()
	for at := 0; ; {
		e, ok := nextElement(line, at)
		if !ok {
			break
		}
		if do := contextual[e.tag]; do != nil {
			if read := do(f, &e, line[:e.start]); read || !f.Logs {
				return f.dst
			}
			f.close()
			return append(f.dst, line...)
		}
		at = e.end
	}
	f.close()
	f.elements(line)
	return f.dst
}

// End finishes the last line, if it is open.
func (f *Filter) End(dst []byte) []byte {
	if f == nil || f.open == nil && f.style == (style{}) {
		return dst
	}
	f.dst = dst
	f.close()
	f.resetStyle()
	return f.dst
}

// elements appends a text with its elements replaced. None of them may be contextual.
func (f *Filter) elements(text []byte) {
	done := 0
	for {
		e, ok := nextElement(text, done)
		if !ok {
			break
		}
		f.text(text[done:e.start])
		done = e.end
		before := len(f.dst)
		switch do := known[e.tag]; {
		case do != nil:
			if do(f, &e); f.Logs && len(f.dst) == before {
				f.dst = append(f.dst, e.text...)
			}
		case f.Logs || e.isTag():
			f.dst = append(f.dst, e.text...)
		default:
			f.problem(&e, "a tag has lower-case letters only")
		}
	}
	f.text(text[done:])
}

// text appends a text without elements. Its control sequences set the style. If the output has no colors, they are
// dropped.
func (f *Filter) text(text []byte) {
	if f.Logs {
		f.dst = append(f.dst, text...)
		return
	}
	for {
		i := bytes.IndexByte(text, escape[0])
		if i < 0 {
			break
		}
		f.dst = append(f.dst, text[:i]...)
		text = text[i:]
		n := f.control(text)
		if n == 0 {
			n = 1
			f.dst = append(f.dst, text[0])
		}
		text = text[n:]
	}
	f.dst = append(f.dst, text...)
}

func (f *Filter) problem(e *element, what string) { f.Problem(what, e.text) }

// element is an element of the form {{{TAG:FIELD:FIELD...}}}.
type element struct {
	text       string
	tag        string
	fields     []string
	start, end int
}

// nextElement returns the first element of a line that starts at or after at. An element with an empty tag is text.
func nextElement(line []byte, at int) (e element, ok bool) {
	for {
		n := bytes.Index(line[at:], []byte(Opens))
		if n < 0 {
			return e, false
		}
		e.start = at + n
		inside := e.start + len(Opens)
		n = bytes.Index(line[inside:], []byte("}}}"))
		if n < 0 {
			return e, false
		}
		e.end = inside + n + len("}}}")
		body := line[inside : inside+n]
		tag, rest, hasFields := bytes.Cut(body, []byte(":"))
		if len(tag) == 0 {
			at = e.end
			continue
		}
		e.tag, e.text = string(tag), string(line[e.start:e.end])
		if hasFields {
			e.fields = fieldsOf(string(rest))
		}
		return e, true
	}
}

// mostFields is more fields than any element has. Further fields are ignored.
const mostFields = 8

func fieldsOf(text string) (fields []string) {
	for len(fields) < mostFields {
		i := indexColon(text)
		if i < 0 {
			return append(fields, text)
		}
		fields, text = append(fields, text[:i]), text[i+1:]
	}
	return fields
}

func indexColon(text string) int {
	for i := range len(text) {
		if text[i] == ':' {
			return i
		}
	}
	return -1
}

// isTag reports whether an element may be an element of markup.
func (e *element) isTag() bool {
	for i := range len(e.tag) {
		if e.tag[i] < 'a' || e.tag[i] > 'z' {
			return false
		}
	}
	return true
}

// has reports whether an element has at least want fields. More than most fields are reported as a problem, but
// ignored.
func (f *Filter) has(e *element, want, most int) bool {
	switch n := len(e.fields); {
	case n < want:
		f.problem(e, "it has "+strconv.Itoa(n)+" of "+strconv.Itoa(want)+" fields")
		return false
	case n > most:
		f.problem(e, "it has more than "+strconv.Itoa(most)+" fields")
	}
	return true
}
