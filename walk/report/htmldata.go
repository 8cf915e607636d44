package report

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/walk"
)

// Limits of a page, which a browser must open within a second: the number of frames, and the bytes of their
// names, registers, stacks and variables.
const (
	maxPageFrames    = 60_000
	maxPageNames     = 2 << 20
	maxPageName      = 2 << 10 // bytes of one name
	maxPageRegisters = 2 << 20
	maxPageWords     = 1 << 20 // bytes of stacks
	maxFrameWords    = 512     // bytes of the stack of a frame
	maxPageVariables = 1 << 20
)

// pageData is the data from which the script of a page makes rows, except for the threads.
type pageData struct {
	Texts     []string    `json:"texts"` // names of functions and files; 0 is ""
	Trusts    [][2]string `json:"trusts"`
	Registers []string    `json:"registers"`
	Modules   []string    `json:"modules"`
	Sources   []string    `json:"sources"` // around frames; 0 is ""
	Word      int         `json:"word"`    // bytes of an address
}

// pageThread is a thread of a page.
type pageThread struct {
	Title   string          `json:"title"`
	Crashed bool            `json:"crashed"` // it crashed, or requested the dump
	End     string          `json:"end"`
	Clean   bool            `json:"clean"`
	Notes   []string        `json:"notes,omitempty"`
	Frames  json.RawMessage `json:"frames"`        // arrays of pageFrame.append
	Cut     int             `json:"cut,omitempty"` // number of frames that are not on the page
}

// pageFrame is a frame of a page. Names are indices in pageData.Texts.
type pageFrame struct {
	trust, module int
	offset        uint64 // offset in the module, or the address
	own           pageName
	pc, sp        uint64
	inlines       []pageName // innermost first
	registers     string     // those that differ from the frame above: "INDEX=HEX", or "INDEX=" if unknown here; with spaces between
	words         string     // the stack from sp to the caller's sp, in hexadecimal
	variables     []string
}

// pageName is a function with its position in the source, and an index in pageData.Sources.
type pageName struct{ function, file, line, source int }

// append writes a frame as an array, because a page has thousands of frames. 64-bit numbers are in hexadecimal,
// because numbers in scripts have 53 bits.
func (f *pageFrame) append(b []byte) []byte {
	number := func(n int) { b = append(strconv.AppendInt(b, int64(n), 10), ',') }
	address := func(v uint64) { b = append(strconv.AppendUint(append(b, '"'), v, 16), `",`...) }
	name := func(n pageName) { number(n.function); number(n.file); number(n.line); number(n.source) }
	b = append(b, '[')
	number(f.trust)
	number(f.module)
	address(f.offset)
	name(f.own)
	address(f.pc)
	address(f.sp)
	b = append(append(append(append(append(b, '"'), f.registers...), `","`...), f.words...), `",[`...)
	for i, in := range f.inlines {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		name(in)
		b[len(b)-1] = ']'
	}
	return append(append(append(b, "],"...), marshal(f.variables)...), ']')
}

// pageMaker makes the data of a page.
type pageMaker struct {
	*view
	vars     *Variables // or nil
	sources  *Sources   // or nil
	data     *pageData
	texts    map[string]int
	excerpts map[string]int // of data.Sources
	left     struct{ frames, names, registers, words, variables, sources int }
}

