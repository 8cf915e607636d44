// Package markup reads LLVM's symbolizer markup (llvm/docs/SymbolizerMarkupFormat.rst): logs in which {{{module:...}}}
// and {{{mmap:...}}} say where modules are in a process, and {{{pc:...}}}, {{{bt:...}}}, {{{data:...}}} and
// {{{symbol:...}}} name places in them. The answers have the form of llvm-symbolizer --filter-markup.
package markup

import (
	"bytes"
	"strconv"
)

// Symbols answers for the addresses of modules, which count as the linker counts.
type Symbols interface {
	// Code returns the functions at an address of code, innermost first; only one of them if inlines is false. It
	// reports whether there are symbols of the module.
	Code(m *Module, addr uint64, inlines bool) ([]Frame, bool)
	// Data returns the name of the data at an address, and reports whether there are symbols that may have one.
	Data(m *Module, addr uint64) (name string, ok bool)
	// Name returns a linkage name as it is printed.
	Name(linkage string) string
}

// Frame is a function at an address. What is unknown is "" or 0.
type Frame struct {
	Function, File string
	Line, Column   uint32
}

// Filter replaces the elements of a log. Logs of several processes at once need a Filter each.
type Filter struct {
	Symbols Symbols
	// Problem is called with what is wrong with an element, and the element. The text has no control characters that
	// the log has not.
	Problem func(problem, element string)
	// Logs means that a log has other things than markup: other elements and control sequences stay as they are.
	Logs  bool
	Color bool // highlight answers by control sequences

	Answered int // number of places that symbols were found for

	modules map[uint64]*Module
	maps    []*mapping // by address, without overlaps
	open    *infoLine  // line about a module that more mappings may join, or nil
	style   style
	end     string // of lines
	dst     []byte
}

// Module is a module of the process.
type Module struct {
	ID    uint64
	Name  string
	Build string // build-id in lower-case hexadecimal digits
}

// style is what the log's control sequences set.
type style struct {
	color byte // the last digit of SGR 30 to 37, or 0
	bold  bool
}

// known has the elements that are read; unknown ones are copied.
var known = map[string]func(*Filter, *element){
	"symbol": (*Filter).symbol, "pc": (*Filter).pc, "bt": (*Filter).frame, "data": (*Filter).data,
}

// contextual has the elements that stand for a line of their own: what follows them on the line is left out. They report
// whether they could be read.
var contextual = map[string]func(f *Filter, e *element, before []byte) bool{
	"reset": (*Filter).reset, "module": (*Filter).module, "mmap": (*Filter).mmap,
}

// In reports whether a line has an element that is read.
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

// Opens is how elements begin.
const Opens = "{{{"

// Open reports whether the line that was appended last has not ended: mappings may be added to it.
func (f *Filter) Open() bool { return f != nil && f.open != nil }

// Line appends a line, which ends with \n, with its elements replaced.
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

// End appends the end of the last line, if it is open.
func (f *Filter) End(dst []byte) []byte {
	if f == nil || f.open == nil && f.style == (style{}) {
		return dst
	}
	f.dst = dst
	f.close()
	f.resetStyle()
	return f.dst
}

// elements appends a text with its elements replaced, none of which is contextual.
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

// text appends a text without elements. Its control sequences set the style; without colors, they are left out.
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

// element is {{{TAG:FIELD:FIELD...}}}.
type element struct {
	text       string
	tag        string
	fields     []string
	start, end int
}

// nextElement returns the first element of a line that starts at a place or after it. One with an empty tag is
// text.
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

// mostFields is more than any element has. Further fields are not read.
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

// isTag reports whether an element may be one of markup.
func (e *element) isTag() bool {
	for i := range len(e.tag) {
		if e.tag[i] < 'a' || e.tag[i] > 'z' {
			return false
		}
	}
	return true
}

// has reports whether an element has at least want fields. More than most are a problem, but do not matter.
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
