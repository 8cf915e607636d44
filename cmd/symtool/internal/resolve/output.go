package resolve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve"
)

// answerWriter writes answers in one format.
type answerWriter interface {
	answer(*answer) error
	end() error
}

// answerFormat is a value of --format.
type answerFormat struct {
	answers func(w io.Writer, together bool) answerWriter // together is set if the answers form one document
	profile bool                                          // the operand is a profile, and there are no addresses
}

var answerFormats = []cli.Word[answerFormat]{
	{Text: cli.FormatText, Means: eachAnswer(appendText)},
	{Text: cli.FormatJSON, Means: eachAnswer(appendJSON)},
	{Text: "addr2line", Means: eachAnswer(appendAddr2line)},
	{Text: "llvm", Means: eachAnswer(appendLLVM)},
	{Text: "llvm-json", Means: answerFormat{answers: newLLVMJSON}},
	{Text: "pprof", Means: answerFormat{profile: true}},
}

// plainAnswers writes answers one after the other.
type plainAnswers struct {
	w    io.Writer
	form func([]byte, *answer) []byte
	buf  []byte
}

func eachAnswer(form func([]byte, *answer) []byte) answerFormat {
	return answerFormat{answers: func(w io.Writer, _ bool) answerWriter { return &plainAnswers{w: w, form: form} }}
}

func (p *plainAnswers) answer(a *answer) error {
	p.buf = p.form(p.buf[:0], a)
	_, err := p.w.Write(p.buf)
	return err
}

func (p *plainAnswers) end() error { return nil }

// appendText formats an answer for people:
//
//	0x1044: g at t.c:2
//	  inlined by main at t.c:3
//	0x2010: _fini+0x10
//	0x3010: ?? (0x1000 after _fini, which may have ended)
func appendText(b []byte, a *answer) []byte {
	b = append(b, a.text...)
	b = append(b, ": "...)
	if !a.found {
		return append(appendNearest(append(b, "??"...), a), '\n')
	}
	for i, f := range a.at.Frames {
		if i > 0 {
			b = append(b, "  inlined by "...)
		}
		b = append(appendBehind(appendFrame(b, &f), &a.at, a.rva), '\n')
	}
	return b
}

// appendNearest names the PUBLIC before the address, which may have ended before it.
func appendNearest(b []byte, a *answer) []byte {
	if !a.hasNearest() {
		return b
	}
	return fmt.Appendf(b, " (0x%x after %s, which may have ended)", a.rva-uint64(a.at.Start), text.Printable(a.at.Frames[0].Function))
}

// hasNearest reports whether the symbol at the address is unknown, but there is a PUBLIC before it.
func (a *answer) hasNearest() bool { return !a.found && a.at.Guess && !a.outside }

// appendBehind appends the distance of the address from a PUBLIC, which has no size.
func appendBehind(b []byte, at *resolve.Location, rva uint64) []byte {
	if at.Source != resolve.Public || rva == uint64(at.Start) {
		return b
	}
	return strconv.AppendUint(append(b, "+0x"...), rva-uint64(at.Start), 16)
}

// appendFrame appends "function at file:line" for people, as far as they are known.
func appendFrame(b []byte, f *resolve.Frame) []byte {
	b = append(b, text.Printable(orUnknown(f.Function))...)
	if f.File == "" && f.Line == 0 {
		return b
	}
	b = append(b, " at "...)
	b = append(b, text.Printable(orUnknown(f.File))...)
	if f.Line > 0 {
		b = strconv.AppendUint(append(b, ':'), uint64(f.Line), 10)
	}
	return b
}

func orUnknown(name string) string {
	if name == "" {
		return "??"
	}
	return name
}

// appendAddr2line formats an answer like `addr2line -f -i` of GNU binutils.
func appendAddr2line(b []byte, a *answer) []byte {
	if !a.found {
		return append(b, "??\n??:0\n"...)
	}
	for _, f := range a.at.Frames {
		line := "?"
		if f.Line > 0 {
			line = strconv.FormatUint(uint64(f.Line), 10)
		}
		b = fmt.Appendf(b, "%s\n%s:%s\n", orUnknown(f.Function), orUnknown(f.File), line)
	}
	return b
}