// newPageMaker returns a maker without threads.
func newPageMaker(v *view, o HTMLOptions) *pageMaker {
	p := &pageMaker{
		view: v, vars: o.Variables, sources: o.Sources,
		data:  &pageData{Texts: []string{""}, Sources: []string{""}, Modules: []string{}, Registers: []string{}},
		texts: map[string]int{"": 0}, excerpts: map[string]int{},
	}
	p.left.frames, p.left.names, p.left.registers, p.left.words, p.left.variables = maxPageFrames, maxPageNames, maxPageRegisters, maxPageWords, maxPageVariables
	p.left.sources = maxPageSources
	p.data.Word = p.wordSize()
	for t := walk.NoTrust; t <= walk.TrustContext; t++ {
		p.data.Trusts = append(p.data.Trusts, [2]string{t.String(), t.Text()})
	}
	p.data.Trusts = append(p.data.Trusts, [2]string{walk.ByCode.String(), textByCode})
	if a := v.d.Arch; a != nil {
		for _, r := range a.Regs {
			p.data.Registers = append(p.data.Registers, a.Label(r.Name))
		}
	}
	for i := range v.d.Modules {
		p.data.Modules = append(p.data.Modules, shortName(v.d.System.OS.Base(v.d.Modules[i].Path)))
	}
	for i := range v.d.Unloaded { // after the others
		p.data.Modules = append(p.data.Modules, shortName(v.d.System.OS.Base(v.d.Unloaded[i].Path))+" (unloaded)")
	}
	return p
}

// pagePiece is the size in bytes at which a piece of the data is written.
const pagePiece = 64 << 10

// pieces yields the data of a page as JSON, in pieces: all of it at once would take ten times its size. Threads
// come first, because they add to the texts.
func (p *pageMaker) pieces(yield func(template.JS) bool) {
	b := []byte(`{"threads":[`)
	put := func(limit int) bool {
		if len(b) < limit {
			return true
		}
		ok := yield(template.JS(b))
		b = b[:0]
		return ok
	}
	for i := range p.stacks {
		if i > 0 {
			b = append(b, ',')
		}
		s := &p.stacks[i]
		head := marshal(p.thread(s))
		b = append(append(b, head[:len(head)-1]...), `,"frames":[`...)
		n := min(len(s.Frames), p.left.frames)
		p.left.frames -= n
		var before map[int16]uint64
		for k := range n {
			var f pageFrame
			if f, before = p.frame(s, k, before); k > 0 {
				b = append(b, ',')
			}
			if b = f.append(b); !put(pagePiece) {
				return
			}
		}
		b = append(b, "]}"...)
	}
	b = append(append(b, "],"...), marshal(p.data)[1:]...)
	put(0)
}

// marshal returns v as JSON that cannot end a script.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // v contains only our own types
	}
	return b
}

// shortName returns a name as a page shows it: cut to maxPageName bytes, without control characters.
func shortName(name string) string {
	if name = text.Printable(name); len(name) > maxPageName {
		return strings.ToValidUTF8(name[:maxPageName], "") + "..."
	}
	return name
}

// said returns a text about a thread; the text counts as a name.
func (p *pageMaker) said(text string) string { return p.data.Texts[p.text(text)] }

// text returns the index of a text.
func (p *pageMaker) text(s string) int {
	s = shortName(s)
	if i, ok := p.texts[s]; ok {
		return i
	}
	if p.left.names -= sizeInJSON(s); p.left.names < 0 {
		return p.known("(too many names for a page)")
	}
	return p.known(s)
}

// sizeInJSON returns the maximum size of a text on a page, where < and some others take six bytes.
func sizeInJSON(s string) (n int) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || strings.IndexByte(`<>&"'\`, c) >= 0 {
			n += 5
		}
		n++
	}
	return n
}

func (p *pageMaker) known(s string) int {
	i, ok := p.texts[s]
	if !ok {
		i = len(p.data.Texts)
		p.texts[s] = i
		p.data.Texts = append(p.data.Texts, s)
	}
	return i
}

func (p *pageMaker) thread(s *viewStack) pageThread {
	t := &p.d.Threads[s.Thread]
	title := p.said(s.name())
	if s.requested {
		title += " (crashed)" // before the name, which may be too long for the row
	}
	if s.hasThread() {
		title = strings.TrimSpace(fmt.Sprintf("%s, id %d %s", title, t.ID, p.said(t.Name)))
	}
	out := pageThread{
		Title: title, Crashed: s.requested,
		End: p.said(s.Why), Clean: s.End.Clean(), Cut: max(0, len(s.Frames)-p.left.frames),
	}
	for _, note := range s.Notes {
		out.Notes = append(out.Notes, p.said(note))
	}
	if out.End == "" {
		out.End = s.End.String()
	}
	return out
}

// trust returns the index in pageData.Trusts that says how a frame was found.
func (p *pageMaker) trust(f *walk.Frame) int {
	if f.By == walk.ByCode {
		return len(p.data.Trusts) - 1
	}
	return int(f.Trust)
}

// frame returns a frame and its registers. before are the registers of the frame above.
func (p *pageMaker) frame(s *viewStack, i int, before map[int16]uint64) (pageFrame, map[int16]uint64) {
	f := &s.Frames[i]
	out := pageFrame{trust: p.trust(f), module: f.Module, offset: f.Inst, pc: f.PC, sp: f.SP}
	if f.Module >= 0 {
		out.offset -= p.d.Modules[f.Module].Addr
	} else if u := p.unloaded(f); u >= 0 {
		out.module = len(p.d.Modules) + u
		out.offset -= p.d.Unloaded[u].Addr
	} else if path := p.r.NamedBy(f); path != "" {
		out.module = p.fileModule(path)
	}
	for k := range f.Names {
		name := pageName{p.text(f.Names[k].Function), p.text(f.Names[k].File), int(f.Names[k].Line), p.source(f, k)}
		if k == len(f.Names)-1 {
			out.own = name
		} else {
			out.inlines = append(out.inlines, name)
		}
		out.variables = append(out.variables, p.values(s, i, k)...)
	}
	now := map[int16]uint64{}
	for _, r := range f.Registers {
		now[r.Index] = r.Value
	}
	out.registers = p.changes(before, now)
	if i+1 < len(s.Frames) {
		out.words = p.words(f.SP, s.Frames[i+1].SP)
	}
	return out, now
}

// fileModule returns the index in pageData.Modules of a file that names generated code. They are after the modules.
func (p *pageMaker) fileModule(path string) int {
	name, first := shortName(text.Base(path)), len(p.d.Modules)+len(p.d.Unloaded)
	if i := slices.Index(p.data.Modules[first:], name); i >= 0 {
		return first + i
	}
	p.data.Modules = append(p.data.Modules, name)
	return len(p.data.Modules) - 1
}

// changes returns pageFrame.registers.
func (p *pageMaker) changes(before, now map[int16]uint64) string {
	if p.left.registers <= 0 {
		return ""
	}
	var list []string
	for i := range int16(len(p.data.Registers)) {
		old, was := before[i]
		v, is := now[i]
		switch {
		case is && (!was || v != old):
			list = append(list, strconv.Itoa(int(i))+"="+strconv.FormatUint(v, 16))
		case was && !is:
			list = append(list, strconv.Itoa(int(i))+"=")
		}
	}
	text := strings.Join(list, " ")
	p.left.registers -= len(text)
	return text
}

// words returns the stack between two addresses, as much as the page has room for. It returns nothing if values are
// redacted, because they are on the stack, too.
func (p *pageMaker) words(from, to uint64) string {
	if from >= to || p.left.words <= 0 || p.vars.redacts() {
		return ""
	}
	bytes := p.d.Memory.Bytes(from, int(min(to-from, maxFrameWords)))
	p.left.words -= len(bytes)
	return hex.EncodeToString(bytes)
}

// values returns the variables of a function of a frame, each as a line.
func (p *pageMaker) values(s *viewStack, frame, k int) (lines []string) {
	if p.vars == nil || p.left.variables <= 0 {
		return nil
	}
	f, all := p.vars.at(s.index, frame)
	if k >= len(all) {
		return nil
	}
	for i := range all[k] {
		v := &all[k][i]
		line := shortName(fmt.Sprintf("%s %s = %s", shortened(f.Info.TypeName(v.Type)), v.Name, p.vars.printer.Text(f, v)))
		p.left.variables -= len(line)
		lines = append(lines, line)
	}
	return lines
}