// appendLLVM formats an answer like `llvm-symbolizer`. Symbol files have no columns, so they are 0,
// LLVM's value for unknown columns.
func appendLLVM(b []byte, a *answer) []byte {
	if !a.found {
		return append(b, "??\n??:0:0\n\n"...)
	}
	for _, f := range a.at.Frames {
		b = fmt.Appendf(b, "%s\n%s:%d:0\n", orUnknown(f.Function), orUnknown(f.File), f.Line)
	}
	return append(b, '\n')
}

// answerJSON is an answer of --format json, on a line of its own. docs/json.md documents its fields.
type answerJSON struct {
	Address  string      `json:"address"` // as given
	Symbols  string      `json:"symbols,omitempty"`
	Found    bool        `json:"found"`
	Record   string      `json:"record,omitempty"` // FUNC or PUBLIC
	Start    string      `json:"start,omitempty"`
	Offset   string      `json:"function_offset,omitempty"` // distance of the address from the start
	Size     string      `json:"size,omitempty"`
	Multiple bool        `json:"multiple,omitempty"`
	Nearest  string      `json:"nearest,omitempty"` // if not found: the PUBLIC before it, which may have ended
	Frames   []frameJSON `json:"frames"`
}

type frameJSON struct {
	Function string `json:"function"`
	Linkage  string `json:"linkage_name,omitempty"`
	File     string `json:"file,omitempty"`
	Line     uint32 `json:"line,omitempty"`
	Inlined  bool   `json:"inlined,omitempty"`
}

func appendJSON(b []byte, a *answer) []byte {
	out := answerJSON{Address: a.text, Symbols: a.file, Found: a.found, Frames: []frameJSON{}}
	if a.hasNearest() {
		out.Record, out.Start, out.Nearest = "PUBLIC", hexString(uint64(a.at.Start)), a.at.Frames[0].Function
	}
	if a.found {
		out.Record, out.Start, out.Multiple = "FUNC", hexString(uint64(a.at.Start)), a.at.Multiple
		if a.at.Source == resolve.Public {
			out.Record = "PUBLIC"
		} else {
			out.Size = hexString(a.at.Size)
		}
		out.Offset = hexString(a.at.Offset)
		for _, f := range a.at.Frames {
			out.Frames = append(out.Frames, frameJSON{f.Function, f.Linkage(), f.File, f.Line, f.Inlined})
		}
	}
	return appendDocument(b, out)
}

func hexString(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }

// appendDocument appends v as one line of JSON; HTML characters are not escaped.
func appendDocument(b []byte, v any) []byte {
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // v has only strings and numbers
	}
	return append(b, text.EscapeJSON(doc.Bytes())...)
}

// llvmJSON writes the output of `llvm-symbolizer --output-style=JSON`: one list for all addresses
// from arguments, or a line for each address read.
type llvmJSON struct {
	w        io.Writer
	together bool
	n        int
}

func newLLVMJSON(w io.Writer, together bool) answerWriter {
	return &llvmJSON{w: w, together: together}
}

// llvmAnswer has its fields in LLVM's order, which is alphabetical.
type llvmAnswer struct {
	Address    string
	ModuleName string
	Symbol     []llvmSymbol
}

type llvmSymbol struct {
	Column        int
	Discriminator int
	FileName      string
	FunctionName  string
	Line          uint32
	StartAddress  string
	StartFileName string
	StartLine     int
}

func (j *llvmJSON) answer(a *answer) error {
	out := llvmAnswer{Address: hexString(a.addr), ModuleName: a.file, Symbol: []llvmSymbol{}}
	frames := a.at.Frames
	if !a.found {
		frames = nil
	}
	for _, f := range frames {
		symbol := llvmSymbol{FileName: f.File, FunctionName: f.Function, Line: f.Line}
		if !f.Inlined { // the start of an inlined function is unknown, and usually in several places
			symbol.StartAddress = hexString(uint64(a.at.Start) + a.base)
		}
		out.Symbol = append(out.Symbol, symbol)
	}
	if !a.found {
		out.Symbol = append(out.Symbol, llvmSymbol{})
	}
	if a.bad {
		out.Address = a.text
	}
	doc := appendDocument(nil, out)
	if j.together {
		doc = append([]byte{"[,"[min(j.n, 1)]}, doc[:len(doc)-1]...)
	}
	j.n++
	_, err := j.w.Write(doc)
	return err
}

func (j *llvmJSON) end() error {
	if !j.together {
		return nil
	}
	_, err := io.WriteString(j.w, "]\n")
	return err
}
